"""What `suspend` and `resume` have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tenantry.cli.control.shared import apps_of_tenant, report
from tenantry.cli.management import connect_management
from tenantry.cluster.control import Done, Outcome
from tenantry.cluster.targets import Target, targets
from tenantry.messages.errors import Refused
from tenantry.plan.planned_apps import PlannedApp

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class Action(Protocol):
    """Does something to targets."""

    def __call__(self, client: Client, targets: Sequence[Target], *, dry_run: bool) -> list[Outcome]: ...


def switch(
    name: str,
    action: Action,
    file: Path,
    environment: str,
    tenant: str,
    app: str | None,
    clusters: Sequence[str],
    connection: tuple[Path | None, str | None],
    output: str,
    *,
    dry_run: bool,
    note: str = "",
) -> int:
    """Do the action to the apps that the arguments name, and print what was done."""
    planned, apps = apps_of_tenant(file, environment, tenant, app, clusters)
    with connect_management(file, environment, *connection) as client:
        found, refused = targets(client, planned, apps)
        outcomes = [*action(client, found, dry_run=dry_run), *not_found(apps, found, refused)]
    return report(name, outcomes, output, dry_run=dry_run, note=note)


def not_found(apps: Sequence[PlannedApp], found: Sequence[Target], refused: Sequence[Refused]) -> list[Outcome]:
    """An outcome for each app that has no live object of its own."""
    there = {each.app.id for each in found}
    missing = [each for each in apps if each.id not in there]
    return [Outcome(app, Done.REFUSED, str(why)) for app, why in zip(missing, refused, strict=True)]
