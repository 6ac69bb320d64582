"""Whether the management cluster serves the kinds of the platform team's own objects, which no definition of Flux covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tenantry.cluster.requests import namespaced_kinds
from tenantry.fleet.fleet import Fleet
from tenantry.kube.kinds import is_built_in, is_of_flux
from tenantry.kube.objects import ObjectId
from tenantry.messages.problems import Problem, error
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def unserved(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Problem]:
    """One problem for each kind that the cluster does not serve in namespaces. Raises: Refused: reading is not allowed."""
    first: dict[tuple[str, str], ObjectId] = {}
    for each in plan.objects:
        if not (is_built_in(each.id.api_version) or is_of_flux(each.id.api_version)):
            first.setdefault((each.id.api_version, each.id.kind), each.id)
    served = {api_version: namespaced_kinds(client, api_version) for api_version in {version for version, _ in first}}
    for (api_version, kind), id in first.items():
        at = fleet.source.line_of(plan.origins.get(id, ()))
        if kind not in served[api_version]:
            message = f"cluster '{plan.management}' does not serve {kind} of {api_version}, which {id} is ({at})"
            fix = "install its definition first, such as by an add-on, and declare the object once that runs"
            yield error("unknown-kind", message, fix)
        elif not served[api_version][kind]:
            message = f"{kind} of {api_version} is in no namespace on cluster '{plan.management}', but {id} is ({at})"
            yield error("cluster-scoped", message, "install it by an add-on's chart or manifests")
