"""`tenantry why`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click import style

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import connect_management, reads_file
from tenantry.cli.output import data, data_json, working
from tenantry.cli.status import short_revision
from tenantry.cluster.states import select
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.text import printable, require
from tenantry.plan.plan import Part, plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.flux_status import Readiness, age
from tenantry.why.findings import Answer, Commands, Evidence
from tenantry.why.reading import answers

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@click.command(
    "why",
    cls=Command,
    epilog="""\
Examples:
  tenantry why rocky/web -e prod -c edge-1
  tenantry why rocky/web -e prod                  on each of its clusters
  tenantry why platform/cert-controller -e prod   an add-on
  tenantry why rocky/web -e prod -c edge-1 --output json

Exit codes:
  0  everything is well
  1  something is not well; the output says why
  2  there is no such app, or the management cluster does not answer
""",
)
@options.subject("TENANT/APP")
@options.environment("The environment of the app.", required=True)
@options.clusters("Only on this cluster; repeatable.")
@options.management
@options.output("text", "json")
@reads_file
def command(
    file: Path,
    subject: tuple[str, str],
    environment: str,
    clusters: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    output: str,
) -> int:
    """Show why an app is not well: the cause in one line, what shows it, and what to type next.

    It follows the trail from the file to Flux's objects and their sources, to what Flux applied, and on the app's cluster
    to workloads, pods, events and quotas. Everything is well if nothing is found.

    The app's cluster is read as Flux reads it: with the kubeconfig in its Secret, as the tenant's service account. So you
    need rights on the management cluster to read that Secret.

    Nothing is changed, and no value of a Secret is printed. Why an app is not on a cluster at all, `tenantry explain` says.
    """
    tenant, name = subject
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        require("tenant", tenant, [*fleet.document.tenants, PLATFORM], fleet.source.file)
        planned = plan(fleet, environment, Part(tenant="" if tenant == PLATFORM else tenant))
    selection = select(planned, [tenant], [name], clusters)
    apps = [app for app in planned.apps if selection.takes(app)]
    with connect_management(file, environment, kubeconfig, context) as hub, working("following the trail"):
        replies = answers(hub, planned, Commands(fleet, environment, _kubectl(hub)), apps)
    if output == "json":
        data_json({"environment": environment, "apps": replies}, "Why")
    else:
        data(_text(replies, datetime.now(UTC)))
    return 0 if all(answer.well for answer in replies) else 1


def _kubectl(client: Client) -> tuple[str, ...]:
    """The options with which kubectl reaches the cluster of a client."""
    access = client.access
    file = ("--kubeconfig", str(access.file.absolute())) if access.file else ()
    return (*file, *(("--context", access.name) if access.name else ()))


# --- text -----------------------------------------------------------------------------------------------------------------


def _text(replies: Sequence[Answer], now: datetime) -> str:
    """The app on each of its clusters; where it is not well, there is a blank line behind."""
    lines: list[str] = []
    for answer in replies:
        lines += _well(answer, now) if answer.well else [*_not_well(answer, now), ""]
    return "\n".join(lines).rstrip("\n")


def _named(app: PlannedApp) -> str:
    return f"{app.full_name} on {app.cluster}"


def _well(answer: Answer, now: datetime) -> Iterator[str]:
    *steps, last = answer.trail or (Evidence("", ""),)
    since = age(steps[-1].since, now) if steps else ""
    yield f"{_named(answer.asked)} is well{f' since {since}' if since else ''}; {last.what}: {last.state}"
    yield from _lines(steps, now)
    yield from _unread(answer)


def _not_well(answer: Answer, now: datetime) -> Iterator[str]:
    first, *others = answer.findings
    yield style(f"{_named(answer.asked)} is not well", bold=True)
    yield _entry("cause", first.cause)
    if first.advice:
        yield _entry("fix", first.advice)
    if first.evidence:
        yield ""
        yield from _lines(first.evidence, now)
    known = {evidence[:2] for evidence in first.evidence}
    if shown := [evidence for evidence in answer.trail if evidence[:2] not in known]:
        yield f"\ntrail{f', read as {answer.read_as}' if answer.read_as else ''}"
        yield from _lines(shown, now)
    if others:
        yield ""
    for number, other in enumerate(others):
        yield _entry("also" if not number else "", other.cause)
    if commands := list(dict.fromkeys(line for finding in answer.findings for line in finding.next)):
        yield "\nnext"
        yield from (f"  {line}" for line in commands)
    yield from _unread(answer)


def _unread(answer: Answer) -> Iterator[str]:
    for text in answer.unread:
        yield _entry("unread", text)


def _entry(name: str, text: str) -> str:
    """`cause   ...`"""
    return f"{name:<8}{printable(text)}"


def _lines(observed: Iterable[Evidence], now: datetime) -> Iterator[str]:
    for evidence in observed:
        ready = evidence.state == Readiness.READY
        revision = short_revision(evidence.message) if ready else ""
        about = (evidence.what, evidence.state, age(evidence.since, now), revision)
        yield f"  {printable('  '.join(filter(None, about)))}"
        if evidence.message and not ready:
            yield f"    {printable(evidence.message)}"
