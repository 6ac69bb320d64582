"""How long `tenantry status` of many apps takes: `python -m bench.status [TENANTS]` (default 3334, with 10,002 apps).

The objects are made up: each has the status and the inventory of a real one. An API server in this process answers in pages of
500, as a real one does. Printed are the seconds of each step; a quarter of the apps fail, each with a message.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from io import StringIO
from typing import Any

import httpx2
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import Cluster, Context, User
from rich.console import Console

from bench.plan import text_of, timed
from tenantry.cli.status.data import status_document
from tenantry.cli.status.metrics import metrics
from tenantry.cli.status.show import shown
from tenantry.cluster.client import Client
from tenantry.cluster.inventory import apps_of
from tenantry.cluster.report import StatusReport, full_report
from tenantry.kube.objects import KubeObject
from tenantry.load import fleet_of
from tenantry.plan.plan import plan
from tenantry.source.parse import parse

_PAGE = 500


def main() -> None:
    tenants = int(sys.argv[1]) if len(sys.argv) > 1 else 3334
    gc.set_threshold(200_000)  # as the command does
    times: dict[str, float] = {}
    text = text_of(tenants)
    with timed("load", times.__setitem__):
        fleet = fleet_of(parse(text, "tenants.yaml"))
    with timed("plan", times.__setitem__):
        planned = plan(fleet, "prod")
    kinds = {"kustomizations": [each for each in planned.objects if each.id.kind == "Kustomization"]}
    with _client({kind: [_live(*each) for each in enumerate(of)] for kind, of in kinds.items()}) as client:
        with timed("read", times.__setitem__):
            live = tuple(apps_of(client, "prod"))
        with timed("join", times.__setitem__):
            report = full_report(client, planned, live)
    for name, write in _FORMATS.items():
        with timed(name, times.__setitem__):
            written = write(report)
        print(f"{name}: {len(written)} bytes, {len(written.splitlines())} lines")
    print(f"{len(report.apps)} apps, {len(planned.objects)} objects")
    for step, seconds in times.items():
        print(f"{step:10} {seconds:6.2f} s")


def _live(number: int, planned: KubeObject) -> dict[str, Any]:
    manifest, revision = planned.manifest, "main@sha1:0123456789abcdef0123456789abcdef01234567"
    failed = number % 4 == 0
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

    config = SingleConfig("hub", Context(cluster="hub", user="u"), Cluster(server="https://hub", insecure=True), User())
    return Client(config, transport=httpx2.MockTransport(answer))


def _page(items: list[dict[str, Any]], start: int) -> dict[str, Any]:
    more = start + _PAGE < len(items)
    metadata = {"continue": str(start + _PAGE)} if more else {}
    return {"metadata": metadata, "items": items[start : start + _PAGE]}


def _on_terminal(report: StatusReport) -> str:
    return _text(report, Console(width=80, file=StringIO(), force_terminal=True))


def _in_a_pipe(report: StatusReport) -> str:
    return _text(report, Console(width=1000, file=StringIO()))


def _text(report: StatusReport, console: Console) -> str:
    with console.capture() as captured:
        console.print(shown(report, console))
    return captured.get()


_FORMATS: dict[str, Callable[[StatusReport], str]] = {
    "terminal": _on_terminal,
    "pipe": _in_a_pipe,
    "json": lambda report: json.dumps(status_document(report), indent=2),
    "prometheus": metrics,
}


if __name__ == "__main__":
    main()
