"""All environments to one document, in the order of the documentation, and that to a draft that can be planned, and to text.

What would make the document invalid is left out of it, with the file's own message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from tenantry.edit.paths import ranks_at
from tenantry.edit.values import Style, entry
from tenantry.grants.frames import filled as with_frames
from tenantry.importing.apps import fill_in
from tenantry.importing.blocks import source_of
from tenantry.importing.entries import Gathered, PlatformEntry
from tenantry.importing.leaving import leave_metadata, leave_secret, taken_over
from tenantry.importing.resources import FLUX, App, Inventory, Place, Resource, World, key_of
from tenantry.importing.survey import Survey, drop_proxies
from tenantry.importing.tenants import TenantEntry, filled
from tenantry.load import fleet_of, plan_all
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import InvalidFleet, Path, Problem, Refused
from tenantry.messages.text import grouped, printable
from tenantry.plan.objects.apps import KINDS
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse

_TEMPLATES = ("{tenant}", "{tenant}-{env}", "{env}-{tenant}")


@dataclass(frozen=True, slots=True)
class Draft:
    """A fleet that expresses what was read, as plain data in the order in which it is written.

    resources: all that was read; the `path` of each that the data expresses, and the `reasons` of what it does not.
    """

    data: dict[str, Any]
    resources: list[Resource]


def drafted(inventory: Inventory) -> Draft:
    """What was read, as a fleet that can be loaded and planned. Raises: Refused: nothing of it can be."""
    resources = list(inventory.resources)
    gathered = _gathered(inventory, resources)
    draft = Draft(_document(gathered), resources)
    _settle(draft)
    _leave_order(resources)
    return draft


def _leave_order(resources: list[Resource]) -> None:
    """Say of what goes on that it waits for what is not needed any more: without that, Flux would not reconcile it again."""
    ended = {(resource.environment, resource.key) for resource in resources if resource.is_replaced}
    for resource in resources:
        if resource.path is None and not resource.is_replaced:
            for namespace, name in resource.awaited:
                key = resource.key._replace(namespace=namespace, name=name)
                if (resource.environment, key) in ended:
                    fix = "take this out of its 'dependsOn' before you remove that one"
                    resource.leave(f"it waits for {key}, which is not needed any more", fix, "spec.dependsOn")


# --- what was found ---------------------------------------------------------------------------------------------------


def _gathered(inventory: Inventory, resources: list[Resource]) -> Gathered:
    by_environment = grouped(resources, lambda resource: resource.environment)
    worlds = []
    for name, management in inventory.management.items():
        own = by_environment.get(name, [])
        taken = taken_over(name, own)
        drop_proxies(own)
        kept = set(map(id, taken))
        worlds.append(World(name, management, taken, (resource for resource in own if id(resource) not in kept)))
    clusters: dict[str, Any] = dict.fromkeys(inventory.management.values())
    gathered = Gathered({world.environment: Survey(world, clusters) for world in worlds})
    for survey in gathered.surveys.values():
        for resource in survey.world.resources:
            if not resource.is_fluxs:
                leave_metadata(resource)
        sources = [(app, source_of(survey.world, app.resource)) for app in survey.apps]
        survey.keep([app for app, source in sources if not leave_secret(app.resource, *filter(None, [source]))])
    for survey in gathered.surveys.values():
        for app in survey.apps:
            if fill_in(survey, app):
                gathered.apps[app.path][app.place] = app
    for apps in gathered.apps.values():
        _leave_misplaced(gathered, apps)
    return gathered


def _leave_misplaced(gathered: Gathered, apps: dict[Place, App]) -> None:
    """Leave an app where one entry cannot have it beside the others: it takes each cluster in each of its environments."""
    clusters = {place.cluster for place in apps}
    first, *others = dict.fromkeys(place.environment for place in apps)
    wanted = {
        Place(name, cluster)
        for name in (first, *others)
        for cluster in gathered.surveys[name].clusters
        if cluster in clusters
    }
    for place in list(apps) if wanted != set(apps) else ():
        if place.environment != first:
            text = "the app runs on other clusters than in another environment, which one entry cannot say"
            apps.pop(place).resource.leave(text, "declare it by hand under another name")


# --- the document -----------------------------------------------------------------------------------------------------


def _document(gathered: Gathered) -> dict[str, Any]:
    templates = {name: _template(survey) for name, survey in gathered.surveys.items()}
    names = dict.fromkeys(name for survey in gathered.surveys.values() for name in survey.territories)
    tenants = {name: TenantEntry(gathered, name).entry(templates) for name in names}
    platform = PlatformEntry(gathered).entry()
    document: dict[str, Any] = {
        "apiVersion": "tenantry/v1",
        "environments": _environments(gathered, templates),
        "clusters": _clusters(gathered),
        "platform": platform,
        "defaults": {"clusters": {"all": True}},
        "tenants": tenants,
    }
    return dict(_in_order({key: value for key, value in document.items() if value}))


def _in_order(value: Any, path: Path = ()) -> Any:
    """The value with its keys in the order in which edits write them."""
    # The fields of Flux stay in the order in which they were read.
    if not isinstance(value, dict) or path[-1:] == ("provider",):
        return value
    ranks = ranks_at(path)
    keys = sorted(value, key=lambda key: ranks.get(key, len(ranks)))
    return {key: _in_order(value[key], (*path, key)) for key in keys}


def _template(survey: Survey) -> str:
    """The template that most of the tenants' namespaces have."""

    def fits(template: str) -> int:
        homes = survey.territories.items()
        return sum(filled(template, survey.world.environment, tenant) == namespace for tenant, namespace in homes)

    return max(_TEMPLATES, key=fits)


