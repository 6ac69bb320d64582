"""What a run creates: an environment's plan, after all checks that come before its first change."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from tenantry.cluster.inventory import claims_on, held_on
from tenantry.cluster.reading import not_read
from tenantry.cluster.requests import one
from tenantry.cluster.stuck import stuck
from tenantry.fleet.fleet import Fleet, offboarded
from tenantry.guard import Held as Holds
from tenantry.guard import Known, check, doubts, held, limits_of, never_applied
from tenantry.guard.claims import Claim, claimed, foreign, other_claims
from tenantry.guard.keeping import kept_after, left_here
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import InvalidFleet, Refused, RefusedChange, Severity, refuse
from tenantry.messages.text import declared, format_invalid, format_warnings, listed
from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import Policed, fitted
from tenantry.rollout.authors import Authors
from tenantry.rollout.ignoring import ignored
from tenantry.rollout.moves import Move
from tenantry.rollout.proven import proven_in
from tenantry.stacks.command import PARALLEL, SKIP_CHECKPOINTS, TUNED
from tenantry.stacks.file import NAMESPACE, Reach
from tenantry.stacks.outcome import OUTCOME_FILE, STARTED, UNPROTECT, for_stack, offboards, tell

from .comparing import restoring
from .config import StackConfig, read_config
from .contact import connected
from .ending import Check
from .gates import Gates, gates_of
from .moving import Moving
from .secrets import Holding, SecretConfig, holding, left_over, read_secrets, with_secrets
from .state import InState, StillProtected, check_retained, check_unprotected, outputs_in_state
from .staying import Staying
from .waiting import Clocks, Held

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """plan: with the values of Secrets, without what is left out. target: how the management cluster is reached.

    gates: None: the plan's rollout is left aside. check: of some objects, when all have been created.
    kept: objects that stay as they are, whatever the plan says of them.
    whole: the plan before anything was left out; None: nothing was.
    moves: the apps that move to another source. staying: what can stay as it is in the midst of the run.
    """

    plan: Plan
    target: Reach
    gates: Gates | None = None
    check: Check | None = None
    kept: Collection[ObjectId] = ()
    whole: Plan | None = None
    moves: Collection[Move] = ()
    staying: Staying = field(default_factory=Staying)

    def moving(self, gates: Gates) -> Moving:
        """The apps that wait for another source."""
        return Moving(gates, {move.app.id: move for move in self.moves}, self.staying)


def run_of(environment: str | None = None, file: str | Path | None = None) -> Run:
    """The run of the stack. Call it once in a program, before any resource exists: a mistake anywhere leaves the stack untouched.

    environment, file: None: those that the stack's config names. Raises: RunError.
    """
    tell(STARTED)
    with readable_errors():
        config = read_config(environment, file)
        made = make_plan(config)
        plan, target = made.plan, config.target
        secrets = read_secrets()
        complete, held = with_values(plan, target, secrets)
        gates = gates_of(plan, target)
        clocks = Clocks(plan, target, made.platform)
        compared = restoring(plan, target, held.ids, clocks.ask, secrets)
        waits = compared.held if compared else Held()
        if compared:
            complete = waits.registered(compared.leaving(complete))
        gates.left, gates.good = waits.ids, clocks.good
        gates.authors = Authors(plan, compared.ids if compared else frozenset())
        changing = (plan.wave_of(id) for id in gates.authors.touched)
        gates.changing = frozenset(wave.number for wave in filter(None, changing))
        if compared:
            new = {each.id for each in compared.before if not each.live}
            gates.proven = [*proven_in(plan, gates.turns, compared.ids | waits.ids, new)]
        check = held.ending(waits.ending(compared))
        kept = frozenset(held.kept) | waits.everything_kept()
    say_if_slow(plan)
    return Run(
        plan=complete,
        target=target,
        gates=gates,
        check=check,
        kept=kept,
        whole=plan,
        moves=compared.moves if compared else (),
        staying=compared.staying if compared else Staying(),
    )


@contextmanager
def readable_errors() -> Iterator[None]:
    """Report errors in the file or the command as a message without a traceback, and end the program."""
    try:
        yield
    except InvalidFleet as error:
        tell("2")
        # Start on a new line, because Pulumi puts a word before the first one.
        raise pulumi.RunError(f"the fleet cannot be planned\n{format_invalid(error)}") from error
    except StillProtected as error:
        tell("\n".join((UNPROTECT, *error.urns)))
        raise pulumi.RunError(str(error)) from error
    except RefusedChange as error:
        tell("4")
        raise pulumi.RunError(for_stack(str(error), pulumi.get_stack())) from error
    except Refused as error:
        tell("2")
        raise pulumi.RunError(for_stack(str(error), pulumi.get_stack())) from error


@dataclass(frozen=True, slots=True)
class Made:
    """platform: the namespace of the claims."""

    plan: Plan
    platform: str = ""


def make_plan(config: StackConfig) -> Made:
    """The plan of the stack's environment, after checking it, and that the management cluster can accept it.

    Raises: InvalidFleet, Refused: in a preview too, because a preview without the cluster would show wrong changes.
    """
    fleet = load_fleet(config.fleet)
    fleet.check_stack(config.environment)
    if config.environment not in fleet.environments:
        environments = declared("declared", config.environment, fleet.environments)
        raise Refused(
            f"{config.fleet} has no environment '{config.environment}' ({environments})",
            f"pulumi config set {NAMESPACE}:environment NAME (by default it is the stack's name)",
        )
    if offboards(config.environment):
        fleet = offboarded(fleet)
    planned = plan_one(fleet, config.environment)
    if warnings := warnings_of(fleet):
        # Start on a new line, because Pulumi puts a word before the first one.
        pulumi.log.warn(f"{config.fleet} is valid, but:\n{format_warnings(warnings)}")
    target = config.target
    if passed_over := ignored(config.environment):
        pulumi.log.warn(f"in an emergency, this run does not wait for {listed(passed_over)}")
    with connected(target) as client:
        now = _held(client, fleet, planned, config)
        _check(fleet, planned, now, config)
        check_unprotected(never_applied(planned, now))
        planned = fitted(client, planned)
    platform = fleet.document.platform.namespace
    claim = replace(config.claim, kept=kept_after(planned, now, datetime.now(UTC)))
    check_retained(planned, left_here(planned, now))
    return Made(claimed(planned, platform, claim), platform)


def _check(fleet: Fleet, planned: Plan, now: Holds, config: StackConfig) -> None:
    limits = limits_of(fleet, config.environment, config.max_deletions, config.allowed_deletions)
    for doubt in doubts(planned, now, limits):
        pulumi.log.warn(for_stack(f"{doubt.message}\n  fix: {doubt.fix}", pulumi.get_stack()))
    check(planned, now, limits)


def _held(client: Client, fleet: Fleet, planned: Plan, config: StackConfig) -> Holds:
    """The environment's current objects on its management cluster."""
    holdings = held_on(client, fleet, planned)
    # Read the claims first: they are one small list.
    platform = fleet.document.platform.namespace
    there = _check_claim(client, platform, config.claim)
    found = list(holdings)
    for message in stuck(found, Places(found)):
        pulumi.log.warn(message)
    if planned.after:
        _check_after(client, fleet, planned, found)
    if message := not_read(client):
        pulumi.log.warn(message)
    known = Known({each.id for each in planned.objects}, InState(), Policed(lambda id: one(client, id)))
    now = held(found, planned.environment, known).recorded(chain.from_iterable(each.kept for each in there))
    return now


