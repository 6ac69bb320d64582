"""A rule about Go templates in values: Tenantry halves doubled braces, so a template does not arrive as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful

_WORDS = "block|default|define|else|end|if|include|index|printf|quote|range|required|template|toYaml|tpl|with"
_GO_TEMPLATE = re.compile(rf"(?<!\{{)\{{\{{-?\s*(?:[.$]|/\*|(?:{_WORDS})\b)")
"""Exactly two braces, and behind them what Go's templates begin with. Plain text in doubled braces can be meant as it is."""
_UNTOUCHED = "messageTemplate"
"""The one value that is a Go template of Flux's own; no placeholders are filled in there."""


def values_hold_no_go_templates(fleet: Fleet) -> Iterator[Finding]:
    for group in ("platform", "tenants"):
        for path, text in _texts(fleet.raw(group), (group,)):
            if _GO_TEMPLATE.search(text) and path[-1] != _UNTOUCHED:
                yield doubtful(
                    path,
                    "go-template",
                    "this looks like a Go template, but '{{' and '}}' stand for single braces here",
                    fix="double the braces of a template, as in '{{{{ .Release.Name }}}}'",
                )


def _texts(data: Any, at: Path) -> Iterator[tuple[Path, str]]:
    """All strings that hold doubled braces, with their paths."""
    if isinstance(data, str):
        if "{{" in data:
            yield at, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, (*at, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _texts(value, (*at, index))
