"""One cluster, its users, its processes and its audit log, and the etcd that all API servers share."""

import json
import ssl
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from tenantry.sandbox import programs
from tenantry.sandbox.api import Access, Api
from tenantry.sandbox.layout import Layout, write_private
from tenantry.sandbox.pki import Authority, KeyPair
from tenantry.sandbox.process import answers
from tenantry.sandbox.supervisor import SHARED, Part

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        # Heartbeats would drown everything else.
        {
            "level": "None",
            "resources": [{"group": "coordination.k8s.io"}, {"group": "events.k8s.io"}, {"resources": ["events"]}],
        },
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "Metadata"},
    ],
}


def audit_flags(home: Path, log: Path) -> dict[str, object]:
    """The API server's flags: one JSON object per request and line; metadata only, so no Secret's content is in it."""
    policy = home / "audit-policy.json"
    write_private(policy, json.dumps(POLICY).encode())
    return {
        "audit-policy-file": policy,
        "audit-log-path": log,
        "audit-log-maxsize": 100,
        "audit-log-maxbackup": 1,
    }


CLAIM_STAGE = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "claim-bind"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "PersistentVolumeClaim"},
        "selector": {"matchExpressions": [{"key": ".status.phase", "operator": "In", "values": ["Pending"]}]},
        "next": {
            "statusTemplate": "phase: Bound\n"
            "accessModes: {{ YAML .spec.accessModes 1 }}\n"
            "capacity: {{ YAML .spec.resources.requests 1 }}\n"
        },
    },
}
VOLUME_PLUGINS = ("NodeVolumeLimits", "VolumeBinding", "VolumeZone")


def write_stages(home: Path) -> Path:
    """Write kwok's configuration; the stages it does not name are kwok's own."""
    return _write(home / "stages.yaml", CLAIM_STAGE)


def write_scheduler(home: Path, kubeconfig: Path) -> Path:
    """Write the scheduler's configuration."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 200, "burst": 400},
        "leaderElection": {"leaderElect": False},
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"multiPoint": {"disabled": [{"name": name} for name in VOLUME_PLUGINS]}},
            }
        ],
    }
    return _write(home / "config.yaml", document)


def _write(path: Path, document: dict[str, Any]) -> Path:
    write_private(path, yaml.safe_dump(document, sort_keys=False).encode())
    return path


CLIENT_PORT = "etcd"
PEER_PORT = "etcd-peer"
_ETCD_HOSTS = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class Etcd:
    """Where etcd listens, and with which certificates: it holds every Secret, so clients have to prove who they are."""

    layout: Layout
    port: int
    peer_port: int

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
        ca, server = self.authority.pair.certificate, self.authority.server("server", _ETCD_HOSTS)
        peer = f"https://127.0.0.1:{self.peer_port}"
        flags = {
            "name": "sandbox",
            "data-dir": self.layout.etcd / "data",
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"sandbox={peer}",
            "client-cert-auth": "true",
            "trusted-ca-file": ca,
            "cert-file": server.certificate,
            "key-file": server.key,
            "peer-client-cert-auth": "true",
            "peer-trusted-ca-file": ca,
            "peer-cert-file": server.certificate,
            "peer-key-file": server.key,
            # Nothing here has to survive a power failure, and writing to disk is the slowest step of etcd.
            "unsafe-no-fsync": "true",
            "log-level": "warn",
        }
        argv = programs.command("etcd", flags)
        return Part(SHARED, "etcd", argv, programs.environment(self.layout.etcd), (self.port, self.peer_port))

    def ready(self) -> bool:
        context = ssl.create_default_context(cafile=self.authority.pair.certificate)
        context.load_cert_chain(self.client.certificate, self.client.key)
        return answers(self.port, "/health", context)


SERVICES = "10.96.0.0/16"
_HOSTS = ("127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.96.0.1")
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
        server = self.authority.server("apiserver", _HOSTS)
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
            **audit_flags(self.home, self.layout.log(self.name, "audit")),
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
        flags = {"config": write_scheduler(self.home / part, kubeconfig), "secure-port": 0}
        return self._controlplane(part, flags)

    def nodes(self) -> Part:
        """Simulates the kubelets: it marks nodes and pods Ready, finishes Jobs, and removes deleted pods."""
        flags = {
            "kubeconfig": self.kubeconfig("kwok", "kwok", MASTERS),
            "config": write_stages(self.home / "kwok"),
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
