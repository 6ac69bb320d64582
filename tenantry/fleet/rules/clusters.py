"""Rules about environments and clusters: who is where, in which wave, and behind which kubeconfig."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.lineages import AFTER, Lineages
from tenantry.fleet.names import format_part
from tenantry.fleet.placement import choice_of, granted_selector, matches, placements_of, selector_of
from tenantry.grants.grants import grants_of, is_filled
from tenantry.kube.names import is_reserved_namespace
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.placeholders import all_names_in
from tenantry.messages.text import counted, listed
from tenantry.model import ConfigMap, Selector
from tenantry.model.selector import format_labels
from tenantry.rollout.waves import drawn
from tenantry.source.parsed_file import override_of


def environments_follow_in_no_circle(fleet: Fleet) -> Iterator[Problem]:
    """What no environment is called, another rule reports."""
    declared = {name: {"after": environment.before} for name, environment in fleet.environments.items()}
    yield from (finding for finding in Lineages(AFTER, declared).findings if finding.code != "unknown-environment")


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


def apps_are_placed(fleet: Fleet) -> Iterator[Problem]:
    """Selectors that take no cluster at all have a rule of their own, and so have names of clusters that are not granted."""
    reported: set[Path] = set()
    for at, _ in walk.apps(fleet):
        if any(placements_of(fleet, at)):
            continue
        selector, where = selector_of(fleet, at)
        taken = [name for name, cluster in fleet.clusters.items() if selector and matches(selector, name, cluster)]
        by_name = selector and selector.names is not None and is_filled(fleet, where)
        # At the nearest list or selector; else at the tenant, whose list leaves out all of its apps.
        written = ((*at, "environments"), (*at, "clusters"), (*at[:2], "environments"))
        place = next((path for path in written if path[-1] in fleet.raw(*path[:-1])), at[:2])
        # A team finds it in its own file.
        place = at if is_filled(fleet, at) and not is_filled(fleet, place) else place
        if not taken or by_name or place in reported or _is_reported(fleet, at):
            continue
        reported.add(place)
        environments = dict.fromkeys(environment for name in taken for environment in fleet.clusters[name].environments)
        decisions = [decision for name in environments for decision in choice_of(fleet, name, at).decisions]
        reasons = dict.fromkeys(
            f"{decision.reason} ({decision.origin.location})" for decision in decisions if decision.cluster in taken
        )
        granted = granted_selector(fleet, at[1])[0] if is_filled(fleet, at) else None
        note = "'all' does not include management clusters: name them, or select them by labels"
        yield Problem(
            place,
            "selects-nothing",
            f"{format_part(at)} is on none of the clusters that it selects",
            (f"it selects {listed(taken)}", *[*reasons][:3], *([note] if granted and granted.all else [])),
            fix="correct 'environments' or 'clusters', the environment's 'tenants', or what is granted",
            at_key=True,
        )


def _is_reported(fleet: Fleet, at: tuple[str, ...]) -> bool:
    """Whether a name is wrong, or a grant leaves out the environments, which is for the platform team to see in `explain`."""
    known = fleet.document.environments.keys()
    if at[0] == "platform":
        return not known >= {*(fleet.document.platform.addons[at[-1]].environments or ())}
    tenant, grants = fleet.document.tenants[at[1]], grants_of(fleet, at[1])
    own = tenant.apps[at[-1]].environments
    restricted = own is None and grants is not None and grants.environments is not None
    return restricted or not known >= {*(tenant.environments or ()), *(own or ())}


def placeholders_of_what_selectors_leave_out_are_filled_in(fleet: Fleet) -> Iterator[Problem]:
    """Only tenants' own selectors are filled in. A placeholder that stays would leave nothing out."""
    for at, selector in walk.every(fleet, Selector):
        is_own = at[0] != "platform" and not override_of(at)
        if not is_own and (name := next(all_names_in(selector.excluded.labels), None)):
            yield Problem(
                (*at, "exclude", "labels"),
                "unknown-placeholder",
                f"{format_part(at)} leaves out clusters with '{{{name}}}', and no placeholder is filled in here",
                fix="write the label's value",
            )


