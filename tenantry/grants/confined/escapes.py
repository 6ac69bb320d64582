"""Whether a plan is confined: nothing of a tenant that has a team's file reaches what the main file does not give it.

This checks the planner, so it shares nothing with it. It asks the frame, which is the fleet as the main file alone declares it,
with the merged grants, and judges planned objects by what they say themselves.

Called by: `load`, for every plan of a fleet with team files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.grants.confined.flux import Check
from tenantry.grants.confined.place import ENVIRONMENT, TENANT, labels_of
from tenantry.grants.confined.plan import Planned
from tenantry.kube.objects import KubeObject


def escapes(
    frame: Fleet, environment: str, objects: Iterable[KubeObject], adopting: Iterable[str], at_once: Iterable[str]
) -> Iterator[str]:
    """Everything by which a tenant with a team's file leaves its frame, in words; nothing if the plan is confined.

    adopting: the tenants that take over what exists. at_once: the apps, as `tenant/app`, that keep out of the waves.
    """
    yield from _of_objects(Planned(frame, environment, tuple(objects)))
    for tenant in adopting:
        if tenant in frame.source.fills and not frame.document.tenants[tenant].adopt:
            yield f"tenant '{tenant}' takes over objects that exist already"
    for name in at_once:
        tenant, _, app = name.partition("/")
        if tenant in frame.source.fills and "rollout" not in frame.raw("tenants", tenant, "apps", app):
            yield f"app '{name}' does not keep to the waves of its environment"


def _of_objects(planned: Planned) -> Iterator[str]:
    for each in planned.objects:
        labels = labels_of(each.manifest)
        if (tenant := labels.get(TENANT)) not in planned.frame.source.fills:
            continue
        shown = f"{each.id} of tenant '{tenant}'"
        if labels.get(ENVIRONMENT) != planned.environment or tenant not in planned.frame.document.tenants:
            yield f"{shown} is of an environment or a tenant that the main file does not have here"
            continue
        places = [planned.place(tenant, name) for name in planned.clusters_of(each, labels)]
        if not places:
            yield f"{shown} is for no cluster of the environment"
            continue
        # What clusters share has one of them that gives it.
        found: list[str] = []
        for place in places:
            found = list(Check(planned, place, each).problems())
            if not found:
                break
        yield from (f"{shown} {problem}" for problem in found)
