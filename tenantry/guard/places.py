"""Decides whether an object counts as the fleet's: by the namespace that it is in, because labels are claims.

A tenant may write Flux objects into its own namespaces, with any labels. It cannot write Namespaces, and nothing outside of its
own ones. So the Namespace says whose the objects in it are; in a namespace that is not a tenant's, such as the platform's or one
with kubeconfigs, only the platform writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tenantry.kube.objects import Manifest, labels_of
from tenantry.messages.data import mapping_at
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


class Places:
    """The tenants' namespaces on a management cluster, of all of its environments."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        """manifests: all Namespaces of the cluster; other objects are left out."""
        self._tenants: dict[str, Whose] = {}
        for each in manifests:
            if isinstance(each, dict) and each.get("kind") == "Namespace" and (said := whose(each)).tenant:
                self._tenants[label(mapping_at(each, "metadata"), "name")] = said

    def puts(self, manifest: Manifest, said: Whose) -> bool:
        """Whether the fleet puts such a Kustomization or HelmRelease where it is.

        A tenant's namespace holds that tenant's apps on the management cluster itself, without a kubeconfig. Elsewhere there are
        add-ons, and what is for tenants on remote clusters.

        said: what the object's labels say.
        """
        remote = "kubeConfig" in mapping_at(manifest, "spec")
        there = self._tenants.get(label(mapping_at(manifest, "metadata"), "namespace"))
        if there is None:
            return remote or not said.tenant
        return said == there and not remote and APP_LABEL in labels_of(manifest)

    def holds(self, manifest: Manifest, said: Whose) -> bool:
        """Whether the fleet puts an object of any kind where it is; a tenant can write others into its own namespaces."""
        if manifest.get("kind") in ("Kustomization", "HelmRelease"):
            return self.puts(manifest, said)
        there = self._tenants.get(label(mapping_at(manifest, "metadata"), "namespace"))
        return there is None or said == there
