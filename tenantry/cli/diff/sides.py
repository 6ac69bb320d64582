"""The two sides of a comparison: the file as it is, and as it is at BASE, both planned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tenantry.cli.failures import described
from tenantry.cli.output import data_json, report_invalid, working
from tenantry.compare.grants import Widened, widened
from tenantry.compare.revision import Base, load_base
from tenantry.fleet.fleet import Fleet
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.errors import INVALID_BASE, UNKNOWN_NAME, InvalidFleet, Refused
from tenantry.messages.progress import Tell, steps
from tenantry.plan.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """fleet: the file as it is; before, after: the plans by environment; grants: what is granted more, by environment."""

    fleet: Fleet
    base: Base
    after: Mapping[str, Plan]
    grants: Mapping[str, tuple[Widened, ...]]

    @property
    def before(self) -> Mapping[str, Plan]:
        return self.base.plans


def both_sides(file: Path, base: str, environments: tuple[str, ...], *, merge_base: bool, as_json: bool) -> Sides:
    """Read and plan both sides. Args: as_json: print the problems of an invalid base as JSON.

    Raises: InvalidFleet: the file is invalid; Refused: the base is wrong, or neither side declares the environment.
    """
    with working(f"planning {file}") as tell:
        fleet = load_fleet(file)
        after = _chosen(fleet, environments, tell)
    known: set[str] = set(fleet.environments)
    grants: dict[str, tuple[Widened, ...]] = {}

    def planned_before(there: Fleet) -> Mapping[str, Plan]:
        known.update(there.environments)
        plans = after if _same(there, fleet) else _chosen(there, environments, tell)
        grants.update({name: widened(there, fleet, name) for name in plans if name in after})
        return plans

    try:
        with working(f"planning {base}") as tell:
            before = load_base(file, base, planned_before, merge_base=merge_base)
    except InvalidFleet as invalid:
        raise _nothing_to_compare(base, invalid, as_json=as_json) from None
    if unknown := [each for each in environments if each not in known]:
        message = f"neither {file} nor {before.name} declares environment '{unknown[0]}'"
        raise Refused(message, f"name one of: {', '.join(sorted(known))}", code=UNKNOWN_NAME)
    return Sides(fleet=fleet, base=before, after=after, grants=grants)


def _same(one: Fleet, other: Fleet) -> bool:
    """Whether both say the same, so that their plans are the same. A comment or another layout changes nothing."""
    # `==` would treat True as 1. The order of keys counts, because plans are in the order of the file.
    return one.source.fills.keys() == other.source.fills.keys() and repr(one.source.data) == repr(other.source.data)


def _chosen(fleet: Fleet, environments: tuple[str, ...], tell: Tell) -> Mapping[str, Plan]:
    """The plans of the requested environments that are declared, in the fleet's order."""
    if not environments:
        return plan_all(fleet, tell)
    chosen = [name for name in fleet.in_order() if name in environments]
    return {name: plan_one(fleet, name) for name in steps(chosen, "environments", tell)}


def _nothing_to_compare(base: str, invalid: InvalidFleet, *, as_json: bool) -> Refused:
    """The error, after the problems of the base are printed."""
    message = f"the file at '{base}' is invalid, so there is nothing to compare with"
    fix = "name a base that is valid; `tenantry render` shows everything that the file yields now"
    refused = Refused(message, fix, code=INVALID_BASE)
    if as_json:
        from tenantry.cli.documents.diff import Base, InvalidBase

        found = InvalidBase(
            kind="Diff",
            base=Base(name=base, commit=None),
            errors=invalid.diagnostics,
            error=described(refused),
        )
        data_json(found)
    report_invalid(invalid)
    return refused
