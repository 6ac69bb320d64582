"""Flux's controllers as processes beside the management cluster.

Each acts under the service account it would have inside the cluster, not as an administrator, and all of them with the
flags that lock tenants in: what works here has the rights it would have on a real hub.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sandbox import programs, rbac
from sandbox.cluster import Cluster
from sandbox.probe import answers
from sandbox.supervisor import Part

PORTS = ("source-storage", "notification-events", "notification-receiver", *rbac.CONTROLLERS)
"""Names of the ports that the controllers need: to serve artifacts, to take events and webhooks, and one each for their health."""

COMMON = {
    "metrics-addr": "0",
    "log-encoding": "console",
    # People watch a sandbox: a repaired precondition has to show within seconds, and intervals have to mean what they say.
    "min-retry-delay": "500ms",
    "max-retry-delay": "5s",
    "kube-api-qps": "200",
    "kube-api-burst": "400",
}
RECONCILING = {"requeue-dependency": "1s", "interval-jitter-percentage": "0"}
"""What notification-controller, which reconciles nothing at intervals, does not know."""
OWN_NAMESPACE = {"no-cross-namespace-refs": "true"}
LOCKDOWN = {**OWN_NAMESPACE, "default-service-account": "default"}


@dataclass(frozen=True, slots=True)
class Flux:
    """The controllers of one management cluster."""

    cluster: Cluster
    ports: Mapping[str, int]

    def parts(self) -> tuple[Part, ...]:
        """In the order in which they should start: all tell their events to the first, and fetch from the second."""
        return (self._notification(), self._source(), self._kustomize(), self._helm())

    def ready(self, controller: str) -> bool:
        return answers(self.ports[controller], "/readyz")

    def _notification(self) -> Part:
        flags = {
            **OWN_NAMESPACE,
            "events-addr": self._address("notification-events"),
            "receiverAddr": self._address("notification-receiver"),
            # An event that comes again is dropped for that long: no one should wait minutes for a second alert.
            "rate-limit-interval": "1s",
        }
        return self._part("notification-controller", flags, "notification-events", "notification-receiver")

    def _source(self) -> Part:
        storage = self.cluster.home / "source-controller" / "artifacts"
        storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        address = self._address("source-storage")
        flags = {"storage-path": storage, "storage-addr": address, "storage-adv-addr": address, "concurrent": 4}
        return self._reconciler("source-controller", flags, "source-storage")

    def _kustomize(self) -> Part:
        return self._reconciler("kustomize-controller", {**LOCKDOWN, "no-remote-bases": "true", "concurrent": 6})

    def _helm(self) -> Part:
        return self._reconciler("helm-controller", {**LOCKDOWN, "graceful-shutdown-timeout": "5s", "concurrent": 6})

    def _reconciler(self, controller: str, flags: programs.Flags, *ports: str) -> Part:
        events = {"events-addr": f"http://{self._address('notification-events')}/"}
        return self._part(controller, {**RECONCILING, **events, **flags}, *ports)

    def _part(self, controller: str, flags: programs.Flags, *ports: str) -> Part:
        """`ports` are the names of those it listens on beside the one that tells its health."""
        kubeconfig = self.cluster.kubeconfig(controller, rbac.user(controller), *rbac.groups())
        environment = programs.environment(
            self.cluster.home / controller, KUBECONFIG=str(kubeconfig), RUNTIME_NAMESPACE=rbac.NAMESPACE
        )
        argv = programs.command(controller, {**COMMON, "health-addr": self._address(controller), **flags})
        return Part(
            self.cluster.name, controller, argv, environment, tuple(self.ports[name] for name in (*ports, controller))
        )

    def _address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"
