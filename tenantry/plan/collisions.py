"""Compares plans of several environments: what two of them would create belongs to neither stack.

Namespaces are compared by their names, whatever template gives them, across all environments that share a management cluster
or any other cluster.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import main_namespace, namespace_template
from tenantry.messages.errors import Path, Problem
from tenantry.plan.namespaces import owned_namespaces
from tenantry.plan.plan import Plan


class _Claim(NamedTuple):
    """What an environment takes for itself: a key, words for it, and its place in the document."""

    key: Hashable
    what: str
    at: Path


def collisions(fleet: Fleet, plans: Iterable[Plan]) -> Iterator[Problem]:
    """What environments claim that another claims too.

    One finding for each tenant, cluster or add-ons, and one for a template that gives tenants the same names in both, as more would
    follow.
    """
    every = tuple(plans)
    reported: set[tuple[Path, str, str]] = set()
    first: dict[Hashable, tuple[str, Path]] = {}
    for plan in every if len(every) > 1 else ():
        for claim, what, origin in _claims(fleet, plan):
            owner, place = first.setdefault(claim, (plan.environment, origin))
            if owner == plan.environment:
                continue
            at, fix = _place(fleet, owner, plan.environment, place, origin)
            keys = {(path, owner, plan.environment) for path in (at, origin[:2])}
            if reported.isdisjoint(keys):
                message = f"environments '{owner}' and '{plan.environment}' would both create {what}"
                yield Problem(at, "planned-twice", message, (f"first: {fleet.source.line_of(place)}",), fix)
            reported |= keys


def _place(fleet: Fleet, owner: str, environment: str, place: Path, origin: Path) -> tuple[Path, str]:
    """Where two environments meet, and what to write there. place, origin: what each of them claims comes from."""
    if origin[2:3] == ("clusterObjects",):
        return origin, "set a 'metadata.name' with '{namespace}' or '{env}'"
    if origin[0] == "tenants":
        tenant = str(origin[1])
        template = namespace_template(fleet, environment, tenant)[1]
        names = {main_namespace(fleet, name, tenant) for name in (owner, environment)}
        if place[:2] == origin[:2] and len(names) == 1:
            fix = "put '{env}' into the 'namespace' of one of them, such as '{env}-{tenant}'"
            return template, "put '{env}' into it" if template[0] == "tenants" else fix
        if len(origin) == 2 and template[0] == "tenants":
            # The names of all that a tenant has as a whole contain the namespace.
            return template, "choose another name for one of them"
    return origin, "rename one of them, or change the 'namespace' of one environment"


def _claims(fleet: Fleet, plan: Plan) -> Iterator[_Claim]:
    for object in plan.objects:
        what = f"{object.id} on cluster '{plan.management}'"
        yield _Claim((plan.management, object.id), what, plan.origins[object.id])
    for placement in plan.placements:
        for name in placement.namespaces:
            what, at = f"namespace '{name}' on cluster '{placement.cluster}'", ("tenants", placement.tenant)
            yield _Claim(("on", placement.cluster, name), what, at)
            # The service accounts for remotes are named like namespaces.
            yield _Claim(("managed by", plan.management, name), what, at)
        for claim, written in placement.wide.items():
            yield _Claim(("wide", *claim), f"{claim[2]} {claim[3]} on cluster '{placement.cluster}'", written)
    for app in plan.apps:
        if app.release:
            cluster, namespace, name = app.release
            what = f"release '{name}' in namespace '{namespace}' on cluster '{cluster}'"
            yield _Claim(("release", *app.release), what, app.at)
        if app.installs and app.installs.deletes and app.installs.declared:
            yield _Claim(app.installs.key, f"{app.installs.what} on cluster '{app.cluster}'", app.at)
        for name in () if app.tenant else owned_namespaces(fleet, plan.environment, app.cluster, app.name):
            yield _Claim(("add-on", app.cluster, name), f"namespace '{name}' on cluster '{app.cluster}'", app.at)
