"""Warnings about consequences that an author may not expect: things that are deleted and created again elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tenantry.compare.diff import Changed, Diff, Status
from tenantry.compare.moves import Moved, Replaced
from tenantry.compare.rights import ClusterRight
from tenantry.guard import held
from tenantry.guard.kubeconfigs import renamed
from tenantry.kube.objects import KubeObject
from tenantry.kube.rights import Right, in_words
from tenantry.messages.text import MOST_NAMES, counted, grouped, listed
from tenantry.plan.objects.scope import APP_LABEL
from tenantry.plan.planned_apps import PlannedApp

_INSTALLS_ANEW = ("releaseName", "targetNamespace", "storageNamespace")
"""Fields of a spec whose change makes Flux remove what it installed."""


def surprises(diff: Diff) -> Iterator[str]:
    """Sentences without a full stop, in descending order of the number of things they cover."""
    before, after = diff.management
    if diff.status is Status.REMOVED:
        gone = {"tenant": diff.removed.tenants, "namespace": diff.removed.namespaces, "app": diff.removed.apps}
        held = ", ".join(counted(len(each), kind) for kind, each in gone.items())
        yield (
            f"environment '{diff.environment}' is no longer declared ({held}): `pulumi up` of its stack is refused, and"
            f" all of it stays on {before} until `pulumi destroy`"
        )
    yield from _cluster_admins(diff)
    yield from _cluster_rights(diff)
    yield from _widened(diff)
    if before != after:
        yield f"the management cluster is {after} instead of {before}: every object is deleted there and created here"
        return
    yield from _renamed(diff)
    yield from _moves(diff.moved)
    yield from _rehomed(diff)
    yield from _replacements(diff)
    yield from _other_kubeconfigs(diff.changed)
    yield from _installed_anew(diff.changed)


def _cluster_admins(diff: Diff) -> Iterator[str]:
    """Tenants that get the right to everything in their namespaces, and those that the file allows to get it."""
    for (tenant, wide), own in grouped(diff.admins, lambda each: (each.tenant, each.wide)).items():
        on, who = listed(each.cluster for each in own), listed(each.who for each in own)
        where = f"on {_whole(each.cluster for each in own)}" if wide else f"in its namespaces on {on}"
        yield f"tenant '{tenant}' gives cluster-admin {where} to {who}"
    giving = {each.tenant for each in diff.admins}
    if only_allowed := [f"'{tenant}'" for tenant in diff.allowed if tenant not in giving]:
        noun = "tenant" if len(only_allowed) == 1 else "tenants"
        yield f"{noun} {listed(only_allowed)} may give cluster-admin from now on (clusterAdmin: true)"


def _cluster_rights(diff: Diff) -> Iterator[str]:
    """Tenants that get rights on whole clusters; clusters where a tenant gets the same are together."""
    there = grouped(diff.rights, lambda each: (each.tenant, each.cluster))
    groups = grouped(there.items(), lambda item: (item[0][0], _rights_in_words(item[1])))
    for (tenant, words), own in groups.items():
        yield f"tenant '{tenant}' gets rights on {_whole(cluster for (_, cluster), _ in own)}: {words}"


def _rights_in_words(rights: Iterable[ClusterRight]) -> str:
    keys = grouped(rights, lambda each: each.key)
    return "; ".join(f"{key} ({_right_in_words([each.right for each in own])})" for key, own in keys.items())


def _right_in_words(rights: Sequence[Right | str]) -> str:
    roles = [each for each in rights if isinstance(each, str)]
    return "; ".join([*roles, *filter(None, [in_words(each for each in rights if isinstance(each, Right))])])


def _whole(clusters: Iterable[str]) -> str:
    names = [f"'{each}'" for each in dict.fromkeys(clusters)]
    return f"whole {'cluster' if len(names) == 1 else 'clusters'} {listed(names)}"


def _widened(diff: Diff) -> Iterator[str]:
    """Tenants whose included files may do more; those that gain the same are together."""
    for gains, own in grouped(diff.widened, lambda each: each.gains).items():
        files = "file of tenant" if len(own) == 1 else "files of tenants"
        tenants = listed(f"'{each.tenant}'" for each in own)
        more = "; ".join(f"{key} {listed(names)}" for key, names in gains)
        yield f"the included {files} {tenants} may do more: {more}"


def _renamed(diff: Diff) -> Iterator[str]:
    """Clusters that seem to be renamed, which only decommissioned ones survive."""
    before, after = (
        held((each.manifest for each in share.objects), diff.environment) for share in (diff.removed, diff.added)
    )
    for each in dict.fromkeys(renamed(before, after)):
        yield (
            f"cluster {each.before} is renamed to {each.after}? Both have the kubeconfig {each.reference}: Flux would delete"
            f" everything that it installed for {each.before}, namespaces with their data included"
        )


def app_in_words(app: PlannedApp) -> str:
    """What an app or add-on is called in a sentence."""
    return _in_words(app.tenant, app.name)


def _in_words(tenant: str, app: str) -> str:
    return f"app '{app}' (tenant '{tenant}')" if tenant else f"add-on '{app}'"


def _moves(moved: tuple[Moved, ...]) -> Iterator[str]:
    groups = grouped(moved, lambda each: (each.tenant, each.before, each.after))
    if len(groups) > MOST_NAMES:
        names = listed((f"'{before}' -> '{after}'" for _, before, after in groups), 3)
        yield f"{len(groups)} tenants get other namespaces ({names}): everything in the old ones is deleted"
        return
    for (tenant, before, after), places in groups.items():
        on = listed(place.cluster for place in places)
        yield (
            f"tenant '{tenant}' gets namespace '{after}' instead of '{before}' on {on}:"
            " everything in the old one is deleted"
        )


def _rehomed(diff: Diff) -> Iterator[str]:
    for cluster, before, after in diff.rehomed:
        own = sum(1 for each in diff.recreated if each.cluster == cluster)
        namespaces = f", {counted(own, 'namespace')} of tenants included" if own else ""
        yield (
            f"the objects for cluster {cluster} move to namespace '{after}' from '{before}':"
            f" all of them are replaced, and Flux deletes what the old objects installed{namespaces}"
        )


def _replacements(diff: Diff) -> Iterator[str]:
    """Apps that get another object although their tenant and their cluster do not change."""
    moved = {(each.tenant, each.cluster) for each in diff.moved}
    clusters = {each.cluster for each in diff.rehomed}
    left = [
        pair
        for pair in diff.replaced
        if (pair.before.tenant, pair.before.cluster) not in moved and pair.before.cluster not in clusters
    ]
    for (app, becomes), those in grouped(left, lambda pair: (app_in_words(pair.before), _becomes(pair))).items():
        on = listed(pair.before.cluster for pair in those)
        yield f"{app} on {on} {becomes}: Flux deletes what the old one installed"


def _becomes(pair: Replaced) -> str:
    before, after = pair.before.id.kind, pair.after.id.kind
    return "gets another object" if before == after else f"becomes a {after} instead of a {before}"


def _other_kubeconfigs(changed: tuple[Changed, ...]) -> Iterator[str]:
    own = [each for each in changed if any(field.path[:2] == ("spec", "kubeConfig") for field in each.fields)]
    for cluster in grouped(own, lambda each: each.after.owner.cluster):
        yield (
            f"cluster {cluster} is reached through another kubeconfig:"
            " if it leads to another cluster, everything on the old one stays there"
        )


def _installed_anew(changed: tuple[Changed, ...]) -> Iterator[str]:
    own = [(each, keys) for each in changed if (keys := _reinstalling(each))]
    for (who, keys), pairs in grouped(own, lambda pair: (_stands_for(pair[0].after), pair[1])).items():
        on = listed(each.after.owner.cluster for each, _ in pairs)
        yield f"{who} on {on} is reinstalled ({listed(keys)} changes): Flux deletes what it installed before"


def _reinstalling(changed: Changed) -> tuple[str, ...]:
    """Which changed fields make Flux remove what it installed."""
    paths = [field.path for field in changed.fields]
    return tuple(key for key in _INSTALLS_ANEW if ("spec", key) in paths)


def _stands_for(object: KubeObject) -> str:
    labels: Mapping[str, str] = object.manifest["metadata"]["labels"]
    tenant, app = object.owner.tenant, labels.get(APP_LABEL, "")
    return _in_words(tenant, app) if app else f"the baseline (tenant '{tenant}')"
