"""What the next run adopts: what that changes, and what of the former owner's remains and has to be dealt with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tenantry.cluster.kubectl import RECONCILE, chart_patch, leave_alone, resume, suspend
from tenantry.cluster.leftovers import Rights, foreign_bindings, format_bindings
from tenantry.cluster.reading import APP_KINDS
from tenantry.cluster.requests import every, one
from tenantry.cluster.running import inventory_of
from tenantry.facts.objects import Changed, FieldChange, changed_fields, projected
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, group_of, object_id, readable_id
from tenantry.messages.data import ABSENT, mapping_at, with_texts
from tenantry.messages.errors import Problem, error, warning
from tenantry.messages.redact import redacted
from tenantry.messages.text import counted, lines_of, listed
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Difference

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


NOT_SHOWN = "(not shown)"
_OPAQUE = (("data",), ("stringData",), ("spec", "values"), ("spec", "postBuild", "substitute"))
"""Fields in which former owners may have written secrets."""
_PROVIDER = "pulumi.com/"


@dataclass(frozen=True, slots=True)
class Adoption:
    """The adoption for one tenant. taken: the adopted objects, with the fields that change; made: objects that are created."""

    tenant: str
    taken: tuple[Changed, ...]
    made: tuple[ObjectId, ...]


def adopters(plan: Plan, strangers: Set[ObjectId], adopting: frozenset[str]) -> Set[str]:
    """The tenants that take something over."""
    return {planned.owner.tenant for planned in plan.objects if planned.id in strangers} & adopting


def adoptions(
    plan: Plan, differences: Iterable[Difference], strangers: Set[ObjectId], adopting: frozenset[str]
) -> Iterator[Adoption]:
    """The adoption for each tenant that adopts something.

    differences: of all of its objects. One that is not the environment's lacks its label, so it differs.
    """
    live = {difference.id: difference.live for difference in differences}
    for tenant in sorted(adopters(plan, strangers, adopting)):
        own = [planned for planned in plan.objects if planned.owner.tenant == tenant and planned.id in live]
        taken = [_taken(planned, there) for planned in own if planned.id in strangers and (there := live[planned.id])]
        yield Adoption(tenant, tuple(taken), tuple(planned.id for planned in own if live[planned.id] is None))


def _taken(planned: KubeObject, live: Manifest) -> Changed:
    wanted = _wanted(planned)
    fields = tuple(map(_presentable, changed_fields(projected(live, wanted), wanted)))
    return Changed(replace(planned, manifest=live), planned, fields)


def _wanted(planned: KubeObject) -> dict[str, Any]:
    """The fields that an apply sets, without the provider's annotations. Of a Secret, whose values no plan knows, its metadata."""
    metadata: dict[str, Any] = dict(planned.manifest["metadata"])
    annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if _PROVIDER not in key}
    metadata |= {"annotations": annotations} if annotations else {}
    return {**({} if planned.id.kind == "Secret" else planned.manifest), "metadata": metadata}


def _presentable(change: FieldChange) -> FieldChange:
    """The change without values that may be a former owner's secrets: in values of charts, and in addresses."""
    if change.before is ABSENT:
        return change
    opaque = any(change.path[: len(path)] == path for path in _OPAQUE)
    return replace(change, before=NOT_SHOWN if opaque else with_texts(change.before, redacted))


# --- what adopting does not bring about -----------------------------------------------------------------------------


def keeps_chart(planned: KubeObject, live: Manifest | None) -> bool:
    """Whether a release has a `spec.chart`, which an apply would leave beside the plan's `chartRef`."""
    return planned.id.kind == "HelmRelease" and "chart" in mapping_at(live or {}, "spec")


