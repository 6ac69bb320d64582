"""The canonical form of a file: `tenantry fmt`.

Keys in the order of the reference, two spaces of indentation, one space in brackets where YAML reads best, quotes where they are
needed, an empty line between sections and tenants. Names, lists and what stands in brackets keep their order and their brackets.
Every comment stays beside what it stands beside.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path as FilePath
from typing import NamedTuple

from tenantry.edit.data import same
from tenantry.edit.lines import behind_head, column_of
from tenantry.edit.schema import ranks_at
from tenantry.edit.tree import Entry, Node, comments, tree_of
from tenantry.edit.values import double_quoted, indented, is_plain, single_quoted
from tenantry.messages.errors import LINE_BREAK, Path, Refused
from tenantry.source.parse import parse

_STEP = 2
_SIZE = re.compile(r"[1-9]")
_APART = ((), ("tenants",))
"""The mappings whose entries have an empty line between them, unless both are on one line."""


class _Chunk(NamedTuple):
    """An entry: the comments and empty lines above it, and its own lines."""

    above: list[str]
    lines: list[str]


def canonical(raw: bytes, file: FilePath) -> bytes:
    """The canonical form of a file's bytes. Raises: InvalidFleet: it is not YAML; Refused: it holds what has no such form."""
    before = parse(raw, str(file)).data
    text = LINE_BREAK.sub("\n", raw.decode().removeprefix("\ufeff"))
    root = tree_of(text)
    assert root is not None, "the parser refuses empty files"
    written = text.rstrip() if root.flow else _Formatter(text, file).document(root)
    after = f"{written}\n".encode()
    if not same(parse(after, str(file)).data, before) or comments_in(text) != comments_in(written):
        raise Refused(f"{file} cannot be formatted without a change of its meaning", "format it by hand")
    return after


def comments_in(text: str) -> Counter[str]:
    """The comments of a text, and how often each is there."""
    root = tree_of(text)
    return Counter(found[0].rstrip() for found in comments(text, root.nodes() if root else (), 0, len(text)))


