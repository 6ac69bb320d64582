"""Everything that the formats of the report have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tenantry.importing.model import Became, Draft, Inventory, LeftOver, Proof, Proven, Read
from tenantry.importing.proof import Defect, prove
from tenantry.importing.report.risks import Risk, risks
from tenantry.importing.report.steps import READ_WHAT_IS_LEFT, Step, steps
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import printable
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse


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
