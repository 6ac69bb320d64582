"""What all formats of the report have in common: what became what, and which changes can move, restart or refuse what runs.

Never: shows the value of a Secret. The proof masks secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tenantry.importing.checkouts import FLUX
from tenantry.importing.effects import ASSUMED, READ_SOURCE, effect_of
from tenantry.importing.equivalence import have_one_content
from tenantry.importing.known import Known
from tenantry.importing.model import Became, Draft, Fate, Harmless, Inventory, LeftOver, Proof, Proven, Read, written_at
from tenantry.importing.proof import Defect, prove
from tenantry.importing.steps import READ_WHAT_IS_LEFT, Step, steps
from tenantry.kube.objects import ObjectId, is_of_flux, object_id
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_path, printable
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse

_CREATED = {
    "NetworkPolicy": ("it blocks traffic that is allowed today", "write 'network: open'"),
    "ResourceQuota": ("pods beyond it are refused when they start next", "remove 'quota'"),
    "LimitRange": ("pods that start next get its defaults and limits", "remove 'limits'"),
}


@dataclass(frozen=True, slots=True)
class Risk:
    """field: the field that changes, as a path with dots; empty: the object is new. fix: what avoids it."""

    environment: str
    id: ObjectId
    field: str
    reason: str
    fix: str


def risks(inventory: Inventory, proof: Proof, known: Known) -> Iterator[Risk]:
    """The risks of what changes, then of what is created."""
    for each in (*proof.kept, *proof.renamed):
        environment, id = each.read.environment, each.planned.id
        for field in each.changed:
            reason, fix = effect_of(each, field)
            is_source = field.path[:2] == ("spec", "sourceRef") or known.is_copied(
                environment, each.read.manifest, field
            )
            if is_source and _is_assumed(each, known):
                reason, fix = ASSUMED, READ_SOURCE
            path = tuple(part if isinstance(part, int) else str(part) for part in field.path)
            yield Risk(environment, id, format_path(path), reason, fix)
    for source in filter(known.is_planned, inventory.reading.assumed):
        yield Risk(source.environment, object_id(source.manifest), "spec", ASSUMED, READ_SOURCE)
    for new in proof.added:
        if new.id.kind in _CREATED:
            yield Risk(new.environment, new.id, "", *_CREATED[new.id.kind])


def _is_assumed(kept: Proven, known: Known) -> bool:
    """Whether the old source of a Kustomization was not read, and the planned one is what the Git remote tells."""
    environment, at = kept.read.environment, ("spec", "sourceRef")
    old = known.read_source(environment, kept.read.manifest, *at)
    new = known.planned_source(environment, kept.planned.manifest, *at)
    is_one = old is not None and new is not None and have_one_content(old, new)
    return is_one and known.is_assumed(environment, kept.read.manifest, *at)


@dataclass(frozen=True, slots=True)
class Counts:
    """Every object that was read is in exactly one of unchanged, harmless, changed, renamed, applied, replaced, stays and
    inexpressible.

    unchanged: kept, and no field changes. harmless: kept, and no field changes that has an effect.
    changed:   kept, with fields that change what Flux does, or may.
    renamed:   expressed, but planned under another name. added: adoption creates them.
    applied, replaced, stays, inexpressible: the fates of what is not expressed.
    flux:      objects of Flux that were read, without those of Flux's own bootstrap. flux_expressed, flux_applied,
               flux_replaced: those of them that are expressed, and of these fates.
    """

    read: int
    unchanged: int
    harmless: int
    changed: int
    renamed: int
    applied: int
    replaced: int
    stays: int
    inexpressible: int
    added: int
    flux: int
    flux_expressed: int
    flux_applied: int
    flux_replaced: int

    @property
    def expressed(self) -> int:
        return self.unchanged + self.harmless + self.changed + self.renamed

    @property
    def left(self) -> int:
        return self.stays + self.inexpressible


_BY_WEIGHT: Sequence[Fate] = ("applied", "inexpressible", "replaced", "stays")


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
    needs_project: bool = False
    """Whether no Pulumi project is around the file."""

    @cached_property
    def counts(self) -> Counts:
        harmless = sum(not each.changed and bool(each.harmless) for each in self.proof.kept)
        changed = sum(bool(each.changed) for each in self.proof.kept)
        renamed = {id(each) for each in self.renamed}
        fates = Counter(self.fates[id(each)] for each in self.proof.missing if id(each) not in renamed)
        flux = [each for each in self.inventory.objects if _counts(each)]
        expressed = renamed | {id(each.read) for each in self.proof.kept}
        of_flux = Counter(self.fates.get(id(each)) for each in flux if id(each) not in expressed)
        return Counts(
            read=len(self.inventory.objects),
            unchanged=len(self.proof.kept) - harmless - changed,
            harmless=harmless,
            changed=changed,
            renamed=len(renamed),
            applied=fates["applied"],
            replaced=fates["replaced"],
            stays=fates["stays"],
            inexpressible=fates["inexpressible"],
            added=len(self.proof.added),
            flux=len(flux),
            flux_expressed=sum(id(each) in expressed for each in flux),
            flux_applied=of_flux["applied"],
            flux_replaced=of_flux["replaced"],
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
        return tuple(
            (each, parsed.locate(written_at(self.draft.data, each.path), key=True).line) for each in self.draft.became
        )

    @cached_property
    def renamed(self) -> tuple[Read, ...]:
        expressed = [each.read for each in self.draft.became]
        return tuple(each for each in self.proof.missing if each in expressed)

    @property
    def changed(self) -> tuple[Proven, ...]:
        """The objects that adoption changes, and what it makes of apps that are planned under another name."""
        return tuple(each for each in (*self.proof.kept, *self.proof.renamed) if each.changed)

    @property
    def harmless(self) -> tuple[tuple[Proven, Harmless], ...]:
        """The fields that adoption changes without an effect, of all objects that are kept or planned under another name."""
        return tuple((each, one) for each in (*self.proof.kept, *self.proof.renamed) for one in each.harmless)

    @property
    def staying(self) -> tuple[Proven, ...]:
        """Objects with fields that adoption leaves on them, although tenants.yaml does not say them."""
        return tuple(each for each in self.proof.kept if each.stays)

    @cached_property
    def risks(self) -> tuple[Risk, ...]:
        """What to look at before the first `tenantry up`."""
        return tuple(risks(self.inventory, self.proof, Known(self.inventory, self.plans, self.draft.left_over)))

    @property
    def left_over(self) -> tuple[LeftOver, ...]:
        return self.draft.left_over

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What to do until the fleet has taken everything over, in this order."""
        if not self.counts.expressed:
            return (READ_WHAT_IS_LEFT,)
        found = {"risky": bool(self.risks), "left_over": bool(self.left_over), "decisions": bool(self.draft.decisions)}
        found |= {"project": self.needs_project}
        return steps(self.inventory, self.proof, self.renamed, self.plans, self.draft, **found)


def report_of(inventory: Inventory, draft: Draft, text: str, file: str, *, needs_project: bool = False) -> Report:
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
    return Report(file, text, inventory, draft, proof, plans, needs_project)
