"""`tenantry update`: what it asks, where it writes, what it leaves, and what it says. Sources are played here."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tenantry.manifests.model import NotFetched
from tenantry.manifests.versions import Answer, Question

from tenantry.cli.documents.kinds import schema_of
from tenantry.cli.edit import update
from tests.unit.cli.test_cli import Capture, tenantry

pytestmark = pytest.mark.usefixtures("plans_once")

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev, variables: {shop: 1.4.0}}
  prod: {management: hub-prod, variables: {shop: 1.3.2}}
clusters:
  hub-dev: {environments: [dev]}
  hub-prod: {environments: [prod]}
platform:
  addons:
    dns:
      clusters: {all: true}
      source: {oci: {url: oci://registry.example.com/dns, ref: {tag: 1.0.0}, updates: 1.0.x}}
      kustomize: {path: ./}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources:
      charts: {helm: {url: https://charts.example.com}}
      registry: {helm: {url: oci://registry.example.com/charts, type: oci}}
      site:
        git: {url: https://git.example.com/site, ref: {tag: v1.0.0}} # the site
      fixed: {git: {url: https://git.example.com/site, ref: {branch: main, commit: 0123456789abcdef0123456789abcdef01234567}}}
      moving: {git: {url: https://git.example.com/site, ref: {semver: 1.x}}}
    apps:
      web:
        helm: {source: charts, chart: web, version: 2.1.0} # the shop window
        overrides:
          environments:
            prod:
              helm:
                version: "2.0.3" # behind
      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}
      api: {helm: {source: registry, chart: api, version: v0.4.1}}
      site: {kustomize: {source: site, path: ./site}}
      blog: {kustomize: {source: site, path: ./blog}}
      old: {kustomize: {source: fixed}}
      cache: {helm: {source: charts, chart: cache, version: 1.x, values: {replicas: 2}}}
      docs: {kustomize: {source: moving}}
"""
CHARTS = "https://charts.example.com"
SITE = Question("git", "https://git.example.com/site")
ANSWERS: dict[Question, Answer] = {
    Question("chart", CHARTS, "web"): frozenset({"2.0.3", "2.1.0", "2.2.0", "3.0.0"}),
    Question("chart", CHARTS, "shop"): frozenset({"1.3.2", "1.4.0"}),
    Question("chart", CHARTS, "cache"): frozenset({"1.1.0", "1.2.0", "2.0.0"}),
    Question("oci", "oci://registry.example.com/charts/api"): frozenset({"v0.4.1", "v0.4.7", "v0.5.0"}),
    Question("oci", "oci://registry.example.com/dns"): frozenset({"1.0.0", "1.0.4", "1.2.0", "latest"}),
    SITE: frozenset({"v1.0.0", "v1.2.0", "nightly"}),
}
EDITS = (
    ("version: 2.1.0", "version: 2.2.0"),
    ('version: "2.0.3"', 'version: "2.2.0"'),
    ("shop: 1.3.2", "shop: 1.4.0"),
    ("version: v0.4.1", "version: v0.4.7"),
    ("{tag: v1.0.0}", "{tag: v1.2.0}"),
    ("{tag: 1.0.0}", "{tag: 1.0.4}"),
)
LEFT = """\
  newer, but out of range: chart web 3.0.0 for rocky/web
  newer, but out of range: chart api v0.5.0 for rocky/api
  newer, but out of range: tag of source platform/dns 1.2.0 for platform/dns
  left alone, pinned to a commit: rocky/old
  left alone, a range, which --pin replaces by its version: rocky/cache, rocky/docs
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[Question, Answer]:
    """What the sources answer; a test can change it."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FLEET)
    answers = dict(ANSWERS)

    def ask_all(questions: Collection[Question], _: Mapping[str, Any], told: Callable[[int, int], None]) -> Any:
        assert len(set(questions)) == len(questions)
        told(len(questions), len(questions))
        return {each: answers[each] for each in questions}

    monkeypatch.setattr(update, "ask_all", ask_all)
    return answers


def edited(*changes: tuple[str, str]) -> str:
    text = FLEET
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def written() -> str:
    return Path("tenants.yaml").read_text()


