"""The objects that a stack's state has, which need not be in the plan any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.kube.objects import KubeObject, ObjectId, Owner, readable_id
from tenantry.messages.data import mapping_at
from tenantry.stacks.targets import key_of, type_token

_OBJECT = "kubernetes:"


def objects_in_state(resources: Iterable[Mapping[str, Any]]) -> dict[ObjectId, KubeObject]:
    """All objects in a stack's state, as it has them."""
    found = (
        _object(each) for each in resources if str(each.get("type", "")).startswith(_OBJECT) and not each.get("delete")
    )
    return {planned.id: planned for planned in found}


def _object(resource: Mapping[str, Any]) -> KubeObject:
    """An object as the state has it. Its content counts for nothing, because the engine takes the former one; it has no values."""
    inputs = mapping_at(dict(resource), "inputs")
    id = readable_id(inputs)
    assert id, f"{resource.get('urn')} has neither a kind nor a name"
    metadata = {"name": id.name, **({"namespace": id.namespace} if id.namespace else {})}
    manifest = {"apiVersion": id.api_version, "kind": id.kind, "metadata": metadata}
    return KubeObject(
        manifest,
        _owner(str(resource.get("parent", ""))),
        tuple(filter(None, (_id(str(each)) for each in resource.get("dependencies") or ()))),
        protect=bool(resource.get("protect")),
        retained=bool(resource.get("retainOnDelete")),
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


def _id(urn: str) -> ObjectId | None:
    """The object that a URN names; None: it names something else."""
    token, _, name = key_of(urn).rpartition("::")
    if not token.startswith(_OBJECT):
        return None
    _, api_version, kind = token.split(":")
    namespace, _, own = name.rpartition("/")
    found = ObjectId(api_version.removeprefix("core/"), kind, namespace, own)
    assert type_token(found) == token
    return found
