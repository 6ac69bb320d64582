"""Compares plans of several environments: what two of them would create belongs to neither stack.

Namespaces are compared by their names, whatever template gives them, across all environments that share a management cluster
or any other cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import namespace_template
from tenantry.messages.errors import Path, Problem
from tenantry.plan.addon_namespaces import owned_namespaces
from tenantry.plan.placements import PlannedPlacement
from tenantry.plan.plan import Plan


class _Claim(NamedTuple):
    """What an environment takes for itself: a key, words for it, and its place in the document."""

    key: Hashable
    what: str
    at: Path


def collisions(fleet: Fleet, plans: Iterable[Plan]) -> Iterator[Problem]:
    """What environments claim that another claims too; one finding for each tenant, cluster or add-ons, as more would follow."""
    every = tuple(plans)
    if len(every) < 2:
        return
    reported: set[tuple[Path, str, str]] = set()
    yield from _shared_templates(fleet, every, reported)
    first: dict[Hashable, tuple[str, Path]] = {}
    for plan in every:
        for claim, what, at in _claims(fleet, plan):
            owner, place = first.setdefault(claim, (plan.environment, at))
            key = (at[:2], owner, plan.environment)
            if owner != plan.environment and key not in reported:
                reported.add(key)
                yield Problem(
                    at,
                    "planned-twice",
                    f"environments '{owner}' and '{plan.environment}' would both create {what}",
                    (f"first: {fleet.source.line_of(place)}",),
                    fix=_fix(at),
                )


def _fix(at: Path) -> str:
    if at[2:3] == ("clusterObjects",):
        return "set a 'metadata.name' with '{namespace}' or '{env}'"
    if at[2:] == ("namespace",):
        return "choose another name for one of them"
    return "rename one of them, or change the 'namespace' of one environment"


def _claims(fleet: Fleet, plan: Plan) -> Iterator[_Claim]:
    for object in plan.objects:
        what = f"{object.id} on cluster '{plan.management}'"
        yield _Claim((plan.management, object.id), what, _place(fleet, plan.origins[object.id]))
    for app in plan.apps:
        if app.release:
            cluster, namespace, name = app.release
            what = f"release '{name}' in namespace '{namespace}' on cluster '{cluster}'"
            yield _Claim(("release", *app.release), what, app.at)
        if app.installs and app.installs.deletes and app.installs.declared:
            yield _Claim(app.installs.key, f"{app.installs.what} on cluster '{app.cluster}'", app.at)
        for name in () if app.tenant else owned_namespaces(fleet, plan.environment, app.cluster, app.name):
            yield _Claim(("add-on", app.cluster, name), f"namespace '{name}' on cluster '{app.cluster}'", app.at)
    for placement in plan.placements:
        at = _place(fleet, ("tenants", placement.tenant))
        for name in placement.namespaces:
            what = f"namespace '{name}' on cluster '{placement.cluster}'"
            yield from (_Claim(key, what, at) for key in _where(plan, placement.cluster, name))
        for claim, at in placement.wide.items():
            yield _Claim(("wide", *claim), f"{claim[2]} {claim[3]} on cluster '{placement.cluster}'", at)


def _place(fleet: Fleet, origin: Path) -> Path:
    """Of what a tenant as a whole has, where its own template stands: the names of it all contain the namespace."""
    own = len(origin) == 2 and origin[0] == "tenants" and fleet.document.tenants[str(origin[1])].namespace
    return (*origin, "namespace") if own else origin


def _where(plan: Plan, cluster: str, namespace: str) -> tuple[Hashable, Hashable]:
    """The cluster, and all clusters of one management cluster: the service accounts for remotes are named like namespaces."""
    return ("on", cluster, namespace), ("managed by", plan.management, namespace)


# --- templates that give all tenants the same names ------------------------------------------------------------------


def _shared_templates(fleet: Fleet, plans: Sequence[Plan], tenants: set[tuple[Path, str, str]]) -> Iterator[Problem]:
    """One finding for two environments whose templates give one tenant the same name, and so probably all of them; and one for
    each tenant with a template of its own.

    tenants: takes the tenants that are reported here, so that nothing more is reported of them.
    """
    first: dict[Hashable, tuple[Plan, PlannedPlacement]] = {}
    reported: set[tuple[str, str, Path]] = set()
    for plan in plans:
        for placement in plan.placements:
            for key in _where(plan, placement.cluster, placement.namespace):
                first_plan, first_placement = first.setdefault(key, (plan, placement))
                if first_plan is plan or first_placement.tenant != placement.tenant:
                    continue
                pair = (first_plan.environment, plan.environment)
                tenants.add((("tenants", placement.tenant), *pair))
                at = namespace_template(fleet, plan.environment, placement.tenant)[1]
                if (*pair, at) not in reported:
                    reported.add((*pair, at))
                    yield _shared_template(fleet, first_plan, plan, placement, at)


def _shared_template(fleet: Fleet, first: Plan, plan: Plan, placement: PlannedPlacement, template: Path) -> Problem:
    environments = f"environments '{first.environment}' and '{plan.environment}'"
    own = "put '{env}' into it" if template[0] == "tenants" else ""
    if plan.management == first.management:
        return Problem(
            template,
            "shared-management",
            f"{environments} share management cluster '{plan.management}', and both give tenant '{placement.tenant}'"
            f" namespace '{placement.namespace}'",
            fix=own or "put '{env}' into the 'namespace' of one of them, such as '{env}-{tenant}'",
        )
    listed = fleet.clusters[placement.cluster].environments
    return Problem(
        template if own else ("clusters", placement.cluster, "environments", listed.index(plan.environment)),
        "managed-twice",
        f"{environments} would both manage namespace '{placement.namespace}' of tenant '{placement.tenant}' on cluster"
        f" '{placement.cluster}'",
        fix=own or "put '{env}' into the 'namespace' of both environments, or remove the cluster from one environment",
    )
