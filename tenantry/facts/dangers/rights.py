"""Who may do more: bindings and rules of roles, rights on whole clusters, accounts of a cloud, grants to included files.

The name of a role does not say its rules. Kubernetes' own four are known, and so are those that the plan holds. Grants are compared
by what they allow, because a pattern can cover another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tenantry.facts.dangers.pieces import ClusterDanger, DangerKind, Key, Piece, Pieces, of_owner
from tenantry.facts.facts import Kind, Subject
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.placement import cluster_is_granted, tenant_barrier
from tenantry.grants.grants import grants_of, is_covered, is_own
from tenantry.kube.objects import Manifest, Owner
from tenantry.kube.values import Right, format_rights, rights_of_rules
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.text import grouped, listed
from tenantry.plan.objects.scope import RECONCILERS
from tenantry.plan.placements import PlannedPlacement
from tenantry.plan.plan import Plan

_BINDINGS = ("RoleBinding", "ClusterRoleBinding")
_ROLES = ("Role", "ClusterRole")
_ORDER = {"view": 0, "edit": 1, "admin": 2, "cluster-admin": 3}
"""Kubernetes' own roles. Each may do all that those before it may."""
_OF_FLUX = "system:serviceaccount:"
_APPS = "its apps"
_CLOUD = ("eks.amazonaws.com/role-arn", "iam.gke.io/gcp-service-account", "azure.workload.identity/client-id")
"""Annotations by which a service account becomes an account of a cloud."""


class _Grant(NamedTuple):
    """Somebody's role. namespace: "" for the whole cluster; who: `_APPS` for the account that the tenant's apps use."""

    owner: Owner
    namespace: str
    who: str
    role: str


def rights_dangers(pieces: Pieces) -> Iterator[ClusterDanger]:
    own = pieces.of_kinds(*_BINDINGS, *_ROLES)
    before, after = pieces.around(own, *_BINDINGS, *_ROLES)
    old, new = pieces.placements
    yield from _gains(_grants(pieces.before, old, before), _grants(pieces.after, new, after), pieces)
    for piece in own:
        # A role in a namespace that allows more; those of whole clusters are reported with who has them.
        if piece.key.kind == "Role" and piece.before and piece.after:
            sides = [rights_of_rules(mappings_in(side.get("rules"))) for side in (piece.before, piece.after)]
            had = set(sides[0])
            if gained := [right for right in sides[1] if right not in had]:
                text = f"role {piece.key.name} allows more: {format_rights(dict.fromkeys(gained))}"
                yield piece.danger(DangerKind.RIGHTS, text)
    yield from _wide_rights(own, before, after)
    for piece in pieces.of_kinds("ServiceAccount"):
        old_notes, notes = (mapping_at(side, "metadata", "annotations") for side in (piece.before, piece.after))
        for key in _CLOUD if piece.kept and piece.after else ():
            if key in notes and old_notes.get(key) != notes[key]:
                text = f"{_APPS} act as {notes[key]} in the cloud: service account {piece.key.name}"
                yield piece.danger(DangerKind.RIGHTS, text)


# --- bindings ---------------------------------------------------------------------------------------------------------


def _grants(
    plan: Plan, placements: Mapping[Owner, PlannedPlacement], objects: Mapping[Key, Manifest]
) -> Iterator[_Grant]:
    owners = {key.owner for key in objects}
    # Where accounts of a tenant are: in its namespaces, and beside its Flux objects, which may be its baseline alone.
    own = {(owner, name) for owner in owners if owner in placements for name in placements[owner].namespaces}
    reconcilers = (planned for planned in plan.objects if planned.owner in owners and planned.id.kind in RECONCILERS)
    own |= {(planned.owner, planned.id.namespace) for planned in reconcilers}
    for key, manifest in objects.items():
        if key.kind in _BINDINGS:
            reference = mapping_at(manifest, "roleRef")
            name = str(reference.get("name", ""))
            role = name if reference.get("kind") == "ClusterRole" else f"role {name} of the namespace"
            for subject in mappings_in(manifest.get("subjects")):
                yield _Grant(key.owner, key.namespace, _whom(subject, key.owner, own), role)


def _gains(before: Iterable[_Grant], after: Iterable[_Grant], pieces: Pieces) -> Iterator[ClusterDanger]:
    had = grouped(before, lambda grant: grant[:3])
    gained: dict[tuple[Owner, bool, str, str, bool], list[str]] = {}
    for grant in dict.fromkeys(after):
        roles, level = [held.role for held in had.get(grant[:3], [])], _ORDER.get(grant.role)
        if grant.role in roles or (level is not None and any(_ORDER.get(role, -1) >= level for role in roles)):
            continue
        # What a new placement brings is reported where it is added, except for rights without a bound.
        if grant.role == "cluster-admin" or (grant.namespace and pieces.keeps(grant.owner, grant.namespace)):
            key = (grant.owner, not grant.namespace, grant.role, listed(roles), grant.who == _APPS)
            gained.setdefault(key, []).append(grant.who)
    for (owner, wide, role, former, of_apps), who in gained.items():
        verb = "get" if of_apps or len(set(who)) > 1 else "gets"
        where = " on the whole cluster" if wide else "" if of_apps else " in its namespaces"
        instead = f" instead of {former}" if former else ""
        text = f"{_APPS if of_apps else listed(who)} {verb} {role}{where}{instead}"
        yield of_owner(DangerKind.RIGHTS, owner, text)


