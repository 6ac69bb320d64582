"""The names that the author of the file gave, taken from the names of planned objects; and what is the author's in metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId, Owner, group_of, holds_data
from tenantry.plan.objects.lifecycle import KEEP, LEAVING, STATE_LABEL, UNPRUNED
from tenantry.plan.objects.scope import (
    ACCOUNT_LABEL,
    APP_LABEL,
    CLUSTER_LABEL,
    ENVIRONMENT_LABEL,
    MANAGED_BY,
    ROLE_LABEL,
    SHARD_LABEL,
    TENANT_LABEL,
    WATCHED,
)
from tenantry.plan.plan import Plan

_OWN_LABELS = frozenset(
    {
        *MANAGED_BY,
        *ROLE_LABEL,
        *WATCHED,
        ACCOUNT_LABEL,
        APP_LABEL,
        CLUSTER_LABEL,
        ENVIRONMENT_LABEL,
        SHARD_LABEL,
        STATE_LABEL,
        TENANT_LABEL,
        "kustomize.toolkit.fluxcd.io/prune",
    }
)
"""Labels that no author writes."""

_PROVIDERS = "pulumi.com/"


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


def own_labels(manifest: Manifest) -> dict[str, Any]:
    """The labels that an author wrote."""
    return {key: value for key, value in _metadata(manifest, "labels").items() if key not in _OWN_LABELS}


def own_annotations(manifest: Manifest) -> dict[str, Any]:
    """The annotations that an author wrote."""
    marks = {LEAVING, *((*KEEP, *UNPRUNED) if holds_data(group_of(manifest["apiVersion"]), manifest["kind"]) else ())}
    there = _metadata(manifest, "annotations").items()
    return {key: value for key, value in there if _PROVIDERS not in key and key not in marks}


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
