"""Rules about apps and add-ons with their sources and dependencies, and about what overrides and templates may say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from operator import itemgetter

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers
from tenantry.fleet.blocks import written_of
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import CLUSTERS, TENANTS
from tenantry.fleet.merge import merge
from tenantry.fleet.names import format_part
from tenantry.fleet.placement import matches, placements_of, placements_of_tenant
from tenantry.fleet.settings import TenantSettings
from tenantry.fleet.templates import DEFAULTS, is_shared
from tenantry.messages.data import ABSENT, leaves, mapping_at, value_at, without
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import declared
from tenantry.model import App, ObjectsChart, Source, When
from tenantry.model.durations import seconds_of
from tenantry.model.selector import any_of


def kustomize_apps_take_no_helm_repositories(fleet: Fleet) -> Iterator[Problem]:
    fix = "name a source of another kind, or use 'helm:'"
    for at, app in walk.apps(fleet):
        for path, block in walk.blocks(fleet, at):
            source = walk.owner_of(fleet, at).sources.get(str(block.get("source")))
            if path[-1] == "kustomize" and source and source.helm:
                message = f"app '{at[-1]}' is a 'kustomize:' app, but source '{block['source']}' is a Helm repository"
                yield Problem((*path, "source"), "wrong-source", message, fix=fix)
        if app.kustomize and app.source and app.source.helm:
            message = f"add-on '{at[-1]}' is a 'kustomize:' app, but its source is a Helm repository"
            yield Problem((*at, "source"), "wrong-source", message, fix=fix)


def addons_have_one_source(fleet: Fleet) -> Iterator[Problem]:
    for addon, declared_addon in fleet.document.platform.addons.items():
        at = ("platform", "addons", addon)
        named = [path for path, block in walk.blocks(fleet, at) if "source" in block]
        if declared_addon.source is None and not named:
            block = f"{declared_addon.kind}: {{source: NAME}}"
            message = f"add-on '{addon}' has no source"
            fix = f"write '{block}' with a name of 'platform.sources', or a 'source:' of its own"
            yield Problem(at, "missing-key", message, fix=fix, at_key=True)
        for path in named if declared_addon.source else ():
            message = f"add-on '{addon}' names a source, and has one of its own"
            yield Problem((*path, "source"), "bad-combination", message, fix="remove one of them", at_key=True)


def sources_and_addons_have_other_names(fleet: Fleet) -> Iterator[Problem]:
    """Commands name both."""
    addons = fleet.names("platform", "addons")
    for name in fleet.raw("platform", "sources"):
        if name in addons:
            message = f"source '{name}' of the platform has the name of an add-on"
            yield Problem(
                ("platform", "sources", name), "duplicate-name", message, fix="rename one of them", at_key=True
            )


_ANOTHER = {
    App: "declare a second app with its own clusters",
    Source: "declare a second source, and let apps name it in an override",
    ObjectsChart: "write the chart of each environment in an override, and none beside 'overrides'",
}


def overrides_keep_kinds(fleet: Fleet) -> Iterator[Problem]:
    """Of apps, of sources and of the platform's chart."""
    charts = walk.declared(fleet, ObjectsChart)
    for at, entry in (*walk.apps(fleet), *walk.declared(fleet, Source), *charts):
        kind = next(kind for kind in entry.one_of if getattr(entry, kind) is not None)
        for path in written_of(fleet.source.data, at):
            changed = [other for other in entry.one_of if other != kind and fleet.raw(*path).get(other) is not None]
            for other in changed if path != at else ():
                message = f"{format_part(at)} is '{kind}:', and an override cannot change that to '{other}:'"
                yield Problem((*path, other), "changed-kind", message, fix=_ANOTHER[type(entry)], at_key=True)


_OF_CONTENT = ("source", "targetNamespace", "namePrefix", "nameSuffix", "components", "patches", "postBuild")


def apps_without_a_path_are_alone(fleet: Fleet) -> Iterator[Problem]:
    """Two that take the root of one source are as two with the same path, which the plan refuses. That root may still be empty."""
    owners: dict[Path, list[tuple[str, ...]]] = {}
    for at, _ in walk.apps(fleet):
        blocks = [block for path, block in walk.blocks(fleet, at) if path[-1] == "kustomize"]
        if blocks and not any("path" in block for block in blocks):
            owners.setdefault(at[:-1], []).append(at)
    for apps in owners.values():
        first: dict[tuple[str, str], tuple[str, ...]] = {}
        for at in apps if apps[1:] else ():
            same = next((placed for placed in _of_one_content(fleet, at, first) if placed != at), None)
            if same:
                both = f"{format_part(at)} and {format_part(same)}"
                message = (
                    f"{both} have no 'path', and both would install all of one source: when one of them goes, Flux removes"
                    " what the other one has"
                )
                fix = f"write 'path: ./{at[-1]}' in 'kustomize:', or the directory that it is to install"
                yield doubtful(at, "installed-twice", message, fix=fix, at_key=True)


def _of_one_content(
    fleet: Fleet, at: tuple[str, ...], first: dict[tuple[str, str], tuple[str, ...]]
) -> Iterator[tuple[str, ...]]:
    """For each placement of an app, the first one that installs the same there."""
    for environment, cluster in placements_of(fleet, at):
        block = mapping_at(merge(app_layers(fleet, at, environment, cluster)), "kustomize")
        own = () if block.get("source") else at  # an add-on has a source of its own
        content = [*(block.get(key) for key in _OF_CONTENT), fleet.raw(*at).get("namespace"), own]
        yield first.setdefault((cluster, repr(content)), at)


