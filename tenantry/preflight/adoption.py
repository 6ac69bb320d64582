"""What the next run adopts, and what it would make of each planned object, as a dry run of the API server says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cluster import requests
from tenantry.cluster.drift import compare, essence, manager_of
from tenantry.cluster.kubectl import RECONCILE, chart_patch, leave_alone, resume, suspend
from tenantry.cluster.leftovers import Rights, foreign_bindings, format_bindings
from tenantry.cluster.reading import read_objects
from tenantry.cluster.requests import every, in_parallel
from tenantry.cluster.running import inventory_of
from tenantry.facts.objects import Changed, FieldChange, changed_fields, projected
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import REGISTRY_KEY, KubeObject, Manifest, ObjectId, group_of, object_id, readable_id
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Problem, Refused, error, warning
from tenantry.messages.redact import redacted
from tenantry.messages.text import counted, lines_of, listed
from tenantry.model.durations import seconds_of
from tenantry.plan.objects.scope import MARKS
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


_CONTENT = ("url", "endpoint", "bucketName", "prefix", "ref", "ignore", "include", "layerSelector", "recurseSubmodules")
"""What decides the content of a source."""
_TIMES = (("spec", "interval"), ("spec", "retryInterval"), ("spec", "timeout"))


class Rejected(NamedTuple):
    """An object that the API server would not take. reason: what the server says."""

    id: ObjectId
    reason: str


@dataclass(frozen=True, slots=True)
class DryRun:
    """What becomes of the planned objects; each is in one of the first five.

    equal: nothing changes. marked: they get labels and annotations of Tenantry, and nothing else changes in effect.
    made: they are new.
    deleted: objects with the environment's labels that the plan does not have.
    """

    equal: tuple[ObjectId, ...]
    marked: tuple[ObjectId, ...]
    changed: tuple[Changed, ...]
    made: tuple[ObjectId, ...]
    rejected: tuple[Rejected, ...]
    deleted: tuple[ObjectId, ...]


class _Answer(NamedTuple):
    """A planned object, how it is and how it would be. rejected: why the server does not take it, or ""."""

    planned: KubeObject
    before: Manifest | None
    after: Manifest | None
    rejected: str = ""

    @property
    def fields(self) -> list[FieldChange]:
        """The fields that change in effect, without Tenantry's own labels and annotations."""
        changes = changed_fields(self._essence(self.before), self._essence(self.after))
        return [field for field in changes if not (_is_mark(field) or _is_same_time(field))]

    @property
    def is_same(self) -> bool:
        return self._essence(self.before) == self._essence(self.after)

    def _essence(self, manifest: Manifest | None) -> dict[str, Any]:
        content = essence(manifest or {})
        # The answer to a dry run has the live values of a Secret, which nobody has to see.
        return {"metadata": content["metadata"]} if self.planned.id.kind == "Secret" else content


def dry_run(client: Client, plan: Plan) -> tuple[DryRun, list[Problem]]:
    """Ask for each planned object of an environment, 16 at a time; and what Flux would do about them.

    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer.
    """
    live = _live(client, plan)
    answers = requests.in_parallel(lambda planned: _asked(client, planned, live.get(planned.id)), plan.objects)
    unplanned = compare(client, plan.environment, ()).unplanned
    planned = {object.id for object in plan.objects}
    deleted = tuple(id for manifest in unplanned if (id := readable_id(manifest)) and id not in planned)
    problems = [
        *_rejections(answers),
        *_appliers(live, requests.every(client, *_KUSTOMIZATION), planned),
        *_prunings(client, answers, plan),
    ]
    return _sorted(answers, deleted), problems


_KUSTOMIZATION = (schema_of("Kustomization").api_version, "Kustomization")


def _live(client: Client, plan: Plan) -> dict[ObjectId, Manifest]:
    """Those of the objects that exist, whoever made them. Of Secrets, only the metadata is read."""
    ids = [planned.id for planned in plan.objects]
    secrets = [id for id in ids if id.kind == "Secret"]
    others = [id for id in ids if id.kind != "Secret"]
    return {
        **read_objects(client, plan.environment, others),
        **read_objects(client, plan.environment, secrets, whole=False),
    }


def _asked(client: Client, planned: KubeObject, live: Manifest | None) -> _Answer:
    manifest, manager = planned.manifest, manager_of(live or {})
    try:
        if "chart" in mapping_at(live or {}, "spec") and "chartRef" in mapping_at(manifest, "spec"):
            # An apply cannot remove the field; a step before the run does.
            patch = {**manifest, "spec": {**manifest["spec"], "chart": None}}
            after = requests.patched(client, planned.id, patch, manager=manager, dry_run=True)
        else:
            after = requests.applied(client, planned.id, manifest, manager=manager)
    except Refused as refused:
        return _Answer(planned, live, None, refused.message)
    return _Answer(planned, live, after)


