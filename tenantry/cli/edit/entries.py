"""`tenantry remove`, `rename` and `move`: a table of the kinds of entries, and the commands that each has."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import EXIT_CODES, edits
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.moving import move_app, move_tenant
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.placing import remove_placement
from tenantry.edit.subjects.removing import remove
from tenantry.edit.subjects.renaming import rename, transfer_tenant
from tenantry.edit.subjects.transferring import transfer_app


class _Example(NamedTuple):
    """Names in the help of `remove KIND` and `rename KIND`."""

    removed: str
    old: str
    new: str


_KINDS = {
    Kind.TENANT: _Example("rocky", "rocky", "rocky-2"),
    Kind.APP: _Example("rocky/web", "rocky/web", "frontend"),
    Kind.SOURCE: _Example("rocky/manifests", "rocky/manifests", "git"),
    Kind.ADDON: _Example("dns", "dns", "coredns"),
    Kind.CLUSTER: _Example("edge-2", "edge-1", "edge-one"),
    Kind.GROUP: _Example("edge", "eu", "europe"),
    Kind.CLASS: _Example("small", "small", "basic"),
    Kind.ENVIRONMENT: _Example("test", "dev", "development"),
    Kind.CREDENTIALS: _Example("rocky/git", "rocky/git", "forge"),
    Kind.CONFIG: _Example("rocky/settings", "rocky/settings", "web"),
}
_SAYS = {
    ("remove", Kind.TENANT): "Remove a tenant with all of its apps, from all files.",
    ("remove", Kind.GROUP): "Remove a group of clusters that no cluster is in.",
    ("remove", Kind.CLASS): "Remove a class that no tenant has.",
    ("remove", Kind.ENVIRONMENT): "Remove an environment. --cascade removes the clusters that are in no other one too.",
    ("rename", Kind.SOURCE): "Rename a source. No app is reinstalled.",
    ("rename", Kind.GROUP): "Rename a group. Nothing changes on its clusters.",
    ("rename", Kind.CLASS): "Rename a class. Nothing changes for its tenants.",
}
"""The help of commands of which there is more to say than their names do."""


def _epilog(*examples: str) -> str:
    """The examples of a command, and its exit codes."""
    lines = "".join(f"  tenantry {each}\n" for each in examples)
    return f"Examples:\n{lines}\n{EXIT_CODES}"


@click.group(
    "remove",
    cls=Group,
    epilog="""\
Examples:
  tenantry remove app rocky/cache
  tenantry remove cluster edge-2 --cascade
  tenantry remove placement rocky edge-2
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


@click.group(
    "transfer",
    cls=Group,
    epilog="""\
Examples:
  tenantry transfer tenant rocky nova
  tenantry transfer app rocky/shop movy
""",
)
def _transfer() -> None:
    """Hand over what runs, so that nothing is installed again."""


commands = {"remove": _remove, "rename": _rename, "move": _move, "transfer": _transfer}


def _declare(kind: Kind, example: _Example) -> None:
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

    article = "" if kind is Kind.CREDENTIALS else "an " if kind.word[0] in "aeiou" else "a "
    whose = " of a tenant" if kind.is_owned else ""
    for group, function, names in (
        (_remove, removal, example.removed),
        (_rename, renaming, f"{example.old} {example.new}"),
    ):
        says = _SAYS.get((str(group.name), kind), f"{str(group.name).title()} {article}{kind.word}{whose}.")
        line = f"{group.name} {kind} {names}"
        group.command(kind.value, cls=Command, help=says, epilog=_epilog(line, f"{line} --dry-run"))(function)


for _kind, _example in _KINDS.items():
    _declare(_kind, _example)


@_remove.command(
    "placement",
    cls=Command,
    epilog=_epilog("remove placement rocky edge-2", "remove placement rocky edge-2 --dry-run"),
)
@arguments.existing(Kind.TENANT, name="tenant")
@arguments.existing(Kind.CLUSTER, name="cluster")
@edits
def _placement(editor: Editor, tenant: str, cluster: str) -> Edit:
    """Take a tenant off a cluster.

    It is taken off in all environments of the cluster.
    Selectors of the tenant and its apps leave out the cluster, and overrides for it go. The next `tenantry up` removes
    the apps from the cluster. The tenant's namespaces stay there with their data, unless they were off-boarded before.

    In a protected environment, announce it in a run before:
    `tenantry set tenants.TENANT.overrides.clusters.CLUSTER.state removing`.
    """
    return remove_placement(editor, tenant, cluster)


@_move.command("app", cls=Command, epilog=_epilog("move app rocky/web movy", "move app rocky/web movy --with-sources"))
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
    epilog=_epilog("move tenant rocky --to tenants.d/rocky.yaml", "move tenant rocky --to tenants.yaml"),
)
@arguments.existing(Kind.TENANT, name="tenant")
@arguments.file_to("An included file, which is made if it is not there, or the main file.", required=True)
@edits
def _tenant(editor: Editor, tenant: str, *, to: Path) -> Edit:
    """Move the apps of a tenant to a file of their own, or to another file.

    What belongs to them moves too: sources, credentials, configs, alerts and receivers. What the platform decides about
    the tenant stays in the main file.

    A file that is not there is made, and named under 'include'. The tenant is granted what moves, such as the addresses
    of its sources, and each grant is printed. The move is refused if any object would change on a cluster.
    """
    return move_tenant(editor, tenant, to)


@_transfer.command(
    "tenant", cls=Command, epilog=_epilog("transfer tenant rocky nova", "transfer tenant rocky nova --dry-run")
)
@arguments.existing(Kind.TENANT, name="old")
@click.argument("new")
@edits
def _tenant_transfer(editor: Editor, old: str, new: str) -> Edit:
    """Give a tenant another name, and keep what runs.

    The tenant is renamed with all references to it, and its key 'formerly' says how it was called. Its namespaces,
    accounts and Flux objects keep their names. The next `tenantry up` of each environment changes their labels: pods
    and data stay, and no app is installed again.

    Where '{tenant}' stands in a path, in values or in another text, it becomes the new name. `tenantry diff` shows it.
    """
    return transfer_tenant(editor, old, new)


@_transfer.command(
    "app", cls=Command, epilog=_epilog("transfer app rocky/shop movy", "transfer app rocky/shop movy --dry-run")
)
@arguments.existing(Kind.APP, name="app")
@arguments.existing(Kind.TENANT, name="tenant")
@edits
def _app_transfer(editor: Editor, app: str, tenant: str) -> Edit:
    """Give an app to another tenant, and keep what runs.

    The app has to be in a namespace of its own, one of its tenant's 'namespaces', where Helm stores its release too
    ('storageNamespace'). The namespace goes with it, and so do all other apps in it; its key 'formerly' says whose it
    was. The next `tenantry up` of each environment changes labels and rights: pods and data stay, and no app is
    installed again. Sources that the other tenant lacks come along.

    An app on a management cluster cannot be given away, because Flux's object for it is in the namespace of its tenant.
    """
    return transfer_app(editor, app, tenant)
