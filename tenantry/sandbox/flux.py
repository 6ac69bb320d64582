"""Flux's controllers as processes beside the management cluster.

Each acts as the service account that it would have inside the cluster, not as an administrator, and has the flags of the
multi-tenancy lockdown: a fleet that works here also has the rights it needs on a real management cluster.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from tenantry.flux.lockdown import IDENTITY, LOCKDOWN
from tenantry.sandbox import programs, rbac
from tenantry.sandbox.cluster import Cluster
from tenantry.sandbox.probe import answers
from tenantry.sandbox.supervisor import Part

PORTS = ("source-storage", "notification-events", "notification-receiver", *rbac.CONTROLLERS)
"""Names of the ports that the controllers need: for artifacts, events and webhooks, and one for the health of each."""

NOTIFICATION = "notification-controller"
"""Its first port takes the calls of webhooks."""

COMMON = {
    "metrics-addr": "0",
    "log-encoding": "console",
    # The delay doubles from retry to retry, so what was missing for seconds is noticed within seconds, and what stays broken costs
    # little: each retry of a source makes the API server write its status several times.
    "min-retry-delay": "500ms",
    "max-retry-delay": "30s",
    "kube-api-qps": "200",
    "kube-api-burst": "400",
}
RECONCILING = {"requeue-dependency": "1s", "interval-jitter-percentage": "0"}
"""For all but notification-controller, which does not know them; intervals have no jitter, because people watch a sandbox."""


@dataclass(frozen=True, slots=True)
class Flux:
    """The controllers of one management cluster."""

    cluster: Cluster
    ports: Mapping[str, int]

    def parts(self) -> tuple[Part, ...]:
        """In the order in which they should start: all send events to the first and fetch from the second."""
        return (self._notification(), self._source(), self._kustomize(), self._helm())

    def ready(self, controller: str) -> bool:
        return answers(self.ports[controller], "/readyz")

    def _notification(self) -> Part:
        flags = {
            "events-addr": self._address("notification-events"),
            "receiverAddr": self._address("notification-receiver"),
            # A repeated event is dropped for that long; by default one would wait minutes for a second alert.
            "rate-limit-interval": "1s",
        }
        return self._part(NOTIFICATION, flags, "notification-receiver", "notification-events")

    def _source(self) -> Part:
        storage = self.cluster.home / "source-controller" / "artifacts"
        storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        address = self._address("source-storage")
        flags = {"storage-path": storage, "storage-addr": address, "storage-adv-addr": address, "concurrent": 4}
        return self._reconciler("source-controller", flags, "source-storage")

    def _kustomize(self) -> Part:
        return self._reconciler("kustomize-controller", {"concurrent": 6})

    def _helm(self) -> Part:
        return self._reconciler("helm-controller", {"graceful-shutdown-timeout": "5s", "concurrent": 6})

    def _reconciler(self, controller: str, flags: programs.Flags, *ports: str) -> Part:
        events = {"events-addr": f"http://{self._address('notification-events')}/"}
        return self._part(controller, {**RECONCILING, **events, **flags}, *ports)

    def _part(self, controller: str, flags: programs.Flags, *ports: str) -> Part:
        """`ports` are the names of the ports that it listens on, except the one for its health."""
        kubeconfig = self.cluster.kubeconfig(controller, rbac.user(controller), *rbac.groups())
        environment = programs.environment(
            self.cluster.home / controller, KUBECONFIG=str(kubeconfig), RUNTIME_NAMESPACE=rbac.NAMESPACE
        )
        own = {"health-addr": self._address(controller), **LOCKDOWN[controller], **IDENTITY[controller], **flags}
        argv = programs.command(controller, {**COMMON, **own})
        return Part(
            self.cluster.name, controller, argv, environment, tuple(self.ports[name] for name in (*ports, controller))
        )

    def _address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"
