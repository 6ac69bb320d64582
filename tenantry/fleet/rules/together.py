"""Rules about what is right by itself and does not go together: settings of an app of which Flux ignores one, or which it cannot
carry out; one content twice; chains of apps for which a run waits too long.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from operator import itemgetter
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers
from tenantry.fleet.blocks import shared_blocks
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge, origin
from tenantry.fleet.placement import distinct_layers, placements_of
from tenantry.fleet.settings import TenantSettings
from tenantry.kube.names import addon_named
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import listed
from tenantry.model.durations import seconds_of

_CAUSES = frozenset({"healthChecks", "install", "patches", "upgrade"})
"""Keys of blocks without one of which nothing here is wrong."""
_RETRIES = "RetryOnFailure"
_PATCHES = ("kustomize", "patches")
_VARIABLE = re.compile(r"(?<!\$)\$\{([_A-Za-z]\w*)\}")
_LEFT_ALONE = "kustomize.toolkit.fluxcd.io/substitute"
"""The label or annotation of objects in which Flux substitutes nothing."""


def settings_of_apps_go_together(fleet: Fleet) -> Iterator[Problem]:
    of_all = any(_CAUSES & block.keys() for _, _, block in shared_blocks(fleet.source.data))
    for app, _, _, _ in walk.apps(fleet):
        possible = of_all or any(_CAUSES & block.keys() for _, block in walk.blocks(fleet, app))
        for layers in distinct_layers(fleet, app) if possible else ():
            for path, code, message, fix in _combinations(merge(layers)):
                yield doubtful(origin(layers, path), code, message, fix=fix, at_key=True)


def _combinations(app: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], str, str, str]]:
    """What is wrong with an app as it is on a cluster: the path of the setting, the code, the message and the fix.

    Fixes take `null` for an override, which cannot remove what it does not have.
    """
    block = mapping_at(app, "kustomize")
    if block.get("healthChecks") and block.get("wait") is True:
        message = "Flux ignores 'healthChecks' where 'wait' is true: it waits for everything that is applied, and for nothing else"
        fix = "remove it ('null' in an override), or write 'wait: false'"
        yield ("kustomize", "healthChecks"), "ignored-by-flux", message, fix
    for action in ("install", "upgrade"):
        written = mapping_at(app, "helm", action)
        if "remediation" in written and mapping_at(written, "strategy").get("name") == _RETRIES:
            message = f"Flux ignores 'remediation' of an {action} whose strategy is '{_RETRIES}'"
            fix = "remove it ('null' in an override), or write 'strategy: {name: RemediateOnFailure}'"
            yield ("helm", action, "remediation"), "ignored-by-flux", message, fix
    # Flux substitutes variables in what its own patches add, too, and fails where one is not set and has no default.
    after = mapping_at(block, "postBuild")
    text = "\n".join(str(mapping_at(entry, "patch") or entry) for entry in mappings_in(value_at(app, _PATCHES)))
    unset = dict.fromkeys(name for name in _VARIABLE.findall(text) if name not in mapping_at(after, "substitute"))
    substitutes = bool(after.get("substitute")) or after.get("substituteStrategy") == "Always"
    if unset and substitutes and "substituteFrom" not in after and _LEFT_ALONE not in text:
        message = f"'postBuild' does not set what the patches name ({listed(unset)}), and Flux fails then"
        fix = "set it in 'substitute:', or write '${NAME:=DEFAULT}', or '$${NAME}' for a text that stays"
        yield _PATCHES, "unset-variable", message, fix


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
