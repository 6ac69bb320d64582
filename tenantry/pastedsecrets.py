"""Secrets that stand in the file itself, in keys or in values: who reads the repository or the plan could use them.

Only what is one for certain is refused; what merely might be is kept out of messages, which `tenantry.secretforms` does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry import wording
from tenantry.errors import Finding, Path
from tenantry.secretforms import kind_of


def pasted_secrets(data: dict[str, Any]) -> Iterator[Finding]:
    """One finding for every key or value of a file's data that holds a secret."""
    # Nearly every file holds none, and one look at all of its text is much quicker than one at each part.
    texts: list[str] = []
    _gather(data, texts)
    if kind_of("\n".join(texts)) is None:
        return
    for path, text, at_key in _places(data, ()):
        if kind := kind_of(text):
            yield wording.pasted_secret(path, kind, at_key=at_key)


def _gather(data: Any, texts: list[str]) -> None:
    """Append all keys and values that are text."""
    if isinstance(data, str):
        texts.append(data)
    elif isinstance(data, dict):
        texts.extend(data)
        for value in data.values():
            _gather(value, texts)
    elif isinstance(data, list):
        for value in data:
            _gather(value, texts)


def _places(data: Any, at: Path) -> Iterator[tuple[Path, str, bool]]:
    """Every text with its path and whether it is the key there."""
    if isinstance(data, str):
        yield at, data, False
    elif isinstance(data, dict):
        for key, value in data.items():
            yield (*at, key), key, True
            yield from _places(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _places(value, (*at, index))
