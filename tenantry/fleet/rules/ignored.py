"""Rules about settings of apps that Flux ignores beside others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.placement import placements_of
from tenantry.fleet.rules import walk
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Finding, Path
from tenantry.messages.findings import doubtful

_RETRIES = "RetryOnFailure"


def remediations_are_not_ignored(fleet: Fleet) -> Iterator[Finding]:
    for action in ("install", "upgrade"):
        at = ("helm", action, "remediation")

        def ignored(app: dict[str, Any], action: str = action) -> bool:
            written = mapping_at(app, "helm", action)
            return "remediation" in written and mapping_at(written, "strategy").get("name") == _RETRIES

        for path in _where(fleet, ("helm", action, "strategy"), at, ignored):
            yield doubtful(
                path,
                "ignored-by-flux",
                f"Flux ignores 'remediation' of an {action} whose strategy is '{_RETRIES}'",
                fix="remove it ('null' in an override), or write 'strategy: {name: RemediateOnFailure}'",
                at_key=True,
            )


def health_checks_are_not_ignored(fleet: Fleet) -> Iterator[Finding]:
    at = ("kustomize", "healthChecks")

    def ignored(app: dict[str, Any]) -> bool:
        block = mapping_at(app, "kustomize")
        return bool(block.get("healthChecks")) and block.get("wait") is True

    for path in _where(fleet, ("kustomize", "wait"), at, ignored):
        yield doubtful(
            path,
            "ignored-by-flux",
            "Flux ignores 'healthChecks' where 'wait' is true: it waits for everything that is applied, and for nothing else",
            fix="remove it ('null' in an override), or write 'wait: false'",
            at_key=True,
        )


def _where(
    fleet: Fleet, cause: tuple[str, ...], at: tuple[str, ...], ignored: Callable[[dict[str, Any]], bool]
) -> Iterator[Path]:
    """Where the value at a path of an app stands that is ignored on any of its clusters; `cause`: the path of what does that."""
    for app, _, _, _ in walk.apps(fleet):
        if not any(_says(fleet, path, cause) for path, _ in walk.blocks(fleet, app)):
            continue
        views = {
            _paths(layers): layers for layers in (app_layers(fleet, app, *each) for each in placements_of(fleet, app))
        }
        yield from dict.fromkeys(origin(layers, at) for layers in views.values() if ignored(merge(layers)))


def _says(fleet: Fleet, block: Path, path: tuple[str, ...]) -> bool:
    """Whether the block says something at a path of the app."""
    return block[-1] == path[0] and path[-1] in fleet.raw(*block, *path[1:-1])


def _paths(layers: tuple[Layer, ...]) -> tuple[Path, ...]:
    return tuple(layer.path for layer in layers)
