"""Says how a run that takes long for no reason gets faster."""

from __future__ import annotations

import os

import pulumi
from pulumi.runtime.settings import SETTINGS

from tenantry.plan.plan import Plan
from tenantry.stacks.command import PARALLEL, SKIP_CHECKPOINTS, TUNED
from tenantry.stacks.outcome import OUTCOME_FILE

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
    if OUTCOME_FILE in os.environ or (SETTINGS.parallel or 0) >= wanted:
        return True
    return os.environ.get(SKIP_CHECKPOINTS, "").lower() in ("1", "true")
