"""The etcd that all API servers share; each has its own key prefix."""

import ssl
from dataclasses import dataclass

from tenantry.sandbox import programs
from tenantry.sandbox.layout import Layout
from tenantry.sandbox.pki import Authority, KeyPair
from tenantry.sandbox.probe import answers
from tenantry.sandbox.supervisor import SHARED, Part

CLIENT_PORT = "etcd"
PEER_PORT = "etcd-peer"
HOSTS = ("127.0.0.1", "localhost")


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
        ca, server = self.authority.pair.certificate, self.authority.server("server", HOSTS)
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
