"""What a run of an environment with several management clusters does besides: it keeps what it does not contact, and what moves.

The objects of a management cluster that is left out are registered as the state has them, with all changes ignored: what is not
registered is deleted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tenantry.guard.check import rehomed
from tenantry.guard.claims import Claim
from tenantry.kube.objects import KubeObject, ObjectId, Owner, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import RefusedChange, refuse
from tenantry.messages.text import counted, listed
from tenantry.plan.plan import Plan
from tenantry.stacks.targets import key_in_state, key_of, type_token

from .provider import ALONE

_PROVIDER = "pulumi:providers:kubernetes"
_OBJECT = "kubernetes:"
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Renamed:
    """What an environment with one management cluster has to keep when it gets several, or the other way round.

    hub: the cluster that was the only one, or is from now on. names: those of its objects in the state.
    """

    hub: str = ""
    names: Mapping[ObjectId, str] = field(default_factory=dict)

    def keyed(self, urns: Iterable[str]) -> dict[str, str]:
        """URNs of the state, by what `key_in_state` gives of the objects from this run on."""
        now = {f"{type_token(id)}::{name}": key_in_state(id) for id, name in self.names.items()}
        return {now.get(key, key): urn for urn in urns for key in [key_of(urn)]}


@dataclass(frozen=True, slots=True)
class _State:
    """The objects in a stack's state, by the management cluster whose provider made them; by "" if there was only one."""

    alone: str
    objects: Mapping[str, Sequence[Mapping[str, Any]]]


def _read(resources: Iterable[Mapping[str, Any]]) -> _State:
    alone, found = "", dict[str, list[Mapping[str, Any]]]()
    for each in resources:
        name = str(each.get("urn", "")).rpartition("::")[2]
        if each.get("type") == _PROVIDER and name == ALONE:
            alone = str(mapping_at(dict(each), "inputs").get("clusterIdentifier") or "")
        elif str(each.get("type", "")).startswith(_OBJECT) and not each.get("delete"):
            maker = str(each.get("provider", "")).rpartition("::")[0].rpartition("::")[2]
            found.setdefault(maker.removeprefix(ALONE).removeprefix("/"), []).append(each)
    return _State(alone, found)


def renamed(plan: Plan, resources: Iterable[Mapping[str, Any]], claim: Claim, platform: str) -> Renamed:
    """How the objects in the state get their new names.

    Args:   resources: all of the state. platform: the namespace of the claims.
    Raises: RefusedChange: a management cluster leaves the environment and still has objects, which nobody has looked at. Or the one
            that was alone is left out, or something that it had: the checks do not find it in the state by its new name.
    """
    state, several = _read(resources), len(plan.hubs) > 1
    own = (f"{platform}/{claim.name}", f"{platform}/{claim.record}")
    for hub, objects in state.objects.items():
        name = hub or state.alone
        left = [each for each in objects if not str(each["urn"]).endswith(own)]
        if left and name and name not in plan.hubs:
            raise RefusedChange(
                f"management cluster '{name}' would leave environment '{plan.environment}', and {counted(len(left), 'object')} of"
                " this stack with it",
                f"put '{name}' back into environments.{plan.environment}.management; take the tenants off its clusters in runs"
                f" before, and '{name}' off when nothing is left there",
            )
    former = {hub: _with_former_names(state, hub, several=several) for hub in plan.hubs}
    if early := sorted(hub for hub in claim.without if former.get(hub)):
        raise RefusedChange(
            f"'{early[0]}' was the only management cluster of environment '{plan.environment}', and its objects do not have its"
            " name in the state yet: this run cannot leave it out",
            f"tenantry up --environment {plan.environment}",
        )
    names: dict[ObjectId, str] = {}
    for each in plan.objects:
        hub = each.hub or plan.hubs[0]
        before = each.id.at("" if several else hub)
        if key_in_state(before) in former[hub]:
            names[each.id] = before.logical_name
    kept = {key_in_state(id.at("" if several else plan.hubs[0])) for id in names}
    if lost := sorted(each for keys in former.values() for each in keys - kept if not each.endswith(own)):
        shown = (f"    {each.rpartition('::')[2]}" for each in lost[:_SHOWN])
        raise RefusedChange(
            f"this run would give the objects of environment '{plan.environment}' other names in the state, and remove"
            f" {counted(len(lost), 'object')} under the former ones, which nobody has looked at\n{chr(10).join(shown)}",
            f"put back what is missing and run `tenantry up --environment {plan.environment}`; then remove it",
        )
    if several:
        return Renamed(state.alone if state.alone in plan.hubs else "", names)
    return Renamed(plan.hubs[0] if state.objects.get(plan.hubs[0]) else "", names)


