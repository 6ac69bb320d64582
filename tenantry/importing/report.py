"""What all formats of the report have in common: what became what, and which changes can move, restart or refuse what runs.

Never: shows the value of a Secret. The proof masks secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from tenantry.compare.fields import FieldChange
from tenantry.importing.model import Became, Draft, Inventory, LeftOver, Proof, Proven, Read
from tenantry.importing.proof import Defect, prove
from tenantry.importing.steps import READ_WHAT_IS_LEFT, Step, steps
from tenantry.kube.objects import ObjectId
from tenantry.load import fleet_of, plan_all
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_path, printable
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse

_OTHER_MANIFESTS = "Flux applies other manifests, and deletes what only the old ones have"
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


def risks(proof: Proof) -> Iterator[Risk]:
    """The risks of what changes, then of what is created."""
    for each in proof.kept:
        for field in each.changed:
            if reason := _reason(each.planned.id.kind, field):
                path = tuple(part if isinstance(part, int) else str(part) for part in field.path)
                yield Risk(each.read.environment, each.planned.id, format_path(path), reason)
    for new in proof.added:
        if new.id.kind in _CREATED:
            yield Risk(new.environment, new.id, "", _CREATED[new.id.kind])


def _reason(kind: str, field: FieldChange) -> str:
    if kind == "Namespace" and field.path == _ENFORCE and field.after not in ("privileged", ABSENT):
        return "pods that break this level are refused when they start next"
    found = (reason for path, reason in _FIELDS.get(kind, {}).items() if field.path[: len(path)] == path)
    return next(found, "")


@dataclass(frozen=True, slots=True)
class Counts:
    """Every object that was read is in exactly one of unchanged, changed, renamed and left.

    unchanged: kept, and no field changes. changed: kept, with fields that change.
    renamed:   expressed, but planned under another name. left: not expressed. added: adoption creates them.
    """

    read: int
    unchanged: int
    changed: int
    renamed: int
    left: int
    added: int

    @property
    def expressed(self) -> int:
        return self.unchanged + self.changed + self.renamed


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
        renamed = len(self.renamed)
        return Counts(
            read=len(self.inventory.objects),
            unchanged=unchanged,
            changed=len(self.proof.kept) - unchanged,
            renamed=renamed,
            left=len(self.proof.missing) - renamed,
            added=len(self.proof.added),
        )

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
        return tuple(risks(self.proof))

    @property
    def left_over(self) -> tuple[LeftOver, ...]:
        return self.draft.left_over

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What to do until the fleet has taken everything over, in this order."""
        if not self.counts.expressed:
            return (READ_WHAT_IS_LEFT,)
        found = {"risky": bool(self.risks), "left_over": bool(self.left_over), "decisions": bool(self.draft.decisions)}
        return steps(self.inventory, self.proof, self.renamed, self.plans, **found)


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
