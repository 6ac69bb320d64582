"""The evidence that `tenantry promote` shows: what the first environment runs, or that nothing was checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cli.management import connect_management
from tenantry.cluster.evidence import Evidence, evidence_of
from tenantry.cluster.status import age
from tenantry.edit.subjects.promoted import App
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part
from tenantry.stacks.file import target_of

if TYPE_CHECKING:
    from tenantry.cli.documents.edits import PromotionEvidence


_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_MOST = 5


@dataclass(frozen=True, slots=True)
class Proof:
    """unchecked: why nothing was checked; "" if it was. refusal: why the promotion is refused; "" if it is not."""

    environment: str
    found: tuple[Evidence, ...]
    unchecked: str = ""
    refusal: str = ""

    @property
    def lines(self) -> list[str]:
        """The evidence in words."""
        if self.unchecked:
            return [f"evidence: none, {self.unchecked}"]
        now, problems = datetime.now(UTC), [each for each in self.found if each.problem]
        if not problems:
            youngest = max((each.since for each in self.found), default="")
            since = f", since {age(youngest, now)} ({youngest})" if all(each.since for each in self.found) else ""
            clusters = counted(len({each.app.cluster for each in self.found}), "cluster")
            return [f"evidence: {self.environment} runs this and is ready on {clusters}{since}"]
        lines = [f"{_name(each)}: {each.problem}" for each in problems[:_MOST]]
        more = [f"and {len(problems) - _MOST} more"] if len(problems) > _MOST else []
        head = f"evidence: {self.environment} does not run this, or is not ready:"
        return [head, *(f"  {each}" for each in (*lines, *more))]

    def document(self) -> PromotionEvidence:
        """The key `evidence` of the document."""
        from tenantry.cli.documents.edits import PromotionEvidence

        return PromotionEvidence(checked=not self.unchecked, reason=self.unchecked, apps=self.found)


def prove(
    file: Path,
    fleet: Fleet,
    apps: Sequence[App],
    environment: str,
    where: tuple[Path | None, str | None],
    *,
    asked: bool | None,
    required: bool,
    soak: str | None,
) -> Proof:
    """Ask the management cluster, if that is asked for or the stack's settings say where it is.

    Raises: Refused: evidence is required, and the cluster cannot be asked.
    """
    seconds = seconds_of(soak) if soak else 0.0
    if asked is None:
        asked = target_of(file.resolve().parent, environment).kubeconfig is not None
    if not asked:
        return Proof(environment, (), f"nothing was checked: --evidence asks the management cluster of {environment}")
    try:
        found = _read(file, fleet, apps, environment, where)
    except Refused as refused:
        if required:
            raise
        return Proof(environment, (), f"nothing was checked: {refused.message}")
    now = datetime.now(UTC)
    problems = [f"{_name(each)}: {told}" for each in found if (told := each.problem_after(seconds, now))]
    refusal = f"{environment} does not prove this promotion: {listed(problems, _MOST)}" if required and problems else ""
    return Proof(environment, found, refusal=refusal)


def _read(
    file: Path, fleet: Fleet, apps: Sequence[App], environment: str, where: tuple[Path | None, str | None]
) -> tuple[Evidence, ...]:
    names = {(each.at[1] if each.at[0] == "tenants" else "", each.at[-1]) for each in apps}
    planned = plan(fleet, environment, Part(next(iter(names))[0]))
    chosen = [each for each in planned.apps if (each.tenant, each.name) in names]
    with connect_management(file, environment, *where) as client:
        return evidence_of(client, planned, chosen)


def seconds_of(duration: str) -> float:
    """1h30m as seconds. Raises: Refused: it is no duration."""
    found = _DURATION.fullmatch(duration)
    if not found or not duration:
        raise Refused(f"'{duration}' is not a duration", "write it as 90m, 1h or 1h30m")
    hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return hours * 3600.0 + minutes * 60 + seconds


def _name(each: Evidence) -> str:
    return f"{each.app.full_name} on {each.app.cluster}"
