"""Writes objects as YAML that every reader of YAML takes for the same data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import yaml

_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Dumper(_BASE):  # type: ignore[misc]  # the C dumper exists only where libyaml does
    """Writes repeated values out instead of using anchors, which are hard to read."""

    def ignore_aliases(self, _: Any) -> bool:
        return True


# PyYAML would not quote these strings, but other readers of YAML read them as numbers or booleans.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), None
)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?0o[0-7]+$"), None)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^[yYnN]$"), None)

_WIDTH = 1_000_000
"""Characters after which a line would be broken: no line of an object is."""


def documents(data: Iterable[Any]) -> str:
    """The data as YAML documents, each after `---` and with its own order of keys."""
    text: str = yaml.dump_all(data, Dumper=_Dumper, sort_keys=False, explicit_start=True, width=_WIDTH)
    return text
