"""What an app waits for: apps of its tenant, and add-ons of its cluster as `platform/<add-on>`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import EffectiveApp
from tenantry.kube.names import addon_named
from tenantry.messages.errors import Finding, Findings
from tenantry.plan.objects.scope import Scope


def missing_dependencies(fleet: Fleet, scope: Scope, app: EffectiveApp, there: Collection[str]) -> Iterator[Finding]:
    """Flux would wait for ever for what is not on the cluster. What is not declared at all is for `rules`.

    Args: there: the apps and add-ons that can be waited for, as `dependsOn` names them.
    """
    for index, name in enumerate(app.depends_on):
        if name not in there and _is_declared(fleet, scope, name):
            elsewhere = _addons_elsewhere(fleet, scope) if addon_named(name) else None
            message = f"app '{app.name}' runs on cluster '{scope.cluster}', but '{name}', which it depends on, does not"
            fix = f"place '{name}' there too, or set another 'dependsOn' under 'overrides.clusters.{scope.cluster}'"
            if elsewhere:
                message = f"app '{app.name}' cannot wait for '{name}': {elsewhere}"
                fix = f"set another 'dependsOn' under 'overrides.environments.{scope.environment}'"
            yield Finding(app.origin("dependsOn", index), "dependency-not-placed", message, fix=fix)


def _is_declared(fleet: Fleet, scope: Scope, name: str) -> bool:
    addons = fleet.document.platform.addons
    if not scope.tenant:
        return name in addons
    addon = addon_named(name)
    return name in fleet.document.tenants[scope.tenant].apps if addon is None else addon in addons


def _addons_elsewhere(fleet: Fleet, scope: Scope) -> str | None:
    """Why no add-on of the cluster has its object on this environment's management cluster; None: they have."""
    owner = fleet.addons_owner(scope.cluster)
    management = fleet.environments[owner].management
    if management == fleet.environments[scope.environment].management:
        return None
    return f"environment '{owner}' has the add-ons of cluster '{scope.cluster}', on management cluster '{management}'"


def in_order(apps: Mapping[str, EffectiveApp], findings: Findings) -> list[EffectiveApp]:
    """Dependencies first, otherwise in the order given; a cycle is reported once. No recursion: chains may be long."""
    ordered: dict[str, EffectiveApp] = {}
    trail: list[str] = []  # apps whose dependencies are being placed, each the reason for the next
    pending = [iter(apps)]
    while pending:
        name = next(pending[-1], None)
        if name is None:
            pending.pop()
            if trail:
                ordered[trail[-1]] = apps[trail[-1]]
                trail.pop()
        elif name in trail:
            findings.append(_cycle(apps, trail[trail.index(name) :]))
        elif name in apps and name not in ordered:
            trail.append(name)
            # An app that names itself is for `rules`.
            pending.append(iter([other for other in apps[name].depends_on if other != name]))
    return list(ordered.values())


def _cycle(apps: Mapping[str, EffectiveApp], circle: list[str]) -> Finding:
    # Report at the first app of the alphabet, so that the same cycle found from elsewhere is the same finding.
    start = circle.index(min(circle))
    chain = [*circle[start:], *circle[:start]]
    return Finding(
        apps[chain[0]].origin("dependsOn"),
        "dependency-cycle",
        f"apps depend on each other: {' -> '.join([*chain, chain[0]])}",
        fix="remove one of the dependencies",
    )
