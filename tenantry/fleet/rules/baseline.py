"""Rules about the baseline of tenants' namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.rules.tenants import OWNED_LABELS
from tenantry.messages.errors import Finding

OWNED_ANNOTATIONS = (
    *OWNED_LABELS,
    "kubectl.kubernetes.io/",
    "pulumi.com/",
    "reconcile.fluxcd.io/",
)
"""Besides the labels', those by which the tools that apply a namespace keep their books."""


def annotations_of_tenants_leave_the_fleets_alone(fleet: Fleet) -> Iterator[Finding]:
    accounts = (
        ((*at, "serviceAccount"), each.serviceAccount) for at, each in walk.frames(fleet) if each.serviceAccount
    )
    every = (*walk.settings(fleet), *accounts, *walk.metadata_of_objects(fleet), *walk.addon_namespaces(fleet))
    for at, given in every:
        for annotation in given.annotations or {}:
            if annotation.startswith(OWNED_ANNOTATIONS):
                yield Finding(
                    (*at, "annotations", annotation),
                    "owned-annotation",
                    f"annotation '{annotation}' is reserved for Tenantry and its tools",
                    fix="remove it",
                    at_key=True,
                )
