"""What the commands share that act on the apps of a tenant: which apps, and what is printed about each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tenantry.cli.output import data, data_json, working
from tenantry.cluster.apps import select
from tenantry.cluster.control import Done, Outcome
from tenantry.cluster.status import one_line
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.plan import Plan, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.planner import Part

if TYPE_CHECKING:
    from tenantry.cluster.client import Client
    from tenantry.cluster.control import Target

KIND = "Actions"
"""The kind of the JSON document."""


class Acting(NamedTuple):
    """What a verb acts on. found: the live objects of the apps that the arguments name; planned: what the environment plans."""

    client: Client
    planned: Plan
    found: Sequence[Target]
    dry_run: bool


def apps_of_tenant(
    file: Path, environment: str, tenant: str, app: str | None, clusters: Sequence[str]
) -> tuple[Plan, list[PlannedApp]]:
    """The plan of a tenant's part of an environment, or of the add-ons, and the apps that the arguments name in it.

    Raises: Refused: there are none; InvalidFleet: the file is wrong.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        if tenant.startswith(ADDON_PREFIX) and app is None:
            tenant, app = PLATFORM, tenant.removeprefix(ADDON_PREFIX)
        platform = tenant == PLATFORM and PLATFORM not in fleet.document.tenants
        _check_tenant(fleet, tenant, platform=platform)
        planned = plan(fleet, environment, Part(tenant="" if platform else tenant))
        own = [each for each in planned.apps if each.tenant == ("" if platform else tenant)]
        if not own:
            what = "add-ons" if platform else f"apps of tenant '{tenant}'"
            raise Refused(
                f"environment '{environment}' has no {what}", f"run `tenantry list placements -e {environment}`"
            )
    selection = select(planned, [tenant], [app] if app else [], clusters)
    return planned, [each for each in own if selection.takes(each)]


def _check_tenant(fleet: Fleet, tenant: str, *, platform: bool) -> None:
    if not platform and tenant not in fleet.document.tenants:
        known = declared("name one of these", tenant, [*fleet.document.tenants, PLATFORM])
        raise Refused(f"{fleet.source.file} declares no tenant '{tenant}'", known, code=UNKNOWN_NAME)


def report(action: str, outcomes: Sequence[Outcome], output: str, *, dry_run: bool, note: str = "") -> int:
    """Print what was done to each app, and return the exit code."""
    if output == "json":
        from tenantry.cli.documents.states import Actions

        data_json(Actions(action=action, dry_run=dry_run, items=outcomes))
    else:
        for each in outcomes:
            data(_line(each, dry_run=dry_run))
        if note and not dry_run and any(each.done not in (Done.UNCHANGED, Done.REFUSED) for each in outcomes):
            data(note)
    refused = sum(each.done is Done.REFUSED for each in outcomes)
    if refused == len(outcomes):
        return 2
    return 1 if refused or any(each.done is Done.NOT_READY for each in outcomes) else 0


def in_words(app: PlannedApp) -> str:
    """rocky/web on edge-1"""
    return f"{app.full_name} on {app.cluster}"


def _line(outcome: Outcome, *, dry_run: bool) -> str:
    done = outcome.done
    changed = done not in (Done.UNCHANGED, Done.REFUSED)
    text = f"{'would be ' if dry_run and changed else ''}{done}: {in_words(outcome.app)} ({outcome.app.id})"
    message = "\n  fix: ".join(one_line(part) for part in outcome.message.split("\n  fix: "))
    return f"{text}: {message}" if message else text
