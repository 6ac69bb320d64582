"""`tenantry add`, `remove`, `set` and `promote`: the commands that edit tenants.yaml."""

from __future__ import annotations

import sys
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.editing import EXIT_CODES, edits
from tenantry.cli.lines import shortened
from tenantry.edit import entries
from tenantry.edit.editor import Editor
from tenantry.edit.entries import Edit, selector
from tenantry.edit.overriding import name_of_app, override, split, withdraw
from tenantry.edit.overriding import promote as promoted
from tenantry.edit.paths import END, check_named, located, not_there, parse_path, parsed, typed
from tenantry.edit.values import flow
from tenantry.fleet import walk
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import UNKNOWN_NAME, Path, Refused
from tenantry.messages.redact import redacted
from tenantry.messages.text import declared, format_path
from tenantry.plan.plan import check_declared
from tenantry.source.compose import LEADING_ZERO

_kind = click.argument("kind", type=click.Choice(entries.KINDS))
"""What is added or removed."""


@click.command(
    "add",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry add tenant nora clusters.labels.tier=edge quota.pods=40
  tenantry add source nora/manifests git.url=https://git.example.com/nora/app \\
    git.ref.branch=main
  tenantry add source platform/charts helm.url=https://charts.example.com
  tenantry add app nora/web kustomize.source=manifests kustomize.path=./web
  tenantry add app nora/db helm.source=charts helm.chart=db helm.version=16.x
  tenantry add cluster us-2 environments=prod labels.tier=edge \\
    kubeconfig.capi.cluster=us-2 kubeconfig.capi.namespace=capi
  tenantry add addon dns clusters.all=true helm.source=charts helm.chart=dns

{EXIT_CODES}""",
)
@_kind
@click.argument("name")
@click.argument("settings", nargs=-1, metavar="[KEY=VALUE]...")
@edits
def add(editor: Editor, kind: str, name: str, settings: tuple[str, ...]) -> Edit:
    """Add a tenant, an app, a cluster, a source or an add-on to tenants.yaml.

    NAME is that of the entry: TENANT/NAME of an app or a source, platform/NAME of a source for add-ons. KEY=VALUE sets a key
    of the entry, as `tenantry set` does: quota.pods=40. Where only a list fits, VALUE is its words: environments=dev,prod.

    Comments, order and everything else in the file stay as they are. The result is checked before it is written.
    """
    return entries.add(editor, kind, name, settings)


@click.command(
    "remove",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry remove tenant rocky
  tenantry remove app rocky/cache
  tenantry remove cluster edge-2 --cascade
  tenantry remove source rocky/manifests
  tenantry remove addon dns --dry-run

{EXIT_CODES}""",
)
@_kind
@click.argument("name")
@click.option("--cascade", is_flag=True, help="Remove the references to it too, where that changes nothing else.")
@edits
def remove(editor: Editor, kind: str, name: str, *, cascade: bool) -> Edit:
    """Remove a tenant, an app, a cluster, a source or an add-on from tenants.yaml.

    NAME is TENANT/NAME of an app or a source. A tenant goes with all of its apps, from all files.

    What other parts of the file refer to is not removed, unless --cascade can remove the references too. `tenantry up`
    removes from the clusters what is not in the file any more; its guard limits how much one run may remove.
    """
    return entries.remove(editor, kind, name, cascade=cascade)


@click.command(
    "promote",
    cls=Command,
    epilog=f"""\
Examples:
  tenantry promote dev prod --dry-run
  tenantry promote dev prod rocky movy/shop
  tenantry promote staging prod platform/dns

{EXIT_CODES}""",
)
@click.argument("first", metavar="FROM")
@click.argument("second", metavar="TO")
@click.argument("apps", nargs=-1, metavar="[APP|TENANT]...")
@edits
def promote(editor: Editor, first: str, second: str, apps: tuple[str, ...]) -> Edit:
    """Edit tenants.yaml so that environment TO gets the versions that environment FROM has.

    Versions of charts and refs of sources are copied to where the file sets them for TO: an override, a variable of the
    environment, or a source. What else differs, such as replicas, stays different. The edit is refused if it would change a
    version of anything else. APP is TENANT/APP or platform/ADDON; `platform` is all add-ons; default: all that both have.
    """
    fleet = load_fleet(editor.main, editor.read_before)
    for environment in (first, second):
        check_declared(fleet, environment)
    if first == second:
        raise Refused("FROM and TO are the same environment", "name two environments")
    every = {name_of_app(at): at for at, _ in walk.apps(fleet)}
    known = {*every, *(name.partition("/")[0] for name in every)}
    if unknown := sorted({*apps} - known):
        raise Refused(f"there is no app of '{unknown[0]}'", declared("declared", unknown[0], known), code=UNKNOWN_NAME)
    chosen = [at for name, at in every.items() if not apps or {name, name.partition("/")[0]} & {*apps}]
    made = promoted(editor, fleet, chosen, first, second)
    return Edit([*made.done], [*made.left])


