"""The command that holds the others."""

from __future__ import annotations

import click

from tenantry.cli.commands import Group


@click.group(
    "add",
    cls=Group,
    epilog="""\
Examples:
  tenantry add tenant nora --clusters tier=edge quota.pods=40
  tenantry add source nora/manifests --git https://git.example.com/nora/app.git
  tenantry add app nora/web --path ./web
  tenantry add override nora/web --environment prod kustomize.path=./web/prod
  tenantry add cluster us-2 --environments prod --capi capi/us-2
  tenantry add selector nora --clusters hub-dev
""",
)
def command() -> None:
    """Add a tenant, an app, a cluster and so on to tenants.yaml.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """
