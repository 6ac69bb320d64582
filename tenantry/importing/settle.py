"""A document to a draft that can be loaded and planned: what would make it invalid is left over, with the file's own message."""

from __future__ import annotations

from collections.abc import Iterator, Set
from copy import deepcopy
from typing import Any

from tenantry.grants.frames import filled
from tenantry.importing.checkouts import FLUX
from tenantry.importing.model import Became, Draft, Inventory, LeftOver, Path, Read, key_of
from tenantry.importing.text import text_of
from tenantry.importing.world import Notes
from tenantry.kube.objects import is_of_flux
from tenantry.load import fleet_of, plan_all
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import InvalidFleet, Problem, Refused
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse

_ROUNDS = 200
_ENTRIES = (
    "apps",
    "sources",
    "alerts",
    "receivers",
    "credentials",
    "configs",
    "namespaces",
    "objects",
    "clusterRoles",
    "addons",
)
"""Parts of a tenant or the platform of which a wrong entry is left out as a whole."""


def settled(inventory: Inventory, document: dict[str, Any], notes: Notes) -> Draft:
    """The draft, and which part of it every object became. Raises: Refused: the document cannot be made valid."""
    data = deepcopy(document)
    for _ in range(_ROUNDS):
        try:
            plans = plan_all(fleet_of(filled(parse(text_of(data).encode(), "the draft"))))
        except InvalidFleet as invalid:
            if not _leave_out(data, invalid.diagnostics, notes, inventory):
                first = invalid.diagnostics[0]
                raise Refused(f"what was read gives no valid file: {first.message}", first.fix) from None
            continue
        return _draft(inventory, data, notes, plans)
    raise Refused("what was read gives no valid file", "import it in parts")


def _leave_out(data: dict[str, Any], problems: tuple[Problem, ...], notes: Notes, inventory: Inventory) -> bool:
    """Remove the parts that are wrong; False: no part can be removed."""
    removed = False
    orders: set[Path] = set()
    for problem in problems:
        unit = _unit(problem.path)
        if problem.path[-2:-1] == ("dependsOn",) and isinstance(value_at(data, problem.path[:-1]), list):
            # An app that waits for something else is still the app.
            orders.add(problem.path)
            _tell_order(notes, inventory, unit, problem)
            continue
        if unit and _remove(data, unit):
            removed = True
            _tell(data, notes, inventory, unit, problem)
    for path in sorted(orders, key=lambda path: (str(path[:-1]), path[-1]), reverse=True):
        wanted = value_at(data, path[:-1])
        if isinstance(wanted, list) and isinstance(path[-1], int) and path[-1] < len(wanted):
            del wanted[path[-1]]
            removed = True
    return removed


def _tell_order(notes: Notes, inventory: Inventory, unit: Path, problem: Problem) -> None:
    """Say of an app that it does not wait any more for what is not there."""
    for read in inventory.objects:
        if unit in notes.places.get(id(read), ()) and key_of(read.manifest).kind in KINDS.values():
            notes.leave(read, problem.message, "make the apps retry until it is there", "spec.dependsOn")


def _unit(path: Path) -> Path:
    """The smallest part at a path that can be left out, so that the rest means what it meant.

    Without one of its own settings, such as its namespace, a tenant would be another one: what it has today would be planned
    under other names, or with other rights. So it is left out as a whole.
    """
    if path[:1] == ("tenants",):
        return path[:4] if len(path) > 3 and path[2] in _ENTRIES else path[:2]
    if path[:1] == ("platform",) and len(path) > 2:
        return path[:3]
    return path[:2] if path[:1] in (("clusters",), ("platform",)) else ()


def _remove(data: dict[str, Any], path: Path) -> bool:
    above = value_at(data, path[:-1])
    return isinstance(above, dict) and above.pop(path[-1], None) is not None


def _tell(data: dict[str, Any], notes: Notes, inventory: Inventory, unit: Path, problem: Problem) -> None:
    """Say of the objects of a part that it is left out, and nothing else of those that no other part stands for."""
    fix = (
        "leave it to what applies it today, or declare it by hand"
        if unit[:1] == ("tenants",) and len(unit) == 2
        else problem.fix
    )
    for read in inventory.objects:
        places = notes.places.get(id(read), ())
        if any(place[: len(unit)] == unit for place in places):
            if not _places(data, notes, read):
                notes.forget(read)
            notes.leave(read, problem.message, fix or "declare it by hand")


# --- which part every object became -----------------------------------------------------------------------------------


