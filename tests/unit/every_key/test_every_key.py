"""Every key of the model is told by `explain`, by `parity` and by `diff`, or this page says why it is not.

`after.yaml` and `before.yaml` have every key between them: a new key of the model fails here until one of them has it, and then the
commands have to tell it.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tenantry.compare.diff import diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.model import PartKind
from tenantry.compare.review.parts import Planned
from tenantry.explain import explain_addon, explain_app, explain_platform, explain_tenant
from tenantry.explain.parity import Subject, parity
from tenantry.fleet.apps import MERGED
from tenantry.fleet.document import ANSWERED
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Origin
from tenantry.load import fleet_of, load_fleet, plan_all
from tenantry.messages.errors import Location
from tenantry.model import Addon, App, PlacedSettings
from tenantry.model.clusters import Environment
from tenantry.model.document import Platform, Tenant
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.unit.every_key.keys import Pattern, fits, of_data, of_model

HERE = Path(__file__).parent

ROOTS = ("clusterGroups", "clusters", "defaults", "environments", "platform", "tenants")
"""All but `apiVersion` and `include`, which say nothing of an object."""
LEVELS = {"overrides": "levels of the same keys", "grants": "permissions, which set nothing"}
WHOLE = {
    "policies": "Kubernetes' own structure, told as it is written",
    "rollout": "told in waves",
}
GROUPED = {
    "ClusterGroup": "the keys of its clusters, which take them over",
    "Cluster.group": "the same",
    "ObjectsChart.oci": "a third form of one key; its own keys are those of a source",
    "Selector": "where a part is",
    "TenantClass.class_": "the keys of its tenants, which take them over",
    "Excluded": "the same",
}
"""Keys below which no key is asked for."""


@cache
def side(name: str) -> tuple[Fleet, dict[str, Plan]]:
    fleet = load_fleet(HERE / f"{name}.yaml")
    return fleet, plan_all(fleet)


def leaves(fleet: Fleet) -> Iterator[Pattern]:
    for path, _ in of_data(fleet.source.data):
        if path[0] in ROOTS:
            yield tuple(map(str, path))


def test_the_two_files_have_every_key_of_the_model() -> None:
    places: dict[str, list[Pattern]] = {}
    for key, pattern in of_model():
        if pattern[0] in ROOTS and not {*LEVELS, *WHOLE} & set(pattern[:-1]) and pattern[-1] not in LEVELS:
            places.setdefault(str(key), []).append(pattern)
    there = [path for name in ("before", "after") for path in leaves(side(name)[0])]
    places = {key: at for key, at in places.items() if not {key, key.partition(".")[0]} & GROUPED.keys()}
    missing = [key for key, patterns in places.items() if not any(fits(p, at) for p in there for at in patterns)]
    assert missing == []


# --- explain --------------------------------------------------------------------------------------------------------


NOT_EXPLAINED: dict[Pattern, str] = {
    ("clusters", "*", "group"): "what it brings is told with the place in the group",
    ("clusters", "*", "labels"): "the reason why a cluster is selected",
    ("environments", "*", "after"): "the order of environments; a gate is told of each app",
    ("environments", "*", "extends"): "what it brings is told with the place in the other environment",
    ("environments", "*", "management"): "where all objects are",
    ("environments", "*", "maxDeletions"): "what a run may do",
    ("environments", "*", "namespace"): "told of tenants without a template of their own",
    ("environments", "*", "protected"): "what a run may do",
    ("environments", "*", "tenants"): "which tenants there are, for `list tenants`",
    ("clusters", "*", "variables"): "told of what uses them",
    ("clusterGroups", "*", "labels"): "the reason why a cluster is selected",
    ("clusterGroups", "*", "variables"): "told of what uses them",
    ("environments", "*", "variables"): "told of what uses them",
}
"""Lines about environments and clusters that no answer has to name. All others of them are told of the platform or of apps."""


def _places(found: Any) -> Iterator[Location]:
    """Every place in the file that an answer names."""
    if isinstance(found, Origin):
        yield found.location
    elif dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            yield from _places(getattr(found, field.name))
    elif isinstance(found, dict | tuple | list):
        for each in found.values() if isinstance(found, dict) else found:
            yield from _places(each)


def _answers(fleet: Fleet, plans: Iterable[Plan]) -> Iterator[Any]:
    for plan in plans:
        yield explain_platform(fleet, plan)
        yield from (explain_addon(fleet, plan, addon) for addon in fleet.document.platform.addons)
        for tenant, declared in fleet.document.tenants.items():
            yield explain_tenant(fleet, plan, tenant)
            yield from (explain_app(fleet, plan, tenant, app) for app in declared.apps)


def test_explain_tells_every_line_of_the_file() -> None:
    for name in ("before", "after"):
        fleet, plans = side(name)
        told = set(_places(list(_answers(fleet, plans.values()))))
        said = (path for path, value in of_data(fleet.source.data) if value != {})
        untold = [path for path in said if fleet.source.locate(path) not in told]
        untold = [path for path in untold if path[0] in ROOTS and not ANSWERED & set(map(str, path))]
        assert [path for path in untold if not any(fits(path, each) for each in NOT_EXPLAINED)] == []


# --- parity ---------------------------------------------------------------------------------------------------------

PLACEHOLDERS = """
platform:
  configs: {settings: {data: {stage: "{stage}"}}}
  alerts: {chat: {provider: {type: slack, channel: "{stage}"}, credentials: chat}}
  chart: {helm: {url: "https://charts.example.com/{stage}", version: 1.0.0}}
