"""An API server in memory, for tests of what ordinary clients do; it keeps objects, and refuses what it is told to."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import httpx2

from tenantry.cluster.client import Client
from tenantry.cluster.kubeconfig import Access, Cluster, User
from tenantry.cluster.requests import plural
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import KubeObject, ObjectId, is_of_flux
from tenantry.plan.plan import Plan

SERVER = "https://hub.example.com"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
POLICIES = [
    {"name": f"{kind.lower()}s", "kind": kind, "namespaced": False}
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
]
"""What a cluster serves since Kubernetes 1.30."""
FLUX: dict[str, list[dict[str, Any]]] = {}
"""What a cluster serves that runs the Flux whose schemas are known here, by the path of the API version."""
for schema in map(schema_of, kinds()):
    resource = {"name": schema.plural, "kind": schema.kind, "namespaced": True}
    FLUX.setdefault(f"/apis/{schema.api_version}", []).append(resource)


class Memory:
    """objects: by path. refusals: what a request of a method to a path is answered with instead.

    bare: the paths of which only the metadata is given to who reads.
    """

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.bare: set[str] = set()
        self.refusals: dict[tuple[str, str], Callable[[httpx2.Request], httpx2.Response]] = {}
        self.requests: list[tuple[str, str, dict[str, str]]] = []

    def client(self, server: str = SERVER) -> Client:
        user = User(username="admin", password="password")
        access = Access(name="hub", source="hub.yaml", cluster=Cluster(server=server), user=user)
        return Client(access, network=httpx2.MockTransport(self._answer))

    def refuse(self, method: str, path: str, status: int, message: str) -> None:
        answer = {"kind": "Status", "code": status, "message": message}
        self.refusals[method, path] = lambda _: httpx2.Response(status, json=answer)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        path, parameters = request.url.path, dict(request.url.params)
        self.requests.append((request.method, path, parameters))
        if refusal := self.refusals.get((request.method, path)):
            return refusal(request)
        if request.method == "PATCH":
            return httpx2.Response(200, json=self._apply(path, json.loads(request.content), parameters))
        if path not in self.objects and (resources := {ADMISSION: POLICIES, **FLUX}.get(path)):
            return httpx2.Response(200, json={"resources": resources})
        if path in self.objects:
            found = self.objects[path]
            return httpx2.Response(200, json={"metadata": found["metadata"]} if path in self.bare else found)
        return httpx2.Response(404, json={"kind": "Status", "code": 404, "message": "not found"})

    def _apply(self, path: str, wanted: dict[str, Any], parameters: dict[str, str]) -> dict[str, Any]:
        """Apply as a server does it, but for lists, which it does not merge."""
        found = _merged(self.objects.get(path, {}), wanted)
        # Applying changes who manages an object even if it changes nothing else.
        found["metadata"]["managedFields"] = [{"manager": parameters["fieldManager"]}]
        found["metadata"]["resourceVersion"] = str(len(self.requests))
        if "dryRun" not in parameters:
            self.objects[path] = found
        return found


def hold(memory: Memory, plan: Plan) -> None:
    """Have the server hold every object of a plan as planned, and ready at the same time."""
    for each in plan.objects:
        memory.objects.setdefault(list_of(each.id), {"metadata": {}, "items": []})["items"].append(held(each))


def list_of(id: ObjectId) -> str:
    """The path under which all objects of a kind are listed."""
    root = f"/apis/{id.api_version}" if "/" in id.api_version else f"/api/{id.api_version}"
    return f"{root}/{plural(id.kind)}"


def held(planned: KubeObject) -> dict[str, Any]:
    """The live object of a planned one."""
    manifest = deepcopy(dict(planned.manifest))
    manifest["metadata"] = {**manifest["metadata"], "generation": 1}
    if is_of_flux(planned.id.api_version):
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2025-12-31T00:00:00Z"}
        manifest["status"] = {"observedGeneration": 1, "conditions": [ready]}
    return manifest


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    merged = deepcopy(old)
    for key, value in new.items():
        merged[key] = _merged(merged.get(key, {}), value) if isinstance(value, dict) else value
    return merged
