"""Every key of the model comes back when the planned objects are imported, or this page says why it cannot."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from tenantry.importing.drafting import Draft, drafted
from tenantry.importing.proof import Report, report_of
from tenantry.importing.resources import Reading, inventory
from tenantry.importing.text import text_of
from tenantry.load import fleet_of, plan_all
from tenantry.render import write_directory
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.every_key.keys import Pattern, fits, of_data, of_model
from tests.unit.importing.test_round_trip import below

HERE = Path(__file__).parent
ROOTS = ("defaults", "platform", "tenants")
WHOLE = {
    "grants": "permissions, which set nothing",
    "overrides": "levels of the same keys",
    "waves": "in which order a run changes clusters, which no object says",
}
"""Keys below which no key is asked for."""

BY_NATURE = {
    "App.waves": "in which order a run changes clusters, which no object says",
    "Credentials.keys": "Secrets are not read: the entry says that they exist",
    "Credentials.registry": "Secrets are not read: the entry says that they exist",
    "ExtraNamespace.state": "permits a removal, which is for people to decide",
    "Tenant.environments": "said of each app",
    **dict.fromkeys(
        ("Platform.helm", "Platform.kustomize", "Tenant.helm", "Tenant.kustomize"),
        "said of each app",
    ),
    "Platform.reservedNamespaces": "a check of names",
    "Platform.sharedIdentity": "a permission, which sets nothing",
    "Excluded.labels": "clusters are named",
    "Excluded.names": "clusters are named",
    "Selector.exclude": "clusters are named",
    "Selector.labels": "clusters are named",
    "Tenant.variables": "told by what they fill in, and the reader of an object cannot tell a variable from a text",
    "Tenant.from_": "tenants are written out, also those that are alike",
}
"""Keys that do not come back from any object, and why."""

PARTLY = """
clusters: {edge: {state: active}}
platform:
  chart:
    helm: null
    oci: {url: "oci://charts.example.com/new/tenantry-objects", ref: {semver: 0.x}, verify: {provider: cosign}}
  addons:
    log:
      environments: [dev]
      source: {git: null, helm: {url: https://charts.example.com/log}}
      kustomize: null
      helm: {chart: log, version: 1.0.0}
      state: paused
    dns:
      clusters: {all: null, names: [hub, main]}
      namespaces: {dns: {objects: {ca: {metadata: {name: root.crt}}}}}
tenants:
  rocky:
    namespace: own-{tenant}
    dependsOn: [platform/log]
    clusterRoles: {nodes: {role: cluster-admin}}
    clusterObjects: {fast: {metadata: {labels: {a: b}}}}
    namespaces: {jobs: {name: "work-{namespace}"}}
    state: active
    environments: [dev]
    apps:
      named: {clusters: {names: [hub]}, dependsOn: [branches]}
      cache: {clusters: {names: [edge]}}
      web:
        kustomize: {postBuild: {substituteFrom: [{kind: ConfigMap, name: there}]}}
        environments: null
        dependsOn: null
        waves: null
"""
"""What `after.yaml` does not show: what it says of the whole, the order of two releases, and names of the author's own."""


def _merged(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    merged = {**base, **{key: _merged(base.get(key), value) for key, value in over.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def _without_last(data: Any) -> Any:
    """A file without its last environment: its clusters show the kinds of kubeconfigs, whose keys `import` does not read."""
    here = {"dev", "prod"}
    gone = {name for name, cluster in data["clusters"].items() if not here & set(cluster.get("environments", ()))}

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [without(item) for item in value if not (isinstance(item, str) and item in gone)]
        return value

    kept = {key: value for key, value in without(data).items() if key != "templates"}
    kept["clusters"] = {name: cluster for name, cluster in kept["clusters"].items() if name not in gone}
    kept["environments"] = {name: kept["environments"][name] for name in kept["environments"] if name in here}
    return kept


def fleets() -> dict[str, dict[str, Any]]:
    before, after = (_without_last(yaml.safe_load((HERE / f"{name}.yaml").read_text())) for name in ("before", "after"))
    return {"before": before, "after": after, "partly": _merged(after, yaml.safe_load(PARTLY))}


@cache
def imported(name: str) -> tuple[Draft, Report]:
    plans = plan_all(fleet_of(parse(text_of(fleets()[name]).encode(), "tenants.yaml")))
    with TemporaryDirectory() as directory:
        root = Path(directory)
        for environment, plan in plans.items():
            write_directory(plan, root / environment)
        found = {each: Reading(below(root / each, root)) for each in plans}
    read = inventory(found, {each: plan.management for each, plan in plans.items()})
    draft = drafted(read)
    return draft, report_of(read, draft, text_of(draft.data), "tenants.yaml")


def test_every_key_of_the_model_comes_back() -> None:
    back = [tuple(map(str, path)) for name in fleets() for path, _ in of_data(imported(name)[0].data)]
    places: dict[str, list[Pattern]] = {}
    for key, pattern in of_model():
        if pattern[0] in ROOTS and pattern[-1] not in ("grants", "overrides"):
            places.setdefault(str(key), []).append(pattern)
    asked = {key for key, patterns in places.items() if not all(set(WHOLE) & set(each[:-1]) for each in patterns)}
    lost = {key for key in asked if not any(fits(path, at) for path in back for at in places[key])}
    assert lost == BY_NATURE.keys()


@table("name", fleets())
def test_what_comes_back_plans_the_same_objects(name: str) -> None:
    report = imported(name)[1]
    counts = report.counts
    assert (counts["inexpressible"], counts["added"]) == (0, 0)
    assert {each.id.kind for each in report.objects if each.outcome == "left"} <= {"ConfigMap"}
    changed = {field.path[-1] for each in report.objects for field in each.changed}
    assert changed - WITHOUT_OVERRIDES == (OFFBOARDING if name != "before" else set())


WITHOUT_OVERRIDES = {"channel"}
"""A field of an alert that differs between environments: like ConfigMaps, alerts have no overrides."""
OFFBOARDING = {"helm.sh/resource-policy", "tenantry/state"}
"""What the state of a namespace leaves in its manifest."""
