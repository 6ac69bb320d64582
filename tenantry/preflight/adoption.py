"""What the next run adopts, and what a remote cluster has already under the names that the plan uses there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tenantry.cluster.kubectl import chart_patch, resume
from tenantry.cluster.requests import every, in_parallel
from tenantry.cluster.rights import Rights, foreign_bindings, format_bindings
from tenantry.facts.objects import Changed, FieldChange, changed_fields, projected
from tenantry.kube.objects import REGISTRY_KEY, KubeObject, Manifest, ObjectId
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import Problem, error, warning
from tenantry.messages.redact import redacted
from tenantry.messages.text import listed
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


NOT_SHOWN = "(not shown)"
_OPAQUE = (("data",), ("stringData",), ("spec", "values"), ("spec", "postBuild", "substitute"))
"""Fields in which former owners may have written secrets."""
_PROVIDER = "pulumi.com/"
_FROM_CONFIG = "(from the stack's config)"


@dataclass(frozen=True, slots=True)
class Adoption:
    """The adoption for one tenant. taken: the adopted objects, with the fields that change; made: objects that are created."""

    tenant: str
    taken: tuple[Changed, ...]
    made: tuple[ObjectId, ...]


def adoptions(
    plan: Plan, strangers: Set[ObjectId], adopting: frozenset[str], read: Callable[[ObjectId], Manifest | None]
) -> Iterator[Adoption]:
    """The adoption for each tenant that adopts something. Raises: Refused: an object cannot be read."""
    affected = {planned.owner.tenant for planned in plan.objects if planned.id in strangers} & adopting
    objects = [planned for planned in plan.objects if planned.owner.tenant in affected]
    ids = [planned.id for planned in objects]
    live = dict(zip(ids, in_parallel(read, ids), strict=True))
    for tenant in sorted(affected):
        own = [planned for planned in objects if planned.owner.tenant == tenant]
        taken = [_taken(planned, there) for planned in own if planned.id in strangers and (there := live[planned.id])]
        yield Adoption(tenant, tuple(taken), tuple(planned.id for planned in own if live[planned.id] is None))


def _taken(planned: KubeObject, live: Manifest) -> Changed:
    wanted = _wanted(planned)
    fields = [presentable(field) for field in changed_fields(projected(live, wanted), wanted)]
    if planned.secret:
        fields = [_from_config(field) if field.path[0] == "data" else field for field in fields]
    return Changed(replace(planned, manifest=live), planned, tuple(fields))


def _wanted(planned: KubeObject) -> dict[str, Any]:
    """The fields that an apply sets, without the provider's annotations. For a Secret, only the names of its values."""
    metadata: dict[str, Any] = dict(planned.manifest["metadata"])
    annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if _PROVIDER not in key}
    wanted = {**planned.manifest, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}
    if planned.secret:
        keys = [REGISTRY_KEY] if planned.secret.registry else planned.secret.keys
        wanted["data"] = dict.fromkeys(keys, _FROM_CONFIG)
    return wanted


def _from_config(change: FieldChange) -> FieldChange:
    """The change with the planned values of a Secret as what they are: no secrets, because a plan knows none."""
    after = change.after
    return replace(change, after=dict.fromkeys(after, _FROM_CONFIG) if isinstance(after, dict) else _FROM_CONFIG)


def presentable(change: FieldChange) -> FieldChange:
    """The change without values that may be a former owner's secrets: in Secrets, values of charts and URLs."""
    if change.before is ABSENT:
        return change
    opaque = any(change.path[: len(path)] == path for path in _OPAQUE)
    return replace(change, before=NOT_SHOWN if opaque else _redacted(change.before))


def _redacted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _redacted(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_redacted(part) for part in value]
    return redacted(value) if isinstance(value, str) else value


# --- what adopting does not bring about -----------------------------------------------------------------------------


def check_adoptions(adoptions: Iterable[Adoption]) -> Iterator[Problem]:
    """Settings of the former owner that remain and prevent Flux from doing what the plan says."""
    for change in (taken for adoption in adoptions for taken in adoption.taken):
        spec = mapping_at(change.before.manifest, "spec")
        if change.id.kind == "HelmRelease" and "chart" in spec:
            yield error(
                "not-adoptable",
                f"{change.id} has 'spec.chart', which would remain beside the plan's 'chartRef': the API server rejects"
                " objects with both",
                f"right before `tenantry up`: {chart_patch(change.after)}; what is installed keeps running, and the release is"
                " ready again when its chart exists",
            )
        if spec.get("suspend") and "suspend" not in (change.after.manifest.get("spec") or {}):
            yield warning(
                "stays-suspended",
                f"{change.id} is suspended, and stays suspended when it is taken over",
                f"after `tenantry up`: {resume(change.id)}",
            )


def check_rights(client: Client, rights: Mapping[str, Rights]) -> Iterator[Problem]:
    """Role bindings on a cluster that the fleet did not make. Raises: Refused: they may not be read."""
    for message, fix in format_bindings(foreign_bindings(client, rights)):
        yield warning("foreign-rights", message, fix)


def check_accounts(client: Client, namespace: str, impersonated: tuple[str, ...]) -> Iterator[Problem]:
    """Service accounts that are there under the names that Flux acts as: it would have their rights too.

    Args:   namespace: of the kubeconfig. Raises: Refused: they cannot be read.
    """
    names = {account["metadata"]["name"] for account in every(client, "v1", "ServiceAccount", namespace=namespace)}
    if same := [account for account in impersonated if account in names]:
        yield error(
            "same-account",
            f"it has service accounts of its own in namespace '{namespace}' called {listed(same)}: Flux would act with their"
            " rights",
            "keep the cluster's kubeconfig in a namespace that does not exist on it; or, if they are new, rename the tenants",
        )
