"""Where the running Tenantry was installed from, so that a new project can install the same."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import unquote, urlsplit

EXTRAS = "policy,pulumi,sandbox"
"""What a project needs of the package besides the commands."""


def local_source() -> Path | None:
    """The wheel or the checkout on this machine that was installed. None: it came from a package index, or is gone."""
    try:
        recorded = distribution("tenantry").read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    address = urlsplit(json.loads(recorded)["url"] if recorded else "")
    path = Path(unquote(address.path))
    return path if address.scheme == "file" and path.exists() else None
