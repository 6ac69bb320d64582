"""How a run ends: what it reports of what is blocked, to the command that started it or as an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pulumi

from tenantry.kube.objects import ObjectId
from tenantry.rollout.change import Change
from tenantry.rollout.reasons import Kind, Reason, format_summary
from tenantry.stacks.outcome import AGAIN, HELD, WAITING, is_started_by_tenantry, report_outcome

if TYPE_CHECKING:
    from .run import Run


def end(run: Run, change: Change, reasons: Mapping[ObjectId, Reason], waiting: Mapping[str, Reason]) -> dict[str, str]:
    """Report what is blocked, and what is not ready. waiting: by line.

    Returns: the reason of each blocked line. Raises: RunError: something failed, and no command reports it. The engine then deletes
    nothing in this run.
    """
    kinds = {reason.kind for reason in (*reasons.values(), *waiting.values())}
    failed = bool(kinds & {Kind.FAILED, Kind.PROGRESSING})
    message = describe(run, change, reasons, waiting)
    if Kind.DELETING in kinds:
        report_outcome(AGAIN)
    elif failed:
        report_outcome(HELD)
    elif Kind.WAITING in kinds:
        report_outcome(WAITING)
    if failed and not is_started_by_tenantry():
        way = f"  `tenantry up {run.plan.environment}` lets the deletions of this run happen; bare `pulumi up` deletes nothing now"
        raise pulumi.RunError(f"{message}\n{way}" if change.removed else message)
    if message:
        (pulumi.log.error if failed else pulumi.log.warn)(message)
    return lines_of(change, reasons)


def lines_of(change: Change, reasons: Mapping[ObjectId, Reason]) -> dict[str, str]:
    """The reason of each blocked line, as an output of the stack."""
    found: dict[str, str] = {}
    for id, reason in reasons.items():
        subjects = change.lines.subjects.get(id) or (change.lines.place_of(change.removed[id]).subject,)
        for subject in subjects:
            found.setdefault(subject, f"{reason.kind}: {reason.message}")
    return dict(sorted(found.items()))


def describe(run: Run, change: Change, reasons: Mapping[ObjectId, Reason], waiting: Mapping[str, Reason]) -> str:
    """What a run or a preview says of what is blocked, and of what is applied and not ready; "": nothing is."""
    text = []
    not_ready = {subject: reason for subject, reason in waiting.items() if reason.kind is not Kind.WAITING}
    known = {reason.message for reason in reasons.values()}
    for subject, unready in not_ready.items():
        if unready.message not in known:
            text.append(f"{subject} is applied and not ready: {unready.kind}: {unready.message}")
    if reasons:
        lines = change.lines
        apps = {id: reason for id, reason in reasons.items() if id in lines.reconcilers}
        told = {app[:2] for app in apps.values()}
        shown = {id: reason for id, reason in reasons.items() if id in apps or reason[:2] not in told}
        names = {id: lines.name_of(id) for id in shown}
        subjects = {id: lines.subjects[id][0] for id in shown if id in lines.subjects}
        text.append(format_summary(run.plan.environment, shown, names, subjects, run.now()))
    return "\n".join(text)
