"""Rules about the frames of tenants: what the main file decides about them and grants to their included files."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.classes import CLASSES, classes_above
from tenantry.fleet.fleet import Fleet
from tenantry.grants.authors import is_own
from tenantry.grants.grants import is_filled
from tenantry.grants.limits import refused_by_policy
from tenantry.grants.model import Grants
from tenantry.kube.names import OWNED_ANNOTATIONS, OWNED_LABELS
from tenantry.kube.values import gives_all
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import declared
from tenantry.model import PlacedSettings, Settings
from tenantry.model.tenancy import OWN_ROLES, NamespaceRole

CLUSTER_ADMIN = "cluster-admin"
_WITH_ROLES = ("owners", "role", "roleBindings")


def included_files_are_for_declared_tenants(fleet: Fleet) -> Iterator[Problem]:
    for index, entry in enumerate(fleet.document.include):
        at = ("include", index)
        if entry.class_ is not None:
            continue
        for place, name in enumerate(entry.of or ()):
            if name not in fleet.names("tenants"):
                yield Problem(
                    (*at, "of", place),
                    "unknown-tenant",
                    f"tenant '{name}' is not declared",
                    (declared("declared", name, fleet.names("tenants")),),
                    fix="declare it under 'tenants:', or correct the name",
                )


def grants_name_declared_environments(fleet: Fleet) -> Iterator[Problem]:
    for at, grants in _grants(fleet):
        for index, name in enumerate(grants.environments or ()):
            if name not in fleet.environments:
                yield Problem(
                    (*at, "environments", index),
                    "unknown-environment",
                    f"a grant names environment '{name}', which is not declared",
                    (declared("declared", name, fleet.names("environments")),),
                    fix="declare it under 'environments:', or correct the name",
                )


def intervals_pass_the_clusters_admission_policy(fleet: Fleet) -> Iterator[Problem]:
    """Those of tenants as a whole, and the shortest that may be chosen; the plan checks apps, sources and images."""
    for at, given in walk.settings(fleet):
        for key in ("interval", "retryInterval") if isinstance(given, PlacedSettings) else ():
            value = getattr(given, key)
            if value and not is_filled(fleet, (*at, key)):
                yield from refused_by_policy((*at, key), value)
    for at, grants in _grants(fleet):
        if grants.shortestInterval:
            yield from refused_by_policy((*at, "shortestInterval"), grants.shortestInterval)


def grants_leave_the_fleets_labels_alone(fleet: Fleet) -> Iterator[Problem]:
    for at, grants in _grants(fleet):
        for key, owned in (("labels", OWNED_LABELS), ("annotations", OWNED_ANNOTATIONS)):
            for index, prefix in enumerate(getattr(grants, key) or ()):
                if any(each.startswith(prefix) for each in owned) or prefix.startswith(owned):
                    yield Problem(
                        (*at, key, index),
                        "owned-label",
                        f"'{prefix}' cannot be granted: it is reserved for Tenantry and Kubernetes",
                        fix="remove it",
                    )


def shares_name_entries_of_the_main_file(fleet: Fleet) -> Iterator[Problem]:
    """A misspelt name would share something else as soon as somebody declares it."""
    for at, grants in _grants(fleet):
        share = grants.share.model_dump(exclude_none=True) if grants.share else {}
        for group, names in share.items():
            known = _declared(fleet, at, group)
            for index, name in enumerate(names):
                written = fleet.source.origin((*at, "share", group, index))
                if name not in known and not (at[0] == "tenants" and written[0] == CLASSES):  # told of the class
                    who = f"{walk.in_words(at[:2])}" if at[0] != "defaults" else "a tenant"
                    yield Problem(
                        (*at, "share", group, index),
                        "unknown-share",
                        f"'{name}' is shared, but {fleet.source.file} declares it nowhere under '{group}' of {who}",
                        (declared("declared", name, known),),
                        fix="declare it there, or remove it",
                    )


def _declared(fleet: Fleet, at: tuple[str, ...], group: str) -> set[str]:
    """What the main file itself declares for the tenants of a level."""
    tenants = [str(at[1])] if at[0] == "tenants" else [*fleet.document.tenants]
    if at[0] == CLASSES:
        classes = {at[1], *classes_above(fleet.source, at[1])}
        tenants = [name for name in tenants if at[1] in classes_above(fleet.source, name, "tenants")]
        of_classes = {name for each in classes for name in fleet.raw(CLASSES, each, group)}
        return of_classes | {name for tenant in tenants for name in _declared(fleet, ("tenants", tenant), group)}
    names = ((str(tenant), name) for tenant in tenants for name in fleet.raw("tenants", str(tenant), group))
    return {name for tenant, name in names if not is_own(fleet, tenant, group, name)}


def cluster_admin_is_allowed_by_a_word_of_its_own(fleet: Fleet) -> Iterator[Problem]:
    """Whoever reviews a tenant's entry sees the word, wherever the role comes from."""
    for tenant, each in fleet.document.tenants.items():
        if each.clusterAdmin:
            continue
        for path, role in walk.roles_of(fleet, tenant):
            if role == CLUSTER_ADMIN:
                yield Problem(
                    path,
                    "cluster-admin",
                    f"tenant '{tenant}' would get {CLUSTER_ADMIN} in its namespaces",
                    fix="choose another role, or set 'clusterAdmin: true' for the tenant",
                )
    to_all = [at for at, _, role in _roles(fleet) if role and _gives_all(role)]
    for at, grants in _grants(fleet):
        # What a class says stands in its tenants, too.
        others = {path[-1] for path in to_all if CLASSES not in (at[0], path[0]) and _may_meet(at, path)}
        for index, name in enumerate(grants.roles or ()):
            if name == CLUSTER_ADMIN or name in others:
                what = name if name == CLUSTER_ADMIN else f"role '{name}' gives all rights in a namespace, and"
                yield Problem(
                    (*at, "roles", index),
                    "cluster-admin",
                    f"{what} cannot be granted: an included file could give it to anybody",
                    fix="remove it",
                )


