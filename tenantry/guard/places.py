"""Decides whether an object counts as the fleet's: by the namespace that it is in, because labels are claims.

A tenant may write Flux objects into its own namespaces, with any labels. It cannot write Namespaces, and nothing outside of its
own ones. So the Namespace says whose the objects in it are; in a namespace that is not a tenant's, such as the platform's or one
with kubeconfigs, only the platform writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tenantry.kube.objects import Manifest, labels_of
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.lifecycle import LEAVING, STATE_LABEL
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, ENVIRONMENT_LABEL, TENANT_LABEL


class Whose(NamedTuple):
    """The part of a fleet that labels name."""

    environment: str
    tenant: str
    cluster: str


def whose(manifest: Manifest) -> Whose:
    """What an object's labels say; "" for each label that it lacks."""
    labels = labels_of(manifest)
    return Whose(label(labels, ENVIRONMENT_LABEL), label(labels, TENANT_LABEL), label(labels, CLUSTER_LABEL))


def label(labels: Mapping[str, Any], key: str) -> str:
    """The value of a label or of another text; "" if it is missing or malformed."""
    value = labels.get(key)
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True)
class TenantsPlace:
    """What a tenant's Namespace on a management cluster says. leaving: the tenant was given up, and so all its apps were.

    leaving_apps: those that were given up by themselves.
    """

    whose: Whose
    leaving: bool
    leaving_apps: frozenset[str]

    def gives_up(self, app: str) -> bool:
        """Whether an earlier run has given up an app."""
        return self.leaving or app in self.leaving_apps


class Places:
    """The tenants' namespaces on a management cluster, of all of its environments."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        """manifests: all Namespaces of the cluster; other objects are left out."""
        self._tenants: dict[str, TenantsPlace] = {}
        for manifest in manifests:
            if (
                isinstance(manifest, dict)
                and manifest.get("kind") == "Namespace"
                and (labels := whose(manifest)).tenant
            ):
                metadata = mapping_at(manifest, "metadata")
                apps = label(mapping_at(metadata, "annotations"), LEAVING).split(",")
                place = TenantsPlace(labels, STATE_LABEL in labels_of(manifest), frozenset(apps) - {""})
                self._tenants[label(metadata, "name")] = place

    def tenants(self, manifest: Manifest) -> TenantsPlace | None:
        """The tenant's namespace that an object is in; None: it is in no tenant's."""
        return self._tenants.get(label(mapping_at(manifest, "metadata"), "namespace"))

    def puts(self, manifest: Manifest, labels: Whose) -> bool:
        """Whether the fleet would put such a Kustomization or HelmRelease where it is. In a tenant's namespace this proves nothing:
        a tenant can make the same.

        A tenant's namespace holds that tenant's apps on the management cluster itself, without a kubeconfig. Elsewhere there are
        add-ons, and what is for tenants on remote clusters.

        labels: what the object's labels say.
        """
        remote = "kubeConfig" in mapping_at(manifest, "spec")
        place = self.tenants(manifest)
        if place is None:
            return remote or not labels.tenant
        return labels == place.whose and not remote and APP_LABEL in labels_of(manifest)
