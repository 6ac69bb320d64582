"""`tenantry resume`."""

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
    "resume",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry resume rocky web --environment prod
  tenantry resume rocky --environment prod --cluster edge-1
  tenantry resume rocky --environment prod --dry-run
  tenantry resume platform cert-controller --environment prod

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
    """Have Flux reconcile apps again that were suspended by hand, and apply what changed in the meantime.

    An app that the file pauses stays paused: change its state in the file.
    """
    connection = (kubeconfig, context)
    return switch(
        "resume",
        control.resume,
        file,
        environment,
        tenant,
        app,
        clusters,
        connection,
        output,
        dry_run=dry_run,
    )
