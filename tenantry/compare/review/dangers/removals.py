"""What is deleted: environments, clusters, tenants, namespaces, apps, add-ons, and objects that hold data."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.compare.diff import Diff, Status
from tenantry.compare.moves import key_of
from tenantry.compare.review.dangers.apps import app_in_words
from tenantry.compare.review.dangers.found import Found, Pieces, Rank
from tenantry.compare.review.model import DangerKind, PartKind
from tenantry.compare.review.parts import given_up
from tenantry.compare.review.renames import Rename, renames
from tenantry.compare.review.wholes import what_stays
from tenantry.compare.review.words import content_in_words
from tenantry.guard.kubeconfigs import held_by
from tenantry.kube.objects import Owner, holds_data
from tenantry.messages.text import MOST_NAMES, grouped, listed
from tenantry.plan.objects.lifecycle import is_marked
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_WITH_DATA = ("PersistentVolumeClaim", "PersistentVolume", "CustomResourceDefinition")
_STAYS = "is no longer managed, and stays with its data"


def whole_environment(diff: Diff, there: Plan) -> Iterator[Found]:
    """Dangers of an environment as a whole. Args: there: what it had before."""
    before, after = diff.management
    if diff.status is Status.REMOVED:
        text = (
            f"environment '{diff.environment}' is no longer declared ({content_in_words(there)}): `pulumi up` of its stack"
            f" is refused, and all of it stays on {before} until `pulumi destroy`"
        )
        yield Found(DangerKind.DELETION, Rank.EVERYTHING, "", "", lead=text, nobody=True)
    elif diff.elsewhere:
        text = f"the management cluster is {after} instead of {before}: every object is deleted there and created here"
        yield Found(DangerKind.DELETION, Rank.EVERYTHING, "", "", lead=text, nobody=True)
    if diff.unprotected:
        text = (
            f"environment '{diff.environment}' is no longer protected: `pulumi destroy` can delete it, and runs can remove"
            " what was not marked for removal before"
        )
        yield Found(DangerKind.PROTECTION, Rank.DATA, "", "", lead=text, nobody=True)


def removal_dangers(pieces: Pieces) -> Iterator[Found]:
    """Dangers of what is removed from an environment that stays on its management cluster."""
    found = renames(pieces.diff, pieces.before, pieces.after)
    yield from (_renamed(each) for each in found)
    renamed = {(each.kind, each.tenant, each.before) for each in found}
    leaving = _Leaving(pieces)
    yield from _tenants(pieces.diff, leaving, renamed)
    yield from _namespaces(pieces, leaving)
    yield from _apps(pieces, leaving, renamed)
    yield from _replaced_namespaces(pieces.diff)
    yield from _data(pieces)
    yield from _marked_anew(pieces)


class _Leaving:
    """What Flux deletes with an object that is removed, and what stays because the object is suspended."""

    def __init__(self, pieces: Pieces) -> None:
        self.diff = pieces.diff
        self.objects = {each.id: each for each in pieces.diff.removed.objects}
        self.abandoned = {
            each.owner
            for each in pieces.diff.removed.objects
            if each.id.kind == "HelmRelease" and what_stays(each.manifest)
        }
        """Placements whose baseline is suspended: on the cluster everything stays."""
        self.given_up = given_up(pieces.before)

    def keeps(self, tenant: str, cluster: str) -> bool:
        return Owner(tenant, cluster) in self.abandoned

    def deletes(self, app: PlannedApp) -> bool:
        """Whether what the app installed is deleted with it."""
        planned = self.objects.get(app.id)
        return planned is not None and not what_stays(planned.manifest)


def _renamed(rename: Rename) -> Found:
    kinds = {PartKind.CLUSTER: "cluster", PartKind.TENANT: "tenant", PartKind.APP: "app", PartKind.ADDON: "add-on"}
    what = f"{kinds[rename.kind]} '{rename.before}'" + (f" (tenant '{rename.tenant}')" if rename.tenant else "")
    gone = f"what Flux installed for '{rename.before}' is deleted with its data, and '{rename.after}' is installed new"
    fate = rename.fate if rename.stays else gone
    text = f"{what} looks renamed to '{rename.after}' (both have {rename.same}): {fate}"
    tenant = rename.before if rename.kind is PartKind.TENANT else rename.tenant
    return Found(
        DangerKind.RENAME,
        Rank.DATA,
        tenant,
        rename.before if rename.kind is PartKind.CLUSTER else "",
        lead=text,
        nobody=True,
        nowhere=True,
    )


def _tenants(diff: Diff, leaving: _Leaving, renamed: set[tuple[PartKind, str, str]]) -> Iterator[Found]:
    """Placements that are removed, on clusters that are no longer used too."""
    for tenant, cluster in diff.removed.placements:
        known = (PartKind.TENANT, "", tenant) in renamed or (PartKind.CLUSTER, "", cluster) in renamed
        if known or leaving.keeps(tenant, cluster):
            continue
        verb = ("is removed", "are removed")
        goes = any(each[:2] == (tenant, cluster) for each in leaving.given_up)
        stays = ": apps and rights are deleted, and namespaces stay with their data"
        tail = ": everything in the namespaces is deleted, with its data" if goes else stays
        yield Found(DangerKind.DELETION, Rank.DATA, tenant, cluster, verb=verb, tail=tail, at="from")


def _namespaces(pieces: Pieces, leaving: _Leaving) -> Iterator[Found]:
    """Namespaces of placements that stay, and those of add-ons."""
    placements = {(placement.tenant, placement.cluster) for placement in pieces.diff.removed.placements}
    moved = {(each.tenant, each.cluster, each.before) for each in pieces.diff.moved}
    for tenant, cluster, namespace in pieces.diff.removed.namespaces:
        if (tenant, cluster) in placements or (tenant, cluster, namespace) in moved or leaving.keeps(tenant, cluster):
            continue
        yield _namespace(tenant, cluster, namespace, leaving)
    for kind in pieces.of_kinds("Namespace"):
        owner = kind.key.owner
        if not owner.tenant and kind.after is None and not leaving.keeps(*owner):
            yield _namespace("", owner.cluster, kind.key.name, leaving)


def _namespace(tenant: str, cluster: str, namespace: str, leaving: _Leaving) -> Found:
    who = f"namespace '{namespace}'"
    goes = (tenant, cluster, namespace) in leaving.given_up
    verb = "is deleted with everything in it" if goes else _STAYS
    return Found(DangerKind.DELETION, Rank.DATA, tenant, cluster, verb=verb, who=who)


def _apps(pieces: Pieces, leaving: _Leaving, renamed: set[tuple[PartKind, str, str]]) -> Iterator[Found]:
    """Apps of placements that stay, and add-ons."""
    diff, new_places = pieces.diff, _new_places(pieces)
    placements, told = set(diff.removed.placements), {(tenant, name) for _, tenant, name in renamed}
    clusters = {name for kind, _, name in renamed if kind is PartKind.CLUSTER}
    for app in diff.removed.apps:
        known = (app.tenant, app.name) in told or app.cluster in clusters
        if known or (app.tenant, app.cluster) in placements or not leaving.deletes(app):
            continue
        places = new_places.get((app.tenant, app.name), "")
        verb = f"moves to {places} and is removed" if places else "is removed"
        tail = ": Flux deletes what it installed" + (" there" if places else "")
        who = app_in_words(app)
        yield Found(DangerKind.DELETION, Rank.DATA, app.tenant, app.cluster, verb, tail, who=who, at="from")


def _marked_anew(pieces: Pieces) -> Iterator[Found]:
    """What is new under its name and may be removed already: its mark has probably come with a line from another name."""
    if not pieces.before.objects or not (pieces.diff.added.placements or pieces.diff.added.apps):
        return
    verb, tail = "is new and marked for removal already", ": no environment protects it"
    marked = {each[:2] for each in held_by(pieces.after).marked}
    placements = set(pieces.diff.added.placements)
    for tenant, cluster in pieces.diff.added.placements:
        if (tenant, cluster) in marked:
            yield Found(DangerKind.PROTECTION, Rank.DATA, tenant, cluster, verb=verb, tail=tail)
    known = {(app.tenant, app.name) for app in pieces.before.apps}
    objects = {each.id: each.manifest for each in pieces.diff.added.objects}
    for app in pieces.diff.added.apps:
        told = (app.tenant, app.cluster) in placements and (app.tenant, app.cluster) in marked
        if (app.tenant, app.name) not in known and not told and app.id in objects and is_marked(objects[app.id]):
            yield Found(DangerKind.PROTECTION, Rank.DATA, app.tenant, app.cluster, verb, tail, who=app_in_words(app))


def _new_places(pieces: Pieces) -> dict[tuple[str, str], str]:
    """Where apps are from now on that leave all of their clusters."""
    if not (pieces.diff.removed.apps and pieces.diff.added.apps):
        return {}
    gone = {key_of(app) for app in pieces.diff.removed.apps}
    stay = {(app.tenant, app.name) for app in pieces.before.apps if key_of(app) not in gone}
    new = grouped(pieces.diff.added.apps, lambda app: (app.tenant, app.name))
    return {name: listed(app.cluster for app in own) for name, own in new.items() if name not in stay}


def _replaced_namespaces(diff: Diff) -> Iterator[Found]:
    few = len({each.tenant for each in diff.moved}) <= MOST_NAMES
    for moved in diff.moved:
        own = f"gets namespace '{moved.after}' instead of '{moved.before}'"
        words = own if few else ("gets another namespace", "get other namespaces")
        tail = f": what is in the old {'one' if few else 'ones'} does not come along, and its data stays there"
        yield Found(DangerKind.NAMESPACE, Rank.DATA, moved.tenant, moved.cluster, verb=words, tail=tail)
    for rehomed in diff.rehomed:
        text = f"the kubeconfig is in namespace '{rehomed.after}' instead of '{rehomed.before}'"
        tail = ": all Flux objects are replaced, and Flux deletes what they installed; namespaces stay with their data"
        yield Found(DangerKind.KUBECONFIG, Rank.DATA, "", rehomed.cluster, tail=tail, lead=text, nobody=True)


def _data(pieces: Pieces) -> Iterator[Found]:
    """Objects of the platform team's own that hold data, and leave the file for a namespace that stays."""
    for kind in pieces.of_kinds(*_WITH_DATA):
        if kind.after is None and kind.kept and holds_data(kind.key.group, kind.key.kind):
            name = f"{kind.key.kind} '{kind.key.name}'"
            verb = _STAYS
            yield Found(DangerKind.DELETION, Rank.DATA, *kind.key.owner, verb=verb, who=name)
