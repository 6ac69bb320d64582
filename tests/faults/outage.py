"""What tests of outages share: they all run the fleet `small`, and each notes how long its fault was felt."""

from __future__ import annotations

import json
import re
import time

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project
from tests.faults.report import Results, Row

SECTION = "faults"


class Note:
    """Takes down how long a fault kept things from being as planned, and how the run at hand ended."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._begun = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def add(self, fault: str, during: str, run: str, meanwhile: str) -> None:
        cells = {"what failed": fault, "during": during, "the run": run, "meanwhile": meanwhile}
        self._results.add(Row(SECTION, cells, self.seconds(), "converged"))


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
