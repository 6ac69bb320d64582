"""What all formats of the report have in common: what became what, and what adoption changes.

Never: shows the value of a Secret. The proof masks secrets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from tenantry.importing.checkouts import FLUX
from tenantry.importing.model import Became, Draft, Fate, Inventory, LeftOver, Proof, Proven, Read, Reading
from tenantry.importing.proof import Defect, prove
from tenantry.importing.steps import READ_WHAT_IS_LEFT, Step, steps
from tenantry.kube.objects import is_of_flux, object_id
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import printable
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse


@dataclass(frozen=True, slots=True)
class Counts:
    """Every object that was read is in exactly one of unchanged, changed, renamed, applied, replaced, stays and inexpressible.

    unchanged: kept, and no field changes. changed: kept, with fields that change.
    renamed:   expressed, but planned under another name. added: adoption creates them.
    applied, replaced, stays, inexpressible: the fates of what is not expressed.
    flux:      objects of Flux that were read, without those of Flux's own bootstrap. flux_expressed, flux_applied,
               flux_replaced: those of them that are expressed, and of these fates.
    """

    json_keys: ClassVar = (
        *("read", "expressed", "unchanged", "changed", "renamed"),
        *("left", "applied", "replaced", "stays", "inexpressible", "added"),
        *("flux", "flux_expressed", "flux_applied", "flux_replaced"),
    )
    read: int
    unchanged: int
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
        return self.unchanged + self.changed + self.renamed

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

    json_keys: ClassVar = (
        *("file", "environments", "counts", "reading", "became", "proof", "renamed", "left_over", "steps"),
    )
    file: str
    text: str
    inventory: Inventory
    draft: Draft
    proof: Proof
    plans: Mapping[str, Plan]
    needs_project: bool = False
    """Whether no Pulumi project is around the file."""

    @property
    def environments(self) -> dict[str, str]:
        """The management cluster of each environment."""
        return {name: plan.management for name, plan in self.plans.items()}

    @property
    def reading(self) -> Reading:
        return self.inventory.reading

    @cached_property
    def counts(self) -> Counts:
        changed = sum(bool(each.changed) for each in self.proof.kept)
        renamed = {id(each) for each in self.renamed}
        fates = Counter(self.fates[id(each)] for each in self.proof.missing if id(each) not in renamed)
        flux = [each for each in self.inventory.objects if _counts(each)]
        expressed = renamed | {id(each.read) for each in self.proof.kept}
        of_flux = Counter(self.fates.get(id(each)) for each in flux if id(each) not in expressed)
        return Counts(
            read=len(self.inventory.objects),
            unchanged=len(self.proof.kept) - changed,
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
    def became(self) -> tuple[Became, ...]:
        """What became what, with the line of the file."""
        parsed = parse(self.text.encode(), self.file)
        return tuple(replace(each, line=parsed.locate(each.path, key=True).line) for each in self.draft.became)

    @cached_property
    def renamed(self) -> tuple[Read, ...]:
        expressed = [each.read for each in self.draft.became]
        return tuple(each for each in self.proof.missing if each in expressed)

    @property
    def changed(self) -> tuple[Proven, ...]:
        """The objects that adoption changes, and what it makes of apps that are planned under another name."""
        return tuple(each for each in (*self.proof.kept, *self.proof.renamed) if each.changed)

    @property
    def staying(self) -> tuple[Proven, ...]:
        """Objects with fields that adoption leaves on them, although tenants.yaml does not say them."""
        return tuple(each for each in self.proof.kept if each.stays)

    @property
    def left_over(self) -> tuple[LeftOver, ...]:
        return self.draft.left_over

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What to do until the fleet has taken everything over, in this order."""
        if not self.counts.expressed:
            return (READ_WHAT_IS_LEFT,)
        found = {
            "changes": bool(self.changed),
            "left_over": bool(self.left_over),
            "decisions": bool(self.draft.decisions),
        }
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
