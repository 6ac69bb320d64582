"""The document of `tenantry stacks`."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import Document, Part, TextOrNull


class ProjectStack(Part):
    """A stack with a file in the project's directory."""

    name: str
    environment: str
    target: Literal["cluster", "directory"]
    cluster: TextOrNull
    """The management cluster, as tenants.yaml names it; `null` if the file does not declare the environment, or with target
    `directory`."""
    kubeconfig: str | None
    """The file that the stack sets, as seen from the current directory; `null`: the default locations."""
    context: str | None
    """The context of the kubeconfig that the stack sets; `null`: the current one."""
    directory: str | None
    """Where target `directory` writes, as seen from the project's directory; otherwise `null`."""


class Stacks(Document):
    """The project's stacks: `tenantry stacks`."""

    kind: Literal["Stacks"] = "Stacks"
    project: str
    """The name in Pulumi.yaml."""
    stacks: list[ProjectStack]
    """By environment, then by name."""
