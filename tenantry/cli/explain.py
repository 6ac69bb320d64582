"""`tenantry explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.annotated import Line, annotated, place, scalar, value_lines
from tenantry.cli.commands import Command
from tenantry.cli.explain_grants import print_grants
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import app as app_argument
from tenantry.cli.options import cluster as cluster_option
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.options import tenant as tenant_argument
from tenantry.cli.output import data, data_json, working
from tenantry.explain import (
    ExplainedApp,
    ExplainedPlatform,
    ExplainedTenant,
    Keeper,
    PlacedApp,
    explain_addon,
    explain_app,
    explain_grants,
    explain_platform,
    explain_tenant,
    rights_on_clusters,
    without_secrets,
)
from tenantry.explain.app import AppRollout
from tenantry.fleet.choice import Choice
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Value
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted
from tenantry.model.durations import duration
from tenantry.plan.after import in_words
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part
from tenantry.rollout.bypasses import is_range

if TYPE_CHECKING:
    from tenantry.cli.documents.common import Document


@click.command(
    "explain",
    cls=Command,
    epilog="""\
Examples:
  tenantry explain rocky -e dev                     a tenant
  tenantry explain rocky/web -e prod                an app on all its clusters
  tenantry explain rocky/web -e prod -c eu-west-1   an app on one cluster
  tenantry explain platform/cert-controller -e dev  an add-on
  tenantry explain platform -e prod                 what all add-ons share
  tenantry explain rocky --grants                   what its own file may do

Exit codes:
  0  success
  2  tenants.yaml is invalid, or it does not declare a name
