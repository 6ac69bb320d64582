"""`tenantry promote`: what it writes, what it leaves and refuses, and the evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli.documents.kinds import schema_of
from tenantry.cli.edit import promote as promote_command
from tenantry.cluster.evidence import Evidence, judged
from tenantry.edit.subjects.promoted import App
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import format_path
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import plan
from tests.unit.cli.test_cli import Capture, tenantry

pytestmark = pytest.mark.usefixtures("plans_once")

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev, variables: {shop: 1.4.0, shared: 2.0.0, ref: main}}
  prod: {management: hub-prod, variables: {shop: 1.3.2, shared: 1.0.0, ref: v1}}
clusters:
  hub-dev: {environments: [dev]}
  hub-prod: {environments: [prod]}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources:
      main: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}
      stable: {git: {url: https://git.example.com/rocky, ref: {tag: v1}}}
      by-name: {git: {url: https://git.example.com/rocky, ref: {branch: "{env}"}}}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      web:
        helm: {source: charts, chart: web, version: 2.1.0, values: {replicas: 1, image: {tag: "7"}}}
        overrides:
          environments:
            prod:
              helm: {version: 2.0.3, values: {replicas: 3, image: {tag: "6"}}} # pinned
      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}
      site:
        kustomize: {source: main, path: ./site}
        overrides: {environments: {prod: {kustomize: {source: stable}}}}
      lone: {kustomize: {source: by-name}}
      tools:
        helm: {source: charts, chart: tools, version: 3.0.0}
        overrides: {clusters: {hub-prod: {helm: {version: 2.9.0}}}}
      one: {helm: {source: charts, chart: one, version: "{shared}"}}
      two: {helm: {source: charts, chart: two, version: "{shared}"}}
"""


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FLEET)


THREE = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev}
  staging: {management: hub-staging, after: dev}
  prod: {management: hub-prod, after: staging}
