"""Reads the YAML of other programs: kubeconfigs and manifests. `tenantry.source` reads the files of Tenantry itself."""

from __future__ import annotations

from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast loader of libyaml, if it is installed."""


def document(text: str | bytes) -> Any:
    """The data of a text with one document. Raises: yaml.YAMLError, ValueError, RecursionError."""
    return yaml.load(text, Loader=LOADER)  # both are safe