_LONGEST = 24 * 3600


def chains_of_apps_end_in_a_day(fleet: Fleet) -> Iterator[Problem]:
    """A run waits for each app before those that depend on it, so the timeouts of a chain add up."""
    owners: dict[tuple[str, ...], dict[str, set[str]]] = {}
    for at, _ in walk.apps(fleet):
        named = (fleet.raw(*path).get("dependsOn") or () for path in written_of(fleet.source.data, at))
        owners.setdefault(at[:-1], {})[at[-1]] = {name for names in named for name in names}
    for section, after in owners.items():
        ends: dict[str, tuple[float, int]] = {}
        # What overrides say of several clusters may be a circle that no cluster has.
        with suppress(CycleError):
            beside = {name: before & after.keys() for name, before in after.items()}
            for name in TopologicalSorter(beside).static_order() if any(beside.values()) else ():
                seconds, apps = max((ends[name_before] for name_before in beside[name]), default=(0.0, 0))
                # The longest that is written for the app, or its owner's.
                at = (*section, name)
                owner = fleet.valid(*at[:2]) if at[0] == "tenants" else fleet.valid("defaults")
                written = [block["timeout"] for _, block in walk.blocks(fleet, at) if "timeout" in block]
                written = written or [owner.get("timeout", TenantSettings().timeout)]
                ends[name] = seconds + max(seconds_of(str(timeout)) for timeout in written), apps + 1
        if ends and (longest := max(ends.items(), key=itemgetter(1)))[1][0] > _LONGEST:
            name, (seconds, apps) = longest
            message = (
                f"'{name}' is the last of {apps} apps that run one after the other, and their timeouts add up to"
                f" {seconds / 3600:.0f} hours: so long can a run last"
            )
            fix = "write shorter timeouts, or let fewer apps depend on each other"
            yield doubtful((*section, name), "long-chain", message, fix=fix, at_key=True)


def overrides_hold_somewhere(fleet: Fleet) -> Iterator[Problem]:
    for path, when in walk.every(fleet, When):
        if not when.clusters or (path[0] == "tenants" and is_shared(fleet.source.origin(path))):
            continue
        if not any(matches(when.clusters, *cluster) for cluster in fleet.clusters.items()):
            known = {f"{key}={value}" for cluster in fleet.clusters.values() for key, value in cluster.labels.items()}
            wanted = (f"{key}={value}" for key, of in (when.clusters.labels or {}).items() for value in any_of(of))
            missing = next((label for label in wanted if label not in known), None)
            notes = (declared("labels of clusters", missing, known),) if missing else ()
            message, fix = "no cluster is selected, so this override never applies", "remove it, or correct 'when'"
            yield doubtful(path, "never-applies", message, notes, fix=fix, at_key=True)


def overrides_of_defaults_outweigh_nobody(fleet: Fleet) -> Iterator[Problem]:
    """An override of `defaults` comes after the keys of every tenant. Who writes a tenant may not know of it."""
    if not fleet.document.defaults.overrides:
        return
    for tenant, entry in fleet.document.tenants.items():
        at, placements = ("tenants", tenant), placements_of_tenant(fleet, tenant)
        over: list[Path] = [(*at, "overrides", index) for index in range(len(entry.overrides))]
        own = {path[-1] for path in over if fleet.source.origin(path)[:1] != (DEFAULTS,)}
        for path, override in zip(over, entry.overrides, strict=True):
            holds = any(
                override.when.holds(fleet.lineage(environment), on, fleet.clusters[on].labels)
                for environment, on in placements
            )
            if path[-1] in own or not holds:
                continue
            for below, value in leaves(without(fleet.raw(*path), [("when",)])):
                own_value = value_at(fleet.source.data, (*at, *below), ABSENT)
                again = any(fleet.source.has((*at, "overrides", index, *below)) for index in own)
                if (
                    own_value in (ABSENT, value)
                    or value == {}
                    or again
                    or is_shared(fleet.source.origin((*at, *below)))
                ):
                    continue
                place, where = (*path, *below), override.when.description
                yield doubtful(
                    (*at, *below),
                    "outweighed",
                    f"an override of 'defaults' outweighs this '{below[-1]}' of tenant '{tenant}': {where}",
                    (f"override: {fleet.source.line_of(place)}",),
                    fix="if it is meant for there too, write it in an override of the tenant",
                    at_key=True,
                )


def templates_remove_nothing(fleet: Fleet) -> Iterator[Problem]:
    """One line would off-board, or adopt objects for, everything that is from the template."""
    templates = [((*kind.templates, name), kind) for kind in (TENANTS, CLUSTERS) for name in fleet.raw(*kind.templates)]
    for at, kind in [((DEFAULTS,), TENANTS), *templates]:
        written, fix = fleet.raw(*at), f"write it in each {kind.word}"
        why = f"does not stand in {format_part(at)}: it would concern every {kind.word} that is from it"
        if written.get("state") not in (None, "active", "paused"):
            yield Problem((*at, "state"), "for-one-entry", f"'state: {written['state']}' {why}", fix=fix)
        if kind is TENANTS and "adopt" in written:
            yield Problem((*at, "adopt"), "for-one-entry", f"'adopt' {why}", fix=fix, at_key=True)
        for path in written_of(fleet.source.data, at) if kind is TENANTS else ():
            if path != at and "state" in fleet.raw(*path):
                yield Problem((*path, "state"), "state-of-template", f"'state' {why}", fix=fix, at_key=True)
