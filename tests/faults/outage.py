"""What tests of outages share: they all run the fleet `small`."""

from __future__ import annotations

import json
import re

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project


def ready(project: Project) -> dict[tuple[str, str, str], str]:
    """Status by tenant, cluster and app, as users are told."""
    told = project.tenantry("status", "--environment", "dev", "--output", "json")
    assert told.code in (0, 1), told.text
    apps = json.loads(told.out)["apps"]
    return {(each["tenant"], each["cluster"], each["app"]): each["status"] for each in apps}


def apps(project: Project, cluster: str) -> set[str]:
    """The different statuses of the apps on a cluster."""
    return {status for (_, where, _), status in ready(project).items() if where == cluster}


def force_what_is_lost(project: Project, hub: Cluster) -> None:
    """Do what `tenantry status` says about releases that Flux has installed and does not know of; mostly there are none."""
    told = project.tenantry("status", "--environment", "dev").text
    for name, namespace in re.findall(r"fix: flux reconcile helmrelease (\S+) --namespace (\S+) --force", told):
        hub.force(namespace, name)