def _with_former_names(state: _State, hub: str, *, several: bool) -> set[str]:
    """What a management cluster has under the names of before, when it was the only one or was not: by what `key_of` gives.

    After a run that has not ended well, that can be a part of it, while its provider has its new name.
    """
    made = [*state.objects.get(hub, ()), *(state.objects.get("", ()) if state.alone == hub or not several else ())]
    found = set[str]()
    for each in made:
        id, name = readable_id(each.get("inputs")), str(each["urn"]).rpartition("::")[2]
        if id and name == id.at("" if several else hub).logical_name:
            found.add(key_of(str(each["urn"])))
    return found


def objects_in_state(resources: Iterable[Mapping[str, Any]]) -> dict[ObjectId, KubeObject]:
    """All objects in a stack's state, as it has them."""
    found = (object_in_state(each, hub) for hub, every in _read(resources).objects.items() for each in every)
    return {planned.id: planned for planned in found}


def held_hubs(plan: Plan, resources: Iterable[Mapping[str, Any]], without: Collection[str]) -> Plan:
    """The plan, in which management clusters that are left out have what the state has of them, in its order.

    Raises: RefusedChange: a cluster would get another management cluster.
    """
    held = [
        object_in_state(each, hub)
        for hub, found in _read(resources).objects.items()
        if hub in without
        for each in found
    ]
    ids = {planned.id for planned in held}
    homes = {planned.owner.cluster: planned.hub for planned in held if planned.owner.cluster}
    moved = ((cluster, hub, plan.hub_by_cluster.get(cluster, hub)) for cluster, hub in homes.items())
    refuse(rehomed(*each) for each in moved if each[1] != each[2])
    theirs = tuple(replace(each, depends_on=tuple(id for id in each.depends_on if id in ids)) for each in held)
    return replace(plan, objects=(*(each for each in plan.objects if each.hub not in without), *theirs))


def object_in_state(resource: Mapping[str, Any], hub: str) -> KubeObject:
    """An object as the state has it. Its content counts for nothing, because the engine takes the former one; it has no values."""
    inputs = mapping_at(dict(resource), "inputs")
    id = readable_id(inputs)
    assert id, f"{resource.get('urn')} has neither a kind nor a name"
    metadata = {"name": id.name, **({"namespace": id.namespace} if id.namespace else {})}
    manifest = {"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}
    return KubeObject(
        manifest,
        _owner(str(resource.get("parent", ""))),
        tuple(filter(None, (_id(str(each), hub) for each in resource.get("dependencies") or ()))),
        protect=bool(resource.get("protect")),
        retained=bool(resource.get("retainOnDelete")),
        hub=hub,
    )


def _owner(parent: str) -> Owner:
    """Whose component the parent of a resource is."""
    types, _, name = parent.rpartition("::")
    match types.rpartition(":")[2]:
        case "Tenant":
            return Owner(name)
        case "Cluster":
            return Owner("", name)
        case "Placement":
            tenant, _, cluster = name.partition("/")
            return Owner(tenant, cluster)
    return Owner()


def _id(urn: str, hub: str) -> ObjectId | None:
    """The object of a management cluster that a URN names; None: it names something else."""
    token, _, name = key_of(urn).rpartition("::")
    prefix = f"{hub}/" if hub else ""
    if not token.startswith(_OBJECT) or not name.startswith(prefix):
        return None
    _, api_version, kind = token.split(":")
    namespace, _, own = name.removeprefix(prefix).rpartition("/")
    found = ObjectId(api_version.removeprefix("core/"), kind, namespace, own, hub)
    assert type_token(found) == token
    return found


def left_out_words(without: Collection[str], environment: str) -> str:
    """What a run says of management clusters that it leaves out."""
    names = listed(sorted(without))
    return (
        f"without {names}: what environment '{environment}' has there stays as it is, and nothing there is contacted\n"
        f"  fix: when it answers again: tenantry up --environment {environment}"
    )
