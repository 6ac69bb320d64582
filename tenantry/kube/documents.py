"""YAML as other programs write it: kubeconfigs and manifests. `tenantry.source` reads what people write for Tenantry."""

from __future__ import annotations

from typing import Any

import yaml

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The quick one, wherever libyaml is there."""


def document(text: str | bytes) -> Any:
    """The data of a text's only document. Raises: yaml.YAMLError, ValueError, RecursionError."""
    return yaml.load(text, Loader=LOADER)  # both are safe
