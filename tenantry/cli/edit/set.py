"""`tenantry set`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.apply import How, apply, edit_options
from tenantry.cli.edit.overriding import overriding
from tenantry.cli.edit.paths import check_known, complete
from tenantry.cli.fleet_file import reads_file
from tenantry.edit.editor import Editor
from tenantry.edit.paths import parse_path
from tenantry.edit.style import Style
from tenantry.edit.values import flow
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.redact import redacted
from tenantry.messages.text import format_path
from tenantry.source.compose import Constructor, compose

_MOST = 60
"""Characters of a value in a message."""


@click.command(
    "set",
    cls=Command,
    epilog="""\
Examples:
  tenantry set tenants.rocky.quota.pods 60
  tenantry set 'tenants.rocky.quota["requests.cpu"]' 8
  tenantry set tenants.rocky.apps.web.helm.values '{replicas: 3}'
  tenantry set 'tenants.rocky.owners[0].group' team-rocky
  tenantry set tenants.rocky.labels.version --string 1.10
  tenantry set platform.addons.dns.helm.values - < values.yaml
  tenantry set tenants.rocky.role edit --dry-run | git apply

A path is written as in messages. Keys with dots stand in brackets and quotes;
quote the whole path for the shell then.

Exit codes:
  0  the value is written, or it is there already
  2  the path or the value cannot be meant, the edited file would be invalid,
     or it cannot be written; nothing is written
""",
)
@click.argument("path", shell_complete=complete)
@click.argument("value")
@click.option("--string", is_flag=True, help="Take VALUE as a text, as it is, not as YAML.")
@edit_options
@reads_file
def command(file: FilePath, path: str, value: str, output: str, *, string: bool, dry_run: bool) -> int:
    """Set the value at PATH in tenants.yaml, or in the included file that declares it.

    VALUE is YAML; `-` reads it from stdin. Of a mapping or list, only the entries that differ change. Comments, quotes,
    order and everything beside the value stay as they are.

    The edited fleet is checked before it is written, and the result is what `tenantry diff` would say.
    """
    at, new = parse_path(path), _value(value, string=string)
    editor = Editor.open(file)
    check_known(at, editor.value)
    editor.set(at, new)
    done = f"set {format_path(at)} to {_short(new)}"
    return apply(editor, How(dry_run=dry_run, output=output), [done], lambda checked: _overriding(checked, at))


def _value(text: str, *, string: bool) -> Any:
    if text == "-":
        text = sys.stdin.read()
    return text if string else _yaml(text)


def _yaml(text: str) -> Any:
    try:
        root = compose(text, "VALUE")
        if root is None:
            raise Refused("VALUE is empty", "write null, '\"\"' for an empty text, or '{}' for an empty mapping")
        constructor = Constructor("VALUE")
        value = constructor.construct(root)
        if constructor.problems:
            raise InvalidFleet(constructor.problems)
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        fix = f"{first.fix}, or use --string to take it as a text" if first.fix else "use --string to take it as a text"
        raise Refused(f"{first.location}: {first.message}", fix) from None
    return value


def _short(value: Any) -> str:
    text = redacted(flow(value, Style()))
    return text if len(text) <= _MOST else f"{text[:_MOST]}..."


def _overriding(checked: Any, path: Path) -> Iterator[str]:
    fleet = checked.compared.sides.fleet
    found = [f"{format_path(each)} ({fleet.source.line_of(each)})" for each in overriding(fleet.source.data, path)]
    if found:
        yield "it is overridden by:"
        yield from (f"  {each}" for each in found)
