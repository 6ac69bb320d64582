"""`tenantry chart`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.charts import OBJECTS
from tenantry.cli.commands import Group
from tenantry.cli.output import say, working
from tenantry.messages.errors import Refused

_VERSION = click.option(
    "--version", metavar="VERSION", help="The version of the chart; default: the one in its Chart.yaml."
)


@click.group("chart", cls=Group)
def command() -> None:
    """Publish the chart for baselines, from which Flux installs them on remote clusters.

    It comes with Tenantry. `platform.chart` in tenants.yaml says where Flux finds it: in a Git repository, such as the
    one with tenants.yaml, or in a registry.
    """


@command.command(
    short_help="copy it into a Git repository",
    epilog="""\
Examples:
  tenantry chart copy
  tenantry chart copy deploy/charts/objects

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


@command.command(
    short_help="write it as an archive",
    epilog="""\
Examples:
  tenantry chart package
  tenantry chart package --destination public/charts
  helm repo index public/charts

Exit codes:
  0  the archive is written
  2  it cannot be written, or the version is not valid
""",
)
@click.option(
    "--destination",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="The directory for the archive; default: the current one.",
)
@_VERSION
def package(destination: Path, version: str | None) -> int:
    """Write the chart as NAME-VERSION.tgz, for a Helm repository. Prints the file's path.

    The archive has the same bytes on every machine.
    """
    from tenantry.charts.package import package as packed

    chart = packed(OBJECTS, version or "")
    file = destination / chart.file
    try:
        destination.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chart.archive)
    except OSError as error:
        raise Refused(
            f"{file} cannot be written: {error.strerror}", "name another directory with --destination"
        ) from None
    click.echo(str(file))
    return 0


@command.command(
    short_help="push it to an OCI registry",
    epilog="""\
Examples:
  helm registry login registry.example.com
  tenantry chart push oci://registry.example.com/charts

Exit codes:
  0  the registry has the chart
  2  the registry does not take it, or the address or version is not valid
""",
)
@click.argument("address", metavar="oci://HOST/PATH")
@_VERSION
@click.option("--plain-http", is_flag=True, help="Use HTTP, for a registry without TLS.")
def push(address: str, version: str | None, *, plain_http: bool) -> int:
    """Push the chart to oci://HOST/PATH/tenantry-objects, with its version as tag. Prints its address and digest.

    The logins of `docker login` and `helm registry login` are used.
    """
    from tenantry.charts.package import package as packed
    from tenantry.charts.push import push as pushed

    chart = packed(OBJECTS, version or "")
    with working(f"pushing {chart.name} {chart.version}"):
        where, digest = pushed(chart, address, plain_http=plain_http)
    click.echo(f"{where}@{digest}")
    entry = f'{{url: "{where.removesuffix(":" + chart.tag)}", ref: {{digest: "{digest}"}}}}'
    say(f"write in tenants.yaml:\n  platform: {{chart: {{oci: {entry}}}}}")
    return 0
