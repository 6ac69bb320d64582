"""`tenantry render`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.options import environment as environment_option
from tenantry.cli.output import data, say
from tenantry.load import load_fleet, plan_all
from tenantry.plan import plan
from tenantry.render import to_yaml, write_directory


@click.command(
    "render",
    short_help="write the objects of the fleet as YAML",
    epilog="""\b
Examples:
  tenantry render --environment dev                        YAML documents on stdout
  tenantry render --environment dev | kubectl diff -f -
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
@click.pass_obj
def command(file: Path, environment: str | None, directory: Path | None) -> int:
    """Write the objects that `pulumi up` applies, byte for byte, without contacting any cluster.

    With several environments on stdout each object still tells its own: see the label tenantry/environment.
    """
    fleet = load_fleet(file)
    plans = {environment: plan(fleet, environment)} if environment else plan_all(fleet)
    if directory is None:
        data(to_yaml(object.manifest for each in plans.values() for object in each.objects).rstrip("\n"))
        return 0
    for name, each in plans.items():
        written, removed = write_directory(each, directory / name)
        say(f"{directory / name}: {len(each.objects)} objects, {written} files written, {removed} removed")
    return 0
