"""Who did what on a cluster of the sandbox, as its API server wrote it down."""

from __future__ import annotations

import json

from tests.e2e.project import Project


def requests_as(project: Project, cluster: str, namespace: str, resource: str) -> set[str]:
    """The impersonated users that created or patched objects of a resource in a namespace; dry runs do not count."""
    users = set()
    for line in (project.sandbox / "logs" / f"{cluster}-audit.log").read_text().splitlines():
        event = json.loads(line)
        target = event.get("objectRef", {})
        if (target.get("namespace"), target.get("resource")) != (namespace, resource) or target.get("subresource"):
            continue
        if event["verb"] in ("create", "patch", "update") and "dryRun" not in event["requestURI"]:
            users.add(event.get("impersonatedUser", {}).get("username", event["user"]["username"]))
    return users
