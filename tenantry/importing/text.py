"""A draft as the text of tenants.yaml, which reads back as the same data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import wrap
from typing import Any

from tenantry.edit.values import WIDTH, Style, entry
from tenantry.messages.errors import Path
from tenantry.messages.text import printable
from tenantry.source.parse import parse

Comments = Mapping[Path, Iterable[str]]


class _Roomy(Style):
    """Environments, clusters and tenants have lines of their own; what is small in them stands on one line."""

    def flows(self, path: Path, value: Any) -> bool:
        is_roomy = len(path) < 2 or (len(path) == 2 and path[0] in ("environments", "clusters", "tenants"))
        return not is_roomy and super().flows(path, value)


_STYLE = _Roomy()


def header(sources: Iterable[str]) -> list[str]:
    """The comment at the top of the file."""
    return [
        "Written by `tenantry import` from:",
        *(f"  {source}" for source in sources),
        "Values are those that were found. Comments mark what needs a decision.",
    ]


def text_of(data: Mapping[str, Any], head: Iterable[str] = (), comments: Comments | None = None) -> str:
    """The text. head: a comment at the top; comments: those at places in the data."""
    lines = ["# yaml-language-server: $schema=tenants.schema.json", *(f"# {printable(line)}" for line in head)]
    for key, value in data.items():
        lines += [*([] if isinstance(value, str) else [""]), *entry((key,), value, _STYLE, 0)]
    text = "\n".join(lines) + "\n"
    if not comments:
        return text
    parsed = parse(text.encode(), "the draft")
    lines = text.split("\n")
    located = {path: parsed.locate(path, key=True).line - 1 for path in comments}
    for path, line in sorted(located.items(), key=lambda item: item[1], reverse=True):
        margin = " " * (len(lines[line]) - len(lines[line].lstrip()))
        wrapped = (
            wrap(printable(comment), max(40, WIDTH - len(margin) - 2), break_on_hyphens=False)
            for comment in comments[path]
        )
        lines[line:line] = [f"{margin}# {part}" for parts in wrapped for part in parts]
    return "\n".join(lines)
