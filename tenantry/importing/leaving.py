"""What import leaves where it is before it infers anything: what others apply, what Flux refuses, what may be a secret.

Nothing may be applied by Flux and planned by Tenantry at once. What a tenant's own app applies stays in the tenant's repository.
What applies a tenant from outside hands it over: it becomes no add-on, because it would set back what Tenantry changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from pathlib import PurePath

from tenantry.cluster.kubectl import RECONCILE
from tenantry.flux.conformance import check_part
from tenantry.flux.schemas import kinds
from tenantry.importing.appliers import GROUPS, applier_of
from tenantry.importing.checkouts import FLUX
from tenantry.importing.model import Draft, Inventory, LeftOver, key_of
from tenantry.importing.reading import ORIGIN
from tenantry.importing.secrets import leave_metadata, leave_secret
from tenantry.importing.survey import Survey, source_of
from tenantry.importing.world import FoundApp, Notes, Thing
from tenantry.kube.objects import is_of_flux
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.text import format_path, grouped


def taken_over(things: list[Thing], notes: Notes, going_on: Set[int] = frozenset()) -> list[Thing]:
    """The objects of an environment that tenants.yaml could express. The others are left over. going_on: as for `expressible`."""
    return [each for each in expressible(things, notes, going_on) if _is_taken(each, notes)]


def _is_taken(thing: Thing, notes: Notes) -> bool:
    """Whether Flux takes an object; keys that only older versions of Flux know are left over.

    Later steps rely on the types of values.
    """
    if thing.kind not in kinds() or not is_of_flux(str(thing.read.manifest["apiVersion"])):
        return True
    for finding in check_part(thing.kind, thing.spec, ("spec",)):
        if finding.code != "unknown-key":
            text = f"Flux refuses it: {format_path(finding.path)}: {finding.message}"
            notes.leave(thing.read, text, "correct it where it is, then import again")
            thing.is_refused = True
            return False
        if len(finding.path) == 2:
            key = str(finding.path[1])
            notes.leave(thing.read, f"Flux does not know '{key}' any more", "nothing: Flux ignores it", f"spec.{key}")
            thing.spec = {name: each for name, each in thing.spec.items() if name != key}
    return True


class Appliers:
    """What applies each of some objects, as far as it is among them."""

    def __init__(self, things: Iterable[Thing]) -> None:
        apps = [thing for thing in things if thing.kind in GROUPS]
        self._by_name = {(app.kind, app.namespace, app.name): app for app in apps}
        self._by_path = [each for each in apps if _takes_the_repository(each)]

    def by_label(self, thing: Thing) -> Thing | None:
        """What applies an object, as its labels tell. What it has to leave alone it applies no more."""
        applier = None if thing.annotations.get(RECONCILE) == "disabled" else applier_of(thing.labels)
        return self._by_name.get(applier) if applier else None

    def of(self, thing: Thing) -> Thing | None:
        """What applies an object, as its labels or its file tell; not Flux's own bootstrap."""
        if applier_of(thing.labels):
            found = self.by_label(thing)
            return None if found is None or _is_bootstrap(found) else found
        if thing.read.origin == ORIGIN:
            return None
        origin = thing.read.origin
        place = f"/{PurePath(origin.rpartition(':')[0] or origin).as_posix()}/"
        fits = [each for each in self._by_path if each is not thing and f"/{_path(each)}/" in place]
        return max(fits, key=lambda each: len(_path(each)), default=None)


def expressible(things: Iterable[Thing], notes: Notes, going_on: Set[int] = frozenset()) -> list[Thing]:
    """The objects that tenants.yaml could express; the others are left over.

    going_on: the objects (by `id` of what was read) that go on applying what they apply, because the file expresses none of that.
    """
    things = list(things)
    appliers = Appliers(things)
    owners = [(each, owner) for each in things if (owner := appliers.by_label(each)) and owner is not each]
    # A Kustomization hands over all that it applies, or nothing.
    outer = {id(owner) for each, owner in owners if not _is_own(each, owner) and id(owner.read) not in going_on}
    inner = {
        id(each): owner
        for each, owner in owners
        if id(owner) not in outer or (owner.kind != "Kustomization" and _is_own(each, owner))
    }
    # What goes on applying a Kustomization goes on with all that this applies.
    while more := {id(each): owner for each, owner in owners if id(owner) in inner and id(each) not in inner}:
        inner |= more
    kept = []
    for thing in things:
        if owner := inner.get(id(thing)):
            notes.leave(thing.read, *_inner_in_words(thing, owner), fate="stays")
        elif id(thing) in outer and thing.name != FLUX:
            text = "it applies objects that Tenantry takes over"
            notes.leave(thing.read, text, "do with it what the steps to adopt say", fate="replaced")
        else:
            kept.append(thing)
    return kept


class Handover:
    """What hands over what it applies in a draft, by `id` of what was read.

    idle: what has nothing to hand over. mixed: what would hand over a part alone, and no tenant's. Both had better go on.
    """

    def __init__(self, inventory: Inventory, draft: Draft) -> None:
        ending = {id(each.read) for each in draft.left_over if each.fate == "replaced" and not each.field}
        self.expressed = {id(each.read) for each in draft.became}
        of_tenants = {id(each.read) for each in draft.became if each.path[0] == "tenants"}
        used, partly, needed = set[int](), set[int](), set[int]()
        for things in grouped(map(Thing, inventory.objects), lambda each: each.read.environment).values():
            appliers = Appliers(things)
            for thing in things:
                if (owner := appliers.of(thing)) is None:
                    continue
                if id(thing.read) in self.expressed | ending:
                    used.add(id(owner.read))
                elif thing.kind != "Namespace":
                    partly.add(id(owner.read))
                if id(thing.read) in of_tenants | ending:
                    needed.add(id(owner.read))
        self.idle = ending - used
        self.mixed = (ending & partly) - needed


