"""`tenantry render`."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.options import reads_file
from tenantry.cli.output import data, data_json, say, working
from tenantry.kube.objects import KubeObject
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.text import counted
from tenantry.render import shown, to_yaml, write_directory


@click.command(
    "render",
    cls=Command,
    epilog="""\
Examples:
  tenantry render --environment dev                  YAML documents on stdout
  tenantry render --environment dev --output names   one line per object
  tenantry render --environment dev | kubectl diff -f -
  tenantry render --directory rendered               a file per object:
                     rendered/<environment>/<namespace>/<kind>-<name>.yaml

Exit codes:
  0  success
  2  tenants.yaml is invalid, or the result cannot be written
""",
)
@options.environment("Only this environment; default: all of them.", argument=True)
@click.option(
    "-d",
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a file per object here, in a directory per environment, and remove files of objects that are gone.",
)
@options.output("yaml", "json", "names")
@reads_file
def command(file: Path, environment: str | None, directory: Path | None, output: str) -> int:
    """Write the objects that `tenantry up` applies. No cluster is contacted.

    Secrets whose values are in the stack's secret config are left out, and listed on stderr.

    The label tenantry/environment of each object says which environment it belongs to.
    """
    with working(f"planning {file}"):
        fleet = load_fleet(file)
        plans = {environment: plan_one(fleet, environment)} if environment else plan_all(fleet)
    if directory is None:
        objects = [object for plan in plans.values() for object in plan.objects]
        _print(objects, output)
        _say_beside(objects)
        return 0
    if output != "yaml":
        raise click.UsageError(f"files are written as YAML: --directory does not go with --output {output}")
    for name, plan in plans.items():
        place = directory / name
        with working(f"writing {place}"):
            written, removed = write_directory(plan, place)
        files = f"{counted(written, 'file')} written, {removed} removed"
        say(f"{place}: {counted(len(shown(plan.objects)), 'object')}, {files}")
        _say_beside(plan.objects)
    return 0


def _say_beside(objects: Collection[KubeObject]) -> None:
    """Say on stderr what is not among the written objects."""
    if left_out := [str(planned.id) for planned in objects if planned.secret]:
        say(f"left out, because their values are in the stack's secret config: {', '.join(left_out)}")


def _print(objects: Iterable[KubeObject], output: str) -> None:
    objects = shown(objects)
    if not objects and output != "json":
        return
    match output:
        case "names":
            data("\n".join(str(planned.id) for planned in objects))
        case "json":
            data_json({"objects": [planned.manifest for planned in objects]}, "Objects")
        case _:
            data(to_yaml(planned.manifest for planned in objects).rstrip("\n"))
