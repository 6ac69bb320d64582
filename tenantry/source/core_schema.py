"""The core schema of YAML 1.2: the type and the value of a scalar.

It reads `on`, `no` and `12:30` as strings, as JSON does. YAML 1.1 reads them as booleans and numbers.

Source: yaml.org/spec/1.2.2, section 10.3.
"""

from __future__ import annotations

import math
import re
from typing import Any

INTEGER = "tag:yaml.org,2002:int"
FLOAT = "tag:yaml.org,2002:float"
BOOLEAN = "tag:yaml.org,2002:bool"
NULL = "tag:yaml.org,2002:null"
STRING = "tag:yaml.org,2002:str"

COLLECTIONS = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")

FORMS: dict[str, tuple[re.Pattern[str], list[str]]] = {
    BOOLEAN: (re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    NULL: (re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    INTEGER: (re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list("-+0123456789")),
    FLOAT: (
        re.compile(
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+0123456789."),
    ),
}
"""How scalars of a type are written, and the characters they may start with."""

LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
"""Integers that YAML 1.1 reads as octal."""

YAML_1_1_BOOLEANS = frozenset({"yes", "no", "on", "off"})
"""Strings, in lower case, that YAML 1.1 reads as booleans."""


def _integer(text: str) -> int | float:
    if text[:2] in ("0o", "0x"):
        return int(text, 0)
    # Python refuses to convert thousands of digits. Kubernetes cannot hold such a number, so it counts as infinite.
    return int(text) if len(text) <= 32 else math.inf


def _float(text: str) -> float:
    return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))


SCALARS: dict[str, Any] = {
    STRING: str,
    INTEGER: _integer,
    FLOAT: _float,
    BOOLEAN: lambda text: text.lower() == "true",
    NULL: lambda _: None,
}
"""From the text of a scalar to its value, by tag."""


def is_exact(value: Any) -> bool:
    """Whether Kubernetes keeps the value as it is: on the way there, numbers become floats of 64 bits."""
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or abs(value) <= 2**53
