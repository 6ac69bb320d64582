"""Publishes what the sources of an environment fetch, and describes the process that serves it."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from tenantry.charts import files_of
from tenantry_sandbox import registry, repositories
from tenantry_sandbox.layout import Layout, SandboxError, publish_files
from tenantry_sandbox.package import package
from tenantry_sandbox.programs import PROXIES
from tenantry_sandbox.spec import SandboxSpec
from tenantry_sandbox.supervisor import SHARED, Part

PORT = "content"
"""The name of the content server's port."""
LOGIN = ".login"
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
TAKEN = frozenset({"charts", "git", "healthz", "moto-api"})
"""Names that buckets cannot have: the content server has something else under them."""


def server(layout: Layout, port: int) -> Part:
    """The process of the content server."""
    argv = (sys.executable, "-m", "tenantry_sandbox.server", str(layout.root), str(port))
    # What is not served here is fetched through the proxy of the user, if there is one.
    inherited = {name: os.environ[name] for name in ("HTTP_PROXY", *PROXIES, "PYTHONPATH") if name in os.environ}
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHONUNBUFFERED": "1", **inherited}
    return Part(SHARED, "content", argv, environment, (port,))


def publish(root: Path, spec: SandboxSpec) -> None:
    """Publish the present content of the folders and charts; unchanged content is left alone.

    Raises:  SandboxError: a name that no repository of a registry or no bucket can have.
    """
    layout, source = Layout(root.resolve()), spec.content
    logins = {
        f"{kind}/{path.parent.name}": path for kind in ("git", "oci") for path in source.glob(f"{kind}/*/{LOGIN}")
    }
    publish_files({name: path.read_bytes().strip() for name, path in logins.items()}, layout.logins)
    repositories.publish(source / "git", layout.git)
    charts = [package(chart) for chart in spec.charts]
    publish_files(registry.charts(charts), layout.charts)
    publish_files(registry.artifacts(charts, source / "oci"), layout.registry)
    publish_files(_buckets(source / "buckets"), layout.buckets)


def _buckets(source: Path) -> dict[str, bytes]:
    """The files of all folders, each of which is a bucket; empty folders are skipped."""
    files = {name: data for name, data in files_of(source).items() if "/" in name}
    for bucket in {name.partition("/")[0] for name in files}:
        if bucket in TAKEN or not BUCKET.fullmatch(bucket):
            message = f"{source / bucket}: no bucket can be called '{bucket}' here"
            taken = ", ".join(sorted(TAKEN))
            raise SandboxError(message, f"use 3 to 63 small letters, digits, dots and hyphens, and none of {taken}")
    return files


def commit(root: Path, repository: str, changes: Mapping[str, str | None], message: str) -> str:
    """Commit to a served repository `<owner>/<repository>`, as its owner's push would; returns the commit's id.

    The next `publish` puts the folder's content on top again.

    Args:    changes: new content by path; None deletes the file.
    """
    return repositories.commit(Layout(root.resolve()).git, repository, changes, message)
