"""`tenantry rename`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit import arguments
from tenantry.cli.edit.editing import EXIT_CODES, edits
from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.renaming import rename


@click.group(
    "rename",
    cls=Group,
    epilog="""\
Examples:
  tenantry rename source rocky/manifests git
  tenantry rename app rocky/web frontend
  tenantry rename cluster edge-1 edge-one
""",
)
def command() -> None:
    """Rename a tenant, an app, a cluster and so on, with all references to it in all files.

    A new name of a tenant, an app, an add-on or a cluster means new objects: `tenantry up` removes what runs under the
    old name. The command says so, and how to avoid it.
    """


def _subject(word: str, kind: Kind, at: tuple[str, ...], example: str, help: str) -> None:
    """Declare `rename WORD OLD NEW`."""

    @edits
    def renaming(draft: Draft, old: str, new: str) -> Edit:
        return rename(draft, kind, old, new)

    renaming.__doc__ = help
    epilog = (
        f"Examples:\n  tenantry rename {word} {example}\n  tenantry rename {word} {example} --dry-run\n\n{EXIT_CODES}"
    )
    old: Callable[[Any], Any] = arguments.existing(at, name="old")
    command.command(word, cls=Command, epilog=epilog)(old(click.argument("new")(renaming)))


_subject("tenant", Kind.TENANT, arguments.TENANTS, "rocky rocky-2", "Rename a tenant.")
_subject("app", Kind.APP, arguments.APPS, "rocky/web frontend", "Rename an app of a tenant.")
_subject("source", Kind.SOURCE, arguments.SOURCES, "rocky/manifests git", "Rename a source. No app is reinstalled.")
_subject("addon", Kind.ADDON, arguments.ADDONS, "dns coredns", "Rename an add-on.")
_subject("cluster", Kind.CLUSTER, arguments.CLUSTERS, "edge-1 edge-one", "Rename a cluster.")
_subject("group", Kind.GROUP, arguments.GROUPS, "eu europe", "Rename a group. Nothing changes on its clusters.")
_subject("environment", Kind.ENVIRONMENT, arguments.ENVIRONMENTS, "dev development", "Rename an environment.")
_subject("credentials", Kind.CREDENTIALS, arguments.CREDENTIALS, "rocky/git forge", "Rename credentials of a tenant.")
_subject("config", Kind.CONFIG, arguments.CONFIGS, "rocky/settings web", "Rename a config of a tenant.")
