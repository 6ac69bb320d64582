"""Who applies what, by the labels of Flux's controllers. Nothing may be applied by Flux and planned by Tenantry at once.

What a tenant's own app applies stays in the tenant's repository. What applies a tenant from outside hands it over: it becomes no
add-on, because it would set back what Tenantry changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tenantry.importing.inference.world import Notes, Thing

_CONTROLLERS = {"Kustomization": "kustomize.toolkit.fluxcd.io", "HelmRelease": "helm.toolkit.fluxcd.io"}
_BOOTSTRAP = "flux-system"


class _App(NamedTuple):
    kind: str
    namespace: str
    name: str


def expressible(things: Iterable[Thing], notes: Notes) -> list[Thing]:
    """The objects that tenants.yaml could express; the others are left over."""
    things = list(things)
    apps = {_app(each) for each in things if each.kind in _CONTROLLERS}
    owners = [(each, owner) for each in things if (owner := _owner(each)) in apps and owner != _app(each)]
    inner = {id(each): owner for each, owner in owners if owner and _is_own(each, owner)}
    outer = {owner for each, owner in owners if id(each) not in inner}
    kept = []
    for each in things:
        if owner := inner.get(id(each)):
            notes.leave(each.read, *_inner_in_words(each, owner))
        elif _app(each) in outer and each.name != _BOOTSTRAP:
            notes.leave(each.read, "it applies objects that Tenantry takes over", "delete it as the steps to adopt say")
        else:
            kept.append(each)
    return kept


def _inner_in_words(thing: Thing, owner: _App) -> tuple[str, str]:
    if thing.kind == "HelmChart":
        reason = f"helm-controller made it for 'spec.chart' of HelmRelease {owner.namespace}/{owner.name}"
        return reason, "do nothing: helm-controller removes it when the release takes the planned chart"
    reason = f"{owner.kind} {owner.namespace}/{owner.name} applies it"
    return reason, "leave it there: what an app applies needs no entry of its own"


def _app(thing: Thing) -> _App:
    return _App(thing.kind, thing.namespace, thing.name)


def _owner(thing: Thing) -> _App | None:
    for kind, group in _CONTROLLERS.items():
        name, namespace = (thing.labels.get(f"{group}/{key}") for key in ("name", "namespace"))
        if isinstance(name, str) and isinstance(namespace, str):
            return _App(kind, namespace, name)
    return None


def _is_own(thing: Thing, owner: _App) -> bool:
    """Whether an app applies the object within its own namespace, as the apps of tenants do."""
    return owner.namespace == thing.namespace != _BOOTSTRAP
