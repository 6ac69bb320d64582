"""Whether a plan is confined: nothing of a tenant that has a team's file reaches what the main file does not give it.

This checks the planner, so it shares nothing with it. It asks the frame, which is the fleet as the main file alone declares it,
with the merged grants, and judges planned objects by what they say themselves.

Called by: `load`, for every plan of a fleet with team files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.fleet.fleet import Fleet
from tenantry.grants.confined.objects import Object
from tenantry.grants.confined.place import APP, ENVIRONMENT, TENANT, Planned
from tenantry.kube.objects import KubeObject, labels_of


def escapes(
    frame: Fleet, environment: str, objects: Iterable[KubeObject], adopting: Iterable[str], at_once: Iterable[str]
) -> Iterator[str]:
    """Everything by which a tenant with a team's file leaves its frame, in words; nothing if the plan is confined.

    adopting: the tenants that take over what exists. at_once: the apps, as `tenant/app`, that keep out of the waves.
    """
    plan = Planned(frame, environment, tuple(objects))
    for planned in plan.objects:
        # The planner may have left the label out.
        tenant = str(labels_of(planned.manifest).get(TENANT) or planned.owner.tenant)
        if tenant in frame.source.fills:
            yield from (f"{planned.id} of tenant '{tenant}' {problem}" for problem in _problems(plan, planned, tenant))
    for tenant in adopting:
        if tenant in frame.source.fills and not frame.document.tenants[tenant].adopt:
            yield f"tenant '{tenant}' takes over objects that exist already"
    for name in at_once:
        tenant, _, app = name.partition("/")
        if tenant in frame.source.fills and "waves" not in frame.raw("tenants", tenant, "apps", app):
            yield f"app '{name}' does not keep to the waves of its environment"


def _problems(plan: Planned, planned: KubeObject, tenant: str) -> list[str]:
    labels = labels_of(planned.manifest)
    known = labels.get(TENANT) == tenant and labels.get(ENVIRONMENT) == plan.environment
    if not known or tenant not in plan.fleet.document.tenants:
        return ["is of an environment or a tenant that the main file does not have here"]
    problems = ["is for no cluster of the environment"]
    for cluster in plan.clusters_of(planned, labels):
        place = plan.place(tenant, cluster)
        # Apps may run as an account of the tenant wherever the tenant is.
        misplaced = place.misplaced(labels.get(APP, "")) if planned.id.kind != "ServiceAccount" else ()
        problems = [*misplaced, *Object(plan, place, planned.manifest, planned.depends_on).problems()]
        # What clusters share has one of them that gives it.
        if not problems:
            break
    return problems
