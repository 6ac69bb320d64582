"""The types of single values in tenants.yaml: each refuses what Kubernetes, Flux or Go would refuse later.

A refusal is a `PydanticCustomError` whose type is the diagnostic's code, so `shape` needs no table of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from tenantry import names

_DURATION = re.compile(r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+")
_QUANTITY = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(([KMGTPE]i)|[numkMGTPE]|[eE][+-]?[0-9]+)?")
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def refusal(code: str, message: str, **context: Any) -> PydanticCustomError:
    """An error of a value; `fix` in the context becomes the remedy."""
    # Braces would be taken for a template by pydantic.
    return PydanticCustomError(code, "{text}", {"text": message, **context})


def _checked(code: str, what: str, problem: Callable[[str], str | None]) -> AfterValidator:
    def check(value: str) -> str:
        if why := problem(value):
            raise refusal(code, f"{what} '{shorten(value)}' {why}")
        return value

    return AfterValidator(check)


def _matching(pattern: re.Pattern[str], why: str) -> Callable[[str], str | None]:
    return lambda value: None if pattern.fullmatch(value) else why


def _number_as_text(value: Any) -> Any:
    """Numbers are natural to write where Kubernetes wants text: `cpu: 4`."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return repr(value)


def _path_problem(value: str) -> str | None:
    if value.startswith("/"):
        return "is absolute: paths start at the root of the source"
    return "leaves the source" if ".." in value.split("/") else None


def shorten(value: str, limit: int = 80) -> str:
    """A value as it may be quoted in a message: on one line and not endless."""
    shown = value.encode("unicode_escape").decode() if not value.isprintable() else value
    return shown if len(shown) <= limit else f"{shown[:limit]}..."


Name = Annotated[str, _checked("bad-name", "name", names.dns_label_problem)]
"""A DNS-1123 label; it becomes part of object names and the value of labels."""

Duration = Annotated[
    str, _checked("bad-duration", "duration", _matching(_DURATION, "is none: write it as in '30s', '5m' or '1h30m'"))
]
"""Go's text form of a duration, as Flux's CRDs restrict it: units ms, s, m, h."""

ShortDuration = Annotated[
    Duration,
    _checked(
        "bad-duration", "duration", lambda value: "may not use hours here: write minutes" if "h" in value else None
    ),
]
"""Timeouts of sources; Flux's CRDs allow no hours there."""

Quantity = Annotated[
    str,
    BeforeValidator(_number_as_text),
    _checked("bad-quantity", "quantity", _matching(_QUANTITY, "is none: write it as in '4', '500m' or '8Gi'")),
]
"""A Kubernetes resource quantity."""

LabelKey = Annotated[str, _checked("bad-label", "label", names.label_key_problem)]
LabelValue = Annotated[str, _checked("bad-label", "label value", names.label_value_problem)]

SourcePath = Annotated[str, _checked("bad-path", "path", _path_problem)]
"""A path inside a source; leaving it was a vulnerability of Flux once (CVE-2022-24877), so it is refused here already."""

VariableName = Annotated[
    str,
    _checked(
        "bad-variable", "variable", _matching(_VARIABLE, "must be letters, digits and '_', starting with a letter")
    ),
]
VariableValue = Annotated[str, BeforeValidator(_number_as_text)]
