"""Rules about the baseline of tenants' namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import OWNED_ANNOTATIONS
from tenantry.messages.errors import Finding


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