def _may_meet(first: Path, other: Path) -> bool:
    """Whether a tenant can have both of what two levels say."""
    return first[:2] == other[:2] or "defaults" in (first[0], other[0])


def _roles(fleet: Fleet) -> Iterator[tuple[Path, str, NamespaceRole | None]]:
    """The roles of all levels, with their paths and names. None: a level removes it."""
    for at, given in walk.settings(fleet):
        for name, role in (given.roles or {}).items() if isinstance(given, PlacedSettings) else ():
            yield (*at, "roles", name), name, role


def roles_of_namespaces_are_the_tenants_own(fleet: Fleet) -> Iterator[Problem]:
    """Named as Kubernetes names one of its own, a role would be taken for that one. One that gives all rights takes the word that
    whoever reviews a tenant's entry sees. A class is judged by the tenants that have it, because the word may be theirs.
    """
    for here, name, role in _roles(fleet):
        if name in OWN_ROLES or name.startswith("system:"):
            message = f"'{name}' is a ClusterRole of Kubernetes' own"
            yield Problem(here, "kubernetes-own", message, fix="choose another name", at_key=True)
        if role and _gives_all(role) and here[0] != CLASSES and not _has_cluster_admin(fleet, here):
            message = f"role '{name}' gives all rights in a namespace"
            fix = "name verbs and resources, or set 'clusterAdmin: true' for the tenant"
            yield Problem((*here, "rules"), "cluster-admin", message, fix=fix)


def _gives_all(role: NamespaceRole) -> bool:
    return gives_all(rule.model_dump() for rule in role.rules)


def _has_cluster_admin(fleet: Fleet, at: Path) -> bool:
    return at[0] == "tenants" and fleet.document.tenants[str(at[1])].clusterAdmin


def grants_are_for_tenants_with_an_included_file(fleet: Fleet) -> Iterator[Problem]:
    for tenant, each in fleet.document.tenants.items():
        if each.grants and tenant not in fleet.source.fills:
            yield doubtful(
                ("tenants", tenant, "grants"),
                "unused",
                f"no included file speaks of tenant '{tenant}', so its grants have no effect",
                fix=f"include a file: 'include: [{{tenants: tenants.d/{tenant}.yaml, of: [{tenant}]}}]', or remove them",
                at_key=True,
            )


def grants_have_an_effect(fleet: Fleet) -> Iterator[Problem]:
    for at, grants in _grants(fleet):
        if grants.roles and not set(grants.settings or ()).intersection(_WITH_ROLES):
            yield doubtful(
                (*at, "roles"),
                "unused",
                "roles are granted, but no setting that names a role",
                fix=f"grant one of {', '.join(_WITH_ROLES)} under 'settings', or remove it",
                at_key=True,
            )


def _grants(fleet: Fleet) -> Iterator[tuple[tuple[str, ...], Grants]]:
    """All grants as the main file writes them, each with its path."""
    levels: list[tuple[tuple[str, ...], Settings]] = [(("defaults",), fleet.document.defaults), *walk.frames(fleet)]
    yield from (((*at, "grants"), each.grants) for at, each in levels if each.grants)
