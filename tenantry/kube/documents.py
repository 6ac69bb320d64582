"""Reads the YAML of other programs: kubeconfigs and manifests. `tenantry.source` reads the files of Tenantry itself."""

from __future__ import annotations

import re
from typing import Any

import yaml

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
