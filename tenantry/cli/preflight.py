"""`tenantry preflight`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from tenantry.cli.commands import Command
from tenantry.cli.diff.lines import changed_objects
from tenantry.cli.diff.text import line_text
from tenantry.cli.diff.values import EVERYTHING, DisplayLimits, Line
from tenantry.cli.environment import environment_of
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import cluster as cluster_option
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.output import (
    as_text,
    columns,
    counts,
    data,
    data_json,
    report_warnings,
    say,
    working,
)
from tenantry.cli.serializer import plain
from tenantry.cluster.requests import ANSWER_TIMEOUT
from tenantry.fleet.fleet import Fleet
from tenantry.guard import limits_of
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import Problem, Severity
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan, plan
from tenantry.preflight.adoption import Adoption
from tenantry.preflight.after import Run
from tenantry.preflight.check import Report, contact_management, preflight
from tenantry.preflight.dry_run import DryRun
from tenantry.preflight.kubeconfig import is_loopback
from tenantry.preflight.remotes import contact, remote_of
from tenantry.stacks.file import stacks_running, target_of
from tenantry.stacks.outcome import for_stack
from tenantry.stacks.states import InStates


@click.command(
    "preflight",
    cls=Command,
    epilog="""\
Examples:
  tenantry preflight --environment dev
  tenantry preflight dev --brief
  tenantry preflight --environment prod --kubeconfig ~/.kube/hub-prod
  tenantry preflight --environment prod --preview        in a pull request
  tenantry preflight --environment prod --dry-run        before an adoption
  tenantry preflight --environment prod --cluster edge-1

Exit codes:
  0  no errors; there may be warnings
  1  at least one error, with --cluster also a remote cluster that does not
     answer; with --strict, a warning about a cluster
  2  tenants.yaml is invalid, or a management cluster does not answer; with
     --strict, a warning about tenants.yaml
  4  the guard, or the gate to the environment before, would refuse the change
""",
)
@environment_option("The environment to check.", required=True, argument=True)
@cluster_option("Check this cluster alone: that it answers, and takes what Flux does there.")
@management_options
@click.option(
    "--all", "everything", is_flag=True, help="Show every field that adopting an object changes; shorten nothing."
)
@click.option("--brief", is_flag=True, help="Print only the codes of warnings; errors are printed in full.")
@click.option(
    "--preview",
    is_flag=True,
    help="For a review, which runs nothing: only warn of apps that wait for the environment before.",
)
@click.option(
    "--dry-run",
    "rehearse",
    is_flag=True,
    help="Have the API server apply each planned object as a dry run, and show what would change.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Treat warnings as errors: exit with code 2 if the file has any, with code 1 if the clusters have.",
)
@output("text", "json", kind="Preflight")
@reads_file
def command(
    file: Path,
    environment: str,
    cluster: str | None,
    kubeconfig: Path | None,
    context: str | None,
    *,
    everything: bool,
    brief: bool,
    preview: bool,
    rehearse: bool,
    strict: bool,
    output: str,
) -> int:
    """Check the plan of an environment against its live clusters, before Pulumi applies it.

    Reports what the guard of `tenantry up` would refuse, existing objects that would be adopted, whether Flux is recent
    enough and locked down, and whether Flux can reach the remote clusters. Nothing is changed.

    The warnings of `tenantry validate` are printed to stderr; without --strict they do not change the exit code.

    With --cluster, a remote cluster is asked with the kubeconfig that Flux uses, from its Secret on the management cluster:
    whether Flux takes the kubeconfig, until when it is valid, whether the cluster accepts it, is the right one, lets Flux
    impersonate the tenants' accounts, and is bootstrapped. Of a management cluster, Flux's controllers and the admission
    policies are checked. Contents of the kubeconfig are never printed.
    """
    if cluster:
        if everything or brief or preview or rehearse:
            raise click.UsageError("--cluster takes no --all, --brief, --preview or --dry-run")
        return _check_cluster(file, environment, cluster, kubeconfig, context, output, strict=strict)
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan_one(fleet, environment)
    warnings = warnings_of(fleet)
    if output != "json":
        print_warnings(file, warnings, brief=brief)
    report = report_on(file, fleet, planned, kubeconfig, context, preview=preview, rehearse=rehearse)
    if strict:
        report = replace(report, problems=_strictly(report.problems))
    if output == "json":
        data_json({"environments": [_environment(planned, report)], "warnings": warnings}, "Preflight")
    else:
        limits = EVERYTHING if everything else DisplayLimits()
        print_report(planned, report, limits, brief=brief)
    if strict and warnings:
        return 2
    return 4 if report.refused else 0 if report.fit else 1


def _check_cluster(
    file: Path, environment: str, name: str, kubeconfig: Path | None, context: str | None, output: str, *, strict: bool
) -> int:
    """Check one cluster, and the kubeconfig through which Flux reaches it."""
    fleet = load_fleet(file)
    environment_of(fleet, name, environment)
    planned = plan(fleet, environment)
    remote = remote_of(fleet, planned, name) if name != planned.management else None
    with connect_management(file, environment, kubeconfig, context) as client, working(f"asking {name}"):
        now = datetime.now(UTC)
        if remote is None:
            found = contact_management(client, fleet, planned)
        else:
            local = is_loopback(urlsplit(client.config.cluster.server).hostname or "")
            found = contact(client, remote, now, local=local)
    if strict:
        found = replace(found, problems=_strictly(found.problems))
    if output == "json":
        data_json(found, "Preflight")
        return 0 if found.fit else 1
    if found.answer:
        version = f", Kubernetes {found.answer.version}" if found.answer.version else ""
        data(f"{name} answered in {found.answer.milliseconds} ms{version}")
    if (end := found.expires) and end > now:
        data(f"the user's token is valid until {end:%Y-%m-%d %H:%M} UTC, for {counted((end - now).days, 'day')}")
    for problem in found.problems:
        data(as_text(problem))
    data(f"{name}: {counts(found.problems) or 'no problems'}")
    return 0 if found.fit else 1


def report_on(
    file: Path,
    fleet: Fleet,
    planned: Plan,
    kubeconfig: Path | None = None,
    context: str | None = None,
    *,
    preview: bool = False,
    drift: bool = True,
    rehearse: bool = False,
    ignored: Collection[str] = (),
) -> Report:
    """Check an environment.

    Args:   preview: nothing is changed, so an environment before that cannot be asked refuses nothing.
            drift: whether live objects are compared with the planned ones.
            ignored: the lines that it is not asked about.
            rehearse: whether the API server is asked what it would make of each planned object.
    Raises: Refused: its management cluster cannot be asked.
    """
    project = file.resolve().parent
    known = stacks_running(project, planned.environment)
    in_state = InStates(project, [each.name for each in known])
    stack = target_of(project, planned.environment)
    limits = limits_of(fleet, planned.environment, stack.max_deletions, stack.allowed_deletions)
    now = datetime.now(UTC)
    run = Run(plan=planned, project=project, preview=preview, now=now, ignored=ignored)
    with (
        connect_management(file, planned.environment, kubeconfig, context, ANSWER_TIMEOUT) as client,
        working(f"{planned.environment}: reading {planned.management} and the remote clusters") as tell,
    ):
        report = preflight(
            client,
            fleet,
            planned,
            limits,
            now=now,
            claim=stack.claim,
            tell=tell,
            run=run,
            drift=drift,
            in_state=in_state,
            rehearse=rehearse,
        )
    return _for_stack(report, stack.claim.stack.rpartition("/")[2]) if stack.claim else report


def _for_stack(report: Report, stack: str) -> Report:
    """The report with its commands for the stack that runs the environment."""
    problems = (replace(problem, fix=for_stack(problem.fix, stack)) for problem in report.problems)
    return replace(report, problems=tuple(problems))


def _strictly(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Errors instead of warnings."""
    return tuple(replace(problem, severity=Severity.ERROR) for problem in problems)


