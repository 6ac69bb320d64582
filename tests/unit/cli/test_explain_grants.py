"""`tenantry explain TENANT --grants`, whole, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from tenantry.cli.app import app, run

FLEET = """\
apiVersion: tenantry/v1
include:
  - teams/*.yaml
  - blue-shop.yaml
environments:
  dev: {management: hub, variables: {registry: registry.dev.example.com}}
  r1: {extends: dev, namespace: "{env}-{tenant}"}
  prod: {management: far, after: dev, variables: {registry: registry.example.com}}
clusters:
  hub: {environments: [dev], labels: {tier: hub}}
  edge:
    environments: [dev, r1]
    labels: {tier: edge}
    variables: {registry: registry.edge.example.com}
    kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}
  lone: {environments: [dev, r1], labels: {tier: edge}, kubeconfig: {capi: {cluster: lone, namespace: capi}}}
  far: {environments: [prod]}
platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}
defaults:
  clusters: {all: true}
  grants:
    sources:
      - https://git.example.com/{tenant}/*
      - oci://{registry}/{tenant}/*
      - https://charts.example.com/of/the/platform/team/stable
templates:
  tenants:
    small:
      grants:
        clusters: {labels: {tier: edge}}
        environments: [dev]
        settings: [interval, limits, namespaces, network, owners, quota, retryInterval, timeout]
tenants:
  rocky:
    grants:
      alerts: ["https://hooks.example.com/{region}"]
      settings: [quota]
  plain: {grants: {sources: ["*"], clusters: {names: [edge], exclude: [lone]}, environments: []}}
  tina: {}
  blue-shop: {from: small}
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("teams").mkdir()
    Path("tenants.yaml").write_text(FLEET)
    for tenant in ("rocky", "plain"):
        Path(f"teams/{tenant}.yaml").write_text(f"tenants:\n  {tenant}: {{}}\n")
    Path("blue-shop.yaml").write_text("tenants:\n  blue-shop: {}\n")


def explain(capsys: Capture, *arguments: str) -> str:
    code = run(["explain", *arguments, "--grants"])
    out, err = capsys.readouterr()
    assert (0, "") == (code, err)
    return out


def refused(capsys: Capture, *arguments: str) -> str:
    code = run(["explain", *arguments])
    out, err = capsys.readouterr()
    assert (2, "") == (code, out)
    return err


ROCKY = """\
# grants of tenant rocky
file: teams/rocky.yaml  # tenants.yaml:3:5 (include)
frame: tenants.rocky    # tenants.yaml:34:3 (tenant)
always:
  [sources, credentials, configs, apps, alerts, receivers, clusters, kustomize,
  helm]
clusters:             # all, tenants.yaml:20:13 (defaults)
  dev:
    hub: not granted  # a management cluster; 'all' does not include it
    edge: granted     # all clusters are taken
    lone: granted     # all clusters are taken
  r1:
    edge: granted     # all clusters are taken
    lone: granted     # all clusters are taken
  prod:
    far: not granted  # a management cluster; 'all' does not include it
sources:
  - https://git.example.com/{tenant}/*  # tenants.yaml:23:9 (defaults)
    everywhere: https://git.example.com/rocky/*
  - oci://{registry}/{tenant}/*         # tenants.yaml:24:9 (defaults)
    dev on edge: oci://registry.edge.example.com/rocky/*
    dev on lone: oci://registry.dev.example.com/rocky/*
    r1 on edge: oci://registry.edge.example.com/rocky/*
    r1 on lone: oci://registry.dev.example.com/rocky/*
  -                                     # tenants.yaml:25:9 (defaults)
    https://charts.example.com/of/the/platform/team/stable
alerts:
  - https://hooks.example.com/{region}  # tenants.yaml:36:16 (tenant)
    everywhere: a placeholder is not known here
settings: [quota]  # tenants.yaml:37:17 (tenant)
never:
  [role, labels, annotations, podSecurity, objects, dependsOn, from, variables,
  grants, overrides, namespace, serviceAccount, clusterRoles, clusterObjects,
  clusterAdmin, environments, state, adopt]
"""


def test_a_tenant_of_the_main_file_gets_what_it_and_the_defaults_grant(capsys: Capture) -> None:
    assert ROCKY == explain(capsys, "rocky")


BLUE = """\
# grants of tenant blue-shop
file: blue-shop.yaml      # tenants.yaml:4:5 (include)
frame: tenants.blue-shop  # tenants.yaml:40:3 (tenant)
always:
  [sources, credentials, configs, apps, alerts, receivers, clusters, kustomize,
  helm]
clusters:             # labels tier=edge, tenants.yaml:30:19 (template small)
  dev:                # tenants.yaml:31:23 (template small)
    hub: not granted  # label tier is 'hub', tenants.yaml:10:45 (cluster hub)
    edge: granted     # its labels match, tenants.yaml:13:20 (cluster edge)
    lone: granted     # its labels match, tenants.yaml:16:50 (cluster lone)
  r1:                 # tenants.yaml:31:23 (template small)
    edge: granted     # its labels match, tenants.yaml:13:20 (cluster edge)
    lone: granted     # its labels match, tenants.yaml:16:50 (cluster lone)
  prod: not granted   # tenants.yaml:31:23 (template small)
sources:
  - https://git.example.com/{tenant}/*  # tenants.yaml:23:9 (defaults)
    everywhere: https://git.example.com/blue-shop/*
  - oci://{registry}/{tenant}/*         # tenants.yaml:24:9 (defaults)
    dev on edge: oci://registry.edge.example.com/blue-shop/*
    dev on lone: oci://registry.dev.example.com/blue-shop/*
    r1 on edge: oci://registry.edge.example.com/blue-shop/*
    r1 on lone: oci://registry.dev.example.com/blue-shop/*
  -                                     # tenants.yaml:25:9 (defaults)
    https://charts.example.com/of/the/platform/team/stable
alerts: []  # default
settings:   # tenants.yaml:32:19 (template small)
  [interval, limits, namespaces, network, owners, quota, retryInterval, timeout]
never:
  [role, labels, annotations, podSecurity, objects, dependsOn, from, variables,
  grants, overrides, namespace, serviceAccount, clusterRoles, clusterObjects,
  clusterAdmin, environments, state, adopt]
"""


def test_a_tenant_gets_what_its_template_grants(capsys: Capture) -> None:
    assert BLUE == explain(capsys, "blue-shop")


PLAIN = """\
# grants of tenant plain
file: teams/plain.yaml  # tenants.yaml:3:5 (include)
frame: tenants.plain    # tenants.yaml:38:3 (tenant)
always:
  [sources, credentials, configs, apps, alerts, receivers, clusters, kustomize,
  helm]
clusters:           # names edge, except lone, tenants.yaml:38:46 (tenant)
  dev: not granted  # tenants.yaml:38:94 (tenant)
sources:
  - '*'  # tenants.yaml:38:30 (tenant)
alerts: []    # default
settings: []  # default
never:
  [role, labels, annotations, podSecurity, objects, dependsOn, from, variables,
  grants, overrides, namespace, serviceAccount, clusterRoles, clusterObjects,
  clusterAdmin, environments, state, adopt]
"""


def test_environments_that_are_not_granted_show_no_clusters(capsys: Capture) -> None:
    assert PLAIN == explain(capsys, "plain", "-e", "dev")


def test_every_line_fits_a_narrow_terminal(capsys: Capture) -> None:
    shown = "".join(explain(capsys, tenant) for tenant in ("rocky", "blue-shop", "plain"))
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_a_tenant_without_an_included_file_needs_no_grants(capsys: Capture) -> None:
    said = "tenant 'tina' needs no grants: no included file speaks of it, only tenants.yaml\n"
    assert said == explain(capsys, "tina")
    told = {"apiVersion": "tenantry/v1", "kind": "Explanation", "tenant": "tina", "rights": []}
    assert told == json.loads(explain(capsys, "tina", "--output", "json"))


RIGHTS = """
    clusterRoles:
      pv: {rules: [{apiGroups: [""], resources: [persistentvolumes], verbs: [get, list, watch, create, delete]}]}
      nodes: {role: node-reader}
"""


def test_rights_on_whole_clusters_are_shown_with_their_lines(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(FLEET.replace("  rocky:\n", f"  rocky:{RIGHTS}").replace("{}\n", RIGHTS))
    shown = [
        "rights on whole clusters:",
        "  nodes: role node-reader  # tenants.yaml:37:14 (tenant)",
        "  pv:                      # tenants.yaml:36:11 (tenant)",
        "    get, list, watch, create, delete persistentvolumes",
    ]
    lines = explain(capsys, "rocky").splitlines()
    assert lines[lines.index(shown[0]) :][:4] == shown
    assert explain(capsys, "tina").splitlines()[1] == shown[0]
    told = json.loads(explain(capsys, "rocky", "--output", "json"))["rights"]
    assert [(each["path"], each["value"], each["origin"]["location"]["line"]) for each in told] == [
        (["nodes"], "role node-reader", 37),
        (["pv"], "get, list, watch, create, delete persistentvolumes", 36),
    ]


def test_a_main_file_that_selects_no_clusters_grants_none(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(FLEET.replace("  clusters: {all: true}\n", ""))
    lines = explain(capsys, "rocky", "-e", "prod").splitlines()
    assert lines[6:9] == [
        "clusters:             # no selector, tenants.yaml:33:3 (tenant)",
        "  prod:",
        "    far: not granted  # no selector in the main file",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["rocky", "web", "--grants"],
            "error: --grants takes no APP and no --cluster\n  fix: omit them: it shows all clusters\n",
        ),
        (
            ["rocky", "-c", "hub", "--grants"],
            "error: --grants takes no APP and no --cluster\n  fix: omit them: it shows all clusters\n",
        ),
        (
            ["rocki", "--grants"],
            "error: tenants.yaml declares no tenant 'rocki' (declared: rocky, plain, tina, blue-shop)\n"
            "  fix: name 'rocky'\n",
        ),
        (
            ["rocky", "--grants", "-e", "prd"],
            "error: tenants.yaml declares no environment 'prd' (declared: dev, r1, prod)\n  fix: name 'prod'\n",
        ),
    ],
)
def test_what_has_no_grants_is_refused(arguments: list[str], expected: str, capsys: Capture) -> None:
    assert expected == refused(capsys, *arguments)


def test_the_option_is_completed() -> None:
    found = ShellComplete(app, {}, "tenantry", "_TENANTRY_COMPLETE").get_completions(["explain", "rocky"], "--g")
    assert ["--grants"] == [each.value for each in found]
