"""`tenantry remove`, `rename` and `move`: a table of the kinds of entries, and the commands that each has."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.moving import move_app, move_tenant
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.removing import remove
from tenantry.edit.subjects.renaming import rename


class _Texts(NamedTuple):
    """What the help of `remove KIND` and `rename KIND` says, with an example of each."""

    remove: str
    removed: str
    rename: str
    renamed: str


_KINDS = {
    Kind.TENANT: _Texts(
        "Remove a tenant with all of its apps, from all files.", "rocky", "Rename a tenant.", "rocky rocky-2"
    ),
    Kind.APP: _Texts("Remove an app of a tenant.", "rocky/web", "Rename an app of a tenant.", "rocky/web frontend"),
    Kind.SOURCE: _Texts(
        "Remove a source of a tenant.",
        "rocky/manifests",
        "Rename a source. No app is reinstalled.",
        "rocky/manifests git",
    ),
    Kind.ADDON: _Texts("Remove an add-on.", "dns", "Rename an add-on.", "dns coredns"),
    Kind.CLUSTER: _Texts("Remove a cluster.", "edge-2", "Rename a cluster.", "edge-1 edge-one"),
    Kind.GROUP: _Texts(
        "Remove a group of clusters that no cluster is in.",
        "edge",
        "Rename a group. Nothing changes on its clusters.",
        "eu europe",
    ),
    Kind.ENVIRONMENT: _Texts(
        "Remove an environment. --cascade removes the clusters that are in no other one too.",
        "test",
        "Rename an environment.",
        "dev development",
    ),
    Kind.CREDENTIALS: _Texts(
        "Remove credentials of a tenant.", "rocky/git", "Rename credentials of a tenant.", "rocky/git forge"
    ),
    Kind.CONFIG: _Texts(
        "Remove a config of a tenant.", "rocky/settings", "Rename a config of a tenant.", "rocky/settings web"
    ),
}


@click.group(
    "remove",
    cls=Group,
    epilog="""\
Examples:
  tenantry remove app rocky/cache
  tenantry remove cluster edge-2 --cascade
""",
)
def _remove() -> None:
    """Remove a tenant, an app, a cluster and so on from tenants.yaml.

    What other parts of the file refer to is not removed, unless --cascade can remove the references too. `tenantry up`
    removes from the clusters what is not in the file any more; its guard limits how much one run may remove.
    """


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
def _rename() -> None:
    """Rename a tenant, an app, a cluster and so on, with all references to it in all files.

    A new name of a tenant, an app, an add-on or a cluster means new objects: `tenantry up` removes what runs under the
    old name. The command says so, and how to avoid it.
    """


@click.group(
    "move",
    cls=Group,
    epilog="""\
Examples:
  tenantry move app rocky/web movy --with-sources
  tenantry move tenant rocky --to tenants.d/rocky.yaml
""",
)
def _move() -> None:
    """Move an app to another tenant, or a tenant to a file of its own."""


commands = {"remove": _remove, "rename": _rename, "move": _move}


def _declare(kind: Kind, texts: _Texts) -> None:
    """Declare `remove KIND NAME` and `rename KIND OLD NEW`."""

    @arguments.existing(kind)
    @click.option("--cascade", is_flag=True, help="Remove the references to it too, where that changes nothing else.")
    @edits
    def removal(editor: Editor, name: str, *, cascade: bool) -> Edit:
        return remove(editor, kind, name, cascade=cascade)

    @arguments.existing(kind, name="old")
    @click.argument("new")
    @edits
    def renaming(editor: Editor, old: str, new: str) -> Edit:
        return rename(editor, kind, old, new)

    all_of_them: tuple[tuple[click.Group, Any, str, str], ...] = (
        (_remove, removal, texts.remove, texts.removed),
        (_rename, renaming, texts.rename, texts.renamed),
    )
    for group, function, help, example in all_of_them:
        line = f"  tenantry {group.name} {kind} {example}"
        epilog = f"Examples:\n{line}\n{line} --dry-run\n\n{EXIT_CODES}"
        group.command(kind.value, cls=Command, help=help, epilog=epilog)(function)


for _kind, _texts in _KINDS.items():
    _declare(_kind, _texts)


@_move.command(
    "app",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry move app rocky/web movy
  tenantry move app rocky/web movy --with-sources

{EXIT_CODES}""",
)
@arguments.existing(Kind.APP, name="app")
@arguments.existing(Kind.TENANT, name="tenant")
@click.option("--with-sources", is_flag=True, help="Bring along the sources that the other tenant lacks.")
@edits
def _app(editor: Editor, app: str, tenant: str, *, with_sources: bool) -> Edit:
    """Move an app to another tenant.

    On the clusters, nothing is handed over: the app is uninstalled from the namespaces of one tenant and installed into
    those of the other. Its data does not move.
    """
    return move_app(editor, app, tenant, with_sources=with_sources)


@_move.command(
    "tenant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry move tenant rocky --to tenants.d/rocky.yaml
  tenantry move tenant rocky --to tenants.yaml

{EXIT_CODES}""",
)
@arguments.existing(Kind.TENANT, name="tenant")
@arguments.file_to("A file of the fleet: an included one, or the main file.", required=True)
@edits
def _tenant(editor: Editor, tenant: str, *, to: Path) -> Edit:
    """Move the apps of a tenant to another file.

    What belongs to them moves too: sources, credentials, configs, alerts and receivers. What the platform decides about
    the tenant stays in the main file. Nothing changes on the clusters.
    """
    return move_tenant(editor, tenant, to)