def _draft(inventory: Inventory, data: dict[str, Any], notes: Notes, plans: dict[str, Plan]) -> Draft:
    there = {
        name: {key_of(planned.manifest): plan.origins.get(planned.id, ()) for planned in plan.objects}
        for name, plan in plans.items()
    }
    made = {
        name: {(each.id.kind, _owner(plan.origins.get(each.id, ()))) for each in plan.objects}
        for name, plan in plans.items()
    }
    became: list[Became] = []
    told = {id(each.read) for each in notes.left_over if not each.field}
    stays = {id(each.read) for each in notes.left_over if not each.field and each.fate == "stays"}
    addons = [
        each
        for plan in plans.values()
        for each in plan.objects
        if each.id.kind in KINDS.values() and not each.owner.tenant
    ]
    homes = {str(each.id.namespace) for each in addons}
    homes |= {str(mapping_at(each.manifest, "spec").get("targetNamespace")) for each in addons}
    for read in inventory.objects:
        path = there.get(read.environment, {}).get(key_of(read.manifest))
        if path is not None:
            became.append(Became(read, path))
            continue
        plan = plans[read.environment]
        goes_on = _is_bootstraps(read) or id(read) in stays
        expressed = None if goes_on else _expressed(data, notes, read, plan, made[read.environment])
        if expressed:
            became.append(Became(read, expressed, notes.apps[id(read)][2] if id(read) in notes.apps else ""))
        if id(read) not in told:
            notes.left_over.append(_unexpressed(read, notes, homes, is_said=expressed is not None))
    decisions = {
        path: tuple(each) for path, each in notes.decisions.items() if value_at(data, path, ABSENT) is not ABSENT
    }
    held = tuple(each for each in notes.held if each.cluster in data.get("clusters", {}))
    return Draft(data, tuple(became), tuple(_in_order(inventory, notes)), decisions, held)


def _is_bootstraps(read: Read) -> bool:
    """Whether it is the source of Flux's own bootstrap, which stays Flux's even if a copy of it is planned."""
    key = key_of(read.manifest)
    return (key.kind, key.namespace, key.name) == ("GitRepository", FLUX, FLUX)


def _expressed(data: dict[str, Any], notes: Notes, read: Read, plan: Plan, made: Set[tuple[str, Path]]) -> Path | None:
    """The part of the file that stands for an object which is planned under another name.

    None: nothing of its kind is planned for its owner, so the object has to stay: a Secret that `existing: true` names, the
    namespace of a tenant without apps.
    """
    app = notes.apps.get(id(read))
    if app and app not in {(each.tenant, each.name, each.cluster) for each in plan.apps}:
        return None
    places = _places(data, notes, read)
    return next((place for place in places if (key_of(read.manifest).kind, _owner(place)) in made), None)


def _places(data: dict[str, Any], notes: Notes, read: Read) -> list[Path]:
    """The parts of the file that an object was taken for, without those that were left out."""
    return [each for each in notes.places.get(id(read), ()) if value_at(data, each, ABSENT) is not ABSENT]


def _owner(path: Path) -> Path:
    """The tenant, or the platform, that a place in the file belongs to."""
    return path[:1] if path[:1] == ("platform",) else path[:2]


def _in_order(inventory: Inventory, notes: Notes) -> Iterator[LeftOver]:
    order = {id(each): index for index, each in enumerate(inventory.objects)}
    yield from sorted(notes.left_over, key=lambda each: (order.get(id(each.read), len(order)), each.field, each.reason))


_REASONS = {
    "Namespace": (
        "no app of the draft runs in it, and a tenant without apps has no objects",
        "add an app to its tenant, or leave the namespace to what made it",
    ),
    "ServiceAccount": ("Tenantry needs no such account", "leave it as it is, or declare it under 'objects'"),
    "Secret": ("values of Secrets are not copied", "leave it as it is: 'existing: true' names it"),
    "ConfigMap": ("no app names it", "leave it to what applies it, or declare it under 'objects'"),
    "HelmChart": ("Tenantry makes the charts of releases itself", "nothing: Flux removes it when no release uses it"),
}
_SOURCES = ("GitRepository", "OCIRepository", "HelmRepository", "Bucket")
_IMAGES = ("ImageRepository", "ImagePolicy", "ImageUpdateAutomation")


def _unexpressed(read: Read, notes: Notes, homes: Set[str], *, is_said: bool) -> LeftOver:
    """An object for which nothing else was said. Args: is_said: something is planned that does the same under another name."""
    key = key_of(read.manifest)
    if key.kind == "Namespace" and key.name in homes:
        return LeftOver(
            read, "an add-on lies in it or installs into it, and Tenantry takes it as it is", "keep it", fate="stays"
        )
    if key.kind in _REASONS:
        return LeftOver(read, *_REASONS[key.kind], fate="inexpressible" if key.kind == "Namespace" else "stays")
    if _is_bootstraps(read):
        return LeftOver(read, "it is the source of Flux's own bootstrap", "keep it as it is", fate="stays")
    if key.kind in _SOURCES and is_said:
        text = "Tenantry plans a source with the same content, which has another name or is in another namespace"
        return LeftOver(read, text, "keep it as long as something names it", fate="stays")
    if key.kind in _SOURCES:
        text = "Tenantry gives each add-on and each tenant sources of its own, and none has this name"
        return LeftOver(read, text, "keep it as long as something names it", fate="stays")
    if notes.places.get(id(read)):
        return LeftOver(
            read,
            "Tenantry plans it under another name",
            "keep it until nothing uses it: the steps to adopt say how to see that",
        )
    if key.kind in _IMAGES:
        text = "image automation is not imported: an app of the file keeps the version that was read, whatever it writes into Git"
        return LeftOver(
            read, text, "keep it in a repository of its own, and raise the versions of its apps in the file"
        )
    if is_of_flux(str(read.manifest["apiVersion"])):
        return LeftOver(read, f"nothing in tenants.yaml stands for this {key.kind}", "keep what applies it")
    text = f"tenants.yaml declares no {key.kind}: apps apply it, or charts"
    return LeftOver(read, text, "leave it to what applies it today, or let an app apply it", fate="stays")
