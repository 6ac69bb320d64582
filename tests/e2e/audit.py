"""Who did what on a cluster of the sandbox, as its API server wrote it down."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.e2e.project import Project


def requests_as(project: Project, cluster: str, namespace: str, resource: str) -> set[str]:
    """The impersonated users that created or patched objects of a resource in a namespace; dry runs do not count."""
    return {
        event.get("impersonatedUser", {}).get("username", event["user"]["username"])
        for event in _events(project, cluster, namespace, "create", "patch", "update")
        if event["objectRef"]["resource"] == resource
    }


def deletions(project: Project, cluster: str, namespace: str) -> list[str]:
    """`resource/name` of what was deleted in a namespace by its name, in order."""
    events = _events(project, cluster, namespace, "delete")
    return [f"{event['objectRef']['resource']}/{event['objectRef']['name']}" for event in events]


def changes_by_the_provider(project: Project, cluster: str) -> list[str]:
    """`verb resource/name` of what Pulumi's provider changed in any namespace; dry runs do not count."""
    lines = (project.sandbox / "logs" / f"{cluster}-audit.log").read_text().splitlines()
    found = (json.loads(line) for line in lines if '"userAgent":"pulumi-kubernetes/' in line)
    return [
        f"{event['verb']} {event['objectRef']['resource']}/{event['objectRef'].get('name', '')}"
        for event in found
        if event["verb"] not in ("get", "list", "watch") and "dryRun" not in event["requestURI"]
    ]


def _events(project: Project, cluster: str, namespace: str, *verbs: str) -> Iterator[dict[str, Any]]:
    """The requests with one of the verbs for objects in a namespace."""
    for line in (project.sandbox / "logs" / f"{cluster}-audit.log").read_text().splitlines():
        event = json.loads(line)
        target = event.get("objectRef", {})
        if target.get("namespace") != namespace or target.get("subresource"):
            continue
        if event["verb"] in verbs and "dryRun" not in event["requestURI"]:
            yield event
