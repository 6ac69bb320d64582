"""A copy of what one cluster of a sandbox keeps in etcd, and its way back, as from a backup."""

from __future__ import annotations

import base64
import json
import ssl
from contextlib import closing
from http.client import HTTPSConnection
from typing import Any

from tenantry_sandbox.cluster import existing_cluster
from tests.e2e.project import Project

Copy = dict[str, str]
"""Keys and values as etcd's gateway writes them, in base64."""


def copied(project: Project, cluster: str) -> Copy:
    """All keys of a cluster."""
    answer = _ask(project, "range", {**_prefix(cluster), "limit": "0"})
    return {each["key"]: each["value"] for each in answer.get("kvs", [])}


def put_back(project: Project, cluster: str, copy: Copy) -> None:
    """Have etcd hold the copy of a cluster, and nothing else of it. No API server of the cluster may run."""
    for key in copied(project, cluster).keys() - copy.keys():
        _ask(project, "deleterange", {"key": key})
    for key, value in copy.items():
        _ask(project, "put", {"key": key, "value": value})


def _prefix(cluster: str) -> dict[str, str]:
    first, last = f"/registry/{cluster}/", f"/registry/{cluster}0"
    return {"key": _written(first), "range_end": _written(last)}


def _written(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _ask(project: Project, call: str, body: dict[str, str]) -> dict[str, Any]:
    etcd = existing_cluster(project.sandbox).etcd
    context = ssl.create_default_context(cafile=etcd.authority.pair.certificate)
    context.load_cert_chain(etcd.client.certificate, etcd.client.key)
    with closing(HTTPSConnection("127.0.0.1", etcd.http_port, context=context, timeout=60)) as connection:
        connection.request("POST", f"/v3/kv/{call}", json.dumps(body))
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        found: dict[str, Any] = json.loads(answer.read())
        return found
