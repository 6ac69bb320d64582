"""`tenantry render`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import output
from tenantry.cli.output import data, data_json, say
from tenantry.kube.objects import KubeObject
from tenantry.load import load_fleet, plan_all, plan_one
from tenantry.messages.text import counted
from tenantry.render import shown, to_yaml, write_directory


@click.command(
    "render",
    short_help="write the objects of the fleet as YAML",
    epilog="""\b
Examples:
  tenantry render --environment dev                        YAML documents on stdout
  tenantry render --environment dev | kubectl diff -f -
  tenantry render --environment dev --output names         one line per object
  tenantry render --directory rendered                     rendered/<environment>/<namespace>/<kind>-<name>.yaml
""",
)
@environment_option("One environment; default: all of them.")
@click.option(
    "-d",
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one file per object there, a folder per environment; what is no longer planned is removed.",
)
@output("yaml", "json", "names")
@click.pass_obj
def command(file: Path, environment: str | None, directory: Path | None, output: str) -> int:
    """Write the objects that `pulumi up` applies, byte for byte, without contacting any cluster.

    Secrets that take their values from the stack's secret config are left out, and named on stderr.

    With several environments on stdout each object still tells its own: see the label tenantry/environment.
    """
    fleet = load_fleet(file)
    plans = {environment: plan_one(fleet, environment)} if environment else plan_all(fleet)
    if directory is None:
        objects = [object for each in plans.values() for object in each.objects]
        _print(objects, output)
        _tell_left_out(objects)
        return 0
    if output != "yaml":
        raise click.UsageError(f"files are written as YAML: --directory does not go with --output {output}")
    for name, each in plans.items():
        written, removed = write_directory(each, directory / name)
        files = f"{counted(written, 'file')} written, {removed} removed"
        say(f"{directory / name}: {counted(len(shown(each.objects)), 'object')}, {files}")
        _tell_left_out(each.objects)
    return 0


def _tell_left_out(objects: Iterable[KubeObject]) -> None:
    if left_out := [str(each.id) for each in objects if each.secret]:
        say(f"left out, because their values are in the stack's secret config: {', '.join(left_out)}")


def _print(objects: Iterable[KubeObject], output: str) -> None:
    objects = shown(objects)
    if not objects and output != "json":
        return
    match output:
        case "names":
            data("\n".join(str(each.id) for each in objects))
        case "json":
            data_json([each.manifest for each in objects])
        case _:
            data(to_yaml(each.manifest for each in objects).rstrip("\n"))