""",
)
@tenant_argument()
@app_argument()
@environment_option("The environment to show; all with --grants.", required=True, unless=("grants",))
@cluster_option("Only this cluster; default: all of the environment.")
@click.option("--grants", is_flag=True, help="Show what the included file of TENANT may do.")
@output("text", "json", kind="Explanation")
@reads_file
def command(
    file: Path,
    tenant: str,
    app: str | None,
    environment: str | None,
    cluster: str | None,
    output: str,
    *,
    grants: bool,
) -> int:
    """Show the effective settings of TENANT, or of its APP on each cluster, and the line that sets each value.

    For an app, it also shows which clusters are selected and why, and the values of placeholders. A value that the file
    does not set is marked as a default. No cluster is contacted and nothing is changed.

    Use platform/ADDON for an add-on, and platform for the settings that all add-ons share.

    With --grants, it shows what the included file of TENANT may set, choose and reach, and which line says so.
    """
    if grants:
        if app or cluster:
            raise Refused("--grants takes no APP and no --cluster", "omit them: it shows all clusters")
        return _print_grants(file, tenant, environment, output)
    assert environment is not None
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        of_platform = tenant == PLATFORM and not _is_tenants(fleet, app)
        addon = app if of_platform else None
        # The platform as a whole says which clusters have tenants.
        planned = plan(fleet, environment, Part(("" if addon else None) if of_platform else tenant, cluster))
    if addon:
        _print(explain_addon(fleet, planned, addon, cluster), output)
    elif of_platform:
        _print(explain_platform(fleet, planned, cluster), output)
    elif app:
        _print(explain_app(fleet, planned, tenant, app, cluster), output)
    else:
        _print(explain_tenant(fleet, planned, tenant, cluster), output)
    return 0


def _is_tenants(fleet: Fleet, app: str | None) -> bool:
    """Whether `platform` is a tenant that is called so: an app that it does not have is an add-on."""
    tenant = fleet.document.tenants.get(PLATFORM)
    return tenant is not None and (app is None or app in tenant.apps or app not in fleet.document.platform.addons)


def _print_grants(file: Path, tenant: str, environment: str | None, output: str) -> int:
    with working(f"reading {file}"):
        fleet = load_fleet(file)
    found = explain_grants(fleet, tenant, environment)
    print_grants(tenant, fleet.source.file, found, rights_on_clusters(fleet, tenant), output)
    return 0


def _print(found: ExplainedApp | ExplainedPlatform | ExplainedTenant, output: str) -> None:
    shown = without_secrets(found)
    if output == "json":
        data_json(_document(shown))
        return
    match shown:
        case ExplainedApp():
            lines = _app_lines(shown)
        case ExplainedTenant():
            lines = _tenant_lines(shown)
        case _:
            lines = _platform_lines(shown)
    data(annotated(lines))


# --- text -------------------------------------------------------------------------------------------------------


def _platform_lines(platform: ExplainedPlatform) -> Iterator[Line]:
    yield Line("", f"the platform in environment {platform.environment}")
    yield from _section("settings", list(value_lines(platform.settings, 2)))
    by_cluster = (value.under(cluster) for cluster, values in platform.clusters.items() for value in values)
    yield from _section("clusters", list(value_lines(by_cluster, 2)))
    yield from _section("addons", [_where(addon, choice) for addon, choice in platform.addons.items()])
    yield from _entries("alerts", platform.alerts)


def _tenant_lines(tenant: ExplainedTenant) -> Iterator[Line]:
    yield Line("", f"tenant {tenant.tenant} in environment {tenant.environment}")
    yield from _section("namespaces", list(value_lines(tenant.namespaces, 2)))
    yield from _section("settings", list(value_lines(tenant.settings, 2)))
    if tenant.differing:
        yield Line("differing:", "settings on some clusters", bold=True)
        for cluster, values in tenant.differing.items():
            yield Line(f"  {cluster}:")
            yield from value_lines(values, 4)
    if tenant.order:
        yield Line("order:", "who waits for each add-on", bold=True)
        for cluster, order in tenant.order.items():
            yield Line(f"  {cluster}:")
            yield from _order(order)
    yield from _section("apps", [_where(app, choice) for app, choice in tenant.apps.items()])
    yield from _entries("alerts", tenant.alerts)
    yield from _entries("receivers", tenant.receivers)


def _entries(name: str, values: tuple[Value, ...]) -> Iterator[Line]:
    if values:
        yield from _section(name, list(value_lines(values, 2)))


def _section(name: str, lines: list[Line]) -> Iterator[Line]:
    yield Line(f"{name}:" if lines else f"{name}: {{}}", bold=True)
    yield from lines


def _where(app: str, choice: Choice) -> Line:
    colour = None if choice.clusters else "yellow"
    return Line(f"  {app}: [{', '.join(choice.clusters)}]", _selector(choice), colour)


def _selector(choice: Choice) -> str:
    return f"selector: {choice.selector}, {place(choice.origin)}"


def _document(app: ExplainedApp | ExplainedPlatform | ExplainedTenant) -> Document:
    from tenantry.cli.documents import explanation

    if isinstance(app, ExplainedPlatform):
        return explanation.ExplainedPlatform.model_validate(app)
    if isinstance(app, ExplainedTenant):
        return explanation.ExplainedTenant.model_validate(app)
    gate = None
    if app.gate:
        after, origin = app.gate
        gate = explanation.ExplainedGate(environment=after.environment, soak=after.soak, origin=origin)
    return explanation.ExplainedApp(
        tenant=app.tenant,
        app=app.app,
        environment=app.environment,
        selector=explanation.Selector(text=app.choice.selector, origin=app.choice.origin),
        clusters=app.choice.decisions,
        elsewhere=app.choice.elsewhere,
        gate=gate,
        rollout=app.rollout,
        placed={each.cluster: each for each in app.placed},
    )


def _app_lines(app: ExplainedApp) -> Iterator[Line]:
    what = f"app {app.app} of tenant {app.tenant}" if app.tenant else f"add-on {app.app}"
    yield Line("", f"{what} in environment {app.environment}")
    yield Line("clusters:", _selector(app.choice), bold=True)
    for decision in app.choice.decisions:
        text, colour = ("placed", "green") if decision.placed else ("not placed", "yellow")
        yield Line(f"  {decision.cluster}: {text}", f"{decision.reason}, {place(decision.origin)}", colour)
    if app.choice.elsewhere:
        yield Line("", f"not in environment {app.environment}: {', '.join(app.choice.elsewhere)}")
    if app.gate:
        after, origin = app.gate
        yield Line(f"after: {scalar(after.environment)}", f"{in_words(after)}, {place(origin)}", bold=True)
    if app.rollout:
        yield from _rollout_lines(app.rollout)
    for placed in app.placed:
        yield Line("")
        yield from _placed_lines(placed)


def _rollout_lines(rollout: AppRollout) -> Iterator[Line]:
    where = place(rollout.origin)
    if rollout.of == "off":
        yield Line("rollout: false", f"all clusters change at the same time, {where}", bold=True)
        return
    yield Line("rollout:", f"the environment's {counted(rollout.total, 'wave')}, {where}", bold=True)
    for wave in rollout.waves:
        left = f"not waited for: {', '.join(wave.left_out)}" if wave.left_out else ""
        conditions = [f"soaks for {duration(wave.soak)}"] if wave.soak else []
        conditions += [f"tolerates {wave.tolerate}"] if wave.tolerate else []
        notes = "; ".join(filter(None, (left, *conditions)))
        yield Line(f"  {wave.name}: [{', '.join((*wave.clusters, *wave.left_out))}]", notes)
    if rollout.bypass:
        yield Line(
            f"  bypassed by: {scalar(rollout.bypass)}", "what is new there reaches all clusters at once", "yellow"
        )
    if is_range(rollout.bypass):
        yield Line("", "to pin it, write a version in place of the range")


def _order(order: Mapping[str, Keeper]) -> Iterator[Line]:
    yield from (Line(f"    after {name}: {_KEEPERS[keeper]}") for name, keeper in order.items())


_KEEPERS: dict[Keeper, str] = {
    "flux": "kept by Flux, at every reconciliation",
    "pulumi": "kept by tenantry up, at creation and change only",
    "nobody": "not kept while it is paused or leaves",
}


def _placed_lines(placed: PlacedApp) -> Iterator[Line]:
    yield Line(f"{placed.cluster}:", placed.object, bold=True)
    if placed.names:
        yield Line("  names:", "too long, so they are shortened")
        yield from (Line(f"    {name}: {whole}") for name, whole in placed.names.items())
    yield from value_lines(placed.values, 2)
    if placed.order:
        yield Line("  order:", "who waits for each dependency")
        yield from _order(placed.order)
    if placed.placeholders:
        yield Line("  placeholders:")
        for placeholder in placed.placeholders:
            (line,) = value_lines((placeholder,), 4)
            yield line if placeholder.origin else Line(line.text, "built in")
