"""What import leaves where it is: what others apply, what Flux refuses, and what may be a secret.

Nothing may be applied by Flux and planned by Tenantry at once. What a tenant's own app applies stays in the tenant's repository.
What applies a tenant from outside hands it over: it becomes no add-on, because it would set back what Tenantry changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from typing import Any

from tenantry.cluster.kubectl import RECONCILE, suspend
from tenantry.flux.conformance import check_part
from tenantry.flux.schemas import kinds
from tenantry.importing.resources import APPS, FLUX, Key, Resource, applier_of, is_authors
from tenantry.messages.data import scalars, value_at, with_texts
from tenantry.messages.errors import Path
from tenantry.messages.masking import masked
from tenantry.messages.redact import shorten
from tenantry.messages.text import format_path, grouped

Identities = Set[tuple[str, Key]]
"""Resources by their `identity`."""


class Appliers:
    """What applies each of some resources, as far as it is among them."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self._by_name = {resource.key[1:]: resource for resource in resources if resource.kind in APPS}

    def by_label(self, resource: Resource) -> Resource | None:
        """What applies a resource, as its labels tell. What it has to leave alone it applies no more."""
        applier = None if resource.annotations.get(RECONCILE) == "disabled" else applier_of(resource.labels)
        return self._by_name.get(applier) if applier else None

    def of(self, resource: Resource) -> Resource | None:
        """The same, without Flux's own bootstrap."""
        owner = self.by_label(resource)
        return None if owner is None or (owner.namespace, owner.name) == (FLUX, FLUX) else owner

    def above(self, resource: Resource) -> Iterator[Resource]:
        """What applies a resource, what applies that, and so on."""
        seen = {resource.identity}
        while (owner := self.of(resource)) and owner.identity not in seen:
            seen.add(owner.identity)
            yield owner
            resource = owner


def taken_over(resources: list[Resource], going_on: Identities = frozenset()) -> list[Resource]:
    """The resources of an environment that tenants.yaml could express; the others are left.

    going_on: those that go on applying what they apply, because the file expresses none of that.
    """
    appliers = Appliers(resources)
    owned = [
        (resource, owner) for resource in resources if (owner := appliers.by_label(resource)) and owner is not resource
    ]
    # A Kustomization hands over all that it applies, or nothing.
    outer = {
        id(owner) for resource, owner in owned if not _is_inside(resource, owner) and owner.identity not in going_on
    }
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
            resource.leave(text, "keep it in that file", fate="left")
        elif owner := inner.get(id(resource)):
            text, fix = f"{owner.key} applies it", "leave it there: what an app applies needs no entry of its own"
            if resource.kind == "HelmChart":
                text = f"helm-controller made it for 'spec.chart' of {owner.key}"
                fix = "do nothing: helm-controller removes it when the release takes the planned chart"
            resource.leave(text, fix, fate="left")
        elif id(resource) in outer and resource.name != FLUX:
            text = "it applies objects that Tenantry takes over"
            resource.leave(text, f"suspend it before `tenantry up`: `{suspend(resource.id)}`", fate="replaced")
        elif _is_accepted(resource):
            taken.append(resource)
    return taken


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
            resource.is_refused = True
            return False
        if len(finding.path) == 2:
            key = str(finding.path[1])
            resource.leave(f"Flux does not know '{key}' any more", "nothing: Flux ignores it", f"spec.{key}")
            resource.spec = {name: value for name, value in resource.spec.items() if name != key}
    return True


# --- what a draft expresses -------------------------------------------------------------------------------------------


def by_environment(resources: Iterable[Resource]) -> Iterator[tuple[list[Resource], Appliers]]:
    """The resources of each environment, and what applies them."""
    for own in grouped(resources, lambda resource: resource.environment).values():
        yield own, Appliers(own)


def better_going_on(resources: Iterable[Resource]) -> tuple[Identities, Identities]:
    """What a draft has hand over what it applies, although it had better go on.

    Returns: what has nothing to hand over; and what would hand over a part alone, and no tenant's.
    """
    resources = list(resources)
    ending = {resource.identity for resource in resources if resource.is_replaced}
    used, partly, needed = set[tuple[str, Key]](), set[tuple[str, Key]](), set[tuple[str, Key]]()
    for own, appliers in by_environment(resources):
        for resource in own:
            if (owner := appliers.of(resource)) is None:
                continue
            if resource.path or resource.is_replaced or resource.is_ours:
                used.add(owner.identity)
            elif resource.kind != "Namespace":
                partly.add(owner.identity)
            if resource.is_replaced or (resource.path and resource.path[0] == "tenants"):
                needed.add(owner.identity)
    return ending - used, (ending & partly) - needed


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


def leave_secret(resource: Resource, *others: Resource | None) -> bool:
    """Leave a resource if it, or another one that goes with it, holds what may be a secret; False: none does."""
    for holder in (resource, *others):
        if holder is None:
            continue
        spec = {key: value for key, value in holder.spec.items() if key != "kubeConfig"}
        # Labels and annotations are those of apps and their sources alone.
        data = {"metadata": holder.metadata, "spec": spec} if resource.kind in APPS else {"spec": spec}
        if at := first_secret(data):
            of = f" of {holder.key}" if holder is not resource else ""
            named = _NAMED.get(holder.kind, "it")
            fix = f"put it into a Secret, and name that in {named}; then import again"
            resource.leave(f"'{at}'{of} may be a secret, which is not copied", fix)
            return True
    return False


def leave_metadata(resource: Resource) -> None:
    """Leave the labels and annotations that may be secrets. They stay on the object."""
    for key in ("labels", "annotations"):
        values = getattr(resource, key)
        secrets = [name for name in values if is_authors(name) and first_secret({name: values[name]})]
        setattr(resource, key, {name: value for name, value in values.items() if name not in secrets})
        for name in secrets:
            fix = "put it into a Secret, and import again"
            path = shorten(format_path(("metadata", key, name)), 200)
            resource.leave("this may be a secret, which is not copied", fix, path)