clusters: {hub-dev: {environments: [dev]}, hub-staging: {environments: [staging]}, hub-prod: {environments: [prod]}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps:
      shop:
        helm: {source: charts, chart: shop, version: 1.0.0}
        overrides: {environments: {dev: {helm: {version: 2.0.0}}}}
"""


def test_an_environment_between_is_named_and_overrides_that_stay_say_why(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(THREE)
    words = ("promote", "rocky/shop", "--from", "dev", "--no-evidence", "--dry-run", "--to")
    jumped, step = (tenantry(capsys, *words, each) for each in ("prod", "staging"))
    told = jumped[1] + jumped[2]
    assert (jumped[0], step[0]) == (0, 0)
    assert "warning: this passes over staging, which is between dev and prod" in told
    assert "tenantry promote rocky/shop --from dev --to staging" in told
    assert "staging has the app's own value, and a fold would change it" in told
    assert "passes over" not in step[1] + step[2]
    assert "prod has the app's own value" in step[1] + step[2]


def promote(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return tenantry(capsys, "promote", *arguments, "--from", "dev", "--to", "prod")


def test_a_pinned_version_is_raised_and_what_differs_on_purpose_stays(capsys: Capture) -> None:
    code, out, _ = promote(capsys, "rocky/web")
    assert (code, out) == (
        0,
        "tenants.yaml: rocky/web: set helm.version in prod to 2.1.0\n"
        "tenants.yaml: rocky/web: removed helm.version from the overrides for prod,"
        " because the app itself says the same\n"
        "  evidence: none, nothing was checked: --evidence asks the management cluster of dev\n"
        "  stays different in prod; copy it with --with PATH:\n"
        "    rocky/web: helm.values.replicas: 1 -> 3\n"
        "    rocky/web: helm.values.image.tag: '7' -> '6'\n"
        "\n"
        "prod: 1 tenant, 1 app on 1 cluster\n"
        "  ~ tenant rocky\n"
        "      ~ app web on hub-prod\n"
        "          ~ helm.version: 2.0.3 -> 2.1.0\n"
        "\n"
        "no difference: dev\n",
    )
    assert Path("tenants.yaml").read_text() == FLEET.replace("version: 2.0.3, ", "")
    code, out, _ = promote(capsys, "rocky/web")
    assert (code, out.splitlines()[0]) == (0, "nothing to promote: prod has the versions and refs of dev")


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        (("rocky/shop",), [("shop: 1.3.2", "shop: 1.4.0")]),
        (("rocky/site",), [("ref: {tag: v1}", "ref: {branch: main}")]),
        (
            ("rocky/web", "--with", "helm.values.image"),
            [("version: 2.0.3", "version: 2.1.0"), ('tag: "6"', 'tag: "7"')],
        ),
        (
            ("rocky/web", "--with", "all"),
            [
                ("version: 2.0.3", "version: 2.1.0"),
                ('replicas: 3, image: {tag: "6"}', 'replicas: 1, image: {tag: "7"}'),
            ],
        ),
        (("rocky/lone",), []),
    ],
)
def test_it_writes_where_the_file_says_it(arguments: tuple[str, ...], changes: list[Any], capsys: Capture) -> None:
    code, _, err = promote(capsys, *arguments, "--no-fold")
    expected = FLEET
    for old, new in changes:
        expected = expected.replace(old, new)
    assert (code, err, Path("tenants.yaml").read_text()) == (0, "", expected)


def test_an_app_without_an_override_gets_one(capsys: Capture) -> None:
    """Here dev is ahead by an override of its own."""
    shop = '      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}\n'
    new = (
        "      shop:\n        helm: {source: charts, chart: shop, version: 1.0.0}\n"
        "        overrides: {environments: {dev: {helm: {version: 1.1.0}}}}\n"
    )
    Path("tenants.yaml").write_text(FLEET.replace(shop, new))
    code, _, err = promote(capsys, "rocky/shop", "--no-fold")
    expected = new.replace("1.1.0}}", "1.1.0}}, prod: {helm: {version: 1.1.0}}")
    assert (code, Path("tenants.yaml").read_text()) == (0, FLEET.replace(shop, expected))
    assert "  fix: make theirs its own: tenantry promote rocky/shop --from dev --to prod\n" in err


ZEROS = "0" * 64
REGISTRY = f"oci: {{url: oci://registry.example.com/shop, ref: {{digest: 'sha256:{ZEROS}'}}}}"
OCI = "oci: {url: oci://registry.example.com/shop, ref: {tag: 1.4.0}}"
BY_VARIABLE = OCI.replace("1.4.0", '"{shop}"')
SHOP = '      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}\n'
SHOP_IN_PROD = "        overrides: {environments: {prod: {helm: {version: 1.0.0}}}}\n"
ONE_SOURCE = "      charts: {helm: {url: https://charts.example.com}}\n"


def as_block(line: str) -> str:
    """`shop: {helm: ...}` as a block, so that lines can be added."""
    return line.replace("shop: {helm", "shop:\n        helm").replace("}}\n", "}\n")


@pytest.mark.parametrize(
    ("fleet", "arguments", "changes"),
    [
        pytest.param(
            FLEET.replace(SHOP, as_block(SHOP) + SHOP_IN_PROD),
            (),
            [("prod: {helm: {version: 1.0.0}}", "prod: {helm: {version: 1.4.0}}")],
            id="a variable that means something else",
        ),
        pytest.param(
            FLEET.replace(SHOP, as_block(SHOP) + SHOP_IN_PROD).replace("shop: 1.3.2", "shop: 1.4.0"),
            (),
            [("prod: {helm: {version: 1.0.0}}", 'prod: {helm: {version: "{shop}"}}')],
            id="a variable that means the same",
        ),
        pytest.param(
            FLEET.replace(SHOP, f"      shop:\n        kustomize: {{source: one}}\n{SHOP_IN_PROD}")
            .replace("helm: {version: 1.0.0}", "kustomize: {source: other}")
            .replace(ONE_SOURCE, f"      one: {{{OCI}}}\n      other: {{{REGISTRY}}}\n{ONE_SOURCE}"),
            (),
            [(REGISTRY, OCI)],
            id="a tag for a digest",
        ),
        pytest.param(
            FLEET.replace(SHOP, "      shop: {kustomize: {source: one}}\n").replace(
                ONE_SOURCE, f"      one: {{{BY_VARIABLE}}}\n{ONE_SOURCE}"
            ),
            (),
            [("shop: 1.3.2", "shop: 1.4.0")],
            id="a tag by a variable",
        ),
        pytest.param(
            FLEET.replace(
                SHOP, as_block(SHOP) + SHOP_IN_PROD.replace("version: 1.0.0", "values: {debug: true, replicas: 3}")
            ).replace("shop: 1.3.2", "shop: 1.4.0"),
            ("--with", "helm.values.debug"),
            [("{debug: true, replicas: 3}", "{replicas: 3}")],
            id="a key of the override goes",
        ),
        pytest.param(
            FLEET.replace(SHOP, as_block(SHOP.replace("}}\n", ", values: {debug: true}}}\n")))
            .replace("shop: 1.3.2", "shop: 1.4.0")
            .replace(
                "values: {debug: true}}\n",
                "values: {debug: true}}\n        overrides:\n          environments:\n"
                "            dev: {helm: {values: {debug: null}}}\n",
            ),
            ("--with", "helm.values.debug"),
            [
                (
                    "            dev: {helm: {values: {debug: null}}}\n",
                    "            dev: {helm: {values: {debug: null}}}\n"
                    "            prod: {helm: {values: {debug: null}}}\n",
                )
            ],
            id="a key of the app is removed",
        ),
    ],
)
def test_other_ways_to_write_it(
    fleet: str, arguments: tuple[str, ...], changes: list[tuple[str, str]], capsys: Capture
) -> None:
    Path("tenants.yaml").write_text(fleet)
    arguments += ("--no-fold",)
    code, _, err = promote(capsys, "rocky/shop", *arguments)
    expected = fleet
    for old, new in changes:
        assert old in fleet
        expected = expected.replace(old, new)
    assert (code, "error" in err, Path("tenants.yaml").read_text()) == (0, False, expected)
    _, out, _ = promote(capsys, "rocky/shop", *arguments)
    assert out.startswith("nothing to promote: prod has the versions and refs of dev\n")


POLICIES = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub-dev}, prod: {management: hub-prod}, last: {management: hub-last}}
clusters: {hub-dev: {environments: [dev]}, hub-prod: {environments: [prod]}, hub-last: {environments: [last]}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources:
      policies:
        oci: {url: oci://registry.example.com/policies, ref: {tag: 1.0.0}}
        overrides:
          environments:
            dev: {oci: {ref: {digest: "sha256:9876543210987654321098765432109876543210987654321098765432109876"}}}
            last: {oci: {interval: 1h}}
    apps:
      policies: {kustomize: {source: policies}}
"""


def test_the_ref_of_a_source_goes_from_override_to_override_and_becomes_the_sources_own(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(POLICIES)
    code, out, err = promote(capsys, "rocky/policies")
    assert (code, "error" in err) == (0, False)
    assert "rocky/policies: set source.oci.ref in prod to digest sha256:98765" in out
    code, out, err = tenantry(capsys, "promote", "rocky/policies", "--from", "dev", "--to", "last", "--no-evidence")
    assert (code, "error" in err) == (0, False)
    assert "source rocky/policies: moved oci.ref from the overrides for dev, last, prod to the source itself" in out
    specs = [
        each.manifest.get("spec", {})
        for name in ("dev", "prod", "last")
        for each in plan(load_fleet(Path("tenants.yaml")), name).objects
    ]
    assert [each["ref"].keys() for each in specs if "ref" in each] == [{"digest"}] * 3
    assert "tag: 1.0.0" not in Path("tenants.yaml").read_text()
    assert "last: {oci: {interval: 1h}}" in Path("tenants.yaml").read_text()


def test_the_ref_of_a_source_that_other_apps_take_is_not_promoted_for_one(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(f"{POLICIES}      more: {{kustomize: {{source: policies}}}}\n")
    code, _, err = promote(capsys, "rocky/policies")
    assert code == 2
    assert "source 'policies' of tenant 'rocky' is used by rocky/more too, whose ref would change with it" in err


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("rocky/tools", "helm.version of rocky/tools is set for clusters (tenants.yaml:30:50), which an override for"),
        (
            "rocky/one",
            "follows from variable 'shared', which is used elsewhere too: tenants.rocky.apps.two.helm.version",
        ),
        ("rocky/nothing", "'nothing'"),
    ],
)
def test_what_would_change_something_else_is_refused(subject: str, said: str, capsys: Capture) -> None:
    code, out, err = promote(capsys, subject)
    assert (code, out) == (2, "")
    assert said in err
    assert Path("tenants.yaml").read_text() == FLEET


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("replicas", "; did you mean helm.values.replicas?"),
        ("helm.values.replcas", "; did you mean helm.values.replicas?"),
        ("namespace", ""),
    ],
)
def test_a_setting_that_no_app_has_is_said(path: str, hint: str, capsys: Capture) -> None:
    code, out, _ = promote(capsys, "rocky/web", "--with", path)
    assert (code, out.splitlines()[2]) == (0, f"  --with {path} names no setting of rocky/web{hint}")


