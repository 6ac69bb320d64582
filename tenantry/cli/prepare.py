"""What `tenantry cluster bootstrap --all` does and says."""

from __future__ import annotations

from pathlib import Path

from tenantry.cli.management import open_management
from tenantry.cli.output import data, working
from tenantry.cluster.apply_bootstrap import Outcome
from tenantry.cluster.prepare import Prepared, prepare, to_prepare
from tenantry.fleet.fleet import Fleet
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import plan


def bootstrap_all(
    file: Path, fleet: Fleet, environment: str, kubeconfig: Path | None, context: str | None, *, dry_run: bool
) -> int:
    """Prepare all clusters of an environment, and say what was done to each. Returns the exit code."""
    planned = plan(fleet, environment)
    names, idle = to_prepare(fleet, environment)
    with (
        open_management(file, planned, kubeconfig, context) as (client, there, unreached),
        working(f"preparing {counted(len(names), 'cluster')}") as tell,
    ):
        asked = [name for name in names if planned.hub_by_cluster.get(name, name) not in unreached]
        found = {each.cluster: each for each in prepare(client, fleet, there, asked, dry_run=dry_run, tell=tell)}
    for name in names:
        hub = planned.hub_by_cluster.get(name, name)
        prepared = found.get(name) or Prepared(name, failure=unreached[hub])
        for line in _lines(prepared, dry_run=dry_run):
            data(line)
    for name, state in idle.items():
        data(f"{name}: left out, because it is {state}")
    failed = [name for name in names if name not in found or found[name].failure]
    changed = sum(_changes(each) != "" for each in found.values() if not each.failure)
    verb = "would change" if dry_run else "changed"
    data(f"{environment}: {counted(len(names), 'cluster')}, {changed} {verb}, {len(failed)} not prepared")
    return 1 if failed else 0


def _lines(prepared: Prepared, *, dry_run: bool) -> list[str]:
    """What was done to a cluster on one line, and the fix below it if it was not prepared."""
    changes = _changes(prepared, dry_run=dry_run)
    if not prepared.failure:
        return [f"{prepared.cluster}: {changes or 'nothing to do'}"]
    before = f" (before: {changes})" if changes else ""
    return [
        f"{prepared.cluster}: not prepared{before}: {prepared.failure.message}",
        f"  fix: {prepared.failure.fix}",
    ]


def _changes(prepared: Prepared, *, dry_run: bool = False) -> str:
    """5 created, 1 changed; "" if nothing is to do."""
    numbers = ((each, prepared.outcomes.get(each, 0)) for each in (Outcome.CREATED, Outcome.CHANGED))
    would = "would be " if dry_run else ""
    return listed(f"{number} {would}{outcome}" for outcome, number in numbers if number)
