"""`tenantry promote`: what it writes, what it leaves, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.edit import overriding
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
          - when: {environments: [prod]}
            helm: {version: 2.0.3, values: {replicas: 3, image: {tag: "6"}}} # pinned
      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}
      site:
        kustomize: {source: main, path: ./site}
        overrides: [{when: {environments: [prod]}, kustomize: {source: stable}}]
      lone: {kustomize: {source: by-name}}
      tools:
        helm: {source: charts, chart: tools, version: 3.0.0}
        overrides: [{when: {clusters: {names: [hub-prod]}}, helm: {version: 2.9.0}}]
      one: {helm: {source: charts, chart: one, version: "{shared}"}}
      two: {helm: {source: charts, chart: two, version: "{shared}"}}
"""


FILE = Path("tenants.yaml")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(FLEET)


def promote(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return tenantry(capsys, "promote", "dev", "prod", *arguments)


def test_a_pinned_version_is_raised_and_what_differs_on_purpose_stays(capsys: Capture) -> None:
    code, out, err = promote(capsys, "rocky/web")
    assert (code, out, err) == (
        0,
        "tenants.yaml: rocky/web: set helm.version in prod to 2.1.0\n"
        "\n"
        "prod: 1 tenant, 1 app on 1 cluster\n"
        "  ~ rocky/web on hub-prod\n"
        "      ~ helm.version: 2.0.3 -> 2.1.0  # tenants.yaml:21:29 (environment prod)\n"
        "\n"
        "objects\n"
        "  prod: 1 added, 1 changed, 1 removed\n"
        "\n"
        "no difference: dev\n",
        err,
    )
    assert FILE.read_text() == FLEET.replace("version: 2.0.3", "version: 2.1.0")
    assert promote(capsys, "rocky/web") == (0, "nothing to do: tenants.yaml says so already\n", "")


def test_everything_that_both_environments_have_is_promoted_and_what_stays_is_named(capsys: Capture) -> None:
    code, out, _ = promote(capsys)
    expected = FLEET
    for old, new in (
        ("version: 2.0.3", "version: 2.1.0"),
        ("shop: 1.3.2, shared: 1.0.0", "shop: 1.4.0, shared: 2.0.0"),
        ("ref: {tag: v1}", "ref: {branch: main}"),
    ):
        expected = expected.replace(old, new)
    assert (code, FILE.read_text()) == (0, expected)
    assert "  rocky/tools: helm.version is set for clusters (tenants.yaml:29:68), so it stays\n" in out
    assert "  rocky/lone: source.git.ref follows from {env}, which no environment sets, so it stays\n" in out
    again = promote(capsys)[1]
    assert again.startswith("nothing to do: tenants.yaml says so already\n  rocky/lone: ")


@pytest.mark.parametrize(
    ("subject", "changes"),
    [
        ("rocky/shop", [("shop: 1.3.2", "shop: 1.4.0")]),
        ("rocky/site", [("ref: {tag: v1}", "ref: {branch: main}")]),
        ("rocky/tools", []),
        ("rocky/lone", []),
    ],
)
def test_it_writes_where_the_file_says_it(subject: str, changes: list[Any], capsys: Capture) -> None:
    code, _, err = promote(capsys, subject)
    expected = FLEET
    for old, new in changes:
        expected = expected.replace(old, new)
    assert (code, err, FILE.read_text()) == (0, "", expected)


ZEROS = "0" * 64
REGISTRY = f"oci: {{url: oci://registry.example.com/shop, ref: {{digest: 'sha256:{ZEROS}'}}}}"
OCI = "oci: {url: oci://registry.example.com/shop, ref: {tag: 1.4.0}}"
SHOP = '      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}\n'
BLOCK = '      shop:\n        helm: {source: charts, chart: shop, version: "{shop}"}\n'
SHOP_IN_PROD = "        overrides: [{when: {environments: [prod]}, helm: {version: 1.0.0}}]\n"
AHEAD = (
    "      shop:\n        helm: {source: charts, chart: shop, version: 1.0.0}\n"
    "        overrides: [{when: {environments: [dev]}, helm: {version: 1.1.0}}]\n"
)
REF_IN_PROD = "    overrides: [{when: {environments: [prod]}, sources: {one: {oci: {ref: {tag: 1.3.0}}}}}]\n"
APP_IN_PROD = "    overrides: [{when: {environments: [prod]}, apps: {shop: {helm: {version: 1.0.0}}}}]\n"
MAIN_SOURCE = "      main: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}\n"
ONE_SOURCE = "      charts: {helm: {url: https://charts.example.com}}\n"


@pytest.mark.parametrize(
    ("fleet", "old", "new"),
    [
        pytest.param(
            FLEET.replace(SHOP, AHEAD),
            "1.1.0}}]",
            "1.1.0}}, {when: {environments: [prod]}, helm: {version: 1.1.0}}]",
            id="no override",
        ),
        pytest.param(
            FLEET.replace(SHOP, BLOCK + SHOP_IN_PROD),
            "helm: {version: 1.0.0}",
            "helm: {version: 1.4.0}",
            id="a variable that means something else",
        ),
        pytest.param(
            FLEET.replace(SHOP, f"      shop:\n        kustomize: {{source: one}}\n{SHOP_IN_PROD}")
            .replace("helm: {version: 1.0.0}", "kustomize: {source: other}")
            .replace(ONE_SOURCE, f"      one: {{{OCI}}}\n      other: {{{REGISTRY}}}\n{ONE_SOURCE}"),
            REGISTRY,
            OCI,
            id="a tag for a digest",
        ),
        pytest.param(
            FLEET.replace(SHOP, "      shop: {kustomize: {source: one}}\n").replace(
                ONE_SOURCE, "      one: {" + OCI.replace("1.4.0", '"{shop}"') + "}\n" + ONE_SOURCE
            ),
            "shop: 1.3.2",
            "shop: 1.4.0",
            id="a tag by a variable",
        ),
        pytest.param(
            FLEET.replace(SHOP, "      shop: {kustomize: {source: one}}\n").replace(
                f"    sources:\n{MAIN_SOURCE}", f"{REF_IN_PROD}    sources:\n      one: {{{OCI}}}\n{MAIN_SOURCE}"
            ),
            "tag: 1.3.0",
            "tag: 1.4.0",
            id="the override of a source",
        ),
        pytest.param(
            FLEET.replace("    sources:\n", f"{APP_IN_PROD}    sources:\n"),
            "helm: {version: 1.0.0}",
            "helm: {version: 1.4.0}",
            id="an app in the override of its tenant",
        ),
        pytest.param(
            FLEET.replace(
                SHOP, AHEAD.replace("[{when", "[{when: {environments: [dev, prod]}, helm: {version: 0.9.0}}, {when")
            ),
            "1.1.0}}]",
            "1.1.0}}, {when: {environments: [prod]}, helm: {version: 1.1.0}}]",
            id="the override of several environments",
        ),
    ],
)
def test_other_ways_to_write_it(fleet: str, old: str, new: str, capsys: Capture) -> None:
    FILE.write_text(fleet)
    code, _, err = promote(capsys, "rocky/shop")
    assert fleet.count(old) == 1
    assert (code, "error" in err, FILE.read_text()) == (0, False, fleet.replace(old, new))
    assert promote(capsys, "rocky/shop")[1] == "nothing to do: tenants.yaml says so already\n"


def test_sources_at_different_addresses_keep_their_refs(capsys: Capture) -> None:
    fleet = FLEET.replace(
        "stable: {git: {url: https://git.example.com/rocky,", "stable: {git: {url: https://mirror.example.com/rocky,"
    )
    FILE.write_text(fleet)
    code, out, _ = promote(capsys, "rocky/site")
    assert (code, FILE.read_text()) == (0, fleet)
    assert "rocky/site: source.git.ref is that of a source at another address, so it stays" in out


def test_a_version_that_differs_between_clusters_stays(capsys: Capture) -> None:
    edge = "  edge: {environments: [dev], kubeconfig: {capi: {cluster: edge, namespace: capi}}}\n"
    fleet = FLEET.replace("clusters:\n", f"clusters:\n{edge}", 1).replace(
        "overrides: [{when: {clusters: {names: [hub-prod]}}, helm: {version: 2.9.0}}]",
        "overrides: [{when: {environments: [prod]}, helm: {version: 1.0.0}},"
        " {when: {clusters: {names: [edge]}}, helm: {version: 2.9.0}}]",
    )
    FILE.write_text(fleet)
    code, out, err = promote(capsys, "rocky/tools")
    assert (code, FILE.read_text()) == (0, fleet), err
    assert "rocky/tools: helm.version differs between the clusters of dev, so it stays" in out


SHARED = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub-dev}, prod: {management: hub-prod}, last: {management: hub-last, extends: prod}}
clusters: {hub-dev: {environments: [dev]}, hub-prod: {environments: [prod]}, hub-last: {environments: [last]}}
platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources:
      policies: {oci: {url: oci://registry.example.com/policies, ref: {tag: 1.0.0}}}
    overrides: [{when: {environments: [dev]}, sources: {policies: {oci: {ref: {tag: 1.1.0}}}}}]
    apps:
      policies: {kustomize: {source: policies}}
"""


def test_an_environment_that_extends_it_changes_with_it(capsys: Capture) -> None:
    FILE.write_text(SHARED)
    code, out, err = promote(capsys)
    assert (code, "last, prod: " in out or "prod, last: " in out) == (0, True), out + err


@pytest.mark.parametrize(
    ("more", "subject", "said"),
    [
        (
            "      more: {kustomize: {source: policies}}\n",
            "rocky/policies",
            "the version of rocky/more in prod would change too",
        ),
        ("", "rocky/one", "the version of rocky/two in prod would change too"),
        ("", "rocky/nothing", "there is no app of 'rocky/nothing'"),
        ("", "rokcy", "(closest: rocky)"),
    ],
)
def test_what_would_change_something_else_is_refused(more: str, subject: str, said: str, capsys: Capture) -> None:
    before = SHARED + more if more else FLEET
    FILE.write_text(before)
    code, out, err = promote(capsys, subject)
    assert (code, out, FILE.read_text()) == (2, "", before)
    assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("dev", "dev"), "FROM and TO are the same environment"),
        (("dev", "prd"), "declares no environment 'prd' (declared: dev, prod)\n  fix: name 'prod'"),
        (("dev",), "Missing argument 'TO'"),
    ],
)
def test_two_declared_environments_are_needed(words: tuple[str, ...], said: str, capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "promote", *words)
    assert (code, out, said in err) == (2, "", True), err


@pytest.mark.parametrize(("subject", "key"), [("rocky/web", "helm.version"), ("rocky/site", "source.git.ref")])
def test_an_edit_that_leaves_a_difference_is_not_written(
    subject: str, key: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def without_effect(self: Any, app: Any, path: Any, *_: Any, **__: Any) -> None:
        self.done[f"{overriding.name_of_app(app)}: set {'.'.join(path)}"] = None

    monkeypatch.setattr(overriding.Promotion, "_set", without_effect)
    code, _, err = promote(capsys, subject)
    said = f"error: after the edit, this is left to do: {subject}: set {key}\n  fix: edit the file by hand\n"
    assert (code, err, FILE.read_text()) == (2, said, FLEET)


def test_a_tenants_own_file_is_edited(capsys: Capture) -> None:
    head, _, _ = FLEET.partition("defaults:")
    frame = "rocky: {clusters: {names: [hub-dev, hub-prod]}, grants: {sources: [https://charts.example.com]}}"
    main = f"{head.replace('clusters:', 'include: [team/*.yaml]' + chr(10) + 'clusters:', 1)}tenants:\n  {frame}\n"
    FILE.write_text(main)
    own = """\
tenants:
  rocky:
    sources: {charts: {helm: {url: https://charts.example.com}}}
    apps:
      web: # the shop window
        helm: {source: charts, chart: web, version: 1.0.0}
        overrides:
          - when: {environments: [dev]}
            helm: {version: 1.1.0} # ahead
"""
    Path("team").mkdir()
    Path("team/rocky.yaml").write_text(own)
    code, _, err = promote(capsys, "rocky")
    expected = f"{own}          - {{when: {{environments: [prod]}}, helm: {{version: 1.1.0}}}}\n"
    assert (code, Path("team/rocky.yaml").read_text()) == (0, expected), err
    assert FILE.read_text() == main


def test_add_ons_are_promoted_together_where_they_share_a_source(capsys: Capture) -> None:
    FILE.write_text("""\
apiVersion: tenantry/v1
environments: {dev: {management: dev}, prod: {management: prod, after: dev}}
clusters: {dev: {environments: [dev]}, prod: {environments: [prod]}}
platform:
  sources:
    base:
      git: {url: https://git.example.com/base, ref: {tag: v1.0.0}}
  overrides: [{when: {environments: [dev]}, sources: {base: {git: {ref: {tag: v1.1.0}}}}}]
  addons:
    dns: {clusters: {all: true}, kustomize: {source: base, path: ./dns}}
    logs: {clusters: {all: true}, kustomize: {source: base, path: ./logs}}
""")
    assert "the version of platform/logs in prod would change too" in promote(capsys, "platform/dns")[2]
    assert promote(capsys, "platform")[0] == 0
    of_dev = "{when: {environments: [dev]}, sources: {base: {git: {ref: {tag: v1.1.0}}}}}"
    assert f"overrides: [{of_dev}, {of_dev.replace('dev', 'prod')}]" in FILE.read_text()
