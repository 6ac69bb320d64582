"""What the commands share that name the apps of a tenant: `tree` and `why`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import output, tenant_apps
from tenantry.cli.output import working
from tenantry.cluster.apps import select
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.plan import Plan, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.planner import Part

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


Connect: TypeAlias = "Callable[[], AbstractContextManager[Client]]"
"""To the management cluster."""


class Named(NamedTuple):
    """What the arguments name. planned: the part of the environment; connect: to its management cluster."""

    environment: str
    planned: Plan
    apps: Sequence[PlannedApp]
    connect: Connect


def names_apps(kind: str, *options: Callable[[Any], Any]) -> Callable[[Callable[..., int]], Any]:
    """Give a command the arguments and options that name apps, and its own; the apps are its first argument.

    kind: of its JSON document.
    """

    def decorate(command: Callable[..., int]) -> Any:
        @wraps(command)
        def with_apps(
            file: Path,
            tenant: str,
            app: str | None,
            environment: str,
            clusters: tuple[str, ...],
            kubeconfig: Path | None,
            context: str | None,
            **own: Any,
        ) -> int:
            names = _Names(tenant, app, clusters)
            connect: Connect = partial(connect_management, file, environment, kubeconfig, context)
            planned = _planned(file, environment, tenant)
            return command(Named(environment, planned, names.of(planned), connect), **own)

        decorators: tuple[Callable[[Any], Any], ...] = (
            tenant_apps,
            *options,
            management_options,
            output("text", "json", kind=kind),
            reads_file,
        )
        decorated: Any = with_apps
        for decorator in reversed(decorators):
            decorated = decorator(decorated)
        return decorated

    return decorate


class _Names(NamedTuple):
    """The arguments that name apps."""

    tenant: str
    app: str | None
    clusters: Sequence[str]

    def of(self, planned: Plan) -> list[PlannedApp]:
        """The apps in a plan. Raises: Refused: there are none."""
        selection = select(planned, [self.tenant], [self.app] if self.app else [], self.clusters)
        return [app for app in planned.apps if selection.takes(app)]


def _planned(file: Path, environment: str, tenant: str) -> Plan:
    """The plan of a tenant's part of an environment, or of the add-ons.

    Raises: Refused: it has no apps there; InvalidFleet: the file is wrong.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        owner = "" if tenant == PLATFORM and PLATFORM not in fleet.document.tenants else tenant
        if owner:
            _check_tenant(fleet, owner)
        planned = plan(fleet, environment, Part(tenant=owner))
        own = tuple(planned_app for planned_app in planned.apps if planned_app.tenant == owner)
        if not own:
            what = f"apps of tenant '{tenant}'" if owner else "add-ons"
            fix = f"run `tenantry list placements -e {environment}`"
            raise Refused(f"environment '{environment}' has no {what}", fix)
    return planned


def _check_tenant(fleet: Fleet, tenant: str) -> None:
    if tenant not in fleet.document.tenants:
        known = declared("name one of these", tenant, [*fleet.document.tenants, PLATFORM])
        raise Refused(f"{fleet.source.file} declares no tenant '{tenant}'", known, code=UNKNOWN_NAME)


def in_words(app: PlannedApp) -> str:
    """rocky/web on edge-1"""
    return f"{app.full_name} on {app.cluster}"
