"""One cluster: its users and its processes."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tenantry.sandbox import audit, programs, simulation
from tenantry.sandbox.access import Access
from tenantry.sandbox.api import Api
from tenantry.sandbox.etcd import Etcd
from tenantry.sandbox.layout import Layout, write_private
from tenantry.sandbox.pki import Authority
from tenantry.sandbox.supervisor import Part

SERVICES = "10.96.0.0/16"
HOSTS = ("127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1")
ISSUER = "https://kubernetes.default.svc"
MASTERS = "system:masters"
ADMINISTRATOR = "kubernetes-admin"

CONTROLLERS = (
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpointslice-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "service-cidr-controller",
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
    "validatingadmissionpolicy-status-controller",
)
"""The controllers that ordinary workloads, quotas, roles and deletions need, without those for clouds, volumes and real nodes."""


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

    def access(self, name: str, user: str, *groups: str) -> Access:
        """Credentials of a user; `name` is the name of their files."""
        pair = self.authority.client(name, user, groups)
        return Access(self.name, self.port, self.authority.pair.certificate, user, pair)

    @cached_property
    def administrator(self) -> Access:
        return self.access("admin", ADMINISTRATOR, MASTERS)

    @cached_property
    def api(self) -> Api:
        return Api(self.administrator)

    def publish_kubeconfig(self) -> None:
        """Write the kubeconfig that the sandbox's user works with."""
        write_private(self.layout.kubeconfig(self.name), self.administrator.kubeconfig().encode())

    def kubeconfig(self, name: str, user: str, *groups: str) -> Path:
        """Write the kubeconfig of one of the cluster's own parts; returns its path."""
        path = self.home / name / "kubeconfig"
        write_private(path, self.access(name, user, *groups).kubeconfig().encode())
        return path

    def apiserver(self) -> Part:
        server = self.authority.server("apiserver", HOSTS)
        tokens = self.authority.signing_keys()
        flags = {
            "bind-address": "127.0.0.1",
            "secure-port": self.port,
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "etcd-servers": self.etcd.url,
            "etcd-prefix": f"/registry/{self.name}",
            "etcd-cafile": self.etcd.authority.pair.certificate,
            "etcd-certfile": self.etcd.client.certificate,
            "etcd-keyfile": self.etcd.client.key,
            "authorization-mode": "RBAC",
            "anonymous-auth": "false",
            # Without the controller for node lifecycle nothing would remove the plugin's taint from a node.
            "disable-admission-plugins": "TaintNodesByCondition",
            "allow-privileged": "true",
            "service-cluster-ip-range": SERVICES,
            "client-ca-file": self.authority.pair.certificate,
            "tls-cert-file": server.certificate,
            "tls-private-key-file": server.key,
            "service-account-issuer": ISSUER,
            "service-account-key-file": tokens.certificate,
            "service-account-signing-key-file": tokens.key,
            "profiling": "false",
            **audit.flags(self.home, self.layout.log(self.name, "audit")),
        }
        return self._controlplane("kube-apiserver", flags, (self.port,))

    def controller_manager(self) -> Part:
        part = "kube-controller-manager"
        flags = {
            "kubeconfig": self.kubeconfig(part, "system:kube-controller-manager"),
            "controllers": ",".join(CONTROLLERS),
            "use-service-account-credentials": "true",
            "service-account-private-key-file": self.authority.signing_keys().key,
            "root-ca-file": self.authority.pair.certificate,
            "secure-port": 0,
            "leader-elect": "false",
            "kube-api-qps": 200,
            "kube-api-burst": 400,
        }
        return self._controlplane(part, flags)

    def scheduler(self) -> Part:
        part = "kube-scheduler"
        kubeconfig = self.kubeconfig(part, "system:kube-scheduler")
        flags = {"config": simulation.write_scheduler(self.home / part, kubeconfig), "secure-port": 0}
        return self._controlplane(part, flags)

    def nodes(self) -> Part:
        """Simulates the kubelets: it marks nodes and pods Ready, finishes Jobs, and removes deleted pods."""
        flags = {
            "kubeconfig": self.kubeconfig("kwok", "kwok", MASTERS),
            "config": simulation.write_stages(self.home / "kwok"),
            "manage-all-nodes": "true",
            "node-ip": "127.0.0.1",
            "server-address": f"127.0.0.1:{self.nodes_port}",
        }
        environment = programs.environment(self.home / "kwok")
        # In rare cases it ends while its API server is starting.
        return Part(self.name, "kwok", programs.command("kwok", flags), environment, (self.nodes_port,), restarts=2)

    def _controlplane(self, part: str, flags: programs.Flags, ports: tuple[int, ...] = ()) -> Part:
        environment = programs.environment(self.home / part)
        return Part(self.name, part, programs.command(part, flags), environment, ports)
