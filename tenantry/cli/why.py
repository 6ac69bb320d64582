"""`tenantry why`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click
from click import style

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import fleet_file, project_directory
from tenantry.cli.named_apps import Named, in_words, names_apps
from tenantry.cli.output import columns, data, data_json, working
from tenantry.cli.status.table import short_revision
from tenantry.cluster.connect import connect
from tenantry.cluster.reach import TIMEOUT
from tenantry.cluster.status import Readiness, age
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused, TenantryError
from tenantry.messages.text import counted, printable
from tenantry.plan.planned_apps import PlannedApp
from tenantry.why import Answer, Asking, Evidence, answers, answers_with_own_rights
from tenantry.why.findings import Commands, PlaceOf
from tenantry.why.places import Absence, Places, absence

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class _Why(Command):
    """A command that also answers why an app is not on a cluster that was named."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Refused as refused:
            if refused.code != UNKNOWN_NAME or (found := _absence(ctx)) is None:
                raise
        if ctx.params.get("output") == "json":
            from tenantry.cli.documents.causes import Why

            data_json(Why(environment=found.environment, apps=[], absent=found))
        else:
            selector = f"\nits clusters: {found.selector}" if found.selector else ""
            told = f"{found.app} is not on {found.cluster}: {printable(found.reason)} ({found.at}){selector}"
            data(told)
        return 1


def _absence(ctx: click.Context) -> Absence | None:
    """Why the file does not place the app that the arguments name on the cluster that they name; None: another mistake."""
    params = ctx.params
    named, _, app = str(params.get("tenant") or "").partition("/")
    tenant, clusters = ("" if named == PLATFORM else named), tuple(params.get("clusters") or ())
    app = str(params.get("app") or app).removeprefix(ADDON_PREFIX)
    if not app or len(clusters) != 1:
        return None
    try:
        return absence(load_fleet(fleet_file(ctx)), str(params.get("environment")), tenant, app, clusters[0])
    except TenantryError:
        return None


@click.command(
    "why",
    cls=_Why,
    epilog="""\
Examples:
  tenantry why rocky/web -e prod -c edge-1
  tenantry why rocky/web -e prod                  on each of its clusters
  tenantry why platform/cert-controller -e prod   an add-on
  tenantry why rocky/web -e prod -c edge-1 --output json
  tenantry why rocky/web -e prod -c edge-1 --app-context my-edge-1

Exit codes:
  0  everything is well
  1  something is not well; the output says why
  2  there is no such app, or the management cluster does not answer
""",
)
@names_apps(
    "Why",
    click.option(
        "--app-kubeconfig",
        type=click.Path(path_type=Path, dir_okay=False),
        help="A kubeconfig of your own for the app's cluster; default with --app-context: KUBECONFIG, then ~/.kube/config.",
    ),
    click.option(
        "--app-context",
        metavar="NAME",
        help="A context of your own for the app's cluster, which is then read with your rights.",
    ),
)
@click.pass_context
def command(
    ctx: click.Context, named: Named, output: str, *, app_kubeconfig: Path | None, app_context: str | None
) -> int:
    """Show why an app is not well: the cause in one line, what shows it, and what to type next.

    It follows the trail from the file to Flux's objects and their sources, to what Flux applied, and on the app's cluster
    to workloads, pods, events and quotas. Everything is well if nothing is found.

    The app's cluster is read as Flux reads it: with the kubeconfig in its Secret, as the tenant's service account. So you
    need rights on the management cluster to read that Secret. Without them, name a context of your own for the app's
    cluster with --app-context: it is read with your rights, and the management cluster only if you may.

    Nothing is changed, and no value of a Secret is printed.
    """
    if (app_context or app_kubeconfig) and len({app.cluster for app in named.apps}) > 1:
        raise click.UsageError("--app-context and --app-kubeconfig are for one cluster: name it with --cluster")
    file: Path | None = ctx.params["kubeconfig"]
    with ExitStack() as opened:
        own = None
        if app_context or app_kubeconfig:
            own = opened.enter_context(connect(app_kubeconfig, app_context, TIMEOUT))
        with working("following the trail"):
            commands = Commands(
                named.environment,
                hub=_given(kubeconfig=str(file.absolute()) if file else "", context=ctx.params["context"]),
                file=_given(file=ctx.obj),
                setting=_places(ctx, named.environment, Places.setting),
                before=_before(ctx),
                own=_kubectl(own) if own else (),
            )
            found = _answers(named, _places(ctx, named.environment), commands, own)
    if output == "json":
        from tenantry.cli.documents.causes import Why

        data_json(Why(environment=named.environment, apps=found, absent=None))
    else:
        data(_text(found, datetime.now(UTC)))
    return 0 if all(each.well for each in found) else 1