_MOST_OF_VALUE = 60
"""Characters of a value in a message."""


@click.command(
    "set",
    cls=Command,
    epilog="""\
Examples:
  tenantry set tenants.rocky.quota.pods 60
  tenantry set tenants.rocky.quota.requests.cpu 8
  tenantry set tenants.rocky.apps.web.helm.values '{replicas: 3}'
  tenantry set defaults.quota.pods 80 --environment prod    an override
  tenantry set tenants.rocky.quota.pods 9 --clusters tier=edge
  tenantry set 'tenants.rocky.owners[0].group' team-rocky
  tenantry set 'tenants.rocky.clusters.names[]' edge-2      one cluster more
  tenantry set tenants.rocky.apps.web.helm.values.tag --string 3
  tenantry set platform.addons.dns.helm.values - < values.yaml
  tenantry set tenants.rocky.role edit --dry-run

  tenantry set tenants.rocky.quota null                     remove the entry
  tenantry set 'tenants.rocky.clusters.names[edge-2]' null  one cluster less

A path is written as in messages. A key with dots stands in brackets and quotes
where another key could follow it; quote the whole path for the shell then.
[] is the place behind the last entry of a list.

Exit codes:
  0  the value is written or removed, or it is there already
  2  there is no such path, the value does not fit there, the edited file would
     be invalid, or it cannot be written; nothing is written
""",
)
@click.argument("path")
@click.argument("value")
@click.option(
    "-e",
    "--environment",
    "environments",
    metavar="NAME",
    multiple=True,
    help="Set it in this environment alone; may be repeated.",
)
@click.option(
    "--clusters",
    metavar="all|NAMES|LABELS",
    help="Set it on these clusters alone: names, or labels such as tier=edge.",
)
@click.option("--string", is_flag=True, help="Take VALUE as a text, as it is, not as YAML.")
@edits
def set_value(
    editor: Editor, path: str, value: str, environments: tuple[str, ...], clusters: str | None, *, string: bool
) -> Edit:
    """Set the value at PATH in tenants.yaml, or in the included file that declares it.

    VALUE is YAML; `-` reads it from stdin. Where only text fits, and where a number would come out otherwise, VALUE is taken
    as text: a version 1.10 stays 1.10, and is not the number 1.1. Of a mapping or list, only the entries that differ change.
    Comments, quotes, order and everything beside the value stay as they are.

    The VALUE null removes the entry with its comments. A mapping that becomes empty goes too, if its absence means the same.
    To remove a tenant or an app with what refers to it, use `tenantry remove`. To write a null into the file, set the mapping
    that holds it: `tenantry set tenants.rocky.limits '{default: null}'`.

    With --environment or --clusters, VALUE is that of an override, which holds there alone; null removes it from the override.

    The edited fleet is checked before it is written, and the result is what `tenantry diff` would say.
    """
    asked, text = parse_path(path), sys.stdin.read() if value == "-" else value
    when = {
        **({"environments": list(environments)} if environments else {}),
        **({"clusters": selector(clusters)} if clusters else {}),
    }
    new = _value(asked, text, string=string)
    if new is None:
        at = withdraw(editor, asked, when) if when else _remove(editor, asked)
        return Edit([f"removed {format_path(at)}"])
    if when:
        split(asked)  # refuses what is the same everywhere, before a name is looked for
        check_named(asked, editor.value_or_of_template)
        at = override(editor, asked, when, new)
    else:
        at = _set(editor, asked, new)
    return Edit([f"set {format_path(at)} to {shortened(redacted(flow(new)), _MOST_OF_VALUE)}"])


def _value(path: Path, text: str, *, string: bool) -> Any:
    """The value that a text means at a path. Raises: Refused: it is not YAML."""
    if string or LEADING_ZERO.fullmatch(text.strip()):
        return text
    given = parsed(text)
    return None if given is None else typed(path, given, text)


def _set(editor: Editor, path: Path, new: Any) -> Path:
    """Set a value. Returns: the path where it stands."""
    entries = editor.value(path[:-1], None) if path[-1] == END else None
    if path[-1] == END and editor.value(path[:-1]) is ABSENT and path[-2] in ("names", "environments"):
        message = f"'{format_path(path[:-1])}' is not there, so that '{new}' alone would replace what holds without it"
        raise Refused(message, f"set the whole list: tenantry set {format_path(path[:-1])} NAME,NAME")
    is_there = isinstance(entries, list) and new in entries
    at = located((*path[:-1], new) if is_there else path, editor.value)
    check_named(at, editor.value_or_of_template)
    editor.set(at, new)
    return at


def _remove(editor: Editor, path: Path) -> Path:
    """Remove the entry at a path from each file that declares it. Returns: the path with indexes."""
    at = located(path, editor.value)
    if editor.value(at) is ABSENT:
        raise not_there(at, editor.value)
    editor.unset(at)
    return at


commands = {"add": add, "remove": remove, "set": set_value, "promote": promote}
