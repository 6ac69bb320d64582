"""`tenantry status --rollout`: what a run would change now, in which waves, and what of it waits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry.cli.management import connect_management
from tenantry.cli.output import data, data_json, working
from tenantry.load import load_fleet
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import plan
from tenantry.preflight.fitness import fitted
from tenantry.rollout.conditions import lines_of

if TYPE_CHECKING:
    from tenantry.cli.documents import states
    from tenantry.cluster.waves import Changes

_MOST = 10


def show_rollouts(
    file: Path, environments: Sequence[str], kubeconfig: Path | None, context: str | None, output: str
) -> int:
    """Returns: 0 if nothing waits, otherwise 1."""
    from tenantry.cluster.waves import changes_on

    with working(f"planning {file}"):
        fleet = load_fleet(file)
        plans = [plan(fleet, name) for name in environments]
    found: list[Changes] = []
    for planned in plans:
        with connect_management(file, planned.environment, kubeconfig, context) as client:
            platform, fitting = fleet.document.platform.namespace, fitted(client, planned)
            found.append(changes_on(client, fitting, platform, datetime.now(UTC)))
    if output == "json":
        from tenantry.cli.documents.states import RolloutStatus

        data_json(RolloutStatus(environments=[_document(each) for each in found]))
    else:
        data("\n".join(line for each in found for line in _lines(each)))
    return int(any(each.waiting for each in found))


def _lines(changes: Changes) -> Iterator[str]:
    environment = changes.plan.environment
    if not changes.parts and not changes.outside:
        yield f"{environment}: nothing would change"
        return
    if rollout := changes.plan.rollout:
        for wave in rollout.waves:
            subjects = [part.subject for part in changes.parts if part.wave == wave.number]
            would = f"would change: {listed(subjects, _MOST)}" if subjects else "as planned"
            yield f"{environment}: {rollout.name_of(wave)}, {counted(len(wave.every), 'cluster')}: {would}"
    if changes.outside:
        yield f"{environment}: {counted(changes.outside, 'object')} in no wave would change"
    if changes.waiting:
        yield f"{environment}: of this waits"
        yield from lines_of(changes.plan, changes.waiting, changes.now)


def _document(changes: Changes) -> states.EnvironmentRollout:
    from tenantry.cli.documents import states

    waits, rollout = changes.waiting.parts, changes.plan.rollout
    return states.EnvironmentRollout(
        environment=changes.plan.environment,
        waves=[
            states.WaveState(
                number=wave.number,
                name=wave.name,
                clusters=list(wave.every),
                changing=[
                    states.WaveChange(
                        subject=part.subject,
                        reason=wait.reason if (wait := waits.get(part)) else "",
                        until=f"{wait.until:%Y-%m-%dT%H:%M:%SZ}" if wait and wait.until else "",
                    )
                    for part in changes.parts
                    if part.wave == wave.number
                ],
            )
            for wave in (rollout.waves if rollout else ())
        ],
        outside=changes.outside,
    )