def _check_after(client: Client, fleet: Fleet, planned: Plan, found: Iterable[Manifest]) -> None:
    """Refuse changes that the environment before does not run yet. A preview only tells it."""
    from tenantry.preflight.after import Mode, Run, ask

    mode = Mode.PREVIEW if pulumi.runtime.is_dry_run() else Mode.RUN
    answer = ask(client, fleet, Run(plan=planned, project=Path.cwd(), mode=mode), found)
    if answer.note:
        pulumi.log.info(answer.note)
    if problem := answer.problem:
        refuse([problem] if problem.severity is Severity.ERROR else ())
        pulumi.log.warn(f"{problem.message}\n  fix: {problem.fix}")


def _check_claim(client: Client, platform: str, mine: Claim) -> list[Claim]:
    """All claims on a management cluster.

    Raises: Refused: the claims, or without its claim the stack's own state, say that it runs something else.
    """
    there = claims_on(client, platform)
    refuse(other_claims(mine, there, platform))
    if mine not in there:
        urns = outputs_in_state()
        refuse(foreign(mine, urns))
        if any(urn.endswith(f"::{platform}/{mine.name}") for urn in urns):
            pulumi.log.warn(
                f"ConfigMap {platform}/{mine.name}, which says what this stack runs, was deleted\n"
                f"  fix: write it again: tenantry up --environment {mine.environment}"
            )
    return there


def with_values(planned: Plan, target: Reach, secrets: SecretConfig) -> tuple[Plan, Holding]:
    """The plan as it is registered, with the values of Secrets, and what of it is held.

    Raises: Refused: values of the platform's are missing.
    """
    for message in left_over(planned, secrets):
        pulumi.log.warn(for_stack(message, pulumi.get_stack()))
    held_back = holding(planned, secrets, target, InState())
    return with_secrets(held_back.registered(planned), secrets, held_back.kept), held_back


_MANY = 300
"""Objects. A run of fewer takes seconds in any case."""


def say_if_slow(plan: Plan) -> None:
    """Name `tenantry up` in a run that changes a large fleet with Pulumi's own settings.

    Once in a run: `pulumi up` starts the program for its preview, too, where the settings matter little.
    """
    if len(plan.objects) > _MANY and not pulumi.runtime.is_dry_run() and not _is_tuned():
        pulumi.log.info(f"faster: tenantry up --environment {plan.environment}")


def _is_tuned() -> bool:
    wanted = next(int(each.value) for each in TUNED if each.variable == PARALLEL)
    given = os.environ.get(PARALLEL, "")
    if OUTCOME_FILE in os.environ or (given.isdecimal() and int(given) >= wanted):
        return True
    return os.environ.get(SKIP_CHECKPOINTS, "").lower() in ("1", "true")