class _Formatter:
    """Writes a tree anew, from the top to the bottom of its text."""

    def __init__(self, text: str, file: FilePath) -> None:
        self.text = text
        self.file = file

    def document(self, root: Node) -> str:
        start = self.text.find("\n---") + 1 if "\n---" in self.text[: root.start] else 0
        if self.text.startswith(("---", "%")) or start:
            start = self.text.index("\n", self.text.index("---", start)) + 1
        if start > root.start:
            raise self._refused(root.start, "a value stands behind '---' on its line")
        chunks, trailing, end = self._block(root, (), start, -1, len(self.text))
        top = _header(chunks)
        rest = _collapsed(self.text[end:].split("\n"))
        lines = _collapsed([*top, *self._joined(root, (), chunks), *trailing, *rest])
        return (self.text[:start] + "\n".join(lines).strip("\n")).rstrip()

    def _block(self, node: Node, path: Path, start: int, holder: int, stop: int) -> tuple[list[_Chunk], list[str], int]:
        """The entries of a mapping or list without brackets, and the comments behind the last one.

        start: behind its head; holder: the column of the entry that holds it; stop: where the next entry outside begins.
        Returns: where the comments end that belong to it.
        """
        chunks: list[_Chunk] = []
        for index, entry in enumerate(node.entries):
            if entry.explicit:
                raise self._refused(entry.start, "its key is written with '? '")
            part = entry.key.text if entry.key else index
            following = node.entries[index + 1].start if index + 1 < len(node.entries) else stop
            at_line = start == 0 or self.text[start - 1] == "\n"
            above = _lines_above("\n" * at_line + self.text[start : entry.start])
            lines, start = self._entry(entry, (*path, part), following)
            chunks.append(_Chunk(above, lines))
        trailing, start = self._trailing(start, holder, stop)
        return chunks, trailing, start

    def _entry(self, entry: Entry, path: Path, stop: int) -> tuple[list[str], int]:
        """The lines of an entry, and where its text ends."""
        head = f"{_scalar(entry.key, self.text)}:" if entry.key else "-"
        value, behind = entry.value, behind_head(self.text, entry)
        if value.kind in ("mapping", "list") and not value.flow:
            return self._with_block(entry, head, path, stop)
        if value.style in ("|", ">"):
            lines = _block_scalar(self.text, value)
            return [f"{head} {lines[0]}", *lines[1:]], value.end
        end = max(value.end, behind)
        written = _lines_as_written(self.text, entry) if value.end > behind else [""]
        if len(written) == 1 and value.end > behind:
            written = [_on_one_line(value, path, self.text)]
        comment, end = self._line_comment(end)
        first, *others = [f"{head} {written[0]}".rstrip(), *written[1:]]
        return ([first, *others[:-1], others[-1] + comment] if others else [first + comment]), end

    def _with_block(self, entry: Entry, head: str, path: Path, stop: int) -> tuple[list[str], int]:
        """The lines of an entry whose mapping or list stands below its head, or behind its dash."""
        value, behind = entry.value, behind_head(self.text, entry)
        first = value.entries[0]
        properties = ""
        if value.anchor or value.tag:
            properties = " " + " ".join(self.text[value.start : first.start].split("#")[0].split())
            behind = value.start + len(self.text[value.start : first.start].split("\n")[0].split("#")[0].rstrip())
        comment, start = self._line_comment(behind)
        chunks, trailing, end = self._block(value, path, start, column_of(self.text, entry.start), stop)
        inner = [*self._joined(value, path, chunks), *trailing]
        if entry.key is None and not (comment or properties or not inner[0] or inner[0].startswith("#")):
            return [f"- {inner[0]}", *indented(inner[1:], _STEP)], end
        return [head + properties + comment, *indented(inner, _STEP)], end

    def _line_comment(self, at: int) -> tuple[str, int]:
        """The comment behind a value on its line, with the spaces before it, and where it ends."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        rest = self.text[at:end]
        if not rest.strip().startswith("#"):
            return "", at
        spaces = max(2, len(rest) - len(rest.lstrip()))
        return " " * spaces + rest.strip(), end

    def _trailing(self, start: int, holder: int, stop: int) -> tuple[list[str], int]:
        """The comments behind the last entry that are indented more than the entry that holds it, and where they end."""
        end, at = start, self.text.find("\n", start) + 1 if "\n" in self.text[start:stop] else stop
        while at < stop:
            line_end = self.text.find("\n", at)
            line_end = len(self.text) if line_end < 0 else line_end
            line = self.text[at:line_end]
            if line_end > stop or (line.strip() and not line.lstrip().startswith("#")):
                break
            if line.strip():
                if len(line) - len(line.lstrip()) <= holder:
                    break
                end = line_end
            at = line_end + 1
        if end == start:
            return [], start
        return _lines_above(self.text[start:end] + "\n"), end

    def _joined(self, node: Node, path: Path, chunks: list[_Chunk]) -> list[str]:
        """The lines of all entries in their order, with regular empty lines."""
        apart = path in _APART and node.kind == "mapping"
        lines: list[str] = []
        before: _Chunk | None = None
        for chunk in _ordered(node, path, chunks):
            above = _collapsed(chunk.above)
            if before is None:
                above = above[1:] if above and not above[0] else above
            elif apart and (len(before.lines) > 1 or len([*above, *chunk.lines]) > 1) and above[:1] != [""]:
                above = ["", *above]
            lines += [*above, *chunk.lines]
            before = chunk
        return lines

    def _refused(self, at: int, why: str) -> Refused:
        lines = self.text[:at].split("\n")
        return Refused(
            f"{self.file}:{len(lines)}:{len(lines[-1]) + 1}: this cannot be formatted: {why}", "write it plainly"
        )


def _ordered(node: Node, path: Path, chunks: list[_Chunk]) -> list[_Chunk]:
    """The entries in the order of the reference. Names, and keys that it does not list, keep theirs."""
    known = ranks_at(path) if node.kind == "mapping" else {}
    names = [entry.key.text if entry.key else "" for entry in node.entries]
    ranked = sorted(range(len(chunks)), key=lambda index: known.get(names[index], len(known)))
    return [chunks[index] for index in ranked]


def _header(chunks: list[_Chunk]) -> list[str]:
    """Take the comments at the top of the file from the first entry: they speak of the file."""
    above = chunks[0].above
    size = len(above) - above[::-1].index("") if "" in above else len(above)
    top = above[:size]
    del above[:size]
    return top


def _lines_above(gap: str) -> list[str]:
    """The comments and empty lines between two entries; what stands behind the first one on its line is not among them."""
    return [line.strip() for line in gap.split("\n")[1:-1]]


def _collapsed(lines: list[str]) -> list[str]:
    """Without a second empty line after another."""
    return [line for index, line in enumerate(lines) if line or index == 0 or lines[index - 1]]


def _scalar(node: Node, text: str) -> str:
    """A key or a value on one line, in quotes only where it needs them: in single ones, where they save an escape."""
    if node.anchor or node.tag or not node.style:
        return text[node.start : node.end]
    if is_plain(node.text):
        return node.text
    escapes = '"' in node.text or "\\" in node.text
    return single_quoted(node.text) if escapes and node.text.isprintable() else double_quoted(node.text)


def _on_one_line(node: Node, path: Path, text: str) -> str:
    """A scalar, or a mapping or list in brackets. What refers to another part of the file stays as it is."""
    if any(each.anchor or each.tag or each.bare or each.kind == "alias" for each in node.nodes()):
        return text[node.start : node.end]
    if node.kind == "scalar":
        return _scalar(node, text)
    if node.kind == "list":
        return (
            f"[{', '.join(_on_one_line(each.value, (*path, index), text) for index, each in enumerate(node.entries))}]"
        )
    known = ranks_at(path)
    entries = sorted(node.entries, key=lambda each: known.get(each.key.text if each.key else "", len(known)))
    return f"{{{', '.join(_flow_entry(each, path, text) for each in entries)}}}"


def _flow_entry(entry: Entry, path: Path, text: str) -> str:
    assert entry.key is not None, "an entry of a mapping has a key"
    key = _scalar(entry.key, text)
    value = _on_one_line(entry.value, (*path, entry.key.text), text) if entry.value.end > entry.value.start else ""
    return f"{key}: {value}".rstrip() if value or entry.colon else key


def _lines_as_written(text: str, entry: Entry) -> list[str]:
    """A value as it is written; its other lines are indented below its key, at least by one step."""
    first, *others = text[entry.value.start : entry.value.end].split("\n")
    if not others:
        return [first]
    own = column_of(text, entry.start)
    widths = [len(line) - len(line.lstrip()) for line in others if line.strip()]
    shift = own if not widths or min(widths) >= own + _STEP else min(widths) - _STEP
    closing = entry.value.flow and not others[-1].strip(" ]}")
    if closing and widths and widths[-1] == own and min([*widths[:-1], own + _STEP]) >= own + _STEP:
        shift = own  # a closing bracket below the key
    return [first.rstrip(), *(_shifted(line, shift) for line in others)]


def _block_scalar(text: str, node: Node) -> list[str]:
    """A text over several lines: its sign with its comment, and its lines below its key."""
    header, *lines = text[node.start : node.end].split("\n")
    size = _SIZE.search(header.split("#")[0])
    if node.end == len(text) and header[1:2] not in ("-", "+") and header[2:3] not in ("-", "+"):
        header = f"{header[0]}-{header[1:]}"  # the file gets a line break at its end, which the value does not have
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip()]
    if not indents:
        return [header.rstrip(), *lines]
    own = _content_column(text, node, int(size[0])) if size else indents[0]
    return [header.rstrip(), *indented([line[own:] for line in lines], int(size[0]) if size else _STEP)]


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
