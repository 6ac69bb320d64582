"""Rules about what is right by itself and does not fit together: times, a quota without defaults for containers, one content twice,
and chains of apps for which a run waits too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from operator import itemgetter

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge
from tenantry.fleet.placement import placements_of
from tenantry.fleet.settings import (
    TenantSettings,
)
from tenantry.kube.names import addon_named
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.model.durations import seconds_of

_OF_CONTENT = ("source", "targetNamespace", "namePrefix", "nameSuffix", "components", "patches", "postBuild")


def apps_without_a_path_are_alone(fleet: Fleet) -> Iterator[Problem]:
    """Two that take the root of one source are as two with the same path, which the plan refuses. That root may still be empty."""
    owners: dict[Path, list[tuple[str, ...]]] = {}
    for at, *_ in walk.apps(fleet):
        blocks = [block for path, block in walk.blocks(fleet, at) if path[-1] == "kustomize"]
        if blocks and not any("path" in block for block in blocks):
            owners.setdefault(at[:-1], []).append(at)
    for apps in owners.values():
        first: dict[tuple[str, str], tuple[str, ...]] = {}
        for at in apps if apps[1:] else ():
            same = next((placed for placed in _of_one_content(fleet, at, first) if placed != at), None)
            if same:
                both = f"{walk.format_app(at)} and {walk.format_app(same)}"
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
    for at, siblings, name, app in walk.apps(fleet):
        named = (name_of_app for _, names in walk.dependencies(fleet, at, app) for name_of_app in names)
        plain = (
            addon_named(name_of_app) or name_of_app if at[0] == "platform" else name_of_app for name_of_app in named
        )
        owners.setdefault(at[:-1], {})[name] = {name_of_app for name_of_app in plain if name_of_app in siblings}
    for section, after in owners.items():
        ends: dict[str, tuple[float, int]] = {}
        # What overrides say of several clusters may be a circle that no cluster has.
        with suppress(CycleError):
            for name in TopologicalSorter(after).static_order() if any(after.values()) else ():
                seconds, apps = max((ends[name_before] for name_before in after[name]), default=(0.0, 0))
                ends[name] = seconds + _timeout(fleet, (*section, name)), apps + 1
        if ends and (longest := max(ends.items(), key=itemgetter(1)))[1][0] > _LONGEST:
            name, (seconds, apps) = longest
            message = (
                f"'{name}' is the last of {apps} apps that run one after the other, and their timeouts add up to"
                f" {seconds / 3600:.0f} hours: so long can a run last"
            )
            fix = "write shorter timeouts, or let fewer apps depend on each other"
            yield doubtful((*section, name), "long-chain", message, fix=fix, at_key=True)


def _timeout(fleet: Fleet, at: tuple[str, ...]) -> float:
    """The longest timeout that is written for an app, or its owner's."""
    owner = fleet.valid(*at[:2]) if at[0] == "tenants" else fleet.valid("defaults")
    written = [block["timeout"] for _, block in walk.blocks(fleet, at) if "timeout" in block]
    return max(seconds_of(str(timeout)) for timeout in written or [owner.get("timeout", TenantSettings().timeout)])
