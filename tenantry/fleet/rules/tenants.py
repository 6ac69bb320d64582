"""Rules about tenants' settings: names, labels, clusters, roles, rights outside of their namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import matches
from tenantry.kube.names import OWNED_ANNOTATIONS, OWNED_LABELS, PLATFORM
from tenantry.messages.data import value_at
from tenantry.messages.errors import Problem
from tenantry.messages.placeholders import all_names_in
from tenantry.messages.problems import doubtful
from tenantry.model.tenancy import OWN_ROLES, PolicyRule
from tenantry.source.parsed_file import override_of

_BY_SETTING = {"pod-security.kubernetes.io/": "set 'podSecurity:' instead"}


def metadata_of_tenants_leaves_the_fleets_alone(fleet: Fleet) -> Iterator[Problem]:
    every = (*walk.settings(fleet), *walk.metadata_of_objects(fleet), *walk.addon_namespaces(fleet))
    for at, given in every:
        for label in given.labels or {}:
            if label.startswith(OWNED_LABELS):
                fix = next((fix for prefix, fix in _BY_SETTING.items() if label.startswith(prefix)), "remove it")
                message = f"label '{label}' is reserved for Tenantry"
                yield Problem((*at, "labels", label), "owned-label", message, fix=fix, at_key=True)
    accounts = (
        ((*at, "serviceAccount"), level.serviceAccount) for at, level in walk.levels(fleet) if level.serviceAccount
    )
    for at, annotated in (*every, *accounts):
        for annotation in annotated.annotations or {}:
            if annotation.startswith(OWNED_ANNOTATIONS):
                message = f"annotation '{annotation}' is reserved for Tenantry and its tools"
                place = (*at, "annotations", annotation)
                yield Problem(place, "owned-annotation", message, fix="remove it", at_key=True)


def no_tenant_is_named_like_the_platform(fleet: Fleet) -> Iterator[Problem]:
    if PLATFORM in fleet.document.tenants:
        why = "add-ons are called 'platform/<add-on>', as apps of such a tenant would be"
        message = f"a tenant cannot be called '{PLATFORM}': {why}"
        yield Problem(("tenants", PLATFORM), "reserved-name", message, fix="rename the tenant", at_key=True)


def selectors_name_declared_clusters(fleet: Fleet) -> Iterator[Problem]:
    known = fleet.names("clusters")
    for at, owner, selector in walk.selectors(fleet):
        for path, name in walk.names_of_selector(selector):
            if name not in known:
                yield walk.unknown_cluster(fleet, (*at, *path), name, f"{owner} targets cluster '{name}'")


def placeholders_of_what_selectors_leave_out_are_filled_in(fleet: Fleet) -> Iterator[Problem]:
    """Only tenants' own selectors are filled in. A placeholder that stays would leave nothing out."""
    for at, owner, selector in walk.selectors(fleet):
        is_own = at[0] != "platform" and not override_of(at)
        if not is_own and (name := next(all_names_in(selector.excluded.labels), None)):
            yield Problem(
                (*at, "exclude", "labels"),
                "unknown-placeholder",
                f"{owner} leaves out clusters with '{{{name}}}', and no placeholder is filled in here",
                fix="write the label's value",
            )


def selectors_take_at_least_one_cluster(fleet: Fleet) -> Iterator[Problem]:
    for at, owner, selector in walk.selectors(fleet):
        if override_of(at):
            continue  # it is a warning
        if at[0] not in ("tenants", "platform") and any(all_names_in(selector.labels)):
            continue  # each tenant fills it in
        known = all(name in fleet.clusters for name in selector.names or [])
        if known and not any(matches(selector, name, cluster) for name, cluster in fleet.clusters.items()):
            labels = sorted(
                {f"{key}={value}" for cluster in fleet.clusters.values() for key, value in cluster.labels.items()}
            )
            notes = (f"declared labels: {', '.join(labels)}",) if selector.labels and labels else ()
            if any(all_names_in(value_at(fleet.source.unmerged, fleet.source.origin(at)))):
                wanted = ", ".join(f"{key}={value}" for key, value in (selector.labels or {}).items())
                notes = (f"it asks for {wanted}", *notes)
            yield Problem(
                at,
                "selects-nothing",
                f"{owner} selects no cluster",
                notes,
                fix=f"write 'labels: {{{labels[0].replace('=', ': ')}}}', or remove the entry"
                if selector.labels and len(labels) == 1
                else "correct the selector, or remove the entry",
            )


