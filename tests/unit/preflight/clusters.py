"""API servers in memory: a management cluster and a remote on which nothing is wrong with a small fleet."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping
from typing import Any

import httpx2
import yaml

from tenantry.cluster.client import Client
from tenantry.cluster.kubeconfig import Access
from tenantry.cluster.requests import path_of
from tenantry.flux.schemas import kinds, schema_of
from tenantry.kube.objects import object_id
from tenantry.load import plan_one
from tenantry.plan.bootstrap import bootstrap, cluster_marker, remote_policies
from tests.unit.memory import Memory
from tests.unit.texts import fleet, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
FLEET = fleet(TEXT)
PLAN = plan_one(FLEET, "dev")
MARKER = "/api/v1/namespaces/tenantry-system/configmaps/tenantry"
SECRET = "/api/v1/namespaces/kamaji/secrets/edge-admin-kubeconfig"
DEPLOYMENTS = "/apis/apps/v1/deployments"
ADDRESS = "https://edge.example.com"
TOKEN = "marker-token"
IDENTITY = ("--feature-gates=ObjectLevelWorkloadIdentity=true", "--default-service-account=default")
"""What source-controller has to have."""
REVIEWS = "/apis/authorization.k8s.io/v1/"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


def kubeconfig(**cluster: Any) -> bytes:
    content = {
        "clusters": [{"name": "edge", "cluster": {"server": ADDRESS, **cluster}}],
        "users": [{"name": "admin", "user": {"token": TOKEN}}],
        "contexts": [{"name": "edge", "context": {"cluster": "edge", "user": "admin"}}],
        "current-context": "edge",
    }
    return yaml.safe_dump(content).encode()


def secret(content: bytes) -> dict[str, Any]:
    return {"metadata": {"name": "edge-admin-kubeconfig"}, "data": {"admin.conf": base64.b64encode(content).decode()}}


def hub() -> Memory:
    """Bootstrapped, with Flux of the known version, locked down, and the remote's kubeconfig; without the fleet."""
    memory = Memory()
    for manifest in bootstrap(FLEET, "dev", "hub"):
        memory.objects[path_of(object_id(manifest))] = dict(manifest)
    memory.objects["/api/v1/namespaces"] = {"metadata": {}, "items": []}
    for kind in sorted({planned.id.kind for planned in PLAN.objects} & {*kinds()}):
        schema = schema_of(kind)
        memory.objects[f"/apis/{schema.api_version}/{schema.plural}"] = {"metadata": {}, "items": []}
    memory.objects[SECRET] = secret(kubeconfig())
    memory.objects[DEPLOYMENTS] = {"metadata": {}, "items": [controller("source-controller", *IDENTITY)]}
    return memory


def controller(name: str, *arguments: str) -> dict[str, Any]:
    containers = [{"name": "manager", "image": f"ghcr.io/fluxcd/{name}:v1.9.5", "args": list(arguments)}]
    metadata = {"name": name, "namespace": "flux-system"}
    return {"metadata": metadata, "spec": {"template": {"spec": {"containers": containers}}}}


class Edge(Memory):
    """The remote. impersonated: service accounts, "" for all of them.

    seen: as whom somebody who impersonates is seen, if not as that user.
    """

    def __init__(self, impersonated: Collection[str] = ("",), *, seen: str = "") -> None:
        super().__init__()
        self.objects["/api/v1/namespaces/tenantry-system"] = {"metadata": {"name": "tenantry-system"}}
        for manifest in (cluster_marker("tenantry-system", "edge"), *remote_policies()):
            self.objects[path_of(object_id(manifest))] = dict(manifest)
        self.impersonated = impersonated
        self.seen = seen
        self.asked: list[Mapping[str, Any]] = []
        self.configs: list[Access] = []
        self.refusals["POST", f"{REVIEWS}selfsubjectaccessreviews"] = self._review
        self.refusals["POST", SELF] = self._self

    def connect(self, config: Access) -> Client:
        self.configs.append(config)
        return self.client(config.cluster.server)

    def fail(self, error: Exception, asked: tuple[str, str] = ("POST", f"{REVIEWS}selfsubjectaccessreviews")) -> None:
        """Have a request not answered, by default the first."""

        def raise_it(_: httpx2.Request) -> httpx2.Response:
            raise error

        self.refusals[asked] = raise_it

    def _self(self, request: httpx2.Request) -> httpx2.Response:
        user = request.headers["Impersonate-User"]
        if not {"", user.rpartition(":")[2]} & {*self.impersonated}:
            return httpx2.Response(403, json={"kind": "Status", "code": 403, "message": "no"})
        return httpx2.Response(201, json={"status": {"userInfo": {"username": self.seen or user}}})

    def _review(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(json.loads(request.content)["spec"])
        # A proxy may answer what one asks about oneself, and always in the affirmative.
        return httpx2.Response(201, json={"status": {"allowed": True}})