def print_report(
    planned: Plan,
    report: Report,
    limits: DisplayLimits,
    *,
    brief: bool,
    write: Callable[[str], None] = data,
) -> None:
    """Print a report; brief: of warnings only their codes."""
    for problem in report.problems:
        if problem.severity is Severity.ERROR or not brief:
            write(as_text(problem))
    shown = _dry_run(report.dry_run, limits) if report.dry_run else _adoptions(report.adoptions, limits)
    for line in shown:
        write(line)
    found = counts(report.problems) or "nothing is in the way"
    hidden = listed(each.code for each in report.problems if each.severity is Severity.WARNING) if brief else ""
    write(
        f"{planned.environment}: {counted(len(planned.objects), 'object')} for {planned.management}: {found}"
        + (f" ({hidden})" if hidden else "")
    )


def print_warnings(file: Path, warnings: tuple[Problem, ...], *, brief: bool) -> None:
    """The warnings that `tenantry validate` prints, too."""
    if not brief:
        report_warnings(warnings)
    elif warnings:
        say(f"{file}: {counted(len(warnings), 'warning')} ({listed(warning.code for warning in warnings)})")


def _adoptions(adoptions: Iterable[Adoption], limits: DisplayLimits) -> Iterator[str]:
    for adoption in adoptions:
        taken, made = len(adoption.taken), len(adoption.made)
        yield f"tenant '{adoption.tenant}' takes over {counted(taken, 'object')}, gets {made} new, and loses none"
        lines = changed_objects((each for each in adoption.taken if each.fields), limits)
        lines += [Line(" ", f"{each.id} stays as it is") for each in adoption.taken if not each.fields]
        lines += [Line("+", str(id)) for id in adoption.made]
        yield from (line_text(line, columns(sys.stdout)) for line in lines)


def _dry_run(found: DryRun, limits: DisplayLimits) -> Iterator[str]:
    """Each object that would not stay as it is, then how many there are of each sort."""
    lines = changed_objects(found.changed, limits)
    lines += [Line("+", str(id)) for id in found.made]
    lines += [Line("!", str(rejected.id)) for rejected in found.rejected]
    lines += [Line("-", str(id)) for id in found.deleted]
    yield from (line_text(line, columns(sys.stdout)) for line in lines)
    yield "dry run of the API server:"
    for number, what in (
        (len(found.equal), "stay as they are"),
        (len(found.marked), "get labels and annotations of Tenantry alone"),
        (len(found.changed), "change, as above"),
        (len(found.made), "are new"),
        (len(found.rejected), "are not taken"),
        (
            len(found.deleted),
            "have the environment's labels and are not in the file: a run deletes what its stack has of them",
        ),
    ):
        yield f"  {number:>6,} {what}"


def _environment(planned: Plan, report: Report) -> dict[str, Any]:
    return {
        "environment": planned.environment,
        "management": planned.management,
        "objects": len(planned.objects),
        **plain(report),
    }
