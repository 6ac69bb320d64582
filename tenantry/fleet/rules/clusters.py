"""Rules about clusters."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import cycles
from tenantry.kube.names import is_reserved_namespace
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import undeclared
from tenantry.messages.text import listed
from tenantry.model import ConfigMap


def environments_name_declared_clusters(fleet: Fleet) -> Iterator[Problem]:
    for name in fleet.environments:
        hub = fleet.own(name).get("management")
        if hub and hub not in fleet.clusters:
            at = ("environments", name, "management")
            yield walk.unknown_cluster(fleet, at, hub, f"environment '{name}' is managed by '{hub}'")


def environments_follow_declared_ones(fleet: Fleet) -> Iterator[Problem]:
    earlier = {name: environment.before for name, environment in fleet.environments.items()}
    for name, before in earlier.items():
        if before is not None and fleet.is_frame(before):
            yield _frame(fleet, _after_at(fleet, name), f"environment '{name}' comes after '{before}'", before)
        elif before is not None and before not in fleet.environments:
            message, others = f"environment '{name}' comes after '{before}'", fleet.environments.keys() - {name}
            fix = "correct the name, or remove it"
            yield undeclared(_after_at(fleet, name), "environment", before, message, others, fix)
    for circle in cycles(earlier):
        yield Problem(
            _after_at(fleet, circle[0]),
            "environment-cycle",
            f"environments come after each other: {' -> '.join(circle)}",
            fix="remove one 'after:'",
        )


def _frame(fleet: Fleet, at: Path, what: str, name: str) -> Problem:
    message = f"{what}, which is a frame: it has no 'management:'"
    notes = (f"declared: {fleet.source.line_of(('environments', name))}",)
    return Problem(
        at, "names-a-frame", message, notes, fix=f"name one that extends it: {listed(fleet.extending(name))}"
    )


def _after_at(fleet: Fleet, environment: str) -> Path:
    """Where the name of the environment before stands."""
    at = ("environments", environment, "after")
    return (*at, "environment") if fleet.raw(*at) else at


def clusters_name_declared_environments(fleet: Fleet) -> Iterator[Problem]:
    for name, cluster in fleet.clusters.items():
        for index, environment in enumerate(cluster.environments):
            at = ("clusters", name, "environments", index)
            if fleet.is_frame(environment):
                yield _frame(fleet, at, f"cluster '{name}' belongs to environment '{environment}'", environment)
            elif environment not in fleet.environments:
                message = f"cluster '{name}' belongs to environment '{environment}'"
                fix = (
                    f"declare it under 'environments:' ({fleet.source.line_of(('environments',))}), or correct the name"
                )
                yield undeclared(at, "environment", environment, message, fleet.environments, fix)


def remote_clusters_have_a_kubeconfig(fleet: Fleet) -> Iterator[Problem]:
    for name, cluster in fleet.clusters.items():
        managers = _hubs_of(fleet, name)
        remote_for = next((manager for manager in managers if manager != name and manager in fleet.clusters), None)
        if remote_for and cluster.kubeconfig is None and fleet.clusters[remote_for].kubeconfig:
            yield from _management_is_remote(fleet, name, remote_for)
        elif remote_for and cluster.kubeconfig is None:
            yield Problem(
                ("clusters", name),
                "no-kubeconfig",
                f"cluster '{name}' is managed by '{remote_for}', but its kubeconfig there is not declared",
                fix=f"write 'kubeconfig: {{capi: {{cluster: {name}, namespace: ...}}}}', or another kind: kamaji, vcluster, secret,"
                " configMap",
                at_key=True,
            )


def _management_is_remote(fleet: Fleet, cluster: str, management: str) -> Iterator[Problem]:
    """Of two clusters the one with a kubeconfig is the remote, and the environment names the wrong one."""
    for name, environment in fleet.environments.items():
        if environment.management == management and name in fleet.clusters[cluster].environments:
            yield Problem(
                fleet.declared_at(name, "management"),
                "no-kubeconfig",
                f"environment '{name}' is managed by '{management}', which has a kubeconfig; cluster '{cluster}' has none",
                fix=f"write 'management: {cluster}', or give '{cluster}' a 'kubeconfig:'",
            )


def _hubs_of(fleet: Fleet, cluster: str) -> Iterator[str]:
    """The management clusters of a cluster, one for each of its environments."""
    known = (environment for environment in fleet.clusters[cluster].environments if environment in fleet.environments)
    yield from (fleet.environments[name].management for name in known)


def kubeconfigs_are_not_shared(fleet: Fleet) -> Iterator[Problem]:
    first: dict[tuple[str, str, str, str], str] = {}
    for name, cluster in fleet.clusters.items():
        if cluster.kubeconfig is None:
            continue
        at = cluster.kubeconfig.resolved
        kind = "workload identity ConfigMap" if isinstance(at, ConfigMap) else "kubeconfig Secret"
        for manager in dict.fromkeys(_hubs_of(fleet, name)):
            first_cluster = first.setdefault((manager, kind, at.namespace, at.name), name)
            if first_cluster != name:
                place = ("clusters", name, "kubeconfig")
                is_shared = fleet.source.origin(place) != place
                what = "write '{cluster}' into the kubeconfig of the template" if is_shared else "correct one of them"
                yield Problem(
                    place,
                    "shared-kubeconfig",
                    f"clusters '{first_cluster}' and '{name}' name the same {kind} '{at.namespace}/{at.name}'",
                    fix=f"{what}: the same kubeconfig is the same cluster",
                )


def kubeconfigs_lie_apart(fleet: Fleet) -> Iterator[Problem]:
    """A stack makes an account beside a kubeconfig, and on the remote Flux acts as an account of this namespace.

    Of the platform's namespace no stack owns the accounts, of an add-on's own bootstrap makes one. In a namespace of
    Kubernetes or Flux, a tenant could have the name of one of the cluster's own accounts.
    """
    platform = fleet.document.platform
    homes = {addon.namespace: name for name, addon in platform.addons.items() if addon.namespace}
    for name, cluster in fleet.clusters.items():
        if not cluster.kubeconfig:
            continue
        at, namespace = ("clusters", name, "kubeconfig"), cluster.kubeconfig.resolved.namespace
        message, fix = f"the kubeconfig of cluster '{name}' is in ", "keep it in a namespace of its own"
        if namespace == platform.namespace:
            message += f"the platform's namespace '{namespace}'"
            yield Problem(at, "kubeconfig-in-platform", message, fix=f"{fix}, or set another 'platform.namespace'")
        elif addon := homes.get(namespace):
            place = ("platform", "addons", addon, "namespace")
            message += f"the namespace of add-on '{addon}'"
            yield Problem(place, "kubeconfig-in-platform", message, fix=f"{fix}, or give the add-on another one")
        elif is_reserved_namespace(namespace):
            message += f"namespace '{namespace}', which belongs to Kubernetes or Flux"
            note = f"on the cluster Flux would act as accounts of its namespace '{namespace}', such as its controllers'"
            yield Problem(at, "kubeconfig-in-reserved", message, (note,), fix=fix)


_LEAVES = ("removing", "offboarding", "decommissioned")


def management_clusters_do_not_leave(fleet: Fleet) -> Iterator[Problem]:
    """Nothing would remove the objects there, because Flux itself runs on that cluster."""
    for name, cluster in fleet.clusters.items():
        managed = [key for key, environment in fleet.environments.items() if name == environment.management]
        if managed and cluster.state in _LEAVES:
            yield Problem(
                ("clusters", name, "state"),
                "management-cluster",
                f"cluster '{name}' manages environment '{managed[0]}', so it cannot have"
                f" 'state: {cluster.state}' while that environment exists",
                fix=f"run `tenantry destroy --environment {managed[0]}` first, or set another 'management'",
            )
