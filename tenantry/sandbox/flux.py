"""Flux's controllers as processes beside the management cluster, and the objects of its installation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from tenantry.flux.lockdown import IDENTITY, LOCKDOWN
from tenantry.sandbox import programs
from tenantry.sandbox.cluster import Cluster
from tenantry.sandbox.process import answers
from tenantry.sandbox.spec import Manifest
from tenantry.sandbox.supervisor import Part

NAMESPACE = "flux-system"
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")
RECONCILERS = ("kustomize-controller", "helm-controller")
"""The controllers that apply tenants' manifests."""
GROUPS = tuple(f"{area}.toolkit.fluxcd.io" for area in ("helm", "kustomize", "notification", "source"))
READ = ["get", "list", "watch"]
WRITE = ["create", "delete", "deletecollection", "patch", "update"]
AGGREGATE = "rbac.authorization.k8s.io/aggregate-to-"


def manifests() -> tuple[Manifest, ...]:
    """The objects, in an order in which they can be applied."""
    return (
        _object("v1", "Namespace", NAMESPACE),
        *(_object("v1", "ServiceAccount", name, namespace=NAMESPACE) for name in CONTROLLERS),
        _cluster_role("flux-edit", [_rule(list(GROUPS), ["*"], WRITE)], aggregate_to=("admin", "edit")),
        _cluster_role("flux-view", [_rule(list(GROUPS), ["*"], READ)], aggregate_to=("admin", "edit", "view")),
        _cluster_role("crd-controller", _controller_rules()),
        _binding("crd-controller", f"crd-controller-{NAMESPACE}", CONTROLLERS),
        _binding("cluster-reconciler", "cluster-admin", RECONCILERS),
    )


def user(controller: str) -> str:
    """The user name of a controller at the API server."""
    return f"system:serviceaccount:{NAMESPACE}:{controller}"


def groups() -> tuple[str, ...]:
    """The groups that every service account of the namespace is in."""
    return ("system:authenticated", "system:serviceaccounts", f"system:serviceaccounts:{NAMESPACE}")


def _controller_rules() -> list[Manifest]:
    return [
        _rule(list(GROUPS), ["*"], ["*"]),
        _rule([""], ["namespaces", "secrets", "configmaps", "serviceaccounts"], READ),
        _rule([""], ["events"], ["create", "patch"]),
        _rule([""], ["configmaps"], [*READ, "create", "update", "patch", "delete"]),
        _rule([""], ["configmaps/status"], ["get", "update", "patch"]),
        _rule(["coordination.k8s.io"], ["leases"], [*READ, "create", "update", "patch", "delete"]),
        _rule([""], ["serviceaccounts/token"], ["create"]),
        {"nonResourceURLs": ["/livez/ping"], "verbs": ["head"]},
    ]


def _rule(api_groups: list[str], resources: list[str], verbs: list[str]) -> Manifest:
    return {"apiGroups": api_groups, "resources": resources, "verbs": verbs}


def _cluster_role(name: str, rules: list[Manifest], aggregate_to: Iterable[str] = ()) -> Manifest:
    labels = {f"{AGGREGATE}{role}": "true" for role in aggregate_to}
    role = _object("rbac.authorization.k8s.io/v1", "ClusterRole", f"{name}-{NAMESPACE}", labels=labels)
    return {**role, "rules": rules}


def _binding(name: str, role: str, controllers: Iterable[str]) -> Manifest:
    binding = _object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", f"{name}-{NAMESPACE}")
    subjects = [{"kind": "ServiceAccount", "name": controller, "namespace": NAMESPACE} for controller in controllers]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    return {**binding, "roleRef": reference, "subjects": subjects}


def _object(api_version: str, kind: str, name: str, **metadata: Any) -> dict[str, Any]:
    labels = {"app.kubernetes.io/part-of": "flux", **metadata.pop("labels", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "labels": labels, **metadata}}


