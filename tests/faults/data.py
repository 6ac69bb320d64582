"""Data in every namespace that a fleet has made for a tenant, and whether it is still the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.e2e.project import Project
from tests.faults.api import Api
from tests.faults.expected import Data

NAMESPACES = "/api/v1/namespaces"
TENANT, STATE = "toolkit.fluxcd.io/tenant", "tenantry/state"
POLICY = "helm.sh/resource-policy"
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}}
KINDS = {
    "configmaps": ("ConfigMap", {"data": {"of": "the tenant"}}),
    "persistentvolumeclaims": ("PersistentVolumeClaim", {"spec": CLAIM}),
}

Place = tuple[str, str]
"""A cluster and a namespace."""


@dataclass(slots=True)
class Ledger:
    """uids: of what was put into each place, by the resource."""

    project: Project
    management: str
    clusters: Iterable[str]
    uids: dict[Place, dict[str, str]] = field(default_factory=dict)

    def put(self) -> None:
        """Put data where there is none yet."""
        for cluster in self.clusters:
            api = Api(self.project.kubeconfig(cluster))
            for namespace in _of_tenants(api):
                name = namespace["metadata"]["name"]
                there = self.uids.setdefault((cluster, name), {})
                for plural, (kind, content) in KINDS.items():
                    if plural not in there:
                        body = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "data"}, **content}
                        answer = api.ask("POST", f"{NAMESPACES}/{name}/{plural}", body)
                        assert not answer.message, answer.message
                        there[plural] = answer.body["metadata"]["uid"]

    def given_up(self) -> frozenset[Place]:
        """The places that have lost their mark, so that the next run may take them."""
        found = set()
        for cluster in self.clusters:
            for namespace in _of_tenants(Api(self.project.kubeconfig(cluster))):
                metadata = namespace["metadata"]
                if cluster == self.management:
                    marked = STATE not in metadata["labels"]
                else:
                    marked = (metadata.get("annotations") or {}).get(POLICY) == "keep"
                found |= set() if marked else {(cluster, metadata["name"])}
        return frozenset(found)

    def check(self, given_up: frozenset[Place]) -> None:
        """Data that is gone, or another, was given up before; it is forgotten then."""
        for place, uids in list(self.uids.items()):
            cluster, namespace = place
            api = Api(self.project.kubeconfig(cluster))
            now = {plural: _uid(api, f"{NAMESPACES}/{namespace}/{plural}/data") for plural in uids}
            if now != uids:
                assert place in given_up, f"data was lost on {cluster} in {namespace}: {uids} -> {now}"
                del self.uids[place]


def offboarded(document: Data) -> frozenset[str]:
    """The namespaces that a file gives up."""
    return frozenset(
        namespace
        for tenant, each in document["tenants"].items()
        if each.get("state") == "offboarding"
        for namespace in (tenant, *(f"{tenant}-{key}" for key in each.get("namespaces", ())))
    )


def _of_tenants(api: Api) -> list[Data]:
    found = api.ask("GET", f"{NAMESPACES}?labelSelector={TENANT}").body["items"]
    return [each for each in found if "deletionTimestamp" not in each["metadata"]]


def _uid(api: Api, path: str) -> str:
    answer = api.ask("GET", path)
    metadata = answer.body.get("metadata") or {}
    return "" if answer.message or "deletionTimestamp" in metadata else str(metadata["uid"])
