"""Rules about what an app says and Flux passes over, or cannot carry out, because of something else that the app says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from tenantry.fleet import walk
from tenantry.fleet.blocks import shared_blocks
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import merge, origin
from tenantry.fleet.placement import distinct_layers
from tenantry.messages.data import mapping_at, mappings_in, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import listed

_App: TypeAlias = dict[str, Any]


class _Combination(NamedTuple):
    """Two settings of an app that do not go together.

    cause: the path of the one without which nothing is wrong. at: the path of the one that is reported. message: of an app, as
    it is on a cluster; "" if it is well. Fixes take `null` for an override, which cannot remove what it does not have.
    """

    cause: tuple[str, ...]
    at: tuple[str, ...]
    message: Callable[[_App], str]
    fix: str
    code: str = "ignored-by-flux"


def settings_of_apps_go_together(fleet: Fleet) -> Iterator[Problem]:
    of_all = [path for path, _, _ in shared_blocks(fleet.source.data)]
    for app, _, _, _ in walk.apps(fleet):
        blocks = [*of_all, *(path for path, _ in walk.blocks(fleet, app))]
        possible = [each for each in _COMBINATIONS if any(_sets(fleet, block, each.cause) for block in blocks)]
        for layers in distinct_layers(fleet, app) if possible else ():
            merged = merge(layers)
            for combination in possible:
                if message := combination.message(merged):
                    place = origin(layers, combination.at)
                    yield doubtful(place, combination.code, message, fix=combination.fix, at_key=True)


def _sets(fleet: Fleet, block: Path, path: tuple[str, ...]) -> bool:
    """Whether the block says something at a path of the app."""
    return block[-1] == path[0] and path[-1] in fleet.raw(*block, *path[1:-1])


_RETRIES = "RetryOnFailure"
_PATCHES = ("kustomize", "patches")
_VARIABLE = re.compile(r"(?<!\$)\$\{([_A-Za-z]\w*)\}")
_LEFT_ALONE = "kustomize.toolkit.fluxcd.io/substitute"
"""The label or annotation of objects in which Flux substitutes nothing."""


def _remediation_beside_retries(action: str) -> Callable[[_App], str]:
    def message(app: _App) -> str:
        written = mapping_at(app, "helm", action)
        if "remediation" in written and mapping_at(written, "strategy").get("name") == _RETRIES:
            return f"Flux ignores 'remediation' of an {action} whose strategy is '{_RETRIES}'"
        return ""

    return message


def _health_checks_beside_wait(app: _App) -> str:
    block = mapping_at(app, "kustomize")
    if block.get("healthChecks") and block.get("wait") is True:
        return "Flux ignores 'healthChecks' where 'wait' is true: it waits for everything that is applied, and for nothing else"
    return ""


def _exceptions_of_no_drift(app: _App) -> str:
    drift = mapping_at(app, "helm", "driftDetection")
    if drift.get("ignore") and drift.get("mode") == "disabled":
        return "Flux ignores 'ignore' of 'driftDetection' where its mode is 'disabled': it looks for no drift"
    return ""


def _unset_variables_of_patches(app: _App) -> str:
    """Flux substitutes variables in what its own patches add, too, and fails where one is not set and has no default."""
    after = mapping_at(app, "kustomize", "postBuild")
    text = "\n".join(str(mapping_at(entry, "patch") or entry) for entry in mappings_in(value_at(app, _PATCHES)))
    unset = dict.fromkeys(name for name in _VARIABLE.findall(text) if name not in mapping_at(after, "substitute"))
    substitutes = bool(after.get("substitute")) or after.get("substituteStrategy") == "Always"
    if unset and substitutes and "substituteFrom" not in after and _LEFT_ALONE not in text:
        return f"'postBuild' does not set what the patches name ({listed(unset)}), and Flux fails then"
    return ""


def _rollback_that_nothing_asks_for(at: tuple[str, ...]) -> Callable[[_App], str]:
    """Helm's rollback is what remediation does, which needs retries or `remediateLastFailure`."""

    def message(app: _App) -> str:
        upgrade = mapping_at(app, "helm", "upgrade")
        remediation = mapping_at(upgrade, "remediation")
        asked = remediation.get("retries") or remediation.get("remediateLastFailure")
        is_reported = "remediation" in upgrade and mapping_at(upgrade, "strategy").get("name") == _RETRIES
        if at[-1] in mapping_at(app, *at[:-1]) and not (asked or is_reported):
            return f"Flux ignores '{at[-1]}': it remedies a failed upgrade where 'retries' or 'remediateLastFailure' says so"
        return ""

    return message


_ROLLBACKS = (("helm", "rollback"), ("helm", "upgrade", "remediation", "strategy"))
_COMBINATIONS = (
    *(
        _Combination(
            ("helm", action, "strategy"),
            ("helm", action, "remediation"),
            _remediation_beside_retries(action),
            "remove it ('null' in an override), or write 'strategy: {name: RemediateOnFailure}'",
        )
        for action in ("install", "upgrade")
    ),
    _Combination(
        ("kustomize", "wait"),
        ("kustomize", "healthChecks"),
        _health_checks_beside_wait,
        "remove it ('null' in an override), or write 'wait: false'",
    ),
    _Combination(
        ("helm", "driftDetection", "mode"),
        ("helm", "driftDetection", "ignore"),
        _exceptions_of_no_drift,
        "remove it ('null' in an override), or write 'mode: enabled' or 'mode: warn'",
    ),
    *(
        _Combination(
            at,
            at,
            _rollback_that_nothing_asks_for(at),
            "write 'upgrade: {remediation: {retries: 3}}' in 'helm:', or remove it",
        )
        for at in _ROLLBACKS
    ),
    _Combination(
        _PATCHES,
        _PATCHES,
        _unset_variables_of_patches,
        "set it in 'substitute:', or write '${NAME:=DEFAULT}', or '$${NAME}' for a text that stays",
        "unset-variable",
    ),
)
