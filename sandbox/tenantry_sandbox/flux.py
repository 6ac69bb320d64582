"""Flux's controllers as processes beside the management cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain

import yaml

from tenantry.flux.lockdown import IDENTITY, LOCKDOWN
from tenantry_sandbox import programs
from tenantry_sandbox.cluster import Cluster
from tenantry_sandbox.process import answers
from tenantry_sandbox.programs import CONTROLLERS
from tenantry_sandbox.spec import Manifest
from tenantry_sandbox.supervisor import Part
from tenantry_sandbox.tools.store import crds

NAMESPACE = "flux-system"
NOTIFICATION = "notification-controller"
"""Its first port takes the calls of webhooks."""
SHARDED = tuple(name for name in CONTROLLERS if name != NOTIFICATION)
"""The controllers that each shard has."""
KEY = "sharding.fluxcd.io/key"


def definitions() -> list[Manifest]:
    """Flux's CRDs."""
    return [document for path in crds() for document in yaml.load_all(path.read_bytes(), yaml.CSafeLoader)]


def ports_of(shards: Iterable[str] = ()) -> tuple[str, ...]:
    """Names of the ports that the controllers need: for artifacts, events and webhooks, and one for the health of each."""
    own = ("source-storage", "notification-events", "notification-receiver", *CONTROLLERS)
    return (*own, *(_named(name, shard) for shard in shards for name in ("source-storage", *SHARDED)))


def _named(name: str, shard: str) -> str:
    return f"{name}-{shard}" if shard else name


@dataclass(frozen=True, slots=True)
class Flux:
    """The controllers of one management cluster.

    proxy: the address of the HTTP proxy through which sources are fetched. shards: each has controllers of its own, beside those
    without a shard. flags: further ones, by controller.
    """

    cluster: Cluster
    ports: Mapping[str, int]
    proxy: str
    shards: tuple[str, ...] = ()
    flags: Mapping[str, programs.Flags] = field(default_factory=dict)

    def parts(self) -> tuple[Part, ...]:
        """In the order in which they should start: all send events to the first and fetch from the second."""
        sets = ((self._source(shard), *self._appliers(shard)) for shard in ("", *self.shards))
        return (self._notification(), *chain.from_iterable(sets))

    def ready(self, part: str) -> bool:
        return answers(self.ports[part], "/readyz")

    def _notification(self) -> Part:
        events, receiver = "notification-events", "notification-receiver"
        flags = {"events-addr": self._address(events), "receiverAddr": self._address(receiver)}
        return self._part(NOTIFICATION, "", flags, (receiver, events))

    def _source(self, shard: str) -> Part:
        storage = self.cluster.home / _named("source-controller", shard) / "artifacts"
        storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        port = _named("source-storage", shard)
        address = self._address(port)
        flags = {"storage-path": storage, "storage-addr": address, "storage-adv-addr": address}
        return self._part("source-controller", shard, self._shared(shard) | flags, (port,), HTTP_PROXY=self.proxy)

    def _appliers(self, shard: str) -> tuple[Part, ...]:
        flags = self._shared(shard)
        # Of remote bases, kustomize fetches those of Git repositories with git, which reads the name in small letters.
        return (
            self._part("kustomize-controller", shard, flags, HTTP_PROXY=self.proxy, http_proxy=self.proxy),
            self._part("helm-controller", shard, flags),
        )

    def _shared(self, shard: str) -> dict[str, object]:
        """What each shard has of the reconcilers."""
        events = {"events-addr": f"http://{self._address('notification-events')}/"}
        selector = {"watch-label-selector": f"{KEY}={shard}" if shard else f"!{KEY}"} if self.shards else {}
        return {**events, **selector}

    def _part(
        self, controller: str, shard: str, flags: programs.Flags, ports: tuple[str, ...] = (), **environment: str
    ) -> Part:
        """`ports` are the names of the ports that it listens on, except the one for its health."""
        name = _named(controller, shard)
        kubeconfig = self.cluster.account_kubeconfig(name, NAMESPACE, controller)
        variables = programs.environment(
            self.cluster.home / name, KUBECONFIG=str(kubeconfig), RUNTIME_NAMESPACE=NAMESPACE, **environment
        )
        own = {"health-addr": self._address(name), **LOCKDOWN[controller], **IDENTITY[controller], **flags}
        argv = programs.command(controller, {**own, **self.flags.get(controller, {})})
        return Part(self.cluster.name, name, argv, variables, tuple(self.ports[port] for port in (*ports, name)))

    def _address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"