def _environments(gathered: Gathered, templates: Mapping[str, str]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, survey in gathered.surveys.items():
        entry = {
            "management": survey.world.management,
            "namespace": templates[name] if templates[name] != _TEMPLATES[0] else "",
            "variables": gathered.variables.get(name),
        }
        entries[name] = {key: value for key, value in entry.items() if value}
    return entries


def _clusters(gathered: Gathered) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, survey in gathered.surveys.items():
        entries.setdefault(survey.world.management, {"environments": []})["environments"].append(name)
    for name, survey in gathered.surveys.items():
        for cluster, kubeconfig in survey.remotes.entries.items():
            entry = entries.setdefault(cluster, {"environments": [], "kubeconfig": kubeconfig})
            entry["environments"].append(name)
    return entries


# --- the draft --------------------------------------------------------------------------------------------------------

_ROUNDS = 200
_ENTRIES = ("apps", "sources", "credentials", "configs", "objects", "clusterRoles")
"""Parts of a tenant of which a wrong entry is left out as a whole."""


def _settle(draft: Draft) -> None:
    """Make a draft valid, and find which part of it expresses each resource. Raises: Refused: it cannot be made valid."""
    for _ in range(_ROUNDS):
        try:
            plans = plan_all(fleet_of(with_frames(parse(text_of(draft.data).encode(), "the draft"))))
        except InvalidFleet as invalid:
            if not _leave_out(draft, invalid.diagnostics):
                first = invalid.diagnostics[0]
                raise Refused(f"what was read gives no valid file: {first.message}", first.fix) from None
        else:
            _express(draft, plans)
            return
    raise Refused("what was read gives no valid file", "import it in parts")


def _leave_out(draft: Draft, problems: tuple[Problem, ...]) -> bool:
    """Remove the parts that are wrong; False: no part can be removed."""
    removed = False
    orders: set[Path] = set()
    for problem in problems:
        part = _part(problem.path)
        above = value_at(draft.data, part[:-1])
        if problem.path[-2:-1] == ("dependsOn",) and isinstance(value_at(draft.data, problem.path[:-1]), list):
            # An app that waits for something else is still the app.
            orders.add(problem.path)
            for resource in draft.resources:
                if part in resource.paths and resource.kind in KINDS.values():
                    fix = "make the apps retry until it is there"
                    resource.leave(problem.message, fix, "spec.dependsOn")
        elif part and isinstance(above, dict) and above.pop(part[-1], None) is not None:
            removed = True
            _leave_part(draft, part, problem)
    for path in sorted(orders, key=lambda path: (str(path[:-1]), path[-1]), reverse=True):
        wanted = value_at(draft.data, path[:-1])
        if isinstance(wanted, list) and isinstance(path[-1], int) and path[-1] < len(wanted):
            del wanted[path[-1]]
            removed = True
    return removed


def _part(path: Path) -> Path:
    """The smallest part at a path that can be left out, so that the rest means what it meant.

    Without one of its own settings, such as its namespace, a tenant would be another one: what it has today would be planned
    under other names, or with other rights. So it is left out as a whole.
    """
    if path[:1] == ("tenants",):
        return path[:4] if len(path) > 3 and path[2] in _ENTRIES else path[:2]
    if path[:1] == ("platform",):
        return path[:3]
    return path[:2] if path[:1] == ("clusters",) else ()


def _leave_part(draft: Draft, part: Path, problem: Problem) -> None:
    """Say of the resources of a part that it is left out, and nothing else of those that no other part stands for."""
    fix = problem.fix or "declare it by hand"
    if part[:1] == ("tenants",) and len(part) == 2:
        fix = "leave it to what applies it today, or declare it by hand"
    for resource in draft.resources:
        if any(path[: len(part)] == part for path in resource.paths):
            if not _written_paths(draft, resource):
                resource.reasons.clear()
            resource.leave(problem.message, fix)


def _written_paths(draft: Draft, resource: Resource) -> list[Path]:
    """The parts of the file that a resource was taken for, without those that were left out."""
    return [path for path in resource.paths if value_at(draft.data, path, ABSENT) is not ABSENT]


# --- which part expresses each resource -------------------------------------------------------------------------------


def _express(draft: Draft, plans: Mapping[str, Plan]) -> None:
    """Give each resource the part of the file that expresses it, or the reason why none does."""
    origins = {
        name: {key_of(planned.manifest): plan.origins.get(planned.id, ()) for planned in plan.objects}
        for name, plan in plans.items()
    }
    apps = {name: {(app.tenant, app.name, app.cluster) for app in plan.apps} for name, plan in plans.items()}
    # The namespaces in which add-ons lie, and into which they install.
    everything = (object for plan in plans.values() for object in plan.objects)
    addons = [object for object in everything if object.id.kind in KINDS.values() and not object.owner.tenant]
    homes = {addon.id.namespace for addon in addons}
    homes |= {str(mapping_at(addon.manifest, "spec").get("targetNamespace")) for addon in addons}
    for resource in draft.resources:
        planned = origins[resource.environment]
        resource.path = planned.get(resource.key)
        if resource.path is not None:
            continue
        goes_on = _is_bootstraps(resource) or any(reason.is_left and not reason.field for reason in resource.reasons)
        is_app_lost = resource.app is not None and resource.app not in apps[resource.environment]
        if not goes_on and not is_app_lost:
            # Something of its kind is planned for its owner, under another name.
            made = {(key.kind, _owner(origin)) for key, origin in planned.items()}
            paths = _written_paths(draft, resource)
            resource.path = next((path for path in paths if (resource.kind, _owner(path)) in made), None)
        if resource.is_left is None:
            _explain(resource, homes)


def _owner(path: Path) -> Path:
    """The tenant, or the platform, that a place in the file belongs to."""
    return path[:1] if path[:1] == ("platform",) else path[:2]


def _is_bootstraps(resource: Resource) -> bool:
    """Whether it is the source of Flux's own bootstrap, which stays Flux's even if a copy of it is planned."""
    return resource.key[1:] == ("GitRepository", FLUX, FLUX)


_REASONS = {
    "Namespace": "no app of the draft runs in it, and a tenant without apps has no objects: add an app, or leave it",
    "ServiceAccount": "Tenantry needs no such account",
    "Secret": "values of Secrets are not copied: 'existing: true' names it",
    "ConfigMap": "no app names it",
    **dict.fromkeys(("Alert", "Provider", "Receiver"), "import writes no alerts and no receivers"),
    "HelmChart": "Tenantry makes the charts of releases itself, and Flux removes it when no release uses it",
    **dict.fromkeys(
        ("GitRepository", "OCIRepository", "HelmRepository", "Bucket"), "its owner gets sources of its own"
    ),
}


def _explain(resource: Resource, homes: Set[str]) -> None:
    """Say why a resource is not planned under its name, where nothing else was said. Args: homes: namespaces of add-ons."""
    kind, text, is_left = resource.kind, _REASONS.get(resource.kind, ""), True
    if kind == "Namespace" and resource.name in homes:
        text = "an add-on lies in it or installs into it, and Tenantry takes it as it is"
    elif _is_bootstraps(resource):
        text = "it is the source of Flux's own bootstrap"
    elif kind == "Namespace":
        is_left = False
    elif not text and resource.paths:
        text, is_left = "Tenantry plans it under another name", False
    elif not text and resource.is_fluxs:
        text, is_left = f"nothing in tenants.yaml stands for this {kind}", False
    fix = "keep it as long as something uses it"
    resource.leave(text or f"tenants.yaml declares no {kind}: apps apply it, or charts", fix, is_left=is_left)


class _Roomy(Style):
    """Environments, clusters and tenants have lines of their own; what is small in them stands on one line."""

    def flows(self, path: Path, value: Any) -> bool:
        is_roomy = len(path) < 2 or (len(path) == 2 and path[0] in ("environments", "clusters", "tenants"))
        return not is_roomy and super().flows(path, value)


_STYLE = _Roomy()


def header(sources: Iterable[str]) -> list[str]:
    """The comment at the top of the file."""
    return ["Written by `tenantry import` from:", *(f"  {source}" for source in sources)]


def text_of(data: Mapping[str, Any], head: Iterable[str] = ()) -> str:
    """The text. head: a comment at the top."""
    lines = ["# yaml-language-server: $schema=tenants.schema.json", *(f"# {printable(line)}" for line in head)]
    for key, value in data.items():
        lines += [*([] if isinstance(value, str) else [""]), *entry((key,), value, _STYLE, 0)]
    return "\n".join(lines) + "\n"