# --- evidence -------------------------------------------------------------------------------------------------------


def live(app: str, **changes: Any) -> Evidence:
    """The evidence of an app that Flux has installed as planned. Args: changes: of the chart's spec."""
    planned = plan(load_fleet(Path("tenants.yaml")), "dev")
    (placed,) = (each for each in planned.apps if each.name == app)
    chain = Chains(planned).of(placed.id)
    found = []
    for each in chain:
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T10:00:00Z"}
        status: dict[str, Any] = {"observedGeneration": 1, "conditions": [ready]}
        if each["kind"] == "HelmChart":
            status["artifact"] = {"revision": "2.1.0", "lastUpdateTime": "2026-01-01T11:00:00Z"}
        if each["kind"] == "HelmRelease":
            status["history"] = [{"chartVersion": changes.get("applied", "2.1.0")}]
        spec = {**each["spec"], "extra": "a default"}
        if each["kind"] == "HelmChart" and "version" in changes:
            spec["version"] = changes["version"]
        if each["kind"] == "HelmRelease" and "status" in changes:
            ready |= {"status": changes["status"], "message": "upgrade failed\x1b[2J"}
        metadata = {**each["metadata"], "generation": 1}
        found.append({**each, "metadata": metadata, "spec": spec, "status": status})
    return judged(placed, chain, found)


