"""`tenantry set`: one value at a path of the file. The value null removes the entry."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.completers import environments as environments_of
from tenantry.cli.completers import fleet_data
from tenantry.cli.edit.apply import How, apply, edit_options
from tenantry.cli.edit.arguments import clusters as clusters_option
from tenantry.cli.edit.check import Checked
from tenantry.cli.fleet_file import reads_file
from tenantry.edit.editor import Editor
from tenantry.edit.overriding import override, split, withdraw
from tenantry.edit.paths import END, check_known, keys_at, located, not_there, parse_path, typed
from tenantry.edit.subjects.adding import selector
from tenantry.edit.subjects.placing import require_list
from tenantry.edit.values import Style, flow
from tenantry.fleet.lineages import CLUSTERS, TENANTS, Kind, Lineages
from tenantry.kube.numbers import outcome
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import InvalidFleet, Path, Refused
from tenantry.messages.redact import redacted
from tenantry.messages.text import format_path
from tenantry.source.compose import LEADING_ZERO, Constructor, compose

_MOST = 60
"""Characters of a value in a message."""
_LAST = re.compile(r"""^(?P<above>.*?)(?:(?P<bracket>\[["']?)(?P<inner>[^\[\]"']*)|\.?(?P<plain>[^.\[\]]*))$""")


def _complete(context: click.Context, _: click.Parameter, start: str) -> list[str]:
    """The keys that stand at the path or may stand there, each as a whole path."""
    match = _LAST.match(start)
    try:
        above = parse_path(match["above"]) if match and match["above"] else ()
    except Refused:
        match = None
    if match is None:
        return []
    begun = match["inner"] or match["plain"] or ""
    keys = dict.fromkeys((*mapping_at(fleet_data(context), *above), *map(str, keys_at(above))))
    return [format_path((*above, key)) for key in keys if key.startswith(begun)]


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
@click.argument("path", shell_complete=_complete)
@click.argument("value")
@click.option(
    "-e",
    "--environment",
    "environments",
    metavar="NAME",
    multiple=True,
    help="Set it in this environment alone; may be repeated.",
    shell_complete=environments_of,
)
@clusters_option("Set it on these clusters alone: names, or labels such as tier=edge.")
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
    text = sys.stdin.read() if value == "-" else value
    asked = parse_path(path)
    string = string or LEADING_ZERO.fullmatch(text.strip()) is not None
    given = text if string else _yaml(text)
    key = str(next((part for part in reversed(asked) if isinstance(part, str)), ""))
    if outcome(text.strip(), given, key, of_chart=True):
        given, string = text, True  # a tag 1.10 stays 1.10, where a program would get 1.1
    editor = Editor.open(file)
    if when := _when(environments, clusters):
        new = text if string else typed(asked, given, text)
        return _override(editor, asked, when, None if given is None else new, How(dry_run, output))
    if given is None:
        return _remove(editor, asked, How(dry_run, output))
    new = text if string else typed(asked, given, text)
    entries = editor.value(asked[:-1], None) if asked[-1] == END else None
    if asked[-1] == END and (asked[-3:-1] == ("clusters", "names") or asked[-2] == "environments"):
        require_list(editor, asked[:-1], new)
    is_there = isinstance(entries, list) and new in entries
    at = located((*asked[:-1], new) if is_there else asked, editor.value)
    check_known(at, editor.value_or_of_template)
    editor.set(at, new)
    return apply(editor, How(dry_run, output), [_done(at, new)], lambda checked: _overridden(checked, at))


def _done(at: Path, new: Any) -> str:
    shown = redacted(flow(new, Style()))
    return f"set {format_path(at)} to {shown if len(shown) <= _MOST else f'{shown[:_MOST]}...'}"


def _when(environments: tuple[str, ...], clusters: str | None) -> dict[str, Any]:
    """Where an override holds, as the file says it; empty if the options name nothing."""
    return {
        **({"environments": list(environments)} if environments else {}),
        **({"clusters": selector(clusters)} if clusters else {}),
    }


def _override(editor: Editor, asked: Path, when: dict[str, Any], new: Any, how: How) -> int:
    """Set a value of the override that holds where `when` says, or remove it. Args: new: None removes it."""
    if new is None:
        return apply(editor, how, [f"removed {format_path(withdraw(editor, asked, when))}"])
    split(asked)
    check_known(asked, editor.value_or_of_template)
    at = override(editor, asked, when, new)
    check_known(at, editor.value_or_of_template)
    return apply(editor, how, [_done(at, new)])


def _remove(editor: Editor, asked: Path, how: How) -> int:
    """Remove the entry at a path from each file that declares it."""
    at = located(asked, editor.value)
    if editor.value(at) is ABSENT:
        raise not_there(at, editor.value)
    editor.unset(at)
    return apply(editor, how, [f"removed {format_path(at)}"])


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


def _overridden(checked: Checked, path: Path) -> Iterator[str]:
    """Which other places of the fleet set the same value with more weight, so that a change shows nowhere."""
    assert checked.compared is not None, "it is asked only if nothing differs"
    source = checked.compared.sides.fleet.source
    found = [at for at in _with_more_weight(source.data, path) if value_at(source.data, at, ABSENT) is not ABSENT]
    if found:
        yield "it is overridden by:"
        yield from (f"  {format_path(at)} ({source.line_of(at)})" for at in found)


def _with_more_weight(data: Any, path: Path) -> Iterator[Path]:
    """Where a value can be set that prevails over the one at a path: in overrides, and in what takes settings over."""
    match path:
        case ("defaults", *rest):
            holders: list[Path] = [path[:1]]
            below: list[Path] = [("tenants", name) for name in mapping_at(data, "tenants")]
        case ("tenants", _, "apps", _, *rest):
            holders, below = [path[:2], path[:4]], []
        case ("tenants", tenant, *rest):
            holders = [path[:2]]
            below = [(*path[:2], "apps", name) for name in mapping_at(data, "tenants", tenant, "apps")]
        case ("templates", section, template, *rest):
            holders = [path[:3]]
            below = list(_taking(data, TENANTS if section == "tenants" else CLUSTERS, str(template)))
        case ("platform", "addons", _, *rest):
            holders, below = [path[:1], path[:3]], []
        case ("platform", *rest):
            holders, below = [path[:1]], []
        case _:
            return
    if not rest:
        return
    for holder in holders:
        entries = value_at(data, (*holder, "overrides"), ())
        for at in range(len(entries if isinstance(entries, list) else ())):
            yield (*holder, "overrides", at, *path[len(holder) :])
    for taker in below:
        yield (*taker, *rest)
        if taker[0] != "templates":
            yield from _with_more_weight(data, (*taker, *rest))


def _taking(data: Any, kind: Kind, template: str) -> Iterator[Path]:
    """What takes a template over: the templates that come after it, and the entries that are from it."""
    lineages = Lineages(kind, mapping_at(data, *kind.templates))
    orders = {name: lineages.joined(kind.named(own)) for name, own in mapping_at(data, kind.section).items()}
    taking = {name: order for name, order in orders.items() if template in order}
    later = [name for order in taking.values() for name in order[order.index(template) + 1 :]]
    yield from ((*kind.templates, name) for name in dict.fromkeys(later))
    yield from ((kind.section, name) for name in taking)
