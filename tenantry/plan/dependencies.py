"""The dependencies of an app: apps of its tenant, and add-ons of its cluster as `platform/<add-on>`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tenantry.fleet.apps import EffectiveApp
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import addon_environment
from tenantry.fleet.settings import TenantSettings, setting_origin
from tenantry.fleet.templates import is_shared
from tenantry.kube.names import addon_named
from tenantry.messages.errors import Path, Problem, Problems
from tenantry.plan.objects.apps import KINDS, Dependency
from tenantry.plan.objects.scope import Scope

_NOT_PLACED = "dependency-not-placed"


def missing_dependencies(
    fleet: Fleet, scope: Scope, app: EffectiveApp, known: Mapping[str, Dependency]
) -> Iterator[Problem]:
    """Dependencies that would be waited for in vain, because they do not run on the cluster, or another stack plans them.

    Rules report dependencies that are not declared.
    Args: known: the apps and add-ons that can be waited for, as `dependsOn` names them.
    """
    other = "set another 'dependsOn' in an override"
    own = fleet.document.tenants[scope.tenant].apps if scope.tenant else {}
    for index, name in enumerate(app.depends_on):
        at, addon = app.origin("dependsOn", index), addon_named(name) if scope.tenant else name
        if name not in known and (name in own or addon in fleet.document.platform.addons):
            yield _not_placed(fleet, scope, f"app '{app.name}'", name, at, other)
        elif name in known and not known[name].planned and known[name].id.kind != KINDS[app.kind]:
            what = f"app '{app.name}' ({app.kind}) cannot wait for '{name}', which is of the other kind"
            yield _of_another_stack(fleet, scope, str(addon), what, at, f"make both of one kind, or {other}")


def placement_after(
    fleet: Fleet, scope: Scope, settings: TenantSettings, addons: Mapping[str, Dependency], findings: Problems
) -> Iterator[Dependency]:
    """The add-ons that a placement waits for; a finding for each that it cannot wait for.

    A rule reports those that are not declared.
    """
    for index, name in enumerate(settings.dependsOn):
        at = setting_origin(fleet, scope.tenant, scope.environment, scope.cluster, "dependsOn", index)
        waiting = "tenants" if is_shared(at) else f"tenant '{scope.tenant}'"
        if dependency := addons.get(name):
            if dependency.planned or (scope.kubeconfig and dependency.id.kind == KINDS["helm"]):
                yield dependency
            else:
                what = f"{waiting} cannot wait for '{name}' on cluster '{scope.cluster}'"
                fix = f"remove '{name}' from 'dependsOn'"
                findings.append(_of_another_stack(fleet, scope, str(addon_named(name)), what, at, fix))
        elif addon_named(name) in fleet.document.platform.addons:
            findings.append(_not_placed(fleet, scope, waiting, name, at, f"remove '{name}' from 'dependsOn'"))


def _not_placed(fleet: Fleet, scope: Scope, who: str, name: str, at: Path, fix: str) -> Problem:
    """Something waits for what has no object on this environment's management cluster for its cluster."""
    addon = addon_named(name) if scope.tenant else None
    owner = addon_environment(fleet, addon, scope.cluster) if addon else None
    if owner and (hub := fleet.environments[owner].management) != fleet.environments[scope.environment].management:
        why = f"environment '{owner}' has the add-ons of cluster '{scope.cluster}', on management cluster '{hub}'"
        return Problem(at, _NOT_PLACED, f"{who} cannot wait for '{name}': {why}", fix=fix)
    message = f"{who} cannot wait for '{name}', which does not run on the same clusters"
    return Problem(at, _NOT_PLACED, message, (f"missing on: {scope.cluster}",), f"place '{name}' there too, or {fix}")


def _of_another_stack(fleet: Fleet, scope: Scope, addon: str, what: str, at: Path, fix: str) -> Problem:
    """what: who cannot wait for which add-on."""
    owner = addon_environment(fleet, addon, scope.cluster)
    message = f"{what}: environment '{owner}' has it, and Pulumi waits within one stack only"
    return Problem(at, "dependency-of-other-stack", message, fix=fix)


def in_order(apps: Mapping[str, EffectiveApp], findings: Problems) -> list[EffectiveApp]:
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
            # Report at the first app of the alphabet, so that the same cycle found from elsewhere is the same finding.
            circle = trail[trail.index(name) :]
            start = circle.index(min(circle))
            chain = [*circle[start:], *circle[: start + 1]]
            first = apps[chain[0]]
            index = [first.depends_on.index(chain[0])] if len(circle) == 1 else []  # of an app that names itself
            findings.append(circle_of(chain, first.origin("dependsOn", *index)))
        elif name in apps and name not in ordered:
            trail.append(name)
            pending.append(iter(apps[name].depends_on))
    return list(ordered.values())


def circle_of(chain: Sequence[str], at: Path) -> Problem:
    """Apps of which each waits for the next. chain: the first one comes again at the end."""
    message = f"apps depend on each other: {' -> '.join(chain)}"
    return Problem(at, "dependency-cycle", message, fix="remove one of the dependencies")
