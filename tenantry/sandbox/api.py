"""How one identity reaches one cluster's API server, and the few requests that setting up a cluster takes."""

import base64
import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tenantry.sandbox.layout import SandboxError, Unreachable
from tenantry.sandbox.pki import KeyPair
from tenantry.sandbox.spec import Manifest, RemoteSpec


@dataclass(frozen=True, slots=True)
class Access:
    """A user of a cluster, with what proves who it is."""

    cluster: str
    port: int
    authority: Path
    """Certificate of the authority that the API server's own comes from."""
    user: str
    pair: KeyPair

    @property
    def server(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def kubeconfig(self) -> str:
        """A kubeconfig with everything inline: Flux drops file paths from those it reads out of a Secret."""
        cluster = {"server": self.server, "certificate-authority-data": _encoded(self.authority)}
        user = {
            "client-certificate-data": _encoded(self.pair.certificate),
            "client-key-data": _encoded(self.pair.key),
        }
        context = {"cluster": self.cluster, "user": self.user}
        document: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": self.cluster, "cluster": cluster}],
            "users": [{"name": self.user, "user": user}],
            "contexts": [{"name": self.cluster, "context": context}],
            "current-context": self.cluster,
        }
        return yaml.safe_dump(document, sort_keys=False)


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


FIELD_MANAGER = "tenantry"
"""That of `tenantry bootstrap`, which otherwise could not change what the sandbox has applied."""
TIMEOUT = 30.0


class Answer(NamedTuple):
    """The API server's answer."""

    status: int
    body: bytes


class Kind(NamedTuple):
    """Where the API has objects of one kind."""

    plural: str
    namespaced: bool


class Api:
    """One identity's view of one cluster. Every request has its own connection, so threads may share it.

    Every method raises Unreachable while the API server does not answer.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._context = ssl.create_default_context(cafile=access.authority)
        self._context.load_cert_chain(access.pair.certificate, access.pair.key)
        self._kinds: dict[str, dict[str, Kind]] = {}

    def ready(self) -> bool:
        """Whether the API server reports that it is ready."""
        return self._request("GET", "/readyz").status == http.HTTPStatus.OK

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any] | None:
        """The object; None: there is no object of that name."""
        answer = self._request("GET", self._path(api_version, kind, namespace, name))
        if answer.status == http.HTTPStatus.NOT_FOUND:
            return None
        self._expect_success(answer, f"{kind} {name}")
        return _parsed(answer)

    def apply(self, manifest: Manifest) -> None:
        """Create or update the object, by server-side apply."""
        api_version, kind, metadata = manifest["apiVersion"], manifest["kind"], manifest["metadata"]
        path = self._path(api_version, kind, metadata.get("namespace", ""), metadata["name"])
        # JSON is YAML; the API server wants this media type for both.
        headers = {"Content-Type": "application/apply-patch+yaml"}
        body = json.dumps(manifest).encode()
        answer = self._request("PATCH", f"{path}?fieldManager={FIELD_MANAGER}&force=true", body, headers)
        self._expect_success(answer, f"{kind} {metadata['name']}")

    def _path(self, api_version: str, kind: str, namespace: str, name: str) -> str:
        base = _base(api_version)
        known = self._kind(base, kind)
        scope = f"/namespaces/{namespace or 'default'}" if known.namespaced else ""
        return f"{base}{scope}/{known.plural}/{name}"

    def _kind(self, base: str, kind: str) -> Kind:
        if kind not in self._kinds.get(base, {}):
            self._kinds[base] = self._discover(base)
        try:
            return self._kinds[base][kind]
        except KeyError:
            message = f"cluster {self._access.cluster} has no kind {kind} in {base}"
            raise SandboxError(message, "correct the object's apiVersion and kind") from None

    def _discover(self, base: str) -> dict[str, Kind]:
        answer = self._request("GET", base)
        if answer.status == http.HTTPStatus.NOT_FOUND:
            return {}
        self._expect_success(answer, base)
        resources = _parsed(answer)["resources"]
        return {
            resource["kind"]: Kind(resource["name"], resource["namespaced"])
            for resource in resources
            if "/" not in resource["name"]
        }

    def _expect_success(self, answer: Answer, subject: str) -> None:
        if answer.status < http.HTTPStatus.BAD_REQUEST:
            return
        # The server's own words can quote a Secret's data, its reason cannot.
        told = _parsed(answer)
        why = told.get("reason") if subject.startswith("Secret ") else told.get("message")
        message = f"cluster {self._access.cluster} refused {subject}: {why or answer.status}"
        raise SandboxError(message, "correct the object, then run the command again")

    def _request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPSConnection("127.0.0.1", self._access.port, context=self._context, timeout=TIMEOUT)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            return Answer(response.status, response.read())
        except (OSError, http.client.HTTPException) as broken:
            message = f"cluster {self._access.cluster} does not answer: {broken}"
            raise Unreachable(message, "run the command again; it starts what has ended") from broken
        finally:
            connection.close()


def _base(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _parsed(answer: Answer) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = json.loads(answer.body)
    except ValueError:
        return {}
    return parsed


NODES = ("node-1", "node-2")
"""Two, so that a workload that spreads its replicas over nodes becomes Ready, too."""
CAPACITY = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "1Ti", "pods": "1000"}
MANAGED = {"app.kubernetes.io/managed-by": "tenantry-sandbox"}


def node(name: str) -> Manifest:
    """A node that exists in the API only."""
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "topology.kubernetes.io/zone": f"zone-{name[-1]}",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"capacity": CAPACITY, "allocatable": CAPACITY},
    }


def kubeconfig_objects(remote: RemoteSpec, access: Access) -> tuple[Manifest, ...]:
    """The Secret with a remote's kubeconfig, and its namespace."""
    # The label makes Flux reconcile as soon as the Secret appears or changes.
    labels = {**MANAGED, "reconcile.fluxcd.io/watch": "Enabled"}
    secret: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": remote.secret, "namespace": remote.namespace, "labels": labels},
        "data": {remote.key: base64.b64encode(access.kubeconfig().encode()).decode()},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": remote.namespace, "labels": MANAGED}}
    return (namespace, secret)
