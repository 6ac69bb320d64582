"""Quantities of Kubernetes as numbers: `500m`, `8Gi`, `1e3`."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_FORM = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?[0-9]{1,2}))?")
_BINARY = {f"{letter}i": Decimal(1024**power) for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL = {
    letter: Decimal(1000) ** power for power, letter in zip((-3, -2, -1, 1, 2, 3, 4, 5, 6), "numkMGTPE", strict=True)
}


def number_of(quantity: Any) -> Decimal | None:
    """The number that a quantity stands for; None: it is not one."""
    match = _FORM.fullmatch(str(quantity)) if isinstance(quantity, str | int | float) else None
    if match is None or isinstance(quantity, bool):
        return None
    digits, binary, decimal, exponent = match.groups()
    factor = _BINARY.get(binary) or _DECIMAL.get(decimal) or Decimal(10) ** int(exponent or 0)
    return Decimal(digits) * factor
