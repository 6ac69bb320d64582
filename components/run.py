"""What a run creates: an environment's plan, after all checks that come before its first change; and how a run ends.

At the end it reports what is blocked, to the command that started it or as an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from tenantry.cluster.inventory import claims_on, held_on
from tenantry.cluster.leftovers import stuck
from tenantry.cluster.reading import live_for, not_read
from tenantry.cluster.requests import one
from tenantry.fleet.fleet import Fleet, offboarded
from tenantry.guard.check import check, doubts, limits_of
from tenantry.guard.claims import Claim, claimed, foreign, other_claims
from tenantry.guard.held import Held as Holds
from tenantry.guard.keeping import kept_after, left_here, taken
from tenantry.guard.places import Places
from tenantry.guard.reading import Known, held
from tenantry.guard.removals import never_applied, removals
from tenantry.kube.objects import ObjectId
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import InvalidFleet, Refused, RefusedChange, refuse
from tenantry.messages.text import declared, format_invalid, format_warnings, listed
from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import Policed
from tenantry.rollout.blocked import blocked
from tenantry.rollout.change import NOTHING, Change, Difference, Evidence, Ignoring, Kind, Lines, Reason, format_summary
from tenantry.stacks.file import NAMESPACE, Reach
from tenantry.stacks.outcome import (
    AGAIN,
    HELD,
    STARTED,
    UNPROTECT,
    WAITING,
    for_stack,
    ignoring_of,
    is_started_by_tenantry,
    is_unrefreshed,
    offboards,
    report_outcome,
)

from .compare import (
    Comparison,
    compare_with_cluster,
    end_for_refresh,
    report_differences,
    report_orphans,
    unknown_to_state,
)
from .config import StackConfig, connected, read_config
from .secrets import missing_values, orphaned_values, read_secrets, with_secrets
from .state import State, StillProtected, check_retained, check_unprotected

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """plan: with the values of Secrets. target: how the management cluster is reached.

    change, evidence: as of the beginning. ignoring: what is not waited for. state: before the run.
    """

    plan: Plan
    target: Reach
    change: Change
    evidence: Evidence = field(default_factory=lambda: Evidence(live={}))
    ignoring: Ignoring = NOTHING
    comparison: Comparison = field(default_factory=Comparison)
    state: State = field(default_factory=State)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def run_of(environment: str | None = None, file: str | Path | None = None) -> Run:
    """The run of the stack. Call it once in a program, before any resource exists: a mistake anywhere leaves the stack untouched.

    environment, file: None: those that the stack's config names. Raises: RunError.
    """
    report_outcome(STARTED)
    with readable_errors():
        config, state = read_config(environment, file), State()
        fleet = fleet_of(config)
        planned = plan_one(fleet, config.environment)
        if warnings := warnings_of(fleet):
            # Start on a new line, because Pulumi puts a word before the first one.
            pulumi.log.warn(f"{config.fleet} is valid, but:\n{format_warnings(warnings)}")
        with connected(config.target) as client:
            run = _checked(client, fleet, planned, config, state)
        reasons = blocked(run.change, run.evidence, run.now(), run.ignoring)
        restore(run, reasons)
    report_waves(run, reasons)
    return run


def _checked(client: Client, fleet: Fleet, planned: Plan, config: StackConfig, state: State) -> Run:
    """The run, after all that is asked of its management cluster. Raises: Refused."""
    plan, taken_first = check_plan(client, fleet, planned, config, state)
    ignoring, secrets = ignoring_of(plan), read_secrets()
    for message in orphaned_values(plan, secrets):
        pulumi.log.warn(for_stack(message, pulumi.get_stack()))
    valueless = missing_values(plan, secrets)
    missing = {**valueless, **taken_first}
    comparison = compare_with_cluster(client, plan, state, secrets, missing)
    change = change_in(plan, comparison)
    # The Flux objects were read with everything else.
    live = live_for(client, change, comparison.flux) if change.changed else comparison.flux
    before = unproven(client, fleet, change, ignoring) if plan.after else {}
    return Run(
        plan=comparison.with_live_fields(with_secrets(plan, secrets, valueless)),
        target=config.target,
        change=change,
        evidence=Evidence(live=live, refused={**comparison.refused, **missing}, before=before, uses=state.uses),
        ignoring=ignoring,
        comparison=comparison,
        state=state,
    )


def change_in(plan: Plan, comparison: Comparison) -> Change:
    """What the run changes."""
    lines, removed = Lines(plan), {**comparison.removed, **comparison.orphans}
    unfit = (Difference(lines.objects[id], live, (("data",),)) for id, live in comparison.unfit.items())
    every = {difference.id: difference for difference in (*comparison.differences, *unfit)}
    return Change(lines, {object.id: every[object.id] for object in plan.objects if object.id in every}, removed)


def restore(run: Run, reasons: Mapping[ObjectId, Reason]) -> None:
    """Name what others have changed, and end a run that has to refresh to put it back."""
    differences = run.comparison.differences
    unknown = unknown_to_state(differences, reasons, run.state) if differences else []
    report_differences(differences, unknown)
    report_orphans(id for id in run.comparison.orphans if id not in reasons)
    if unknown and is_unrefreshed():
        end_for_refresh(unknown)


def report_waves(run: Run, reasons: Mapping[ObjectId, Reason]) -> None:
    """What waits, and for what. A preview holds nothing but what the API server refuses, and says it."""
    if run.plan.rollout and run.change.changed:
        pulumi.log.info(f"changes go {run.plan.rollout}")
        lines = run.change.lines
        changing = {subject for id in run.change.changed for subject in lines.subjects[id]}
        if skipped := sorted({subject for subject, _ in lines.empty} & changing):
            which = "a wave of which every cluster is paused or decommissioned is skipped"
            pulumi.log.info(f"{which}, for {listed(skipped)}")
    if not pulumi.runtime.is_dry_run() or not reasons:
        return
    unfit = {id: reason for id, reason in reasons.items() if reason.kind is Kind.FAILED}
    if unfit:
        pulumi.log.warn(describe(run, run.change, unfit, {}))
    if later := {id: reason for id, reason in reasons.items() if id not in unfit}:
        pulumi.log.info(describe(run, run.change, later, {}))


@contextmanager
def readable_errors() -> Iterator[None]:
    """Report errors in the file or the command as a message without a traceback, and end the program."""
    try:
        yield
    except InvalidFleet as error:
        report_outcome("2")
        # Start on a new line, because Pulumi puts a word before the first one.
        raise pulumi.RunError(f"the fleet cannot be planned\n{format_invalid(error)}") from error
    except Refused as error:
        outcome = "4" if isinstance(error, RefusedChange) else "2"
        if isinstance(error, StillProtected):
            outcome = "\n".join((UNPROTECT, *error.urns))
        report_outcome(outcome)
        raise pulumi.RunError(for_stack(str(error), pulumi.get_stack())) from error


def unproven(client: Client, fleet: Fleet, change: Change, ignoring: Ignoring) -> Mapping[str, Reason]:
    """The apps that the environment before does not show yet. Raises: Refused: nobody can tell. A preview only says so."""
    from tenantry.preflight.after import waiting

    try:
        return waiting(client, fleet, change, Path.cwd(), datetime.now(UTC), ignoring.after)
    except Refused as refused:
        if not pulumi.runtime.is_dry_run():
            raise
        pulumi.log.warn(str(refused))
        return {}


def fleet_of(config: StackConfig) -> Fleet:
    """The fleet that the stack runs a part of. Raises: InvalidFleet; Refused: it has no such environment."""
    fleet = load_fleet(config.fleet)
    fleet.check_stack(config.environment)
    if config.environment not in fleet.environments:
        environments = declared("declared", config.environment, fleet.environments)
        raise Refused(
            f"{config.fleet} has no environment '{config.environment}' ({environments})",
            f"pulumi config set {NAMESPACE}:environment NAME (by default it is the stack's name)",
        )
    return offboarded(fleet) if offboards(config.environment) else fleet


def check_plan(
    client: Client, fleet: Fleet, planned: Plan, config: StackConfig, state: State
) -> tuple[Plan, Mapping[ObjectId, str]]:
    """The plan of the stack's environment with its claim, after checking it, and that the management cluster can accept it.

    Returns: the plan; what a tenant may not take over, with the reason.
    Raises: Refused: in a preview too, because a preview without the cluster would show wrong changes.
    """
    now = _held(client, fleet, planned, config, state)
    limits = limits_of(fleet, config.environment, config.max_deletions, config.allowed_deletions)
    for doubt in doubts(planned, now, limits):
        pulumi.log.warn(for_stack(f"{doubt.message}\n  fix: {doubt.fix}", pulumi.get_stack()))
    check(planned, now, limits)
    refused = list(taken(planned, now, limits.adopting, limits.adopting_addons))
    if removals(planned, now):
        check_unprotected(state, {object.id for object in planned.objects}, never_applied(planned, now))
    places = {refusal.place for refusal in refused if refusal.place}
    claim = replace(config.claim, kept=kept_after(planned, now, datetime.now(UTC), places))
    check_retained(state, planned, left_here(planned, now))
    reasons = {
        id: f"{refusal.problem.message}\n    {refusal.problem.fix}" for refusal in refused for id in refusal.objects
    }
    return claimed(planned, fleet.document.platform.namespace, claim), reasons


def _held(client: Client, fleet: Fleet, planned: Plan, config: StackConfig, state: State) -> Holds:
    """What the guard makes of the environment's current objects on its management cluster."""
    holdings = held_on(client, fleet, planned)
    # Read the claims first: they are one small list.
    platform = fleet.document.platform.namespace
    clusters = _check_claim(client, platform, config.claim, state)
    every = list(holdings)
    for message in stuck(every, Places(every)):
        pulumi.log.warn(message)
    if message := not_read(client):
        pulumi.log.warn(message)
    known = Known({object.id for object in planned.objects}, state.__contains__, Policed(lambda id: one(client, id)))
    return held(every, planned.environment, known).recorded(chain.from_iterable(cluster.kept for cluster in clusters))