def selectors_take_at_least_one_cluster(fleet: Fleet) -> Iterator[Problem]:
    for at, selector in walk.every(fleet, Selector):
        if override_of(at):
            continue  # it is a warning
        if at[0] not in ("tenants", "platform") and any(all_names_in(selector.labels)):
            continue  # each tenant fills it in
        known = all(name in fleet.clusters for name in selector.names or [])
        if known and not any(matches(selector, name, cluster) for name, cluster in fleet.clusters.items()):
            labels = {f"{key}={value}" for cluster in fleet.clusters.values() for key, value in cluster.labels.items()}
            notes = (f"declared labels: {', '.join(sorted(labels))}",) if selector.labels and labels else ()
            if any(all_names_in(value_at(fleet.source.unmerged, fleet.source.origin(at)))):
                notes = (f"it asks for {format_labels(selector.labels or {})}", *notes)
            message, fix = f"{format_part(at)} selects no cluster", "correct the selector, or remove the entry"
            yield Problem(at, "selects-nothing", message, notes, fix=fix)


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


def each_cluster_is_in_one_wave(fleet: Fleet) -> Iterator[Problem]:
    """And each wave takes some, but for the rest, which may be for clusters that are added later."""
    found: dict[tuple[str, Path], Problem] = {}  # once, although several environments have the waves from one place
    for problem in _problems_of_waves(fleet):
        found.setdefault((problem.code, problem.path), problem)
    yield from found.values()


def _problems_of_waves(fleet: Fleet) -> Iterator[Problem]:
    for name in fleet.environments:
        at, chain, clusters = fleet.declared_at(name, "waves"), drawn(fleet, name), clusters_of(fleet, name)
        labels = sorted(
            {f"{key}={value}" for cluster in clusters for key, value in fleet.clusters[cluster].labels.items()}
        )
        # A wave that is reported for what it names or selects may be why a cluster is in none.
        is_reported = False
        for index, (wave, taken, _) in enumerate(chain):
            is_misspelt = bool(set(wave.names or ()) - fleet.clusters.keys())
            is_empty = clusters and not (taken or wave.all or is_misspelt)
            is_reported = is_reported or is_misspelt or bool(is_empty)
            if is_empty:
                message = f"wave {index + 1} of environment '{name}' takes no cluster"
                note = f"labels there: {', '.join(labels) or 'none'}" if wave.labels else f"there: {listed(clusters)}"
                fix = "correct what it selects, or remove the wave"
                yield Problem((*at, index), "selects-nothing", message, (note,), fix=fix)
        for (first, earlier), (second, later) in combinations(enumerate(chain), 2):
            if both := [cluster for cluster in later.clusters if cluster in earlier.clusters]:
                message = f"waves {first + 1} and {second + 1} of environment '{name}' both take {_clusters(both)}"
                notes = (f"wave {first + 1}: {fleet.source.line_of(earlier.at)}",)
                fix = "change one of the waves so that each cluster is in one of them"
                yield Problem((*at, second), "waves-overlap", message, notes, fix)
        left = [cluster for cluster in clusters if not any(cluster in wave.clusters for wave in chain)]
        if chain and left and not is_reported:
            message = f"no wave of environment '{name}' takes {_clusters(left)}"
            yield Problem(at, "not-in-a-wave", message, fix="add 'rest' as the last wave, for the other clusters")


def _clusters(names: list[str]) -> str:
    return f"cluster '{names[0]}'" if len(names) == 1 else f"{counted(len(names), 'cluster')} ({listed(names)})"


def included_files_keep_to_the_waves(fleet: Fleet) -> Iterator[Problem]:
    for app, _ in walk.apps(fleet):
        at = (*app, "waves")
        if "waves" in fleet.raw(*app) and is_filled(fleet, at):
            message = f"app '{app[-1]}' keeps out of the waves, which an included file cannot say"
            fix = "remove it: what an included file declares changes in the waves of its environments"
            yield Problem(at, "not-granted", message, fix=fix, at_key=True)