def check_adoptions(client: Client, plan: Plan, adoptions: Iterable[Adoption]) -> Iterator[Problem]:
    """Settings of the former owner that remain and prevent Flux from doing what the plan says, and what Flux would delete.

    Raises: Refused: a source may not be read.
    """
    sources = {planned.id: planned.manifest for planned in plan.objects}
    for change in (taken for adoption in adoptions for taken in adoption.taken):
        spec, wanted = (mapping_at(side.manifest, "spec") for side in (change.before, change.after))
        if keeps_chart(change.after, change.before.manifest):
            yield error(
                "not-adoptable",
                f"{change.id} has 'spec.chart', which would remain beside the plan's 'chartRef': the API server rejects"
                " objects with both",
                f"right before `tenantry up`: {chart_patch(change.after)}; what is installed keeps running, and the release is"
                " ready again when its chart exists",
            )
        if spec.get("suspend") and "suspend" not in wanted:
            yield warning(
                "stays-suspended",
                f"{change.id} is suspended, and stays suspended when it is taken over",
                f"after `tenantry up`: {resume(change.id)}",
            )
        other = sorted({str(field.path[1]) for field in change.fields if field.path[:2] in _MANIFESTS})
        if mapping_at(spec, "sourceRef") != (reference := mapping_at(wanted, "sourceRef")) and reference:
            before, after = (_source(side.manifest) for side in (change.before, change.after))
            if _content(one(client, before)) != _content(sources.get(after)):
                other.append("sourceRef")
        if other and wanted.get("prune") and (held := inventory_of(change.before.manifest)):
            yield warning(
                "may-prune",
                f"{change.id} would apply other manifests ({listed(other)}): of the {counted(len(held), 'object')} that it"
                " holds, Flux deletes those that these do not have",
                "keep these fields as they are in tenants.yaml, or see that the new manifests hold the same objects",
            )


_MANIFESTS = tuple(("spec", key) for key in ("path", "components", "targetNamespace"))
"""Fields of a Kustomization that say which objects it applies, beside its source."""
_CONTENT = ("url", "endpoint", "bucketName", "prefix", "ref", "ignore", "include", "layerSelector", "recurseSubmodules")
"""What decides the content of a source. One of another name can have the same."""


def _source(kustomization: Manifest) -> ObjectId:
    named, id = mapping_at(kustomization, "spec", "sourceRef"), object_id(kustomization)
    kind = str(named.get("kind"))
    api_version = schema_of(kind).api_version if kind in kinds() else str(named.get("apiVersion"))
    return ObjectId(api_version, kind, str(named.get("namespace") or id.namespace), str(named.get("name")))


def _content(source: Manifest | None) -> list[object]:
    spec = mapping_at(source or {}, "spec")
    return [str(spec.get(key)).removesuffix("/").removesuffix(".git") for key in _CONTENT]


def check_appliers(client: Client, taken: Mapping[ObjectId, Manifest], planned: Set[ObjectId]) -> Iterator[Problem]:
    """Kustomizations that apply what a run takes over: they would set it back, and prune what loses its file.

    taken: the objects as they are. Raises: Refused: reading is not allowed.
    """
    by_key = {_key(id): id for id in taken}
    for kustomization in every(client, APP_KINDS["Kustomization"], "Kustomization") if taken else ():
        spec, owner = mapping_at(kustomization, "spec"), readable_id(kustomization)
        if spec.get("suspend") or "kubeConfig" in spec or owner is None or owner in planned:
            continue
        held = [by_key.get(_key(id)) for id in inventory_of(kustomization) or ()]
        applied = [
            id for id in held if id and mapping_at(taken[id], "metadata", "annotations").get(RECONCILE) != "disabled"
        ]
        if applied:
            them = "it" if len(applied) == 1 else "them"
            whole = len(applied) == len(held)
            ways = [suspend(owner)] if whole else leave_alone(applied)
            yield warning(
                "still-applied",
                f"{owner} applies {counted(len(applied), 'object')} of the plan, sets {them} back, and deletes {them} when"
                f" {'its file is' if len(applied) == 1 else 'their files are'} gone\n{lines_of(applied)}",
                f"before `tenantry up`{'' if whole else ', if no step of the import suspends it'}:\n    "
                + "\n    ".join(ways),
            )


def _key(id: ObjectId) -> tuple[str, str, str, str]:
    """The identity of an object in all versions of its group."""
    return group_of(id.api_version), id.kind, id.namespace, id.name


# --- rights that others have ------------------------------------------------------------------------------------------


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
