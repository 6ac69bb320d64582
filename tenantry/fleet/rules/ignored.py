"""Rules about what an app says and Flux ignores, or cannot carry out, because of something else that the app says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.blocks import shared_blocks
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge, origin
from tenantry.fleet.placement import distinct_layers
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import listed

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