@pytest.mark.parametrize(("subject", "key"), [("rocky/web", "helm.version"), ("rocky/site", "source.git.ref")])
def test_an_edit_that_leaves_a_difference_is_not_written(
    subject: str, key: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def put(self: Any, _at: Any, _value: Any, app: App, path: Any) -> None:
        self.done.append(f"{app}: set {format_path(path)}")

    monkeypatch.setattr("tenantry.edit.subjects.promoting._Promotion._put", put)
    code, _, err = promote(capsys, subject)
    assert (code, err) == (
        2,
        f"error: after the edit, this would be left to do: {subject}: set {key}\n"
        "  fix: see why: tenantry parity dev prod; then edit it with `tenantry set`\n",
    )
    assert Path("tenants.yaml").read_text() == FLEET


def test_a_setting_that_means_something_else_by_itself_stays(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(FLEET.replace("path: ./site", 'path: "./site/{env}"'))
    code, out, _ = promote(capsys, "rocky/site", "--with", "all")
    assert code == 0
    assert "    rocky/site: kustomize.path: ./site/dev -> ./site/prod\n" in out


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({"version": "2.0.0"}, "HelmChart rocky/charts-web-3fc32bc0 has version 2.0.0, not 2.1.0"),
        ({"status": "False"}, "HelmRelease rocky/web is failed: upgrade failed\\x1b[2J"),
        ({"applied": "2.0.9"}, "applied 2.0.9, and 2.1.0 has been fetched"),
    ],
)
def test_evidence_says_what_is_not_as_in_the_file(changes: dict[str, Any], problem: str) -> None:
    found = live("web", **changes)
    assert found.problem == problem
    assert found.since == "2026-01-01T11:00:00Z"


