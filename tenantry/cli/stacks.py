"""`tenantry stacks`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table
from rich.text import Text

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import environments, output
from tenantry.cli.output import data, data_json, say, stdout_console
from tenantry.cli.stacks_options import delivered
from tenantry.cli.tables import fitting
from tenantry.fleet.fleet import Fleet
from tenantry.listing import Filter, listing
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed, printable
from tenantry.render import to_yaml
from tenantry.stacks.file import NAMESPACE, directory_of
from tenantry.stacks.operator import Delivery, objects
from tenantry.stacks.project import Stack, project_name, stacks_of

if TYPE_CHECKING:
    from tenantry.cli.documents.stacks import ProjectStack


_COLUMNS = ("NAME", "ENVIRONMENT", "TARGET", "KUBECONFIG", "CONTEXT")
_DISPENSABLE = ("CONTEXT", "KUBECONFIG")
"""Columns that are omitted on a narrow terminal, in this order."""


@click.command(
    "stacks",
    cls=Command,
    epilog="""\
Examples:
  tenantry stacks
  tenantry stacks --environment prod --output json
  tenantry stacks --output pulumi-operator | kubectl apply -f -
  tenantry stacks --output pulumi-operator --environment prod \\
                  --backend s3://state --image registry.example.com/fleet:1

The objects for Pulumi's operator name these Secrets, which must be in their
namespace. Their values are never written:
  pulumi                  PULUMI_BACKEND_URL and PULUMI_CONFIG_PASSPHRASE
                          (--secret; PULUMI_ACCESS_TOKEN for Pulumi Cloud)
  ENVIRONMENT-kubeconfig  value: the kubeconfig of the management cluster
                          (--kubeconfig-secret)

Exit codes:
  0  success, also if there are no stacks
  2  tenants.yaml or a stack's file is invalid, or the repository is not known
""",
)
@environments("Only the stacks of this environment.")
@output("text", "json", "pulumi-operator", kind="Stacks")
@delivered
@reads_file
def command(file: Path, environment: tuple[str, ...], output: str, deliver: Any) -> int:
    """List the project's stacks: which environment each one runs, and on which management cluster.

    A stack is listed if it has a file, Pulumi.NAME.yaml, next to tenants.yaml.

    With --output pulumi-operator, write the objects that have Pulumi's Kubernetes operator run the stacks. No cluster is
    contacted.
    """
    fleet = load_fleet(file)
    listing(fleet, "environments", Filter(environment))  # refuses names that the file does not declare
    project = file.parent
    found = [each for each in stacks_of(project) if not environment or each.environment in environment]
    if output == "json":
        from tenantry.cli.documents.stacks import Stacks

        data_json(Stacks(project=project_name(project), stacks=[_item(each, fleet) for each in found]))
    elif output == "text":
        _print_table([_item(each, fleet) for each in found])
    else:
        _print_objects(found, deliver(project, fleet))
    return 0


def _item(stack: Stack, fleet: Fleet) -> ProjectStack:
    from tenantry.cli.documents.stacks import ProjectStack

    target, declared = stack.target, fleet.environments.get(stack.environment)
    written = target.directory or str(directory_of(stack.environment))
    return ProjectStack(
        name=stack.name,
        environment=stack.environment,
        target="directory" if target.files else "cluster",
        cluster=declared.management if declared and not target.files else None,
        kubeconfig=os.path.relpath(target.kubeconfig) if target.kubeconfig and not target.files else None,
        context=None if target.files else target.context,
        directory=written if target.files else None,
    )


def _print_table(items: Sequence[ProjectStack]) -> None:
    if not items:
        say("no stacks: a stack is listed if it has a file, Pulumi.NAME.yaml; pulumi stack init NAME makes one")
        return

    def build(headings: Sequence[str]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for item in items:
            table.add_row(*(Text(_cell(item, heading)) for heading in headings))
        return table

    console = stdout_console()
    columns = tuple(each for each in _COLUMNS if any(_cell(item, each) for item in items))
    console.print(fitting(build, columns, _DISPENSABLE, console))


def _cell(item: ProjectStack, heading: str) -> str:
    if heading == "TARGET":
        return printable(item.cluster or item.directory or "(environment is not declared)")
    return printable(str(getattr(item, heading.lower()) or ""))


def _print_objects(stacks: Sequence[Stack], delivery: Delivery) -> None:
    if files := [each.name for each in stacks if each.target.files]:
        say(f"no object for stacks that write files: {listed(files)}")
    made = objects(stacks, delivery)
    if not made:
        fix = "make one: pulumi stack init ENVIRONMENT; tenantry stacks lists all of them"
        if files:
            fix = f"have one do so: pulumi config set {NAMESPACE}:target cluster --stack {files[0]}"
        raise Refused("no stack runs on a cluster", fix)
    data(to_yaml(made).rstrip("\n"))
