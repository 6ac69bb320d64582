"""A random walk through fleets: one edit of tenants.yaml after another, as people make them, drawn from a seed.

An edit is a pure function of the document and the random numbers. What it gives is a sound fleet; whether a run may take the
step is for `expected` to say.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from tenantry.render import to_yaml
from tests.faults.edits import accidents, apps, clusters, nothing, states, tenants
from tests.faults.expected import Data, kind_of

Edit: TypeAlias = Callable[[Data, Random], str]
"""Changes the document it is given, and says what it did; "" if there is nothing that it could do."""


@dataclass(frozen=True, slots=True)
class Step:
    """sort: which of the edits it is, in words. said: what was edited. same: it means nothing to any cluster.

    disturbed: what else happens before the run, in words.
    """

    document: Data
    sort: str
    said: str
    same: bool
    disturbed: str = ""


def step(document: Data, random: Random) -> Step:
    """The document after one edit more; the one that is given stays as it is."""
    while True:
        edited = copy.deepcopy(document)
        edit = random.choices(EDITS, WEIGHTS)[0]
        if said := edit(edited, random):
            _mend_dependencies(edited)
            return Step(edited, edit.__name__.replace("_", " "), said, same=edit in SAME)


def text_of(document: Data, said: str) -> str:
    """The file, with a comment that differs after each edit."""
    return f"# {said}\n{to_yaml([document])}"


def _mend_dependencies(document: Data) -> None:
    """An edit of an app keeps its dependencies valid: they exist, are of the same kind, and are on the same clusters."""
    for tenant in document["tenants"].values():
        for name, app in tenant["apps"].items():
            alike = {other for other, each in tenant["apps"].items() if kind_of(each) == kind_of(app)}
            elsewhere = {other for other, each in tenant["apps"].items() if "clusters" in each}
            wanted = [each for each in app.pop("dependsOn", ()) if each in alike and not {each, name} & elsewhere]
            if wanted and not _reaches(tenant["apps"], wanted, name):
                app["dependsOn"] = wanted


def _reaches(apps: Data, names: list[str], wanted: str) -> bool:
    return any(name == wanted or _reaches(apps, apps[name].get("dependsOn", []), wanted) for name in names)


SAME = (nothing.order_changes, nothing.comments_change)
_WEIGHTED: tuple[tuple[Edit, int], ...] = (
    (tenants.tenant_comes, 8),
    (tenants.tenant_goes, 4),
    (tenants.tenant_is_renamed, 2),
    (tenants.tenant_moves, 4),
    (tenants.setting_of_a_tenant, 6),
    (tenants.setting_of_the_defaults, 1),
    (tenants.namespace_comes, 3),
    (tenants.namespace_goes, 3),
    (tenants.app_goes_elsewhere, 3),
    (apps.app_comes, 6),
    (apps.app_goes, 4),
    (apps.app_is_renamed, 3),
    (apps.app_moves, 4),
    (apps.app_becomes_another_kind, 2),
    (apps.setting_of_an_app, 4),
    (apps.app_is_overridden, 5),
    (apps.source_is_renamed, 3),
    (clusters.cluster_leaves_or_comes_back, 4),
    (clusters.variable_of_a_cluster, 2),
    (clusters.setting_of_the_environment, 2),
    (clusters.addon_comes, 3),
    (clusters.addon_goes, 2),
    (states.state_of_a_tenant, 3),
    (states.state_of_an_app, 4),
    (states.state_of_an_addon, 2),
    (states.state_of_a_cluster, 3),
    (states.all_is_active_again, 5),
    (accidents.all_tenants_go, 2),
    (accidents.many_apps_go, 2),
    (accidents.another_kubeconfig, 2),
    (nothing.order_changes, 2),
    (nothing.comments_change, 2),
)
EDITS = tuple(edit for edit, _ in _WEIGHTED)
WEIGHTS = tuple(weight for _, weight in _WEIGHTED)