tenants:
  rocky:
    configs: {env: {data: {STAGE: "{stage}"}}}
    alerts: {chat: {provider: {type: slack, channel: "{stage}"}, credentials: git}}
    receivers: {hook: {type: generic, credentials: git, resourceFilter: "{stage}"}}
    clusterObjects: {fast: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {labels: {a: "{stage}"}}, value: 1}}
    namespaces: {jobs: {objects: {extra: {apiVersion: v1, kind: ConfigMap, data: {a: "{stage}"}}}}}
    sources: {main: {git: {url: "https://git.example.com/{stage}", ref: {tag: v1}}}}
    overrides: {clusters: {main: {state: offboarding}}}
"""

THE_SAME = {
    "account": "of an add-on as a whole",
    "adopt": "of a tenant or an add-on as a whole",
    "apps": "compared one by one",
    "addons": "compared one by one",
    "class_": "told by what it brings",
    "clusterAdmin": "of a tenant as a whole",
    "clusterRoles": "takes no placeholders",
    "credentials": "takes no placeholders",
    "keepCRDs": "of an add-on as a whole",
    "namespace": "told of each app",
    "reservedNamespaces": "of the platform as a whole",
    "scope": "of an add-on as a whole",
    "serviceAccount": "takes no placeholders",
    "sharedIdentity": "of the platform as a whole",
    "variables": "of a tenant as a whole",
}
"""Keys in which no two environments differ, as neither an override nor a placeholder can stand there."""


def _merged(base: Any, over: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {**base, **{key: _merged(base.get(key), value) for key, value in over.items()}}


def _paths(fleet: dict[str, Any], subject: tuple[str, str]) -> list[tuple[str | int, ...]]:
    """The differences between dev and prod of a tenant's app, an add-on, a tenant or the environments."""
    loaded = fleet_of(parse(yaml.safe_dump(fleet, sort_keys=False).encode(), "tenants.yaml"))
    plans = plan_all(loaded)
    found = parity(loaded, plans["dev"], plans["prod"]).differences
    return [each.path for each in found if any((one.tenant, one.app) == subject for one in each.subjects)]


def _said(entry: dict[str, Any]) -> dict[str, Any]:
    """What of an app an override can set, by its key, or by the key in its block."""
    blocks = {key: entry.get(key, {}) for key in ("kustomize", "helm")}
    others = {key: value for key, value in entry.items() if key in MERGED - blocks.keys()}
    return {**blocks["kustomize"], **blocks["helm"], **others}


def test_parity_tells_every_key_that_an_override_can_set() -> None:
    before, after = (yaml.safe_load((HERE / f"{name}.yaml").read_text()) for name in ("before", "after"))
    before["platform"] |= {key: after["platform"][key] for key in ("configs", "credentials")}
    old, new = before["tenants"]["rocky"], after["tenants"]["rocky"]
    old |= {key: new[key] for key in ("namespaces", "configs", "credentials", "clusterAdmin")}
    pairs = {("rocky", app): (old["apps"][app], new["apps"][app]) for app in ("web", "cache")}
    pairs["", "dns"] = (before["platform"]["addons"]["dns"], after["platform"]["addons"]["dns"])
    expected = {}
    for subject, (base, over) in pairs.items():
        expected[subject] = {key for key, value in _said(over).items() if _said(base).get(key) != value}
        base["overrides"] = {"environments": {"prod": {key: over[key] for key in MERGED & over.keys()}}}
    own = {key: new[key] for key in PlacedSettings.model_fields}
    old["overrides"] = {"environments": {"prod": own}}
    for subject, keys in expected.items():
        assert keys - {part for path in _paths(before, subject) for part in path[:2]} == set(), subject
    told = {path[0] for subject in (("rocky", ""), ("rocky", "branches")) for path in _paths(before, subject)}
    assert PlacedSettings.model_fields.keys() - told == set()