@pytest.mark.usefixtures("asked")
def test_every_version_is_raised_where_the_file_writes_it(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "update")
    assert (code, err, written()) == (0, "", edited(*EDITS))
    assert out.startswith(
        "tenants.yaml: raise chart web from 2.1.0 to 2.2.0 in dev for rocky/web\n"
        "tenants.yaml: raise chart web from 2.0.3 to 2.2.0 in prod for rocky/web\n"
        "tenants.yaml: raise variable shop of prod (chart shop) from 1.3.2 to 1.4.0 for rocky/shop\n"
        "tenants.yaml: raise chart api from v0.4.1 to v0.4.7 in dev, prod for rocky/api\n"
        "tenants.yaml: raise tag of source rocky/site from v1.0.0 to v1.2.0 in dev, prod for rocky/site, rocky/blog\n"
        "tenants.yaml: raise tag of source platform/dns from 1.0.0 to 1.0.4 in dev, prod for platform/dns\n"
        + LEFT
        + "\ndev: "
    )
    assert tenantry(capsys, "update")[:2] == (0, "nothing to raise: 7 versions are the newest in their ranges\n" + LEFT)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (("rocky/web",), EDITS[:2]),
        (("--tenant", "platform"), EDITS[5:]),
        (("rocky/blog", "platform/dns"), EDITS[4:]),
        (("rocky/web", "--to", "major"), [(old, new.replace("2.2.0", "3.0.0")) for old, new in EDITS[:2]]),
        (("rocky/web", "--to", "patch"), []),
        (("platform", "--to", "major"), EDITS[5:]),
        (("rocky/web", "--environment", "prod"), EDITS[1:2]),
        (("rocky/shop", "-e", "dev"), []),
        (
            ("rocky/api", "-e", "dev"),
            [
                (
                    "chart: api, version: v0.4.1}}",
                    "chart: api, version: v0.4.1}, overrides: {environments: {dev: {helm: {version: v0.4.7}}}}}",
                )
            ],
        ),
        (("rocky/site", "-e", "dev"), []),
    ],
)
def test_what_is_named_is_raised_and_nothing_else(
    arguments: tuple[str, ...], changes: Collection[tuple[str, str]], capsys: Capture
) -> None:
    code, _, err = tenantry(capsys, "update", *arguments)
    assert (code, err, written()) == (0, "", edited(*changes))


@pytest.mark.usefixtures("asked")
def test_a_tag_that_other_environments_take_stays(capsys: Capture) -> None:
    assert tenantry(capsys, "update", "rocky/blog", "--environment", "dev")[1] == (
        "nothing to raise: the version is the newest in its range\n"
        "  tag of source rocky/site stays at v1.0.0, although there is v1.2.0: other environments than dev take it from"
        " tenants.rocky.sources.site.git.ref.tag\n"
    )


@pytest.mark.usefixtures("asked")
def test_a_range_is_pinned_and_kept_for_later(capsys: Capture) -> None:
    code, out, _ = tenantry(capsys, "update", "--pin", "rocky")
    assert (code, written()) == (
        0,
        edited(
            ("version: 1.x,", "version: 1.2.0, updates: 1.x,"),
            ("ref: {semver: 1.x}}", "ref: {tag: v1.2.0}, updates: 1.x}"),
        ),
    )
    assert out.startswith(
        "tenants.yaml: pin chart cache to 1.2.0, which 1.x selects, for rocky/cache\n"
        "tenants.yaml: pin tag of source rocky/moving to v1.2.0, which 1.x selects, for rocky/docs\n"
        "  left alone, pinned to a commit: rocky/old\n"
    )
    assert tenantry(capsys, "update", "--pin", "rocky/cache")[1] == "nothing to pin: no app here follows a range\n"
    code, out, _ = tenantry(capsys, "update", "rocky/cache")
    assert out.splitlines()[1] == "  newer, but out of range: chart cache 2.0.0 for rocky/cache"


@pytest.mark.usefixtures("asked")
def test_a_check_writes_nothing_and_fails_when_there_is_something_newer(capsys: Capture) -> None:
    assert tenantry(capsys, "update", "--check", "rocky/api") == (
        1,
        "would raise chart api from v0.4.1 to v0.4.7 in dev, prod for rocky/api\n"
        "  newer, but out of range: chart api v0.5.0 for rocky/api\n",
        "",
    )
    assert tenantry(capsys, "update", "--check", "rocky/web", "--to", "patch")[0] == 0
    code, out, err = tenantry(capsys, "update", "--check", "--dry-run", "rocky/api")
    assert (code, "+      api: {helm: {source: registry, chart: api, version: v0.4.7}}\n" in out) == (1, True), err
    assert written() == FLEET


def test_a_source_that_cannot_be_asked_is_one_warning_and_the_others_go_on(
    asked: dict[Question, Answer], capsys: Capture
) -> None:
    for chart in ("web", "shop"):
        asked[Question("chart", CHARTS, chart)] = NotFetched("helm: no such host\x1b[2J\nmore")
    asked[Question("oci", "oci://registry.example.com/dns")] = NotFetched("unauthorized: https://joe:hunter2@x/")
    code, _, err = tenantry(capsys, "update")
    assert (code, written()) == (1, edited(*EDITS[3:5]))
    assert err == (
        "warning: HelmRepository 'rocky/charts' cannot be asked: helm: no such host\\x1b[2J\n"
        "  fix: check 'url' of the source; if the repository asks for a password, raise its charts with `tenantry set`\n"
        "warning: OCIRepository 'platform/dns' cannot be asked: unauthorized: https://(a secret?)@x/\n"
        "  fix: check 'url' of the source, and log in if it asks for a password: docker login registry.example.com\n"
    )
    code, out, _ = tenantry(capsys, "update", "rocky/shop")
    assert (code, out) == (1, "nothing is raised: no source could be asked\n")


