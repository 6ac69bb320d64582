"""`tenantry remove`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from tenantry.cli.commands import Command, Group
from tenantry.cli.edit import arguments
from tenantry.cli.edit.editing import EXIT_CODES, edits
from tenantry.edit.subjects import granting, overriding, selecting
from tenantry.edit.subjects.assignments import path_in
from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.removing import remove


@click.group(
    "remove",
    cls=Group,
    epilog="""\
Examples:
  tenantry remove app rocky/cache
  tenantry remove cluster edge-2 --cascade
  tenantry remove selector rocky --clusters edge-2
  tenantry remove override rocky/web --environment prod
""",
)
def command() -> None:
    """Remove a tenant, an app, a cluster and so on from tenants.yaml.

    What other parts of the file refer to is not removed, unless --cascade can remove the references too. `tenantry up`
    removes from the clusters what is not in the file any more; its guard limits how much one run may remove.
    """


def _subject(word: str, kind: Kind, at: tuple[str, ...], example: str, help: str) -> None:
    """Declare `remove WORD NAME`."""

    @click.option("--cascade", is_flag=True, help="Remove the references to it too, where that changes nothing else.")
    @edits
    def removal(draft: Draft, name: str, *, cascade: bool) -> Edit:
        return remove(draft, kind, name, cascade=cascade)

    removal.__doc__ = help
    epilog = (
        f"Examples:\n  tenantry remove {word} {example}\n  tenantry remove {word} {example} --dry-run\n\n{EXIT_CODES}"
    )
    argument: Callable[[Any], Any] = arguments.existing(at)
    command.command(word, cls=Command, epilog=epilog)(argument(removal))


_subject("tenant", Kind.TENANT, arguments.TENANTS, "rocky", "Remove a tenant with all of its apps, from all files.")
_subject("app", Kind.APP, arguments.APPS, "rocky/web", "Remove an app of a tenant.")
_subject("source", Kind.SOURCE, arguments.SOURCES, "rocky/manifests", "Remove a source of a tenant.")
_subject("addon", Kind.ADDON, arguments.ADDONS, "dns", "Remove an add-on.")
_subject("cluster", Kind.CLUSTER, arguments.CLUSTERS, "edge-2", "Remove a cluster.")
_subject("group", Kind.GROUP, arguments.GROUPS, "edge", "Remove a group of clusters that no cluster is in.")
_subject(
    "environment",
    Kind.ENVIRONMENT,
    arguments.ENVIRONMENTS,
    "test",
    "Remove an environment. --cascade removes the clusters that are in no other one too.",
)
_subject("credentials", Kind.CREDENTIALS, arguments.CREDENTIALS, "rocky/git", "Remove credentials of a tenant.")
_subject("config", Kind.CONFIG, arguments.CONFIGS, "rocky/settings", "Remove a config of a tenant.")


@command.command(
    "selector",
    cls=Command,
    epilog=f"""\
OWNER is a tenant, TENANT/APP, platform/ADDON or 'defaults'.

Examples:
  tenantry remove selector rocky --clusters edge-2
  tenantry remove selector rocky/web
  tenantry remove selector rocky --exclude edge-2

{EXIT_CODES}""",
)
@arguments.holder()
@arguments.clusters("Clusters to take off the selector; default: remove the whole selector.")
@arguments.exclude()
@edits
def selector(draft: Draft, owner: str, *, clusters: str | None, exclude: list[str]) -> Edit:
    """Select fewer clusters, or remove a selector."""
    chosen = selecting.chosen(clusters, exclude) if clusters or exclude else None
    return selecting.deselect(draft, owner, chosen)


@command.command(
    "override",
    cls=Command,
    epilog=f"""\
OWNER is a tenant, TENANT/APP, platform/ADDON or 'defaults'.

Examples:
  tenantry remove override movy/shop --environment prod
  tenantry remove override movy/shop --environment prod helm.values.replicas

{EXIT_CODES}""",
)
@arguments.holder()
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@arguments.place
@edits
def override(draft: Draft, owner: str, keys: tuple[str, ...], *, place: overriding.Place) -> Edit:
    """Remove an override, or some of its keys."""
    model = overriding.model_of(owner, place)
    return overriding.remove_override(draft, owner, place, [path_in(model, each)[0] for each in keys])


@command.command(
    "grant",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry remove grant rocky settings=limits
  tenantry remove grant rocky sources

{EXIT_CODES}""",
)
@arguments.existing(arguments.TENANTS, name="tenant")
@click.argument("grants", nargs=-1, required=True, metavar="KEY[=VALUE]...")
@edits
def grant(draft: Draft, tenant: str, grants: tuple[str, ...]) -> Edit:
    """Allow the included file of a tenant less."""
    done = [granting.revoke(draft, tenant, *granting.pair(each, needs_value=False)) for each in grants]
    return draft.edit("; ".join(each.done for each in done), [note for each in done for note in each.notes])
