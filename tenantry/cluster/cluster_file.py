"""Edits the text of a file with clusters: entries are added and marked, and all else stays as its authors wrote it.

Called by: `tenantry cluster discover`. The result is read again, so an edit that goes wrong is never written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode

from tenantry.messages.data import mapping_at
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.source.parse import parse

HEAD = """\
# Written by `tenantry cluster discover`, which adds new clusters and marks those that are gone. Everything else is yours to edit.
clusters:
"""
GONE = "decommissioned"


def edited(text: str, file: str, added: Mapping[str, Any], gone: Iterable[str]) -> str:
    """The text of a file with more clusters, and with `state: decommissioned` in some.

    Args:   text: "" for a new file.
    Raises: Refused: the file is written in a way that cannot be edited; InvalidFleet: it is not valid YAML.
    """
    before, gone = _data(text, file), list(gone)
    result = _with(_marked(text, gone), added) if text.strip() else HEAD + _entries(added, 2)
    clusters = mapping_at(before, "clusters")
    marked = {name: {**clusters[name], "state": GONE} for name in gone}
    if not _holds(result, {**before, "clusters": {**clusters, **marked, **added}}):
        fix = "write 'clusters:' as a block, with one cluster below the other"
        raise Refused(f"{file} is written in a way that cannot be edited", fix)
    return result


def _holds(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return _data(text, "") == wanted
    except InvalidFleet:
        return False


def _data(text: str, file: str) -> dict[str, Any]:
    return parse(text.encode(), file).data if text.strip() else {}


def _marked(text: str, names: Iterable[str]) -> str:
    """The text with the state of some clusters set, from the last to the first, so that places stay right."""
    entries = _children(_children(yaml.compose(text, Loader=yaml.SafeLoader)).get("clusters"))
    changes = [_change(entries[name]) for name in names if isinstance(entries.get(name), MappingNode)]
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _change(entry: Any) -> tuple[int, int, str]:
    """Where the text of an entry changes, and what stands there then."""
    state = _children(entry).get("state")
    if isinstance(state, ScalarNode):
        return state.start_mark.index, state.end_mark.index, GONE
    start = entry.start_mark.index
    if entry.flow_style:
        return start + 1, start + 1, f"state: {GONE}{', ' if entry.value else ''}"
    return start, start, f"state: {GONE}\n{' ' * entry.start_mark.column}"


def _children(node: Node | None) -> dict[str, Node]:
    if not isinstance(node, MappingNode):
        return {}
    return {name.value: value for name, value in node.value if isinstance(name, ScalarNode)}


def _with(text: str, added: Mapping[str, Any]) -> str:
    """The text with entries below the last one. `clusters:` is the only key of such a file."""
    if not added:
        return text
    clusters = _children(yaml.compose(text, Loader=yaml.SafeLoader)).get("clusters")
    text = text if text.endswith("\n") else f"{text}\n"
    if isinstance(clusters, MappingNode) and clusters.value:
        return text + _entries(added, clusters.start_mark.column)
    if isinstance(clusters, MappingNode):  # `clusters: {}`
        text = text[: clusters.start_mark.index].rstrip() + text[clusters.end_mark.index :]
    return text + _entries(added, 2)


def _entries(entries: Mapping[str, Any], columns: int) -> str:
    text = yaml.dump(dict(entries), Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=_WIDE)
    return "".join(f"{' ' * columns}{line}\n" for line in text.splitlines())


_WIDE = 1000


class _Dumper(yaml.SafeDumper):
    """Puts texts in quotes that begin like a number, which YAML 1.1 and 1.2 read differently."""


def _represented(dumper: yaml.SafeDumper, text: str) -> ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="'" if text[:1].isdigit() else None)


_Dumper.add_representer(str, _represented)
