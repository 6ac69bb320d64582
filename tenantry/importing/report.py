"""What all formats of the report have in common: what became what, and which changes can move, restart or refuse what runs.

Never: shows the value of a Secret. The proof masks secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tenantry.compare.fields import FieldChange
from tenantry.importing.equivalence import have_one_content
from tenantry.importing.model import Became, Draft, Fate, Inventory, LeftOver, Proof, Proven, Read
from tenantry.importing.owners import FLUX
from tenantry.importing.proof import Defect, prove
from tenantry.importing.steps import READ_WHAT_IS_LEFT, Step, steps
from tenantry.kube.objects import Manifest, ObjectId, is_of_flux, object_id
from tenantry.load import fleet_of, plan_all
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_path, printable
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse

_OTHER_MANIFESTS = "Flux applies other manifests, and deletes what only the old ones have"
_ASSUMED = "Flux applies other manifests if the source that it has is not the one that the Git remote tells"
_NEW_RELEASE = "Flux uninstalls the release and installs another one"
_UPGRADE = "Helm upgrades the release, so pods can restart"
_FIELDS: Mapping[str, Mapping[tuple[str, ...], str]] = {
    "Kustomization": {
        (
            "spec",
            "targetNamespace",
        ): "Flux moves what the manifests put into other namespaces: it deletes the old objects",
        ("spec", "path"): _OTHER_MANIFESTS,
        ("spec", "sourceRef"): _OTHER_MANIFESTS,
        ("spec", "components"): _OTHER_MANIFESTS,
        ("spec", "kubeConfig"): "Flux applies the manifests to another cluster",
        ("spec", "prune"): "Flux deletes what its manifests no longer have",
        ("spec", "postBuild"): "Flux applies other values, so pods can restart",
        ("spec", "serviceAccountName"): "Flux acts with the rights of another account",
    },
    "HelmRelease": {
        ("spec", "releaseName"): _NEW_RELEASE,
        ("spec", "targetNamespace"): _NEW_RELEASE,
        ("spec", "storageNamespace"): _NEW_RELEASE,
        ("spec", "chart", "spec", "chart"): _NEW_RELEASE,
        ("spec", "chart", "spec", "version"): _UPGRADE,
        ("spec", "chart", "spec", "valuesFiles"): _UPGRADE,
        ("spec", "values"): _UPGRADE,
        ("spec", "valuesFrom"): _UPGRADE,
        ("spec", "postRenderers"): _UPGRADE,
        ("spec", "kubeConfig"): "Flux installs the release on another cluster",
        ("spec", "serviceAccountName"): "Flux acts with the rights of another account",
    },
}
_CREATED = {
    "NetworkPolicy": "it blocks traffic that is allowed today",
    "ResourceQuota": "pods beyond it are refused when they start next",
    "LimitRange": "pods that start next get its defaults and limits",
}
_ENFORCE = ("metadata", "labels", "pod-security.kubernetes.io/enforce")


@dataclass(frozen=True, slots=True)
class Risk:
    """field: the field that changes, as a path with dots; empty: the object is new."""

    environment: str
    id: ObjectId
    field: str
    reason: str


def risks(inventory: Inventory, proof: Proof, plans: Mapping[str, Plan]) -> Iterator[Risk]:
    """The risks of what changes, then of what is created."""
    sources = _Sources(inventory, plans)
    for each in proof.kept:
        for field in each.changed:
            reason = _reason(each.planned.id.kind, field)
            if field.path[:2] == ("spec", "sourceRef") and sources.are_one(each):
                reason = _ASSUMED if sources.is_assumed(each) else ""
            if reason:
                path = tuple(part if isinstance(part, int) else str(part) for part in field.path)
                yield Risk(each.read.environment, each.planned.id, format_path(path), reason)
    for source in filter(sources.is_planned, inventory.reading.assumed):
        yield Risk(source.environment, object_id(source.manifest), "spec", _ASSUMED)
    for new in proof.added:
        if new.id.kind in _CREATED:
            yield Risk(new.environment, new.id, "", _CREATED[new.id.kind])


class _Sources:
    """The sources of Kustomizations, as they were read and as they are planned."""

    def __init__(self, inventory: Inventory, plans: Mapping[str, Plan]) -> None:
        self._assumed = _sources_by_place(inventory.reading.assumed)
        self._read = self._assumed | _sources_by_place(inventory.objects)
        self._planned = {
            (name, *_place(each.id)): each.manifest for name, plan in plans.items() for each in plan.objects
        }

    def are_one(self, kept: Proven) -> bool:
        """Whether the planned source fetches what the old one does."""
        environment = kept.read.environment
        old = self._read.get((environment, *_source(kept.read.manifest)))
        new = self._planned.get((environment, *_source(kept.planned.manifest)))
        return old is not None and new is not None and have_one_content(old, new)

    def is_planned(self, source: Read) -> bool:
        """Whether a source is planned under its own name."""
        return (source.environment, *_place(object_id(source.manifest))) in self._planned

    def is_assumed(self, kept: Proven) -> bool:
        """Whether the old source was not read."""
        return (kept.read.environment, *_source(kept.read.manifest)) in self._assumed


def _sources_by_place(reads: Iterable[Read]) -> dict[tuple[str, ...], Manifest]:
    return {(each.environment, *_place(object_id(each.manifest))): each.manifest for each in reads}


def _place(id: ObjectId) -> tuple[str, str, str]:
    return id.kind, id.namespace or "", id.name


def _source(kustomization: Manifest) -> tuple[str, str, str]:
    named = mapping_at(dict(kustomization), "spec", "sourceRef")
    namespace = named.get("namespace") or kustomization["metadata"].get("namespace")
    return str(named.get("kind")), str(namespace), str(named.get("name"))


def _reason(kind: str, field: FieldChange) -> str:
    if kind == "Namespace" and field.path == _ENFORCE and field.after not in ("privileged", ABSENT):
        return "pods that break this level are refused when they start next"
    found = (reason for path, reason in _FIELDS.get(kind, {}).items() if field.path[: len(path)] == path)
    return next(found, "")


@dataclass(frozen=True, slots=True)
class Counts:
    """Every object that was read is in exactly one of unchanged, changed, renamed, replaced, stays and inexpressible.

    unchanged: kept, and no field changes. changed: kept, with fields that change.
    renamed:   expressed, but planned under another name. added: adoption creates them.
    replaced, stays, inexpressible: the fates of what is not expressed.
    flux:      objects of Flux that were read, without those of Flux's own bootstrap. flux_expressed: those that are expressed.
    """

    read: int
    unchanged: int
    changed: int
    renamed: int
    replaced: int
    stays: int
    inexpressible: int
    added: int
    flux: int
    flux_expressed: int

    @property
    def expressed(self) -> int:
        return self.unchanged + self.changed + self.renamed

    @property
    def left(self) -> int:
        return self.replaced + self.stays + self.inexpressible


_BY_WEIGHT: Sequence[Fate] = ("inexpressible", "replaced", "stays")


def _counts(read: Read) -> bool:
    """Whether an object is Flux's, and not of Flux's own bootstrap."""
    id = object_id(read.manifest)
    return is_of_flux(id.api_version) and (id.namespace, id.name) != (FLUX, FLUX)


@dataclass(frozen=True)
class Report:
    """file: the name of the written tenants.yaml; text: its content; plans: by environment."""

    file: str
    text: str
    inventory: Inventory
    draft: Draft
    proof: Proof
    plans: Mapping[str, Plan]

    @cached_property
    def counts(self) -> Counts:
        unchanged = sum(not each.changed for each in self.proof.kept)
        renamed = {id(each) for each in self.renamed}
        fates = Counter(self.fates[id(each)] for each in self.proof.missing if id(each) not in renamed)
        flux = [each for each in self.inventory.objects if _counts(each)]
        expressed = renamed | {id(each.read) for each in self.proof.kept}
        return Counts(
            read=len(self.inventory.objects),
            unchanged=unchanged,
            changed=len(self.proof.kept) - unchanged,
            renamed=len(renamed),
            replaced=fates["replaced"],
            stays=fates["stays"],
            inexpressible=fates["inexpressible"],
            added=len(self.proof.added),
            flux=len(flux),
            flux_expressed=sum(id(each) in expressed for each in flux),
        )

    @cached_property
    def fates(self) -> Mapping[int, Fate]:
        """What becomes of the objects that are left over as a whole, by `id`. What somebody has to do comes first."""
        found: dict[int, Fate] = {}
        for each in self.draft.left_over:
            if not each.field:
                found[id(each.read)] = min(found.get(id(each.read), each.fate), each.fate, key=_BY_WEIGHT.index)
        return found

    @cached_property
    def became(self) -> tuple[tuple[Became, int], ...]:
        """What became what, with the line of the file."""
        parsed = parse(self.text.encode(), self.file)
        return tuple((each, parsed.locate(each.path, key=True).line) for each in self.draft.became)

    @cached_property
    def renamed(self) -> tuple[Read, ...]:
        expressed = [each.read for each in self.draft.became]
        return tuple(each for each in self.proof.missing if each in expressed)

    @property
    def changed(self) -> tuple[Proven, ...]:
        return tuple(each for each in self.proof.kept if each.changed)

    @property
    def staying(self) -> tuple[Proven, ...]:
        """Objects with fields that adoption leaves on them, although tenants.yaml does not say them."""
        return tuple(each for each in self.proof.kept if each.stays)

    @cached_property
    def risks(self) -> tuple[Risk, ...]:
        """What to look at before the first `tenantry up`."""
        return tuple(risks(self.inventory, self.proof, self.plans))

    @property
    def left_over(self) -> tuple[LeftOver, ...]:
        return self.draft.left_over

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What to do until the fleet has taken everything over, in this order."""
        if not self.counts.expressed:
            return (READ_WHAT_IS_LEFT,)
        found = {"risky": bool(self.risks), "left_over": bool(self.left_over), "decisions": bool(self.draft.decisions)}
        return steps(self.inventory, self.proof, self.renamed, self.plans, self.draft, **found)


def report_of(inventory: Inventory, draft: Draft, text: str, file: str) -> Report:
    """The report on a draft as it will be written. Args: text: the content of the file.

    Raises: Defect: the file would be invalid, or something that was read would be lost in silence.
    """
    try:
        plans = plan_all(fleet_of(parse(text.encode(), file)))
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        raise Defect(f"the draft is invalid: {first.location}: {first.message}") from invalid
    proof = prove(inventory, draft, plans)
    if proof.defects:
        raise Defect(printable("; ".join(proof.defects)))
    return Report(file, text, inventory, draft, proof, plans)