def test_parity_tells_every_other_key_in_which_environments_can_differ() -> None:
    fleet = _merged(yaml.safe_load((HERE / "before.yaml").read_text()), yaml.safe_load(PLACEHOLDERS))
    del fleet["platform"]["chart"]["git"]
    told = {
        Tenant: {path[0] for path in _paths(fleet, ("rocky", ""))},
        App: {path[0] for path in _paths(fleet, ("rocky", "web"))},
        Platform: {path[1] for path in _paths(fleet, ("", "")) if path[0] == "platform"},
    }
    for owner in (Tenant, Platform):
        told[owner] |= {"sources"} if "source" in told[App] else set()
    told[Addon] = told[App]
    for model, keys in told.items():
        rest = (
            model.model_fields.keys() - keys - PlacedSettings.model_fields.keys() - MERGED - ANSWERED - THE_SAME.keys()
        )
        # The state of an app is the same in all environments; `namespaces` of add-ons are compared as they are written.
        assert rest - ({"state", "namespaces"} if model in (App, Addon) else set()) == set(), model


OF_ITSELF = {
    "after": "its place among the environments",
    "extends": "told by what it brings",
    "management": "its place",
    "namespace": "told of each app",
    "tenants": "told by the apps that are missing",
    "variables": "told as the reason of what they fill in",
}
"""Keys of an environment that say what it is."""


def test_parity_tells_every_other_key_of_an_environment() -> None:
    fleet, plans = side("after")
    found = parity(fleet, plans["dev"], plans["prod"]).differences
    told = {each.path[0] for each in found if Subject("") in each.subjects}
    assert Environment.model_fields.keys() - told == OF_ITSELF.keys()


# --- diff -----------------------------------------------------------------------------------------------------------

NO_OBJECT = {
    "existing": "an object that others make",
    "reservedNamespaces": "a check of names",
    "maxDeletions": "read by the guard",
    "sharedIdentity": "a permission, told by what uses it",
}
OTHERWISE: dict[Pattern, str] = {
    ("*", "*", "clusters"): "by where the parts are",
    ("*", "*", "environments"): "by where the parts are",
    ("*", "*", "*", "*", "clusters"): "by where the parts are",
    ("*", "*", "*", "*", "environments"): "by where the parts are",
    ("clusterGroups",): "by the clusters that take it over",
    ("clusters", "*", "group"): "by what it brings",
    ("clusters", "*", "labels"): "by where the parts are",
    ("clusters", "*", "variables"): "by the values that it fills in",
    ("defaults",): "by the tenants that take them over",
    ("platform", "sources"): "by the add-ons that take them",
    **dict.fromkeys(
        ((*level, kind) for level in (("platform",), ("tenants", "*")) for kind in ("kustomize", "helm")),
        "by the apps that take them over",
    ),
    ("environments", "*", "extends"): "by what it brings",
    ("environments", "*", "tenants"): "by where the parts are",
    ("environments", "*", "variables"): "by the values that it fills in",
    ("tenants", "*", "namespaces", "*", "name"): "by the name of the part",
    ("platform", "addons", "*", "clusters"): "by where the parts are",
    ("platform", "addons", "*", "environments"): "by where the parts are",
    ("platform", "addons", "*", "scope"): "by the names of objects",
}
IN_SENTENCES = {"rollout", "state"}
"""What changes no object by itself, and what a review tells in other words than the key."""


def _told_by_diff() -> set[str]:
    """The settings of a review, as paths of the file without indices."""
    before, after = Planned(*side("before")), Planned(*side("after"))
    groups = {
        PartKind.APP: "apps",
        PartKind.ADDON: "addons",
        PartKind.SOURCE: "sources",
        PartKind.NAMESPACE: "namespaces",
    }
    told = set()
    for environment in review(diff_all(before.plans, after.plans), before, after).environments:
        for change in environment.clusters:
            of_cluster = change.part.kind is PartKind.CLUSTER
            owners = (
                [("clusters", name) for name in change.clusters] if of_cluster else [("environments", change.part.name)]
            )
            told |= {".".join((*owner, setting.key)) for owner in owners for setting in change.settings}
        for tenant in environment.tenants:
            for change in tenant.changes:
                own = ["tenants", tenant.tenant] if tenant.tenant else ["platform"]
                if change.part.kind in groups:
                    name = "jobs" if change.part.kind is PartKind.NAMESPACE else change.part.name
                    own += [groups[change.part.kind], name]
                told |= {".".join((*own, re.split(r"[\[ ]", setting.key)[0])) for setting in change.settings}
    return told


def test_diff_tells_every_line_that_changes() -> None:
    before, after = (dict(of_data(side(name)[0].source.data)) for name in ("before", "after"))
    told = _told_by_diff()
    untold = []
    for path, value in after.items():
        apart = {*NO_OBJECT, *IN_SENTENCES} & set(map(str, path)) or any(fits(path, each) for each in OTHERWISE)
        if path[0] not in ROOTS or apart or before.get(path) == value:
            continue
        words = list(itertools.takewhile(lambda part: isinstance(part, str), path))
        key = ".".join(words)
        if not any(f"{key}.".startswith(f"{each}.") or f"{each}.".startswith(f"{key}.") for each in told):
            untold.append(key)
    assert untold == []