NOTIFICATION = "notification-controller"
"""Its first port takes the calls of webhooks."""
SHARDED = ("source-controller", "kustomize-controller", "helm-controller")
"""The controllers that each shard has."""
SELECTOR = "watch-label-selector"
KEY = "sharding.fluxcd.io/key"
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


def ports_of(shards: Iterable[str] = ()) -> tuple[str, ...]:
    """Names of the ports that the controllers need: for artifacts, events and webhooks, and one for the health of each."""
    own = ("source-storage", "notification-events", "notification-receiver", *CONTROLLERS)
    return (*own, *(_named(each, shard) for shard in shards for each in ("source-storage", *SHARDED)))


def is_of_a_shard(part: str) -> bool:
    """Whether a part is a controller of a shard."""
    return part.startswith(tuple(f"{each}-" for each in SHARDED))


def _named(what: str, shard: str) -> str:
    return f"{what}-{shard}" if shard else what


@dataclass(frozen=True, slots=True)
class Flux:
    """The controllers of one management cluster.

    shards: each has controllers of its own, beside those without a shard. flags: further ones, by controller.
    """

    cluster: Cluster
    ports: Mapping[str, int]
    shards: tuple[str, ...] = ()
    flags: Mapping[str, programs.Flags] = field(default_factory=dict)

    def parts(self) -> tuple[Part, ...]:
        """In the order in which they should start: all send events to the first and fetch from the second."""
        sets = ((self._source(each), self._kustomize(each), self._helm(each)) for each in ("", *self.shards))
        return (self._notification(), *chain.from_iterable(sets))

    def ready(self, part: str) -> bool:
        return answers(self.ports[part], "/readyz")

    def _notification(self) -> Part:
        flags = {
            "events-addr": self._address("notification-events"),
            "receiverAddr": self._address("notification-receiver"),
            # A repeated event is dropped for that long; by default one would wait minutes for a second alert.
            "rate-limit-interval": "1s",
        }
        return self._part(NOTIFICATION, "", flags, "notification-receiver", "notification-events")

    def _source(self, shard: str) -> Part:
        storage = self.cluster.home / _named("source-controller", shard) / "artifacts"
        storage.mkdir(parents=True, exist_ok=True, mode=0o700)
        port = _named("source-storage", shard)
        address = self._address(port)
        flags = {"storage-path": storage, "storage-addr": address, "storage-adv-addr": address, "concurrent": 4}
        return self._reconciler("source-controller", shard, flags, port)

    def _kustomize(self, shard: str) -> Part:
        return self._reconciler("kustomize-controller", shard, {"concurrent": 6})

    def _helm(self, shard: str) -> Part:
        return self._reconciler("helm-controller", shard, {"graceful-shutdown-timeout": "5s", "concurrent": 6})

    def _reconciler(self, controller: str, shard: str, flags: programs.Flags, *ports: str) -> Part:
        events = {"events-addr": f"http://{self._address('notification-events')}/"}
        selected = {SELECTOR: f"{KEY}={shard}" if shard else f"!{KEY}"} if self.shards else {}
        return self._part(controller, shard, {**RECONCILING, **events, **selected, **flags}, *ports)

    def _part(self, controller: str, shard: str, flags: programs.Flags, *ports: str) -> Part:
        """`ports` are the names of the ports that it listens on, except the one for its health."""
        name = _named(controller, shard)
        kubeconfig = self.cluster.kubeconfig(name, user(controller), *groups())
        environment = programs.environment(
            self.cluster.home / name, KUBECONFIG=str(kubeconfig), RUNTIME_NAMESPACE=NAMESPACE
        )
        own = {"health-addr": self._address(name), **LOCKDOWN[controller], **IDENTITY[controller], **flags}
        argv = programs.command(controller, {**COMMON, **own, **self.flags.get(controller, {})})
        return Part(self.cluster.name, name, argv, environment, tuple(self.ports[each] for each in (*ports, name)))

    def _address(self, name: str) -> str:
        return f"127.0.0.1:{self.ports[name]}"
