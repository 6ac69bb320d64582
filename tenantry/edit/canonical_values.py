"""Values in their canonical form. What refers to another part of the file, or holds comments in brackets, stays as it is."""

from __future__ import annotations

import re

from tenantry.edit.scalars import double_quoted, is_plain, single_quoted
from tenantry.edit.schema import ranks_at
from tenantry.edit.style import column_of
from tenantry.edit.tree import Entry, Node
from tenantry.messages.errors import Path

_COMMENT = re.compile(r"(?:^|\s)(#.*)")
_SIZE = re.compile(r"[1-9]")


def comment_of(line: str) -> str:
    """The comment at the end of a line that holds no text with '#'."""
    found = _COMMENT.search(line)
    return found[1].strip() if found else ""


def key(node: Node, text: str) -> str:
    """A key, in quotes only where it needs them."""
    if node.anchor or node.tag or node.kind != "scalar":
        return text[node.start : node.end]
    return node.text if is_plain(node.text) or not node.style else _quoted(node)


def scalar_text(node: Node, text: str) -> str:
    """A value on one line, in quotes only where it needs them."""
    if node.anchor or node.tag or not node.style:
        return text[node.start : node.end]
    return node.text if is_plain(node.text) else _quoted(node)


def _quoted(node: Node) -> str:
    """In double quotes, unless single ones save an escape."""
    if node.text.isprintable() and ('"' in node.text or "\\" in node.text):
        return single_quoted(node.text)
    return double_quoted(node.text)


def flow(node: Node, path: Path, text: str) -> str:
    """A mapping or list in brackets on one line."""
    if any(each.anchor or each.tag or each.bare or each.kind == "alias" for each in node.nodes()):
        return text[node.start : node.end]
    if node.kind == "scalar":
        return scalar_text(node, text)
    if node.kind == "list":
        return f"[{', '.join(flow(each.value, (*path, index), text) for index, each in enumerate(node.entries))}]"
    known = ranks_at(path)
    entries = sorted(node.entries, key=lambda each: known.get(each.key.text if each.key else "", len(known)))
    return f"{{{', '.join(_flow_entry(each, path, text) for each in entries)}}}"


def _flow_entry(entry: Entry, path: Path, text: str) -> str:
    assert entry.key is not None, "an entry of a mapping has a key"
    value = flow(entry.value, (*path, entry.key.text), text) if entry.value.end > entry.value.start else ""
    return f"{key(entry.key, text)}: {value}".rstrip() if value or entry.colon else key(entry.key, text)


def plain_lines(text: str, entry: Entry, step: int) -> list[str]:
    """A value as it is written; its other lines are indented below its key, at least by one step."""
    first, *others = text[entry.value.start : entry.value.end].split("\n")
    if not others:
        return [first]
    own = column_of(text, entry.start)
    widths = [len(line) - len(line.lstrip()) for line in others if line.strip()]
    shift = own if not widths or min(widths) >= own + step else min(widths) - step
    closing = entry.value.flow and not others[-1].strip(" ]}")
    if closing and widths and widths[-1] == own and min([*widths[:-1], own + step]) >= own + step:
        shift = own  # a closing bracket below the key
    return [first.rstrip(), *(_shifted(line, shift) for line in others)]


def block_scalar(text: str, node: Node, step: int) -> list[str]:
    """A text over several lines: its sign with its comment, and its lines below its key."""
    header, *lines = text[node.start : node.end].split("\n")
    size = _SIZE.search(header.split("#")[0])
    if node.end == len(text) and header[1:2] not in ("-", "+") and header[2:3] not in ("-", "+"):
        header = f"{header[0]}-{header[1:]}"  # the file gets a line break at its end, which the value does not have
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    if not indents:
        return [header.rstrip(), *lines]
    own = _content_column(text, node, int(size[0])) if size else indents[0]
    width = int(size[0]) if size else step
    return [header.rstrip(), *(" " * width + line[own:] if line[own:] else "" for line in lines)]


def _content_column(text: str, node: Node, size: int) -> int:
    """Where the lines of a block scalar begin whose header says by how much they are indented."""
    line = text[text.rfind("\n", 0, node.start) + 1 : node.start]
    parent = len(line) - len(line.lstrip(" "))
    while line[parent:].startswith("- ") and ":" in line[parent:]:
        parent += 2
    return parent + size


def _shifted(line: str, by: int) -> str:
    """The line moved to the left, or to the right if the number is negative."""
    if not line.strip() or by < 0:
        return " " * -by + line.rstrip() if line.strip() else ""
    return line[by:].rstrip() if not line[:by].strip() else line.lstrip()
