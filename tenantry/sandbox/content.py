"""Publishes what the sources of an environment fetch, and describes the process that serves it."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tenantry.sandbox import buckets, registry, repositories
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.process import answers
from tenantry.sandbox.server import HEALTH
from tenantry.sandbox.spec import SandboxSpec
from tenantry.sandbox.supervisor import SHARED, Part

PACKAGES = Path(__file__).resolve().parents[2]
"""The directory from which this package is imported."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content server of one sandbox."""

    layout: Layout
    ports: tuple[int, ...]

    def part(self) -> Part:
        argv = (sys.executable, "-m", "tenantry.sandbox.server", str(self.layout.root), *map(str, self.ports))
        environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONPATH": str(PACKAGES), "PYTHONUNBUFFERED": "1"}
        return Part(SHARED, "content", argv, environment, self.ports)

    def ready(self) -> bool:
        return all(answers(port, HEALTH) for port in self.ports)


def publish(root: Path, spec: SandboxSpec) -> None:
    """Publish the present content of the folders and charts; unchanged content is left alone."""
    layout = Layout(root.resolve())
    repositories.publish(spec.git, layout.git, spec.own)
    buckets.publish_charts(spec.charts, layout.charts)
    registry.publish(spec.charts, spec.oci, layout.registry)
    buckets.publish_bucket(spec.buckets, layout.buckets)


def commit(root: Path, repository: str, changes: Mapping[str, str | None], message: str) -> str:
    """Commit to a served repository `<owner>/<repository>`, as its owner's push would; returns the commit's id.

    The next `publish` puts the folder's content on top again.

    Args:    changes: new content by path; None deletes the file.
    """
    return repositories.repository(Layout(root.resolve()).git, repository).commit(changes, message)
