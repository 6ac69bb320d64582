"""What import leaves where it is: what others apply, what Flux refuses, and what may be a secret.

Nothing may be applied by Flux and planned by Tenantry at once. What a tenant's own app applies stays in the tenant's repository.
What applies a tenant from outside hands it over: it becomes no add-on, because it would set back what Tenantry changes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from typing import Any

from tenantry.cluster.kubectl import RECONCILE, suspend
from tenantry.flux.conformance import check_part
from tenantry.flux.references import references
from tenantry.flux.schemas import kinds
from tenantry.importing.blocks import KEYS, source_of
from tenantry.importing.resources import APPS, FLUX, SETTINGS, Resource, World, applier_of, is_authors
from tenantry.importing.survey import territories
from tenantry.messages.data import scalars, value_at, with_texts
from tenantry.messages.errors import Path
from tenantry.messages.masking import masked
from tenantry.messages.redact import shorten
from tenantry.messages.text import format_path


def _owned(resources: Iterable[Resource]) -> Iterator[tuple[Resource, Resource]]:
    """Resources with what applies each, as its labels tell. What has to leave it alone applies it no more."""
    appliers = {resource.key[1:]: resource for resource in resources if resource.kind in APPS}
    for resource in resources:
        applier = None if resource.annotations.get(RECONCILE) == "disabled" else applier_of(resource.labels)
        owner = appliers.get(applier) if applier else None
        if owner and owner is not resource:
            yield resource, owner


def taken_over(environment: str, resources: list[Resource]) -> list[Resource]:
    """The resources of an environment that tenants.yaml could express; the others are left."""
    owned = list(_owned(resources))
    outer = _handing_over(World(environment, "", resources), owned)
    inner = {
        id(resource): owner
        for resource, owner in owned
        if id(owner) not in outer or (owner.kind != "Kustomization" and _is_inside(resource, owner))
    }
    # What goes on applying a Kustomization goes on with all that this applies.
    while more := [(resource, owner) for resource, owner in owned if id(owner) in inner and id(resource) not in inner]:
        inner |= {id(resource): owner for resource, owner in more}
    taken = []
    for resource in resources:
        if resource.is_ours:
            text = "Tenantry manages it already, by the file that declares it"
            resource.leave(text, "keep it in that file", is_left=True)
        elif owner := inner.get(id(resource)):
            text, fix = f"{owner.key} applies it", "leave it there: what an app applies needs no entry of its own"
            resource.leave(text, fix, is_left=True)
        elif id(resource) in outer and resource.name != FLUX:
            text = "it applies objects that Tenantry takes over"
            resource.leave(text, f"suspend it before `tenantry up`: `{suspend(resource.id)}`", is_left=True)
            resource.is_replaced = True
        elif _is_accepted(resource):
            taken.append(resource)
    return taken


def _handing_over(world: World, owned: Iterable[tuple[Resource, Resource]]) -> Set[int]:
    """The ids of what hands over what it applies: something of a tenant, or nothing that tenants.yaml cannot say. Anything else
    goes on with all of it as an add-on, if it can be one.

    Args: owned: resources with what applies each.
    """
    tenants = territories(world).values()
    references_of = ((app.namespace, references(app.kind, app.spec)) for app in world.of(*APPS))
    configs = {
        (namespace, name) for namespace, found in references_of for _, kind, name in found if kind == "ConfigMap"
    }
    applied: dict[int, list[Resource]] = defaultdict(list)
    for resource, owner in owned:
        applied[id(owner)].append(resource)
    known: dict[int, bool] = {}

    def is_tenants(resource: Resource, owner: Resource) -> bool:
        # Charts of add-ons may install something beside a tenant.
        is_setting = resource.kind in SETTINGS and owner.kind == "Kustomization"
        return (resource.namespace or resource.name) in tenants and (resource.is_fluxs or is_setting)

    def is_expressible(resource: Resource) -> bool:
        if resource.kind in APPS and not resource.is_ours:
            source = source_of(world, resource)
            return source is not None and secret_in(resource, source) is None
        is_config = resource.kind == "ConfigMap" and resource.key[2:] in configs
        return is_config or resource.is_ours or resource.kind in (*KEYS, "HelmChart")

    def hands_over(owner: Resource) -> bool:
        if id(owner) not in known:
            known[id(owner)] = False  # where some apply each other
            parts = [resource for resource in applied[id(owner)] if resource.kind != "Namespace"]
            said = [resource for resource in parts if is_expressible(resource)]
            known[id(owner)] = (
                (owner.namespace, owner.name) == (FLUX, FLUX)
                or any(is_tenants(resource, owner) for resource in applied[id(owner)])
                or any(hands_over(resource) for resource in parts if id(resource) in applied)
                or (bool(said) and (len(said) == len(parts) or not is_expressible(owner)))
            )
        return known[id(owner)]

    return {id(owner) for resource, owner in owned if not _is_inside(resource, owner) and hands_over(owner)}


def _is_inside(resource: Resource, owner: Resource) -> bool:
    """Whether an app applies the resource within its own namespace, as the apps of tenants do, or a chart does."""
    if owner.kind == "Kustomization" and resource.is_remote and not owner.is_remote:
        return False  # it leads to the apps of a remote cluster
    return owner.namespace == resource.namespace != FLUX


def _is_accepted(resource: Resource) -> bool:
    """Whether Flux takes a resource; keys that only older versions of Flux know are left.

    Later steps rely on the types of values.
    """
    if resource.kind not in kinds() or not resource.is_fluxs:
        return True
    for finding in check_part(resource.kind, resource.spec, ("spec",)):
        if finding.code != "unknown-key":
            text = f"Flux refuses it: {format_path(finding.path)}: {finding.message}"
            resource.leave(text, "correct it where it is, then import again")
            return False
        if len(finding.path) == 2:
            key = str(finding.path[1])
            resource.leave(f"Flux does not know '{key}' any more", "nothing: Flux ignores it", f"spec.{key}")
            resource.spec = {name: value for name, value in resource.spec.items() if name != key}
    return True


# --- what may be a secret ---------------------------------------------------------------------------------------------
#
# It is not copied into the file, which more people read than the cluster. An app is left as a whole then: without its password,
# its release would be upgraded.

_DIGEST = re.compile(r"(?<![A-Za-z0-9])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![A-Za-z0-9])")
"""Digests of images and commits, which look as random as tokens do."""
_NAMED = {
    "Kustomization": "'spec.postBuild.substituteFrom'",
    "HelmRelease": "'spec.valuesFrom'",
    "GitRepository": "'spec.secretRef' of the source",
}


def first_secret(data: Any, at: Path = ()) -> str:
    """Where plain data holds what may be a secret; empty if it holds none."""
    data = with_texts(data, lambda text: _DIGEST.sub("0", text))
    shown = masked(data)
    secrets = (format_path((*at, *path)) for path, value in scalars(data) if value_at(shown, path) != value)
    return shorten(next(secrets, ""), 200)


def secret_in(resource: Resource, *others: Resource) -> tuple[Resource, str] | None:
    """What may hold a secret, a resource or another one that goes with it, and where in it."""
    for holder in (resource, *others):
        spec = {key: value for key, value in holder.spec.items() if key != "kubeConfig"}
        # Labels and annotations are those of apps and their sources alone.
        data = {"metadata": holder.metadata, "spec": spec} if resource.kind in APPS else {"spec": spec}
        if at := first_secret(data):
            return holder, at
    return None


def leave_secret(resource: Resource, *others: Resource) -> bool:
    """Leave a resource if it, or another one that goes with it, holds what may be a secret; False: none does."""
    if (found := secret_in(resource, *others)) is None:
        return False
    holder, at = found
    of = f" of {holder.key}" if holder is not resource else ""
    fix = f"put it into a Secret, and name that in {_NAMED.get(holder.kind, 'it')}; then import again"
    resource.leave(f"'{at}'{of} may be a secret, which is not copied", fix)
    return True


def leave_metadata(resource: Resource) -> None:
    """Leave the labels and annotations that may be secrets. They stay on the object."""
    for key in ("labels", "annotations"):
        values = getattr(resource, key)
        secrets = [name for name in values if is_authors(name) and first_secret({name: values[name]})]
        setattr(resource, key, {name: value for name, value in values.items() if name not in secrets})
        for name in secrets:
            path = shorten(format_path(("metadata", key, name)), 200)
            resource.leave("this may be a secret, which is not copied", "put it into a Secret", path)