def _sorted(answers: Iterable[_Answer], deleted: tuple[ObjectId, ...]) -> DryRun:
    equal, marked, made = list[ObjectId](), list[ObjectId](), list[ObjectId]()
    changed, rejected = list[Changed](), list[Rejected]()
    for answer in answers:
        id = answer.planned.id
        if answer.rejected:
            rejected.append(Rejected(id, answer.rejected))
        elif answer.before is None or answer.after is None:
            made.append(id)
        elif fields := answer.fields:
            before = replace(answer.planned, manifest=answer.before)
            changed.append(Changed(before, answer.planned, tuple(map(presentable, fields))))
        else:
            (equal if answer.is_same else marked).append(id)
    return DryRun(tuple(equal), tuple(marked), tuple(changed), tuple(made), tuple(rejected), deleted)


def _is_mark(change: FieldChange) -> bool:
    path = change.path
    return path[0] == "metadata" and len(path) == 3 and MARKS.fullmatch(str(path[2])) is not None


def _is_same_time(change: FieldChange) -> bool:
    """Whether a time of Flux is written otherwise, such as `1m0s`, which the flux command writes for `1m`."""
    times = (change.before, change.after)
    if change.path not in _TIMES or not all(isinstance(time, str) for time in times):
        return False
    return seconds_of(str(change.before)) == seconds_of(str(change.after))


# --- what Flux would do ---------------------------------------------------------------------------------------------


def _rejections(answers: Iterable[_Answer]) -> Iterator[Problem]:
    for answer in answers:
        if answer.rejected:
            fix = "see the reason that the server gives: the next `tenantry up` would fail at this object"
            yield error("dry-run-rejected", f"the API server does not take {answer.planned.id}: {answer.rejected}", fix)


def _appliers(
    live: Mapping[ObjectId, Manifest], kustomizations: Iterable[Manifest], planned: set[ObjectId]
) -> Iterator[Problem]:
    """Kustomizations that apply planned objects today: they would set them back, and prune those that lose their file."""
    by_key = {_key(id): id for id in live}
    for kustomization in kustomizations:
        spec = mapping_at(kustomization, "spec")
        if (
            spec.get("suspend")
            or "kubeConfig" in spec
            or (owner := readable_id(kustomization)) is None
            or owner in planned
        ):
            continue
        held = [by_key.get(_key(id)) for id in inventory_of(kustomization) or ()]
        taken = [
            id for id in held if id and mapping_at(live[id], "metadata", "annotations").get(RECONCILE) != "disabled"
        ]
        if taken:
            them = "it" if len(taken) == 1 else "them"
            whole = len(taken) == len(held)
            ways = [suspend(owner)] if whole else leave_alone(taken)
            yield warning(
                "still-applied",
                f"{owner} applies {counted(len(taken), 'object')} of the plan, sets {them} back, and deletes {them} when"
                f" {'its file is' if len(taken) == 1 else 'their files are'} gone\n{lines_of(taken)}",
                f"before `tenantry up`{'' if whole else ', if no step of the import suspends it'}:\n    "
                + "\n    ".join(ways),
            )


def _prunings(client: Client, answers: Iterable[_Answer], plan: Plan) -> Iterator[Problem]:
    """Kustomizations that would apply something else, and prune what that does not have."""
    planned = {object.id: object.manifest for object in plan.objects}
    for answer in answers:
        before, after = answer.before, answer.after
        if answer.planned.id.kind != "Kustomization" or before is None or after is None:
            continue
        old, new = mapping_at(before, "spec"), mapping_at(after, "spec")
        held = inventory_of(before) or ()
        if not held or not new.get("prune"):
            continue
        other = [name for name in ("path", "components") if old.get(name) != new.get(name)]
        if _kubeconfig(old) != _kubeconfig(new):
            other.append("kubeConfig")
        namespace = new.get("targetNamespace")
        if namespace != old.get("targetNamespace") and any(id.namespace not in ("", namespace) for id in held):
            other.append("targetNamespace")
        if old.get("sourceRef") != new.get("sourceRef"):
            old_source, new_source = requests.one(client, _source(before)), planned.get(_source(after))
            if old_source is None or new_source is None or _content(old_source) != _content(new_source):
                other.append("sourceRef")
        if other:
            yield warning(
                "may-prune",
                f"{answer.planned.id} would apply other manifests ({listed(other)}): of the {counted(len(held), 'object')} that"
                " it holds, Flux deletes those that these do not have",
                "keep these fields as they are in tenants.yaml, or see that the new manifests hold the same objects",
            )


def _kubeconfig(spec: Manifest) -> dict[str, object]:
    """`kubeConfig` with the key that Flux reads first if none is named."""
    reference = mapping_at(spec, "kubeConfig")
    secret = mapping_at(reference, "secretRef")
    return {**reference, "secretRef": {"key": "value", **secret}} if secret else reference


def _key(id: ObjectId) -> tuple[str, str, str, str]:
    """The identity of an object in all versions of its group."""
    return group_of(id.api_version), id.kind, id.namespace, id.name


def _source(kustomization: Manifest) -> ObjectId:
    named, id = mapping_at(kustomization, "spec", "sourceRef"), object_id(kustomization)
    kind = str(named.get("kind"))
    api_version = schema_of(kind).api_version if kind in kinds() else str(named.get("apiVersion"))
    return ObjectId(api_version, kind, str(named.get("namespace") or id.namespace), str(named.get("name")))


def _content(source: Manifest) -> list[object]:
    values = [value_at(source, ("spec", key)) for key in _CONTENT]
    return [value.removesuffix("/").removesuffix(".git") if isinstance(value, str) else value for value in values]
