"""Specs that are right, and what is told about one that was changed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from tenantry.flux.conformance import check_spec
from tenantry.messages.errors import Path, Problem

AT: Path = ("tenants", "rocky", "spec")

RIGHT: dict[str, dict[str, Any]] = {
    "Alert": {"providerRef": {"name": "chat"}, "eventSources": [{"kind": "Kustomization", "name": "*"}]},
    "Bucket": {"interval": "5m", "endpoint": "minio.example.com", "bucketName": "manifests"},
    "GitRepository": {"interval": "5m", "url": "https://git.example.com/rocky"},
    "HelmChart": {"interval": "5m", "chart": "web", "sourceRef": {"kind": "HelmRepository", "name": "charts"}},
    "HelmRelease": {"interval": "5m", "chartRef": {"kind": "OCIRepository", "name": "web"}},
    "HelmRepository": {"url": "https://charts.example.com"},
    "Kustomization": {"interval": "5m", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "manifests"}},
    "OCIRepository": {"interval": "5m", "url": "oci://registry.example.com/web"},
    "Provider": {"type": "slack"},
    "Receiver": {"type": "github", "secretRef": {"name": "token"}, "resources": [{"kind": "Bucket", "name": "own"}]},
}
"""The least that each kind needs."""


def spec_of(kind: str, **changes: Any) -> dict[str, Any]:
    """The spec of a kind with some keys set; None takes a key away."""
    return {key: value for key, value in (deepcopy(RIGHT[kind]) | changes).items() if value is not None}


def told(kind: str, **changes: Any) -> list[Problem]:
    return list(check_spec(kind, spec_of(kind, **changes), AT))
