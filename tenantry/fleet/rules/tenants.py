"""Rules about tenants' settings and about the clusters that selectors match."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import matches
from tenantry.grants.grants import is_filled
from tenantry.kube.names import OWNED_LABELS, PLATFORM
from tenantry.messages.errors import Finding

_RESERVED = {
    "default": "its service account would be the one of all pods that name none",
    "defaults": "commands call the settings of all tenants so",
    PLATFORM: "add-ons are called 'platform/<add-on>', as apps of such a tenant would be",
    "tenantry": "labels, bindings and Secrets of Tenantry itself are called so",
}
_BY_SETTING = {"pod-security.kubernetes.io/": "set 'podSecurity:' instead"}


def labels_of_tenants_leave_the_fleets_alone(fleet: Fleet) -> Iterator[Finding]:
    for at, given in (*walk.settings(fleet), *walk.metadata_of_objects(fleet), *walk.addon_namespaces(fleet)):
        for label in given.labels or {}:
            if label.startswith(OWNED_LABELS):
                yield Finding(
                    (*at, "labels", label),
                    "owned-label",
                    f"label '{label}' is reserved for Tenantry",
                    fix=next((fix for prefix, fix in _BY_SETTING.items() if label.startswith(prefix)), "remove it"),
                    at_key=True,
                )


def new_tenants_are_not_named_like_something_else(fleet: Fleet) -> Iterator[Finding]:
    """The main file may: its author knows, and a tenant that is there cannot be renamed without removing it."""
    for tenant in fleet.document.tenants:
        if tenant in _RESERVED and is_filled(fleet, ("tenants", tenant)):
            yield Finding(
                ("tenants", tenant),
                "reserved-name",
                f"a new tenant cannot be called '{tenant}': {_RESERVED[tenant]}",
                fix="rename the tenant",
                at_key=True,
            )


def selectors_name_declared_clusters(fleet: Fleet) -> Iterator[Finding]:
    known = fleet.names("clusters")
    for at, who, selector in walk.selectors(fleet):
        for key, listed in (("names", selector.names or []), ("exclude", selector.exclude)):
            for index, name in enumerate(listed):
                if name not in known:
                    yield walk.unknown_cluster(fleet, (*at, key, index), name, f"{who} targets cluster '{name}'")


def selectors_take_at_least_one_cluster(fleet: Fleet) -> Iterator[Finding]:
    for at, who, selector in walk.selectors(fleet):
        known = all(name in fleet.clusters for name in selector.names or [])
        if known and not any(matches(selector, name, cluster) for name, cluster in fleet.clusters.items()):
            labels = sorted(
                {f"{key}={value}" for cluster in fleet.clusters.values() for key, value in cluster.labels.items()}
            )
            notes = (f"declared labels: {', '.join(labels)}",) if selector.labels and labels else ()
            yield Finding(
                at,
                "selects-nothing",
                f"{who} selects no cluster",
                notes,
                fix="correct the selector, or remove the entry",
            )


def apps_say_where_they_run(fleet: Fleet) -> Iterator[Finding]:
    for tenant, declared_tenant in fleet.document.tenants.items():
        fallback = declared_tenant.clusters or fleet.document.defaults.clusters
        for app, declared_app in declared_tenant.apps.items():
            if not (declared_app.clusters or fallback):
                at = ("tenants", tenant, "apps", app)
                where = "for the app, for the tenant or under 'defaults:'"
                fix = f"set 'clusters:' {where}; 'clusters: {{all: true}}' means every cluster"
                yield Finding(
                    at,
                    "no-clusters",
                    f"app '{app}' of tenant '{tenant}' does not say on which clusters it runs",
                    fix=fix,
                    at_key=True,
                )
