"""The names that the author of the file gave, taken from the names of planned objects; and what is the author's in metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId, Owner
from tenantry.plan.plan import Plan


class Naming:
    """The names in one plan. Objects for remote clusters lie together, so their names begin with the cluster and the namespace."""

    def __init__(self, plan: Plan) -> None:
        self.management = plan.management
        self.namespaces = {(each.tenant, each.cluster): each.namespace for each in plan.placements}

    def namespace(self, owner: Owner) -> str:
        """The main namespace of a placement; "" for the platform."""
        return self.namespaces.get((owner.tenant, owner.cluster), "")

    def short(self, owner: Owner, name: str) -> str:
        """The key in the file that the name of a Flux object comes from."""
        if owner.cluster == self.management:
            return name
        parts = (owner.cluster, self.namespace(owner)) if owner.tenant else (owner.cluster,)
        return name.removeprefix("-".join(parts) + "-")


def attached(name: str) -> str:
    """The name of credentials or a config: declared names contain no dot."""
    return name.rpartition(".")[2]


def label(manifest: Manifest, key: str) -> str:
    """The value of a label; "" if the object does not have it."""
    return str(_metadata(manifest, "labels").get(key, ""))


def annotation(manifest: Manifest, key: str) -> str:
    """The value of an annotation; "" if the object does not have it."""
    return str(_metadata(manifest, "annotations").get(key, ""))


def _metadata(manifest: Manifest, key: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = manifest["metadata"].get(key) or {}
    return found


def kind_and_name(id: ObjectId) -> str:
    """Such as `RoleBinding tenantry`."""
    return f"{id.kind} {id.name}"