def test_one_version_of_several_sources_is_raised_to_one_that_all_have(
    asked: dict[Question, Answer], capsys: Capture
) -> None:
    text = FLEET.replace("version: 2.1.0}", 'version: "{both}"}').replace("{tag: v1.0.0}", '{tag: "v{both}"}')
    text = text.replace("shop: 1.4.0}", "shop: 1.4.0, both: 2.1.0}").replace(
        "shop: 1.3.2}", "shop: 1.3.2, both: 2.1.0}"
    )
    Path("tenants.yaml").write_text(text)
    asked[SITE] = frozenset({"v2.1.0", "v2.1.5", "v2.9.0"})
    asked[Question("chart", CHARTS, "web")] = frozenset({"2.1.0", "2.1.5", "2.3.0"})
    code, out, err = tenantry(capsys, "update", "rocky/web", "-e", "dev")
    assert (code, err, written()) == (0, "", text.replace("shop: 1.4.0, both: 2.1.0", "shop: 1.4.0, both: 2.1.5"))
    assert out.startswith(
        "tenants.yaml: raise variable both of dev (chart web, tag of source rocky/site) from 2.1.0 to 2.1.5"
        " for rocky/web, rocky/site, rocky/blog\n"
    )


@pytest.mark.parametrize("arguments", [(), ("--dry-run",), ("--check",), ("--pin",), ("rocky/old",), ("rocky/nobody",)])
def test_the_document(arguments: tuple[str, ...], asked: dict[Question, Answer], capsys: Capture) -> None:
    asked[SITE] = NotFetched("no such host")
    _, out, _ = tenantry(capsys, "update", *arguments, "--output", "json")
    found = json.loads(out)
    jsonschema_rs.validator_for(schema_of("Edit")).validate(found)
    if not arguments:
        assert found["updates"]["raised"][2] == {
            "of": ["chart shop"],
            "variable": "shop",
            "apps": ["rocky/shop"],
            "environments": ["prod"],
            "place": "tenants.yaml:4:44",
            "from": "1.3.2",
            "to": "1.4.0",
        }
        assert found["updates"]["unasked"][0]["sources"] == ["rocky/site"]


@pytest.mark.usefixtures("asked")
def test_a_tenants_own_file_is_edited(capsys: Capture) -> None:
    frame = "rocky: {clusters: {names: [hub-dev, hub-prod]}, grants: {sources: [https://charts.example.com]}}"
    head = FLEET.partition("platform:")[0].replace("clusters:", "include: [team/*.yaml]\nclusters:", 1)
    main = f"{head}tenants:\n  {frame}\n"
    own = """\
tenants:
  rocky:
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps: {web: {helm: {source: charts, chart: web, version: 2.1.0, updates: 2.x}}} # ours
"""
    Path("tenants.yaml").write_text(main)
    Path("team").mkdir()
    Path("team/rocky.yaml").write_text(own)
    code, _, err = tenantry(capsys, "update")
    assert (code, err) == (0, "")
    assert (Path("team/rocky.yaml").read_text(), written()) == (own.replace("2.1.0", "2.2.0"), main)


@pytest.mark.usefixtures("asked")
def test_a_variable_of_a_group_is_raised_in_the_group(capsys: Capture) -> None:
    text = FLEET.replace("hub-prod: {environments: [prod]}", "hub-prod: {environments: [prod], group: large}").replace(
        "platform:", "clusterGroups: {large: {variables: {shop: 1.3.2}}} # slow\nplatform:"
    )
    Path("tenants.yaml").write_text(text)
    assert tenantry(capsys, "update", "rocky/shop")[0] == 0
    assert written() == text.replace("{large: {variables: {shop: 1.3.2", "{large: {variables: {shop: 1.4.0")


@pytest.mark.usefixtures("asked")
def test_what_cannot_be_edited_is_told_and_the_rest_is(capsys: Capture) -> None:
    text = FLEET.replace("version: 2.1.0}", "version: *web}").replace('version: "2.0.3"', "version: &web 2.0.3")
    text = text.replace("{shop: 1.4.0}", "{shop: 1.4.0, web: &web 2.1.0}").replace("&web 2.0.3", "2.0.3")
    Path("tenants.yaml").write_text(text)
    code, out, _ = tenantry(capsys, "update", "rocky/web")
    assert (code, written()) == (0, text.replace("version: 2.0.3", "version: 2.2.0"))
    assert "  chart web of rocky/web stays: " in out


@pytest.mark.usefixtures("asked")
def test_the_range_is_for_reviewers_alone(capsys: Capture) -> None:
    """Nothing of it reaches an object, and changing it is no change of the fleet."""
    Path("before.yaml").write_text(FLEET)
    text = edited(
        ("version: 2.1.0}", "version: 2.1.0, updates: 2.1.x}"),
        ("ref: {tag: v1.0.0}}", "ref: {tag: v1.0.0}, updates: 1.x}"),
        (", updates: 1.0.x", ""),
    )
    Path("tenants.yaml").write_text(text)
    code, out, _ = tenantry(capsys, "diff", "./before.yaml")
    assert (code, "no difference" in out) == (0, True)
    assert "updates" not in tenantry(capsys, "render", "-e", "dev")[1]
