"""What a class says of a source, equal for all of its tenants, is one object of the platform on remote clusters."""

from __future__ import annotations

import re

from tenantry.load import fleet_of, plan_all
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.table import table

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {secret: {name: edge, namespace: clusters, key: value}}}
  far: {environments: [dev], kubeconfig: {secret: {name: far, namespace: clusters, key: value}}}
platform: {chart: {git: {url: "https://git.example.com/objects", ref: {tag: v1}, path: .}}}
defaults: {clusters: {names: [edge, far]}}
templates:
  tenants:
    customer:
      credentials: {key: {keys: [username, password, lead.asc]}}
      variables: {tag: 4.2.0}
      sources: {charts: {SOURCE}}
      apps: {app: {APP}}
tenants:
  acme: {from: customer, ACME}
  bolt: {from: customer, BOLT}
"""
CHARTS = "helm: {url: 'https://charts.example.com'}"
GIT = "git: {url: 'https://git.example.com/shop', ref: {tag: '{tag}'}}"
SHOP = "helm: {source: charts, chart: shop, version: 4.2.0}"
MANIFESTS = "kustomize: {source: charts}"


def plan(source: str = CHARTS, app: str = SHOP, acme: str = "", bolt: str = "") -> Plan:
    text = FLEET.replace("SOURCE", source).replace("APP", app).replace("ACME", acme).replace("BOLT", bolt)
    return plan_all(fleet_of(parse(text.encode(), "tenants.yaml")))["dev"]


def sources(plan: Plan) -> list[str]:
    """Without digests."""
    kinds = ("HelmRepository", "HelmChart", "GitRepository")
    names = [each.id.name for each in plan.objects if each.id.kind in kinds and "objects" not in each.id.name]
    return [re.sub(r"[.-][0-9a-f]{8}$", "", name) for name in names]


SIGNED = GIT.replace("ref:", "verify: {mode: HEAD, secretRef: {name: key}}, ref:")
OWN = ["acme.charts", "acme.charts.shop", "bolt.charts", "bolt.charts.shop"]
PLATFORMS = ["tenantry-system.charts", "tenantry-system.charts.shop"]
WHOSE: list[tuple[str, dict[str, str], list[str]]] = [
    ("equal for all", {}, PLATFORMS),
    ("a variable of the class", {"source": GIT, "app": MANIFESTS}, PLATFORMS[:1]),
    (
        "a variable of a tenant",
        {"source": GIT, "app": MANIFESTS, "acme": "variables: {tag: '5'}"},
        ["acme.charts", *PLATFORMS[:1]],
    ),
    (
        "a tenant's version",
        {"acme": "apps: {app: {helm: {version: 5.x}}}"},
        [*PLATFORMS[:1], "acme.charts.shop", PLATFORMS[1]],
    ),
    ("a tenant's interval", {"acme": "interval: 1m"}, [*PLATFORMS[:1], "acme.charts.shop", PLATFORMS[1]]),
    ("a tenant's times of the app", {"acme": "apps: {app: {helm: {interval: 1m}}}"}, PLATFORMS),
    ("credentials", {"source": f"{CHARTS}, credentials: key"}, OWN),
    ("a Secret", {"source": SIGNED, "app": MANIFESTS}, OWN[::2]),
    ("on the management cluster", {"acme": "clusters: {names: [hub]}"}, ["charts", "charts-shop", *PLATFORMS]),
]
"""What, the fleet, and the names of sources and charts without digests."""


@table("what, given, names", WHOSE, ids=lambda row: row[0])
def test_the_platform_is_the_author_of_what_a_class_says_for_all(
    what: str, given: dict[str, str], names: list[str]
) -> None:
    assert sources(plan(**given)) == names, what


def test_it_belongs_to_no_tenant_and_all_of_their_apps_take_it() -> None:
    planned = plan()
    chart = next(each for each in planned.objects if each.id.name.startswith("tenantry-system.charts.shop"))
    assert "toolkit.fluxcd.io/tenant" not in chart.manifest["metadata"]["labels"]
    assert chart.owner == ("", "")
    taken = [each.manifest["spec"]["chartRef"]["name"] for each in planned.objects if each.id.name.endswith("-app")]
    assert taken == [chart.id.name] * 4


def test_a_tenant_that_leaves_takes_nothing_of_the_others_with_it() -> None:
    before, after = ({each.id for each in plan(bolt=bolt).objects} for bolt in ("", "clusters: {names: [hub]}"))
    assert not {str(id) for id in before - after if id.name.startswith("tenantry-system.")}
