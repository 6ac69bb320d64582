"""What a run creates: an environment's plan, after all checks that come before its first change."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from tenantry.kube.objects import ObjectId
from tenantry.plan.plan import Plan
from tenantry.stacks.outcome import STARTED, tell

from .comparing import restoring
from .config import Target, read_config
from .ending import Check, Last
from .gates import Gates, gates_of
from .pace import say_if_slow
from .program import make_plan, readable_errors, with_values


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """plan: with the values of Secrets, without what is left out. target: where its objects go.

    gates: None: the plan's rollouts are left aside. check: of some objects, when all have been created.
    last: makes the object that is created after all others. kept: objects that stay as they are, whatever the plan says of them.
    whole: the plan before anything was left out; None: nothing was.
    """

    plan: Plan
    target: Target
    gates: Gates | None = None
    check: Check | None = None
    last: Last | None = None
    kept: Collection[ObjectId] = ()
    whole: Plan | None = None


def run_of(environment: str | None = None, file: str | Path | None = None) -> Run:
    """The run of the stack. Call it once in a program, before any resource exists: a mistake anywhere leaves the stack untouched.

    environment, file: None: those that the stack's config names. Raises: RunError.
    """
    tell(STARTED)
    with readable_errors():
        config = read_config(environment, file)
        plan, keeper = make_plan(config)
        complete, held = with_values(plan, config.target)
        gates = gates_of(plan, config.target, to_the_end=keeper is not None)
        compared = restoring(plan, config.target, held.ids)
        if compared:
            complete = compared.leaving(complete)
        check = held.ending(compared)
    say_if_slow(plan)
    last = keeper.of_run(gates) if keeper else None
    return Run(plan=complete, target=config.target, gates=gates, check=check, last=last, kept=held.kept, whole=plan)
