"""Paths as messages and commands write them: `tenants.rocky.quota["requests.cpu"]`, `tenants.rocky.owners[0]`."""

from __future__ import annotations

import re

from tenantry.messages.errors import Path, Refused

_PART = re.compile(
    r"""\[(?P<index>[0-9]{1,9})\] | \["(?P<double>[^"]*)"\] | \['(?P<single>[^']*)'\] | \[(?P<bare>[^\[\]"']+)\]
    | "(?P<quoted>[^"]*)" | (?P<plain>[^.\[\]"]+)""",
    re.VERBOSE,
)


def parse_path(text: str) -> Path:
    """The path that a text names; the inverse of `messages.text.format_path`. Raises: Refused: it is not a path."""
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        if text[at] == "." and parts and text[at + 1 : at + 2] not in ("", ".", "["):
            at += 1
        found = _PART.match(text, at)
        if found is None or (parts and text[at - 1] != "." and text[at] != "["):
            raise _not_a_path(text, at)
        kind = str(found.lastgroup)
        parts.append(int(found[kind]) if kind == "index" else found[kind])
        at = found.end()
    if not parts:
        raise Refused("the path is empty", 'write it as messages do: tenants.rocky.quota["requests.cpu"]')
    return tuple(parts)


def _not_a_path(text: str, at: int) -> Refused:
    message = f"'{text}' is not a path: character {at + 1} is not expected"
    return Refused(message, 'write it as messages do: tenants.rocky.quota["requests.cpu"], tenants.rocky.owners[0]')
