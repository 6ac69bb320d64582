"""Whether the management cluster serves the kinds of the platform team's own objects, which no definition of Flux covers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tenantry.cluster.requests import served_kinds
from tenantry.fleet.fleet import Fleet
from tenantry.kube.kinds import is_built_in, is_of_flux
from tenantry.kube.objects import ObjectId
from tenantry.messages.problems import Problem, error
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def unserved(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Problem]:
    """One problem for each kind that the cluster does not serve, or not where the file has it.

    Raises: Refused: reading is not allowed.
    """
    first: dict[tuple[str, str, bool], ObjectId] = {}
    for each in plan.objects:
        if not (is_built_in(each.id.api_version) or is_of_flux(each.id.api_version)):
            first.setdefault((each.id.api_version, each.id.kind, bool(each.id.namespace)), each.id)
    served = {api_version: served_kinds(client, api_version) for api_version in {version for version, *_ in first}}
    for (api_version, kind, _), id in first.items():
        at = fleet.source.line_of(plan.origins.get(id, ()))
        if kind not in served[api_version]:
            message = f"cluster '{plan.management}' does not serve {kind} of {api_version}, which {id} is ({at})"
            fix = "install its definition first, such as by an add-on, and declare the object once that runs"
            yield error("unknown-kind", message, fix)
        elif id.namespace and not served[api_version][kind].namespaced:
            message = f"{kind} of {api_version} is in no namespace on cluster '{plan.management}', but {id} is ({at})"
            yield error(
                "cluster-scoped", message, "declare it under the tenant's 'clusterObjects', or install it by an add-on"
            )
        elif served[api_version][kind].namespaced and not id.namespace:
            message = (
                f"{kind} of {api_version} is in a namespace on cluster '{plan.management}', but {id} is not ({at})"
            )
            yield error("namespaced", message, "declare it under the tenant's 'objects'")
