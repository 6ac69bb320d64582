"""The documents of commands that list what a file declares, and what it becomes."""

from __future__ import annotations

from typing import Any, Literal

from tenantry.cli.documents.common import Document, Part


class Objects(Document):
    """What `tenantry up` applies: `tenantry render`."""

    kind: Literal["Objects"] = "Objects"
    objects: list[dict[str, Any]]
    """Kubernetes manifests with the values of the file. Secrets whose values are in the stack's secret config are left out."""


class List(Document):
    """What the file declares: `tenantry list`."""

    kind: Literal["List"] = "List"
    of: Literal["tenants", "apps", "clusters", "placements"]
    items: list[dict[str, Any]]
    """Their keys depend on `of`. An app has `versions`: what it takes, and the `placements` where it does; a placement has the
    `planned` version of each app and the `hub`, its management cluster; a cluster has `hubs`, those of its environments.
    docs/operations.md describes the command."""


class Process(Part):
    """A process of the sandbox."""

    owner: str
    """The cluster; `sandbox` for what all clusters use."""
    part: str
    pid: int
    alive: bool
    ports: list[int]
    memory: int
    """Resident bytes; 0 if it is dead."""
    log: str


class SandboxCluster(Part):
    """A cluster of the sandbox."""

    name: str
    management: bool
    alive: bool
    kubeconfig: str


class Sandbox(Document):
    """The processes of the sandbox: `tenantry sandbox status`."""

    kind: Literal["Sandbox"] = "Sandbox"
    root: str
    environment: str
    alive: bool
    """Whether all processes run."""
    webhooks: str
    """The address that takes the calls of webhooks; empty without Flux."""
    clusters: list[SandboxCluster]
    """The management cluster first."""
    parts: list[Process]
