"""`tenantry chart`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.charts import OBJECTS
from tenantry.cli.commands import Group
from tenantry.cli.output import say


@click.group("chart", cls=Group)
def command() -> None:
    """Publish the chart for baselines, from which Flux installs them on remote clusters.

    It comes with Tenantry. `platform.chart` in tenants.yaml says where Flux finds it: in a Git repository, such as the
    one with tenants.yaml, or in a registry, to which Helm pushes the copy.
    """


@command.command(
    short_help="copy it into a Git repository",
    epilog="""\
Examples:
  tenantry chart copy
  tenantry chart copy deploy/charts/objects

For a registry, push the copy with Helm, which prints the digest:
  helm package charts/objects
  helm push tenantry-objects-VERSION.tgz oci://registry.example.com/charts

Exit codes:
  0  the directory contains the chart
  2  the directory has other files, or cannot be written
""",
)
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=Path("charts/objects"))
def copy(directory: Path) -> int:
    """Copy the chart to DIRECTORY (default: charts/objects), for a Git repository that Flux fetches.

    Run it again after an update of Tenantry, and commit the result.
    """
    from tenantry.charts.package import copy as copied
    from tenantry.charts.package import package

    chart, written = package(OBJECTS), copied(OBJECTS, directory)
    said = f"{len(written)} file{'s' if len(written) > 1 else ''} written" if written else "nothing to write"
    click.echo(f"{directory}: {chart.name} {chart.version}, {said}")
    where = f"{{url: ..., ref: {{branch: main}}, path: {directory.as_posix()}}}"
    say(f"commit and push it, then write in tenants.yaml:\n  platform: {{chart: {{git: {where}}}}}")
    return 0
