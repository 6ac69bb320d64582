"""One cluster, its users and its processes, and the etcd that all API servers share."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tenantry.kube.objects import ObjectId
from tenantry_sandbox import programs
from tenantry_sandbox.api import Access, Api
from tenantry_sandbox.certificates import AUTHENTICATED, Authority, KeyPair
from tenantry_sandbox.layout import Layout, SandboxError, write_private
from tenantry_sandbox.process import answers
from tenantry_sandbox.programs import MANIFESTS
from tenantry_sandbox.supervisor import SHARED, Part, existing

ETCD_PORTS = ("etcd", "etcd-peer", "etcd-http")
LOOPBACK = ("127.0.0.1", "localhost")
HOSTS = (*LOOPBACK, "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1")
MASTERS = "system:masters"


@dataclass(frozen=True, slots=True)
class Etcd:
    """Where etcd listens, and with which certificates: it holds every Secret, so clients have to prove who they are."""

    layout: Layout
    port: int
    peer_port: int
    http_port: int

    @property
    def authority(self) -> Authority:
        return Authority(self.layout.etcd / "pki")

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def client(self) -> KeyPair:
        """The certificate that lets an API server read and write."""
        return self.authority.client("apiserver", "apiserver")

    def part(self) -> Part:
        ca, server = self.authority.pair.certificate, self.authority.server("server", LOOPBACK)
        peer = f"https://127.0.0.1:{self.peer_port}"
        flags = {
            "data-dir": self.layout.etcd / "data",
            "listen-client-urls": self.url,
            # With HTTP at a port of its own, gRPC does without Go's server of HTTP, which takes more of the processor.
            "listen-client-http-urls": f"https://127.0.0.1:{self.http_port}",
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"sandbox={peer}",
            "trusted-ca-file": ca,
            "cert-file": server.certificate,
            "key-file": server.key,
            "peer-trusted-ca-file": ca,
            "peer-cert-file": server.certificate,
            "peer-key-file": server.key,
        }
        environment = programs.environment(self.layout.etcd)
        return Part(
            SHARED, "etcd", programs.command("etcd", flags), environment, (self.port, self.peer_port, self.http_port)
        )

    def ready(self) -> bool:
        context = ssl.create_default_context(cafile=self.authority.pair.certificate)
        context.load_cert_chain(self.client.certificate, self.client.key)
        return answers(self.http_port, "/health", context)


@dataclass(frozen=True)
class Cluster:
    """A control plane with simulated nodes."""

    name: str
    layout: Layout
    port: int
    nodes_port: int
    etcd: Etcd

    @property
    def home(self) -> Path:
        return self.layout.cluster(self.name)

    @property
    def authority(self) -> Authority:
        return Authority(self.home / "pki")

    def access(self, name: str, user: str, group: str = AUTHENTICATED) -> Access:
        """Credentials of a user; `name` is the name of their files."""
        pair = self.authority.client(name, user, group)
        return Access(self.name, self.port, self.authority.pair.certificate, user, pair)

    @cached_property
    def administrator(self) -> Access:
        return self.access("admin", "kubernetes-admin", MASTERS)

    @cached_property
    def api(self) -> Api:
        return Api(self.administrator)

    def publish_kubeconfig(self) -> None:
        """Write the kubeconfig that the sandbox's user works with."""
        write_private(self.layout.kubeconfig(self.name), self.administrator.kubeconfig().encode())

    def kubeconfig(self, name: str, user: str, group: str = AUTHENTICATED) -> Path:
        """Write the kubeconfig of one of the cluster's own parts; returns its path."""
        return self._write_kubeconfig(name, self.access(name, user, group).kubeconfig())

    def account_kubeconfig(self, name: str, namespace: str, account: str) -> Path:
        """Write the kubeconfig of a part that is a service account, with a new token; returns its path."""
        token = self.api.token(ObjectId("v1", "ServiceAccount", namespace, account))
        return self._write_kubeconfig(name, self.administrator.kubeconfig_of(account, {"token": token}))

    def _write_kubeconfig(self, name: str, text: str) -> Path:
        path = self.home / name / "kubeconfig"
        write_private(path, text.encode())
        return path

    def apiserver(self) -> Part:
        server, tokens = self.authority.server("apiserver", HOSTS), self.authority.signing_keys()
        flags = {
            "secure-port": self.port,
            "etcd-servers": self.etcd.url,
            "etcd-prefix": f"/registry/{self.name}",
            "etcd-cafile": self.etcd.authority.pair.certificate,
            "etcd-certfile": self.etcd.client.certificate,
            "etcd-keyfile": self.etcd.client.key,
            "client-ca-file": self.authority.pair.certificate,
            "tls-cert-file": server.certificate,
            "tls-private-key-file": server.key,
            "service-account-key-file": tokens.certificate,
            "service-account-signing-key-file": tokens.key,
            "audit-policy-file": MANIFESTS / "audit-policy.yaml",
            "audit-log-path": self.layout.log(self.name, "audit"),
        }
        return self._part("kube-apiserver", flags, self.port)

    def controller_manager(self) -> Part:
        name = "kube-controller-manager"
        flags = {
            "kubeconfig": self.kubeconfig(name, f"system:{name}"),
            "service-account-private-key-file": self.authority.signing_keys().key,
            "root-ca-file": self.authority.pair.certificate,
        }
        return self._part(name, flags)

    def scheduler(self) -> Part:
        name = "kube-scheduler"
        kubeconfig, config = self.kubeconfig(name, f"system:{name}"), self.home / name / "config.yaml"
        template = (MANIFESTS / "scheduler.yaml").read_text()
        write_private(config, template.replace("KUBECONFIG,", f"{str(kubeconfig)!r},").encode())
        return self._part(name, {"config": config})

    def nodes(self) -> Part:
        """Simulates the kubelets: it marks nodes and pods Ready, finishes Jobs, and removes deleted pods."""
        flags = {
            "kubeconfig": self.kubeconfig("kwok", "kwok", MASTERS),
            "config": MANIFESTS / "kwok.yaml",
            "server-address": f"127.0.0.1:{self.nodes_port}",
        }
        # In rare cases it ends while its API server is starting.
        return self._part("kwok", flags, self.nodes_port, restarts=2)

    def _part(self, name: str, flags: programs.Flags, *ports: int, restarts: int = 0) -> Part:
        environment = programs.environment(self.home / name)
        return Part(self.name, name, programs.command(name, flags), environment, ports, restarts)


def etcd_of(layout: Layout, ports: Mapping[str, int]) -> Etcd:
    """The etcd of a sandbox with these ports."""
    return Etcd(layout, *(ports[name] for name in ETCD_PORTS))


def cluster_of(layout: Layout, ports: Mapping[str, int], name: str) -> Cluster:
    """A cluster of a sandbox with these ports."""
    etcd = etcd_of(layout, ports)
    return Cluster(name, layout, ports[f"{name}/kube-apiserver"], ports[f"{name}/kwok"], etcd)


def existing_cluster(root: Path, name: str | None = None) -> Cluster:
    """A cluster of the sandbox in a directory; None: the management cluster.

    Raises:  SandboxError: there is no sandbox in the directory, or no such cluster in the sandbox.
    """
    layout, state = existing(root)
    if name and name not in state.clusters:
        raise SandboxError(f"the sandbox has no cluster '{name}'", f"use one of: {', '.join(state.clusters)}")
    return cluster_of(layout, state.ports, name or state.clusters[0])