def with_applied(inventory: Inventory, draft: Draft) -> Draft:
    """The draft, in which what is left over tells whether an app or an add-on of the file applies it, also by way of others."""
    expressed = {id(each.read) for each in draft.became}
    applied: set[int] = set()
    for things in grouped(map(Thing, inventory.objects), lambda each: each.read.environment).values():
        appliers = Appliers(things)
        for thing in things:
            above: dict[int, Thing] = {id(thing.read): thing}
            while (owner := appliers.of(next(reversed(above.values())))) and id(owner.read) not in above:
                above[id(owner.read)] = owner
            if expressed & (above.keys() - {id(thing.read)}):
                applied.add(id(thing.read))
    ending = {id(each.read) for each in draft.left_over if each.fate == "replaced"}
    told = applied - expressed - ending
    left_over = (
        replace(each, fate="applied") if id(each.read) in told and not each.field else each for each in draft.left_over
    )
    return replace(draft, left_over=(*left_over, *_waiting(inventory, draft, expressed)))


def _waiting(inventory: Inventory, draft: Draft, expressed: Set[int]) -> Iterator[LeftOver]:
    """The dependencies of what goes on on what is not needed any more: without that, Flux would not reconcile them again."""
    ending = {id(each.read) for each in draft.left_over if each.fate == "replaced" and not each.field}
    gone = {(each.environment, *key_of(each.manifest)[1:]) for each in inventory.objects if id(each) in ending}
    for read in inventory.objects if gone else ():
        key = key_of(read.manifest)
        if key.kind not in GROUPS or id(read) in expressed | ending:
            continue
        for each in mappings_in(mapping_at(dict(read.manifest), "spec").get("dependsOn")):
            name, namespace = str(each.get("name")), str(each.get("namespace") or key.namespace)
            if (read.environment, key.kind, namespace, name) in gone:
                text = f"it waits for {key.kind} {namespace}/{name}, which is not needed any more"
                yield LeftOver(
                    read, text, "take this out of its 'dependsOn' before you remove that one", "spec.dependsOn"
                )


def _inner_in_words(thing: Thing, owner: Thing) -> tuple[str, str]:
    if thing.kind == "HelmChart":
        reason = f"helm-controller made it for 'spec.chart' of {owner.key}"
        return reason, "do nothing: helm-controller removes it when the release takes the planned chart"
    return f"{owner.key} applies it", "leave it there: what an app applies needs no entry of its own"


def _is_own(thing: Thing, owner: Thing) -> bool:
    """Whether an app applies the object within its own namespace, as the apps of tenants do, or a chart does."""
    if owner.kind == "Kustomization" and thing.spec.get("kubeConfig") and not owner.spec.get("kubeConfig"):
        return False  # it leads to the apps of a remote cluster
    return owner.namespace == thing.namespace != FLUX


def _takes_the_repository(app: Thing) -> bool:
    """Whether it is a Kustomization that applies a directory of the cluster's repository."""
    source = app.at("spec", "sourceRef", "name")
    return app.kind == "Kustomization" and bool(_path(app)) and source == FLUX and not _is_bootstrap(app)


def _path(kustomization: Thing) -> str:
    return str(kustomization.spec.get("path") or "").strip("./")


def _is_bootstrap(thing: Thing) -> bool:
    return (thing.namespace, thing.name) == (FLUX, FLUX)


def leave_applied(survey: Survey, going_on: Set[int]) -> None:
    """Leave over what an add-on applies, and add-ons that apply what the file declares itself. going_on: as for `expressible`."""
    world, appliers = survey.world, Appliers(survey.world.things)
    inside = {name for territory in survey.territories.values() for name in territory.namespaces}
    replaced = set()
    for thing in world.things:
        if (thing.namespace or thing.name) in inside and (applier := appliers.of(thing)):
            replaced.add(applier.key)
    kept: list[FoundApp] = []
    for app in survey.apps:
        applier = appliers.of(app.thing) if not app.tenant else None
        if not app.tenant and app.thing.key in replaced and id(app.thing.read) not in going_on:
            text = "it applies objects that tenants.yaml declares itself now"
            fix = "suspend it before `tenantry up`, and keep it suspended"
            world.notes.leave(app.thing.read, text, fix, fate="replaced")
        elif applier is not None and applier.key not in replaced:
            text = f"{applier.key} applies it"
            world.notes.leave(app.thing.read, text, "nothing: what applies it today goes on", fate="stays")
        else:
            kept.append(app)
    survey.keep(kept)


def leave_secrets(survey: Survey) -> None:
    """Leave over apps that hold what may be a secret."""
    world = survey.world
    if not world.keeps_values:
        for thing in world.things:
            if not is_of_flux(str(thing.read.manifest["apiVersion"])):
                leave_metadata(world.notes, thing)
        found = ((app, source_of(world, app.thing)) for app in survey.apps)
        survey.keep([each for each, source in found if not leave_secret(world.notes, each.thing, source)])