def test_soak_counts_from_the_last_change() -> None:
    now = datetime(2026, 1, 1, 11, 30, tzinfo=UTC)
    assert live("web").problem_after(1800, now) == ""
    assert live("web").problem_after(3600, now) == "ready for 1800 s, which is less than 3600 s"


@pytest.mark.parametrize(
    ("arguments", "found", "code", "said"),
    [
        (("--evidence",), {}, 0, "evidence: dev runs this and is ready on 1 cluster, since"),
        (("--evidence",), {"status": "False"}, 0, "evidence: dev does not run this, or is not ready:"),
        (("--require-ready",), {"status": "False"}, 4, "dev does not prove this promotion: rocky/web on hub-dev: "),
        (("--soak", "1000000h"), {}, 4, "which is less than"),
        (("--soak", "1 hour"), {}, 2, "'1 hour' is not a duration\n  fix: write it as 90m, 1h or 1h30m"),
    ],
)
def test_a_promotion_on_evidence(
    arguments: tuple[str, ...],
    found: dict[str, Any],
    code: int,
    said: str,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evidence = live("web", **found)

    @contextmanager
    def connected(*_: Any) -> Iterator[None]:
        yield None

    monkeypatch.setattr(promote_command, "connect_management", connected)
    monkeypatch.setattr(promote_command, "evidence_of", lambda *_: (evidence,))
    ended, out, err = promote(capsys, "rocky/web", *arguments)
    assert ended == code, err
    assert said in (out if code == 0 else err)
    assert (Path("tenants.yaml").read_text() == FLEET) == (code != 0)
    ended, out, _ = promote(capsys, "rocky/web", *arguments, "-o", "json", "--dry-run")
    import jsonschema_rs

    jsonschema_rs.validator_for(schema_of("Edit")).validate(json.loads(out))


def test_a_cluster_that_cannot_be_asked_refuses_only_what_needs_evidence(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: Any) -> None:
        raise Refused("the cluster does not answer")

    monkeypatch.setattr(promote_command, "connect_management", unreachable)
    assert promote(capsys, "rocky/web", "--require-ready")[0] == 2
    code, out, _ = promote(capsys, "rocky/web", "--evidence")
    assert code == 0
    assert "evidence: none, nothing was checked: the cluster does not answer" in out


def test_a_tenants_own_file_is_edited(capsys: Capture) -> None:
    head, _, _ = FLEET.partition("defaults:")
    frame = "rocky: {clusters: {names: [hub-dev, hub-prod]}, grants: {sources: [https://charts.example.com]}}"
    main = f"{head.replace('clusters:', 'include: [team/*.yaml]' + chr(10) + 'clusters:', 1)}tenants:\n  {frame}\n"
    Path("tenants.yaml").write_text(main)
    own = """\
tenants:
  rocky:
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps:
      web: # the shop window
        helm: {source: charts, chart: web, version: 1.0.0}
        overrides:
          environments:
            dev: {helm: {version: 1.1.0}} # ahead
"""
    Path("team").mkdir()
    Path("team/rocky.yaml").write_text(own)
    code, _, err = promote(capsys, "rocky")
    expected = own.partition("        overrides:")[0].replace("1.0.0", "1.1.0")
    assert (code, err, Path("team/rocky.yaml").read_text()) == (0, "", expected)
    assert Path("tenants.yaml").read_text() == main
