"""Rules about the frames of tenants: what the main file decides about them and grants to their included files."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.templates import DEFAULTS
from tenantry.grants.grants import is_filled
from tenantry.grants.limits import refused_by_policy
from tenantry.grants.model import Grants
from tenantry.messages.errors import Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import declared
from tenantry.model import PlacedSettings

CLUSTER_ADMIN = "cluster-admin"


def grants_name_declared_environments(fleet: Fleet) -> Iterator[Problem]:
    for at, grants in _grants(fleet):
        for index, name in enumerate(grants.environments or ()):
            if name not in fleet.document.environments:
                yield Problem(
                    (*at, "environments", index),
                    "unknown-environment",
                    f"a grant names environment '{name}', which is not declared",
                    (declared("declared", name, fleet.names("environments")),),
                    fix="declare it under 'environments:', or correct the name",
                )


def intervals_pass_the_clusters_admission_policy(fleet: Fleet) -> Iterator[Problem]:
    """Those of tenants as a whole; the plan checks apps and sources."""
    for at, given in walk.settings(fleet):
        for key in ("interval", "retryInterval") if isinstance(given, PlacedSettings) else ():
            value = getattr(given, key)
            if value and not is_filled(fleet, (*at, key)):
                yield from refused_by_policy((*at, key), value)


def cluster_admin_is_allowed_by_a_word_of_its_own(fleet: Fleet) -> Iterator[Problem]:
    """Whoever reviews a tenant's entry sees the word, wherever the role comes from."""
    for tenant, own in fleet.document.tenants.items():
        if own.clusterAdmin:
            continue
        for path, role in walk.roles_of(fleet, tenant):
            if role == CLUSTER_ADMIN:
                yield Problem(
                    path,
                    "cluster-admin",
                    f"tenant '{tenant}' would get {CLUSTER_ADMIN} in its namespaces",
                    fix="choose another role, or set 'clusterAdmin: true' for the tenant",
                )


def grants_are_for_tenants_with_an_included_file(fleet: Fleet) -> Iterator[Problem]:
    for tenant, own in fleet.document.tenants.items():
        at = ("tenants", tenant, "grants")
        if own.grants and tenant not in fleet.source.fills and fleet.source.origin(at)[:1] != (DEFAULTS,):
            yield doubtful(
                at,
                "unused",
                f"no included file speaks of tenant '{tenant}', so its grants have no effect",
                fix=f"include a file: 'include: [tenants.d/{tenant}.yaml]', or remove them",
                at_key=True,
            )


def _grants(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Grants]]:
    """All grants as the main file writes them, each with its path."""
    yield from (((*at, "grants"), level.grants) for at, level in walk.levels(fleet) if level.grants)