def _check_claim(client: Client, platform: str, mine: Claim, state: State) -> list[Claim]:
    """All claims on a management cluster.

    Raises: Refused: the claims, or without its claim the stack's own state, say that it runs something else.
    """
    claims = claims_on(client, platform)
    refuse(other_claims(mine, claims, platform))
    if mine not in claims:
        urns = state.urns
        refuse(foreign(mine, urns))
        if any(urn.endswith(f"::{platform}/{mine.name}") for urn in urns):
            pulumi.log.warn(
                f"ConfigMap {platform}/{mine.name}, which says what this stack runs, was deleted\n"
                f"  fix: write it again: tenantry up --environment {mine.environment}"
            )
    return claims


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
    lines: dict[str, str] = {}
    for id, reason in reasons.items():
        subjects = change.lines.subjects.get(id) or (change.lines.place_of(change.removed[id]).subject,)
        for subject in subjects:
            lines.setdefault(subject, f"{reason.kind}: {reason.message}")
    return dict(sorted(lines.items()))


def describe(run: Run, change: Change, reasons: Mapping[ObjectId, Reason], waiting: Mapping[str, Reason]) -> str:
    """What a run or a preview says of what is blocked, and of what is applied and not ready; "": nothing is."""
    text = []
    not_ready = {subject: reason for subject, reason in waiting.items() if reason.kind is not Kind.WAITING}
    known = {reason.message for reason in reasons.values()}
    for subject, unready in not_ready.items():
        if unready.message not in known:
            text.append(f"{subject} is applied and not ready: {unready.kind}: {unready.message}")
    if reasons:
        text.append(format_summary(change.lines, reasons, run.now()))
    return "\n".join(text)
