"""The lines of a file as they were read, kept with the places in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
"""The line breaks of libyaml."""


class Lines(Sequence[str]):
    """The lines of a text. The text is split on first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _lines(self) -> list[str]:
        return LINE_BREAK.split(self._text)

    def __getitem__(self, index: Any) -> Any:
        return self._lines[index]

    def __len__(self) -> int:
        return len(self._lines)