def apps_select_clusters(fleet: Fleet) -> Iterator[Problem]:
    if any(path[:1] == ("defaults",) for path in fleet.left_out):
        return  # a misspelt selector may be one of them
    for tenant, declared_tenant in fleet.document.tenants.items():
        for app, declared_app in declared_tenant.apps.items():
            if not (declared_app.clusters or declared_tenant.clusters):
                at = ("tenants", tenant, "apps", app)
                where = "for the app, for the tenant or under 'defaults:'"
                fix = f"set 'clusters:' {where}; 'clusters: {{all: true}}' means every cluster"
                yield Problem(
                    at,
                    "no-clusters",
                    f"app '{app}' of tenant '{tenant}' does not say on which clusters it runs",
                    fix=fix,
                    at_key=True,
                )


_READ = frozenset({"get", "list", "watch"})
_CHANGE = _READ | {"create", "delete", "deletecollection", "patch", "update"}
_HARMLESS = {
    ("", "persistentvolumes"): _CHANGE,
    ("", "nodes"): _READ,
    ("", "namespaces"): _READ,
    ("networking.k8s.io", "ingressclasses"): _CHANGE,
    ("scheduling.k8s.io", "priorityclasses"): _CHANGE,
    ("node.k8s.io", "runtimeclasses"): _READ,
    ("storage.k8s.io", "csidrivers"): _READ,
    ("storage.k8s.io", "csinodes"): _READ,
    ("storage.k8s.io", "storageclasses"): _CHANGE,
    ("storage.k8s.io", "volumeattachments"): _READ,
}
"""Cluster-scoped resources that lead into nobody's namespace, and the verbs that may be given. Any other resource could be
namespaced, and so that of all tenants, or a way to more rights."""


def rights_on_clusters_reach_no_other_tenant(fleet: Fleet) -> Iterator[Problem]:
    """More than that takes the word that whoever reviews a tenant's entry sees."""
    for at, frame in walk.levels(fleet):
        for key, rights in frame.clusterRoles.items() if not frame.clusterAdmin else ():
            place = (*at, "clusterRoles", key)
            for index, rule in enumerate(rights.rules or ()):
                if what := _too_far(rule):
                    yield _finding((*place, "rules", index), what)
            if rights.role and (rights.role in OWN_ROLES or rights.role.startswith("system:")):
                yield _finding((*place, "role"), f"role '{rights.role}'")


def _finding(at: tuple[str | int, ...], what: str) -> Problem:
    return Problem(
        at,
        "cluster-rights",
        f"{what} on the whole cluster reaches what belongs to others",
        fix="name cluster-scoped resources such as persistentvolumes, or set 'clusterAdmin: true' for the tenant",
    )


def _too_far(rule: PolicyRule) -> str:
    """The part of a rule that reaches further than it may, in words; "" if none does."""
    for group in rule.apiGroups or ("",):
        for resource in rule.resources:
            allowed = _HARMLESS.get((group, resource))
            if allowed is None:
                return f"'{resource}'" + (f" of '{group}'" if group else "")
            if further := next((verb for verb in rule.verbs if verb not in allowed), None):
                return f"'{further}' of '{resource}'"
    return ""


def states_of_tenants_are_placed(fleet: Fleet) -> Iterator[Problem]:
    """A tenant without apps is placed to be off-boarded, on the clusters of its own selector, and for nothing else."""
    for name, tenant in fleet.document.tenants.items():
        at = ("tenants", name, "state")
        message = f"'state: {tenant.state}' of tenant '{name}' has no effect: it has no apps"
        if tenant.state == "removing" and not tenant.apps:
            fix = "remove the tenant: namespaces that it had stay with their data"
            yield doubtful(at, "no-effect", message, fix=fix)
        elif tenant.state == "offboarding" and not (tenant.apps or tenant.clusters):
            fix = "write on which 'clusters' its namespaces go with their data"
            yield doubtful(at, "no-effect", f"{message} and no 'clusters'", fix=fix)
