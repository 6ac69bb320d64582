"""`tenantry set`: one value at a path of the file. The value null removes the entry."""

from __future__ import annotations

import sys
from pathlib import Path as FilePath
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.apply import apply, edit_options
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.options import complete_environments
from tenantry.edit.editor import Editor
from tenantry.edit.entries import Edit, selector
from tenantry.edit.overriding import override, split, withdraw
from tenantry.edit.paths import END, check_declared, located, not_there, parse_path, typed
from tenantry.edit.values import flow
from tenantry.messages.data import ABSENT
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.redact import redacted
from tenantry.messages.text import format_path
from tenantry.source.compose import LEADING_ZERO, Constructor, compose

_MOST = 60
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
  tenantry set tenants.rocky.role edit --dry-run | git apply

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
    shell_complete=complete_environments,
)
@click.option(
    "--clusters",
    metavar="all|NAMES|LABELS",
    help="Set it on these clusters alone: names, or labels such as tier=edge.",
)
@click.option("--string", is_flag=True, help="Take VALUE as a text, as it is, not as YAML.")
@edit_options
@reads_file
def command(
    file: FilePath,
    path: str,
    value: str,
    environments: tuple[str, ...],
    clusters: str | None,
    output: str,
    *,
    string: bool,
    dry_run: bool,
) -> int:
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
    editor = Editor(file)
    if new is None:
        at = withdraw(editor, asked, when) if when else _remove(editor, asked)
        return apply(editor, Edit([f"removed {format_path(at)}"]), output, dry_run=dry_run)
    at = _override(editor, asked, when, new) if when else _set(editor, asked, new)
    shown = redacted(flow(new))
    shown = shown if len(shown) <= _MOST else f"{shown[:_MOST]}..."
    return apply(editor, Edit([f"set {format_path(at)} to {shown}"]), output, dry_run=dry_run)


def _value(path: Path, text: str, *, string: bool) -> Any:
    """The value that a text means at a path. Raises: Refused: it is not YAML."""
    if string or LEADING_ZERO.fullmatch(text.strip()):
        return text
    given = _yaml(text)
    return None if given is None else typed(path, given, text)


def _set(editor: Editor, path: Path, new: Any) -> Path:
    """Set a value. Returns: the path where it stands."""
    entries = editor.value(path[:-1], None) if path[-1] == END else None
    if path[-1] == END and editor.value(path[:-1]) is ABSENT and path[-2] in ("names", "environments"):
        message = f"'{format_path(path[:-1])}' is not there, so that '{new}' alone would replace what holds without it"
        raise Refused(message, f"set the whole list: tenantry set {format_path(path[:-1])} NAME,NAME")
    is_there = isinstance(entries, list) and new in entries
    at = located((*path[:-1], new) if is_there else path, editor.value)
    check_declared(at, editor.value_or_of_template)
    editor.set(at, new)
    return at


def _override(editor: Editor, path: Path, when: dict[str, Any], new: Any) -> Path:
    """Set a value of the override that holds where `when` says. Returns: the path where it stands."""
    split(path)
    check_declared(path, editor.value_or_of_template)
    return override(editor, path, when, new)


def _remove(editor: Editor, path: Path) -> Path:
    """Remove the entry at a path from each file that declares it. Returns: the path with indexes."""
    at = located(path, editor.value)
    if editor.value(at) is ABSENT:
        raise not_there(at, editor.value)
    editor.unset(at)
    return at


def _yaml(text: str) -> Any:
    try:
        root = compose(text, "VALUE")
        if root is None:
            raise Refused(
                "VALUE is empty", "write '\"\"' for an empty text, '{}' for an empty mapping, or null to remove"
            )
        constructor = Constructor("VALUE")
        value = constructor.construct(root)
        if constructor.problems:
            raise InvalidFleet(constructor.problems)
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        fix = f"{first.fix}, or use --string to take it as a text" if first.fix else "use --string to take it as a text"
        raise Refused(f"{first.location}: {first.message}", fix) from None
    return value