def _whom(subject: Mapping[str, Any], owner: Owner, own: set[tuple[Owner, str]]) -> str:
    """Args: own: the namespaces of the tenants' accounts."""
    kind, name = str(subject.get("kind", "")), str(subject.get("name", ""))
    if kind == "ServiceAccount":
        return f"service account {subject.get('namespace', '')}/{name}"
    if kind == "User" and name.startswith(_OF_FLUX):
        namespace, _, account = name.removeprefix(_OF_FLUX).partition(":")
        return _APPS if (owner, namespace) in own else f"service account {namespace}/{account}"
    return f"{kind.lower()} {name}"


# --- roles ------------------------------------------------------------------------------------------------------------


def _wide_rights(
    own: Sequence[Piece], before: Mapping[Key, Manifest], after: Mapping[Key, Manifest]
) -> Iterator[ClusterDanger]:
    """Rights on whole clusters, but for `cluster-admin`: under whatever key they are new."""
    old, new = (grouped(side.items(), lambda entry: entry[0].owner) for side in (before, after))
    for owner in dict.fromkeys(piece.key.owner for piece in own):
        known = {right for _, right in _wide(old.get(owner, ()))}
        gained = [(key, right) for key, right in dict.fromkeys(_wide(new.get(owner, ()))) if right not in known]
        if gained:
            text = f"{_APPS} get rights on the whole cluster: {_format_wide(gained)}"
            yield of_owner(DangerKind.RIGHTS, owner, text)


def _wide(objects: Sequence[tuple[Key, Manifest]]) -> Iterator[tuple[str, Right | str]]:
    """The rights by the keys of `clusterRoles`. Args: objects: of one owner."""
    rules = {key.name: manifest for key, manifest in objects if key.kind == "ClusterRole"}
    for key, manifest in objects:
        role = str(mapping_at(manifest, "roleRef").get("name", ""))
        if key.kind != "ClusterRoleBinding" or role == "cluster-admin":
            continue
        short = key.name.rpartition(".")[2]
        rights = rights_of_rules(mappings_in(rules[role].get("rules"))) if role in rules else [f"role {role}"]
        yield from ((short, right) for right in rights)


def _format_wide(gained: Iterable[tuple[str, Right | str]]) -> str:
    """Such as: read (get, list nodes); admins (role ops)"""
    parts = []
    for key, own in grouped(gained, lambda right: right[0]).items():
        roles = [right for _, right in own if isinstance(right, str)]
        rights = format_rights(right for _, right in own if isinstance(right, Right))
        parts.append(f"{key} ({'; '.join(filter(None, [*roles, rights]))})")
    return "; ".join(parts)


# --- grants to included files -----------------------------------------------------------------------------------------

_ADDRESSES = ("sources", "alerts")


def grant_dangers(before: Fleet, after: Fleet, environment: str) -> Iterator[ClusterDanger]:
    """The tenants of both fleets that are granted more in an environment that both declare."""
    for tenant in after.document.tenants:
        if tenant not in before.document.tenants:
            continue
        gains = [*_new_grants(_granted(before, tenant, environment), _granted(after, tenant, environment))]
        # Credentials that were the main file's: if the included file declares them, it may use them for everything.
        names = (
            name
            for name in after.raw("tenants", tenant, "credentials")
            if not is_own(before, tenant, "credentials", name)
        )
        if given := tuple(name for name in names if is_own(after, tenant, "credentials", name)):
            gains.append(("credentials", given))
        if gains:
            text = "; ".join(f"{key} {listed(names)}" for key, names in gains)
            subject = Subject(Kind.TENANT, tenant)
            yield ClusterDanger(DangerKind.RIGHTS, subject, "", f"its included files may do more: {text}")


def _granted(fleet: Fleet, tenant: str, environment: str) -> dict[str, tuple[str, ...]]:
    """What is granted in one environment, by the key of the grant."""
    grants = grants_of(fleet, tenant)
    if grants is None or tenant_barrier(fleet, environment, tenant):
        return dict.fromkeys(("clusters", "settings", *_ADDRESSES), ())
    clusters = clusters_of(fleet, environment)
    return {
        "clusters": tuple(cluster for cluster in clusters if cluster_is_granted(fleet, tenant, cluster)),
        **{key: tuple(getattr(grants, key) or ()) for key in ("settings", *_ADDRESSES)},
    }


def _new_grants(
    before: dict[str, tuple[str, ...]], after: dict[str, tuple[str, ...]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key, granted in after.items():
        had = before[key]
        new = [name for name in granted if not (is_covered(name, had) if key in _ADDRESSES else name in had)]
        if new:
            yield key, tuple(new)
