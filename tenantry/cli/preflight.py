"""`tenantry preflight`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.lines import Line, changed_objects, line_text
from tenantry.cli.options import cluster_environment, connect_management, reads_file
from tenantry.cli.output import data, data_json, plain, working
from tenantry.cli.problems import as_text, counts, report_warnings
from tenantry.cluster.requests import ANSWER_TIMEOUT
from tenantry.fleet.fleet import Fleet
from tenantry.guard.check import limits_of
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import Severity
from tenantry.messages.text import counted
from tenantry.plan.plan import Plan, plan
from tenantry.preflight.adoption import Adoption
from tenantry.preflight.check import Check, Report, contact_management
from tenantry.preflight.remotes import contact, errors_first, remote_of
from tenantry.stacks.file import target_of
from tenantry.stacks.outcome import for_stack
from tenantry.stacks.states import InState


@click.command(
    "preflight",
    cls=Command,
    epilog="""\
Examples:
  tenantry preflight --environment dev
  tenantry preflight --environment prod --kubeconfig ~/.kube/hub-prod
  tenantry preflight --environment prod --cluster edge-1

Exit codes:
  0  no errors; there may be warnings
  1  at least one error, with --cluster also a remote cluster that does not
     answer
  2  tenants.yaml is invalid, or a management cluster does not answer
  4  the guard would refuse the change
""",
)
@options.environment("The environment to check.", required=True, argument=True)
@options.cluster("Check this cluster alone: that it answers, and takes what Flux does there.")
@options.management
@options.output("text", "json")
@reads_file
def command(
    file: Path,
    environment: str,
    cluster: str | None,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
) -> int:
    """Check the plan of an environment against its live clusters, before Pulumi applies it.

    Reports what the guard of `tenantry up` would refuse, existing objects that would be adopted, whether Flux serves what
    is planned and is locked down, and whether it can reach the remote clusters. Nothing is changed.

    The warnings of `tenantry validate` are printed to stderr; they do not change the exit code.

    With --cluster, a remote cluster is asked with the kubeconfig that Flux uses, from its Secret on the management cluster:
    whether Flux takes the kubeconfig, whether the cluster accepts it, is the right one, lets Flux impersonate the tenants'
    accounts, and is bootstrapped. Of a management cluster, Flux's controllers and the admission
    policies are checked. Contents of the kubeconfig are never printed.
    """
    if cluster:
        return _check_cluster(file, environment, cluster, kubeconfig, context, output)
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan_one(fleet, environment)
    warnings = warnings_of(fleet)
    if output != "json":
        report_warnings(warnings)
    report = report_on(file, fleet, planned, kubeconfig, context)
    if output == "json":
        result = {
            "environment": environment,
            "management": planned.management,
            "objects": len(planned.objects),
            **plain(report),
        }
        data_json({"environments": [result], "warnings": warnings}, "Preflight")
    else:
        print_report(planned, report)
    return 4 if report.refused else 0 if report.fit else 1


def _check_cluster(
    file: Path, environment: str, name: str, kubeconfig: Path | None, context: str | None, output: str
) -> int:
    """Check one cluster, and the kubeconfig through which Flux reaches it."""
    fleet = load_fleet(file)
    cluster_environment(fleet, name, environment)
    planned = plan(fleet, environment)
    remote = remote_of(fleet, planned, name) if name != planned.management else None
    with connect_management(file, environment, kubeconfig, context) as client, working(f"asking {name}"):
        found = contact_management(client, fleet, planned) if remote is None else contact(client, remote)
    # For a plan it is a warning that a cluster cannot be asked from here, and here it is the answer.
    problems = errors_first(
        replace(problem, severity=Severity.ERROR) if problem.code == "unreachable" else problem for problem in found
    )
    fit = not any(problem.severity is Severity.ERROR for problem in problems)
    if output == "json":
        data_json({"cluster": name, "fit": fit, "problems": problems}, "Preflight")
        return 0 if fit else 1
    for problem in problems:
        data(as_text(problem))
    data(f"{name}: {counts(problems) or 'no problems'}")
    return 0 if fit else 1


def report_on(
    file: Path,
    fleet: Fleet,
    planned: Plan,
    kubeconfig: Path | None = None,
    context: str | None = None,
    *,
    drift: bool = True,
) -> Report:
    """Check an environment. drift: whether all live objects are compared with the planned ones.

    Raises: Refused: its management cluster cannot be asked.
    """
    project = file.resolve().parent
    stack = target_of(project, planned.environment)
    in_state = InState(project, stack.name if stack.claim else "")
    limits = limits_of(fleet, planned.environment, stack.max_deletions, stack.allowed_deletions)
    with (
        connect_management(file, planned.environment, kubeconfig, context, ANSWER_TIMEOUT) as client,
        working(f"{planned.environment}: reading {planned.management} and the remote clusters"),
    ):
        check = Check(
            client,
            fleet,
            planned,
            limits,
            claim=stack.claim,
            drift=drift,
            in_state=in_state,
        )
        report = check.report()
    if stack.claim is None:
        return report
    name = stack.claim.stack.rpartition("/")[2]
    problems = (replace(problem, fix=for_stack(problem.fix, name)) for problem in report.problems)
    return replace(report, problems=tuple(problems))


def print_report(planned: Plan, report: Report, *, brief: bool = False, write: Callable[[str], None] = data) -> None:
    """Print a report; brief: of warnings only their number."""
    for problem in report.problems:
        if problem.severity is Severity.ERROR or not brief:
            write(as_text(problem))
    for line in _adoptions(report.adoptions):
        write(line)
    problems = counts(report.problems) or "nothing is in the way"
    write(f"{planned.environment}: {counted(len(planned.objects), 'object')} for {planned.management}: {problems}")


def _adoptions(adoptions: Iterable[Adoption]) -> Iterator[str]:
    for adoption in adoptions:
        yield (
            f"tenant '{adoption.tenant}' takes over {counted(len(adoption.taken), 'object')}, gets {len(adoption.made)} new, and"
            " loses none"
        )
        made = (Line("+", str(id)) for id in adoption.made)
        fields = changed_objects((change.id, change.fields) for change in adoption.taken)
        yield from (line_text(line) for line in (*fields, *made))
