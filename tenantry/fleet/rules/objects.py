"""Rules about the platform team's manifests in namespaces of tenants and add-ons, as written; the plan checks their names."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.kube.kinds import is_cluster_scoped, is_of_flux
from tenantry.messages.errors import Finding


def objects_are_of_kinds_for_namespaces(fleet: Fleet) -> Iterator[Finding]:
    """An object of Flux's would act without the checks of apps; a list would hide what is in it."""
    for at, each in walk.objects(fleet):
        if is_cluster_scoped(each.apiVersion, each.kind):
            message = f"a {each.kind} is in no namespace"
            fix = "install it by an add-on's chart or manifests"
            if at[0] in ("defaults", "selfService", "tenants"):
                fix = "declare it under 'clusterObjects:' of a tenant"
            yield Finding((*at, "kind"), "cluster-scoped", message, fix=fix)
        elif is_of_flux(each.apiVersion):
            message = f"a {each.kind} is an object of Flux, which the fleet makes itself"
            fix = "declare it under 'apps:' or 'addons:', 'sources:' or 'alerts:'"
            yield Finding((*at, "kind"), "flux-object", message, fix=fix)
        elif each.kind.endswith("List"):
            message = f"a {each.kind} holds several objects"
            yield Finding((*at, "kind"), "not-single", message, fix="make an entry of each of them")


def objects_hold_no_values_of_secrets(fleet: Fleet) -> Iterator[Finding]:
    for at, each in walk.objects(fleet):
        for key in ("data", "stringData"):
            if (each.apiVersion, each.kind) == ("v1", "Secret") and (each.model_extra or {}).get(key):
                yield Finding(
                    (*at, key),
                    "secret-values",
                    "a Secret would hold values that everybody who reads the file can see",
                    fix="declare 'credentials:' instead, or an ExternalSecret or SealedSecret",
                    at_key=True,
                )
