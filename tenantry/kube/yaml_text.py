"""Reads the YAML of other programs, and writes objects as YAML that every reader takes for the same data."""

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


LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast loader of libyaml, if it is installed."""


class ManifestLoader(LOADER):  # type: ignore[misc]
    """Reads scalars as Kubernetes' own library does: neither times nor sexagesimal numbers such as `22:22`."""


_TAGS = ("bool", "null", "merge")
ManifestLoader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0].rsplit(":", 1)[1] in _TAGS]
    for first, pairs in LOADER.yaml_implicit_resolvers.items()
}
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$|[-+]?\.(?:inf|Inf|INF)$|\.(?:nan|NaN|NAN)$"
)
ManifestLoader.add_implicit_resolver("tag:yaml.org,2002:int", _INT, list("-+0123456789"))
ManifestLoader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))


def document(text: str | bytes) -> Any:
    """The data of a text with one document. Raises: yaml.YAMLError, ValueError, RecursionError."""
    return yaml.load(text, Loader=LOADER)  # both are safe
