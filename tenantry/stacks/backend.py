"""Where Pulumi keeps a project's state, and what Pulumi.yaml says of its runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

_SERVICE = ("http", "https")


def backend_of(project: Path, given: Mapping[str, str]) -> str:
    """The address of the backend; "" if only Pulumi knows it, from `pulumi login`.

    Args: given: the user's environment variables, which win over the project's file.
    """
    backend = about(project).get("backend")
    url = backend.get("url") if isinstance(backend, dict) else None
    return given.get("PULUMI_BACKEND_URL") or (url if isinstance(url, str) else "")


def is_self_managed(backend: str) -> bool:
    """Whether the state is in files, a bucket or a database. False if it is in Pulumi Cloud, or if that is unknown."""
    return bool(backend) and urlsplit(backend).scheme not in _SERVICE


def about(project: Path) -> dict[str, Any]:
    """The content of Pulumi.yaml; empty if it cannot be read, which Pulumi itself reports."""
    try:
        content = yaml.safe_load((project / "Pulumi.yaml").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return content if isinstance(content, dict) else {}


def refreshes_always(project: Path) -> bool:
    """Whether Pulumi reads what is on the cluster before each run, unless it is told otherwise."""
    options = about(project).get("options")
    return isinstance(options, dict) and options.get("refresh") == "always"


_ADOPTED_UNTIL = (4, 29)
"""Since this version of the provider, creating an object that exists fails, unless the provider is told otherwise."""


def creates_by_adopting(project: Path) -> bool:
    """Whether the provider that the project's program uses is known to adopt an existing object instead of failing."""
    version = _sdk_version(project)
    return version is not None and version < _ADOPTED_UNTIL


def _sdk_version(project: Path) -> tuple[int, int] | None:
    """The version of the Kubernetes provider's SDK in the project's virtual environment; None if it is not known."""
    runtime = about(project).get("runtime")
    options = runtime.get("options") if isinstance(runtime, dict) else None
    folder = options.get("virtualenv") if isinstance(options, dict) else None
    if not isinstance(folder, str):
        return None
    directories = (project / folder).glob("lib/python3*/site-packages/pulumi_kubernetes-*.dist-info")
    versions = (re.match(r"pulumi_kubernetes-(\d+)\.(\d+)", directory.name) for directory in directories)
    return max(((int(version[1]), int(version[2])) for version in versions if version), default=None)
