"""The types of values that stand for many names or addresses: what the main file grants or reserves."""

from __future__ import annotations

import re
from typing import Annotated

from tenantry.addresses import is_address
from tenantry.kube.names import KEY_PREFIX
from tenantry.messages.placeholders import is_unfilled
from tenantry.model.scalars import text, valid

_ADDRESS = r"(\*|[^*\s?#]+(/\*)?)"


def _is_pattern(value: str) -> bool:
    """Whether a value is a pattern; with placeholders, whether it could become one."""
    if not re.fullmatch(_ADDRESS, value):
        return False
    if is_unfilled(value):
        return "://" in value or value.startswith("{")
    return value == "*" or is_address(value.removesuffix("/*"))


AddressPattern = Annotated[
    str,
    valid(
        "bad-address",
        "address",
        _is_pattern,
        "write 'https://HOST/PATH', 'https://HOST/PATH/*', or '*' for any address",
    ),
    text(_ADDRESS),
]
"""An address, or with `/*` at its end everything below it; `*` alone is any address. May contain placeholders."""

NamespacePattern = Annotated[
    str,
    valid(
        "bad-name",
        "namespace",
        re.compile(r"[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?").fullmatch,
        "write a name; '*' stands for any characters",
    ),
    text(r"[a-z0-9*]([-a-z0-9*]*[a-z0-9*])?"),
]
"""The name of a namespace, in which `*` stands for any characters."""

KeyPrefix = Annotated[
    str,
    valid(
        "bad-prefix",
        "prefix",
        re.compile(KEY_PREFIX).fullmatch,
        "write it as 'team.example.com/'",
    ),
    text(KEY_PREFIX),
]
"""The part of the key of a label or annotation before the name, with the slash, for example `team.example.com/`."""
