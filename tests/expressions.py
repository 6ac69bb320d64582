"""Expressions of GitHub's workflows: `${{ inputs.preview && needs.review.outputs.environments != '[]' }}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_EXPRESSION = re.compile(r"\$\{\{((?:(?!\}\}).)*)\}\}", re.DOTALL)
_TOKEN = re.compile(r"'(?:[^']|'')*'|&&|\|\||[!=]=|!|[()]|[A-Za-z_][\w.-]*|\S")
_STATUS = re.compile(r"\b(always|cancelled|failure|success)\(\)")
_WORDS = {"&&": " and ", "||": " or ", "!": " not ", "true": "True", "false": "False", "null": "None"}


def filled(value: Any, contexts: Mapping[str, Any]) -> Any:
    """A value of a workflow with its expressions evaluated."""
    if not isinstance(value, str):
        return value
    whole = _EXPRESSION.fullmatch(value.strip())
    if whole:
        return _evaluated(whole[1], contexts, ok=True)
    return _EXPRESSION.sub(lambda found: as_text(_evaluated(found[1], contexts, ok=True)), value)


def holds(condition: str, contexts: Mapping[str, Any], *, ok: bool) -> bool:
    """Whether a step or job runs: without a status function in its condition, only while all went well."""
    whole = _EXPRESSION.fullmatch(condition.strip())
    told = ok or _STATUS.search(condition) is not None
    return told and bool(_evaluated(whole[1] if whole else condition, contexts, ok=ok))


def as_text(value: Any) -> str:
    """A value as GitHub writes it into a string."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def _evaluated(expression: str, contexts: Mapping[str, Any], *, ok: bool) -> Any:
    functions = {
        "success": lambda: ok,
        "failure": lambda: not ok,
        "always": lambda: True,
        "cancelled": lambda: False,
        "fromJSON": json.loads,
        "known": lambda path: _at(contexts, path),
    }
    parts = _TOKEN.findall(expression)
    text = "".join(_translated(part, "".join(parts[index + 1 : index + 2])) for index, part in enumerate(parts))
    return eval(text.strip(), {"__builtins__": {}}, functions)


def _translated(part: str, following: str) -> str:
    """A word of an expression in Python."""
    if part in _WORDS:
        return _WORDS[part]
    return f"known({part!r})" if part[0].isalpha() and following != "(" else part


def _at(known: Any, path: str) -> Any:
    """A value of a context; like GitHub, "" if there is none."""
    for part in path.split("."):
        known = known.get(part, "") if isinstance(known, Mapping) else ""
    return known
