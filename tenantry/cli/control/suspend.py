"""`tenantry suspend`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.control.shared import EXIT_CODES, KIND, dry_run_option
from tenantry.cli.control.switch import switch
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import management_options
from tenantry.cli.options import output, tenant_apps
from tenantry.cluster import control


@click.command(
    "suspend",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry suspend rocky web --environment prod
  tenantry suspend rocky --environment prod --cluster edge-1
  tenantry suspend rocky --environment prod --dry-run
  tenantry suspend platform cert-controller --environment prod

{EXIT_CODES}""",
)
@tenant_apps
@dry_run_option
@management_options
@output("text", "json", kind=KIND)
@reads_file
def command(
    file: Path,
    tenant: str,
    app: str | None,
    environment: str,
    clusters: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    *,
    dry_run: bool,
) -> int:
    """Have Flux stop reconciling the apps of a tenant. What it applied stays and keeps running.

    Changes that are pushed or applied by `tenantry up` have no effect on a suspended app until it is resumed. `tenantry up`
    keeps the suspension, and refuses to remove a suspended app. To pause an app for longer, and for everyone to see,
    set `state: paused` in the file instead.
    """
    connection = (kubeconfig, context)
    return switch(
        "suspend",
        control.suspend,
        file,
        environment,
        tenant,
        app,
        clusters,
        connection,
        output,
        dry_run=dry_run,
        note=_NOTE,
    )


_NOTE = "Until `tenantry resume`, Flux applies no change to these apps. `tenantry up` keeps them suspended."
