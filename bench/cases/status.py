"""The steps of `tenantry status` for many apps.

The objects are made up: each has the status and the inventory of a real one. An API server in this process answers in pages of
500, as a real one does.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

from bench.fleets import text_of
from bench.measure import timed
from bench.tables import Row, Table
from tenantry.cli.output import as_json
from tenantry.cli.status import status_text
from tenantry.cluster.client import Client
from tenantry.cluster.inventory import flux_objects_of
from tenantry.cluster.kubeconfig import Access, Cluster, User
from tenantry.cluster.report import StatusReport, full_report
from tenantry.cluster.requests import plural
from tenantry.kube.objects import KubeObject
from tenantry.load import fleet_of
from tenantry.messages.text import grouped
from tenantry.plan.plan import plan
from tenantry.source.parse import parse

_PAGE = 500


def measure(*, tenants: int) -> Iterator[Table]:
    gc.set_threshold(200_000)  # as the command does
    times: dict[str, float] = {}
    with timed("load", times.__setitem__):
        fleet = fleet_of(parse(text_of(tenants), "tenants.yaml"))
    with timed("plan", times.__setitem__):
        planned = plan(fleet, "prod")
    live = grouped(map(_live, *zip(*enumerate(planned.objects), strict=True)), lambda each: plural(each["kind"]))
    with _client(live) as client:
        with timed("read from the API server", times.__setitem__):
            found = tuple(flux_objects_of(client, planned))
        with timed("read the rest and join", times.__setitem__):
            report = full_report(client, fleet, planned, found)
    for name, write in _FORMATS.items():
        with timed(f"write: {name}", times.__setitem__):
            write(report)
    yield Table(
        "status",
        f"The steps of `tenantry status` for {len(report.apps):,} apps",
        "The objects are made up, and answered by a server in the same process in pages of 500. A quarter of the apps"
        " fail. One run.",
        tuple(Row(name, seconds) for name, seconds in times.items()),
    )


def _live(number: int, planned: KubeObject) -> dict[str, Any]:
    manifest, revision = planned.manifest, "main@sha1:0123456789abcdef0123456789abcdef01234567"
    failed = planned.id.kind == "Kustomization" and number % 4 == 0
    ready = {
        "type": "Ready",
        "status": "False" if failed else "True",
        "reason": "BuildFailed" if failed else "ReconciliationSucceeded",
        "message": f"kustomize build failed: no such file {planned.id.name}" if failed else f"Applied {revision}",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    entries = [{"id": f"{planned.id.namespace}_web-{each}_apps_Deployment", "v": "v1"} for each in range(10)]
    status = {
        "observedGeneration": 1,
        "conditions": [ready],
        "lastAppliedRevision": revision,
        "inventory": {"entries": entries},
    }
    return {**manifest, "metadata": {**manifest["metadata"], "generation": 1}, "status": status}


def _client(lists: dict[str, list[dict[str, Any]]]) -> Client:
    """A client of an API server that has these objects, and no others."""
    pages = {
        (kind, str(start)): json.dumps(_page(items, start)).encode()
        for kind, items in lists.items()
        for start in range(0, max(1, len(items)), _PAGE)
    }

    def answer(request: httpx2.Request) -> httpx2.Response:
        kind = request.url.path.rpartition("/")[2]
        found = pages.get((kind, request.url.params.get("continue", "0")))
        return httpx2.Response(200, content=found or b'{"items": []}')

    access = Access(name="hub", cluster=Cluster(server="https://hub"), user=User())
    return Client(access, network=httpx2.MockTransport(answer))


def _page(items: list[dict[str, Any]], start: int) -> dict[str, Any]:
    more = start + _PAGE < len(items)
    metadata = {"continue": str(start + _PAGE)} if more else {}
    return {"metadata": metadata, "items": items[start : start + _PAGE]}


_FORMATS: dict[str, Callable[[StatusReport], str]] = {
    "text": lambda report: status_text(report, None),
    "json": lambda report: as_json(report),
}