def _answers(named: Named, place: PlaceOf, commands: Commands, own: Client | None) -> list[Answer]:
    """The answers; without the management cluster if it cannot be read and the apps' cluster can."""
    plan = named.planned
    try:
        with named.connect() as hub:
            return answers(hub, Asking(plan, replace(commands, kubectl=_kubectl(hub)), place), named.apps, own)
    except Refused as refused:
        if own is None:
            raise
        without_hub = f"the management cluster: {refused.message}"
        return answers_with_own_rights(own, Asking(plan, commands, place), named.apps, without_hub)


def _given(**options: object) -> tuple[str, ...]:
    """Options as they were given, for the next command."""
    return tuple(word for name, value in options.items() if value for word in (f"--{name}", str(value)))


def _before(ctx: click.Context) -> tuple[str, ...]:
    """What makes a run possible in a sandbox's fleet, whose pulumi is not on the path."""
    in_sandbox = not shutil.which("pulumi") and (project_directory(ctx) / ".sandbox").is_dir()
    return ("tenantry", "sandbox", "run", "--") if in_sandbox else ()


def _kubectl(client: Client) -> tuple[str, ...]:
    """The options with which kubectl reaches the cluster of a client."""
    config = client.config
    file = ("--kubeconfig", str(Path(config.fname).absolute())) if config.fname else ()
    return (*file, *(("--context", config.context_name) if config.context_name else ()))


def _places(
    ctx: click.Context, environment: str, tell: Callable[[Places, PlannedApp, tuple[str, ...]], str] = Places.__call__
) -> PlaceOf:
    """The lines of the file, or what else `tell` says; without a file that can be read, there are none."""
    fleets: list[Places | None] = []

    def place(app: PlannedApp, key: tuple[str, ...]) -> str:
        if not fleets:
            try:
                fleets.append(Places(load_fleet(fleet_file(ctx)), environment))
            except TenantryError:
                fleets.append(None)
        return tell(fleets[0], app, key) if fleets[0] else ""

    return place


# --- text -----------------------------------------------------------------------------------------------------------------


def _text(found: Sequence[Answer], now: datetime) -> str:
    """Each app; those that are not well have a blank line behind them."""
    parts = ["\n".join([*_well(each, now)] if each.well else [*_not_well(each, now), ""]) for each in found]
    return "\n".join(parts).rstrip("\n")


def _well(answer: Answer, now: datetime) -> Iterator[str]:
    *steps, last = answer.trail or (Evidence("", ""),)
    objects = f"{last.what}: {last.state}" if last.state else "nothing is applied"
    since = age(steps[-1].since, now) if steps else ""
    yield f"{in_words(answer.app)} is well{f' since {since}' if since else ''}; {objects}"
    yield from _remarks(answer)


def _not_well(answer: Answer, now: datetime) -> Iterator[str]:
    first, *others = answer.findings
    yield style(f"{in_words(answer.app)} is not well", bold=True)
    yield from _entry("cause", first.cause)
    if first.advice:
        yield from _entry("fix", first.advice)
    if first.evidence:
        yield ""
        yield from _lines(first.evidence, now)
    if shown := [each for each in answer.trail if each[:2] not in {evidence[:2] for evidence in first.evidence}]:
        yield f"\ntrail{f', read as {answer.user}' if answer.user else ''}"
        yield from _lines(shown, now)
    for number, other in enumerate(others[:_OTHERS]):
        yield from _entry("\nalso" if not number else "", other.cause)
    if len(others) > _OTHERS:
        yield from _entry("", f"and {counted(len(others) - _OTHERS, 'more cause')}; --output json has them all")
    if commands := list(dict.fromkeys(line for each in answer.findings for line in each.next)):
        yield "\nnext"
        yield from (f"  {line}" for line in commands[:_COMMANDS])
    yield from _remarks(answer)


def _remarks(answer: Answer) -> Iterator[str]:
    for name, texts in (("note", answer.notes), ("unread", answer.unread)):
        for text in texts:
            yield from _entry(name, text)


_OTHERS = 5
_COMMANDS = 4
"""So many commands are printed; those of the cause come first."""
_INDENT = 8


def _entry(name: str, text: str) -> Iterator[str]:
    """`cause   ...`, wrapped on a terminal."""
    before = name.rpartition("\n")[0] + ("\n" if "\n" in name else "")
    label = f"{name.removeprefix(before):<{_INDENT}}"
    for number, line in enumerate(_wrapped(printable(text), max(_INDENT, len(label)))):
        yield f"{before if not number else ''}{label if not number else ' ' * _INDENT}{line}".rstrip()


def _lines(found: Iterable[Evidence], now: datetime) -> Iterator[str]:
    for each in found:
        good = each.state == Readiness.READY
        about = (each.what, each.state, age(each.since, now), short_revision(each.message) if good else "")
        yield f"  {printable('  '.join(filter(None, about)))}"
        if each.message and not good:
            yield from (f"    {line}" for line in _wrapped(printable(each.message), 4))


def _wrapped(text: str, indent: int) -> list[str]:
    width = columns(sys.stdout)
    if width is None:
        return [text]
    return wrap(text, max(20, width - indent), break_on_hyphens=False, break_long_words=False) or [""]
