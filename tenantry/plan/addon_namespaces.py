"""The namespaces that add-ons own, with the objects in them: created before an add-on, and removed after it.

On the management cluster Pulumi creates them. On a remote cluster a release beside the add-on installs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.placement import addons_on
from tenantry.fleet.settings import TenantSettings, variables_of
from tenantry.fleet.template import fill
from tenantry.grants.wall import below
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, Manifest, ObjectId
from tenantry.messages.errors import InvalidPart, Path, Problem
from tenantry.model.tenancy import ExtraNamespace, as_written
from tenantry.plan.declared_objects import DeclaredObject, Surroundings, declared_objects
from tenantry.plan.objects.lifecycle import Lifecycle, in_state, lifecycle
from tenantry.plan.objects.remote import objects_release
from tenantry.plan.objects.scope import (
    APP_LABEL,
    Scope,
    installed_labels,
    on_management,
    unawaited,
)


def namespaces_on(fleet: Fleet, cluster: str) -> dict[str, str]:
    """All namespaces on a cluster that add-ons own, each with itself; mistakes in a name are reported elsewhere."""
    owned: dict[str, str] = {}
    for addon, owner in addons_on(fleet, cluster).items():
        with suppress(InvalidPart):
            owned |= {name: name for name in _names(fleet, owner, cluster, addon)}
    return owned


def owned_namespaces(fleet: Fleet, environment: str, cluster: str, addon: str) -> tuple[str, ...]:
    """The namespaces on a cluster that an add-on of an environment owns."""
    return tuple(_names(fleet, environment, cluster, addon))


def namespace_manifests(fleet: Fleet, scope: Scope, addon: str) -> list[Manifest]:
    """The namespaces of an add-on on a cluster. Raises: InvalidPart: one of them has no name of its own."""
    declared = _names(fleet, scope.environment, scope.cluster, addon)
    for name, (at, _) in declared.items():
        _check(fleet, scope, addon, name, at)
    return [_manifest(scope, addon, name, place) for name, (_, place) in declared.items()]


def objects_in_namespaces(fleet: Fleet, scope: Scope, addon: str) -> list[DeclaredObject]:
    """The platform team's own manifests in the namespaces of an add-on. Raises: InvalidPart: one of them cannot be there."""
    variables = variables_of(fleet, scope.environment, scope.cluster, app=addon)
    made: list[DeclaredObject] = []
    for name, (at, declared) in _names(fleet, scope.environment, scope.cluster, addon).items():
        around = Surroundings(variables=variables, origin=below(*at))
        made += declared_objects(replace(scope, namespace=name), as_written(declared.objects or {}), around)
    return made


def _names(fleet: Fleet, environment: str, cluster: str, addon: str) -> dict[str, tuple[Path, ExtraNamespace]]:
    """The namespaces by name, each with its place. Raises: InvalidPart: a placeholder is unknown, or two have one name."""
    by_name: dict[str, tuple[Path, ExtraNamespace]] = {}
    variables = variables_of(fleet, environment, cluster, app=addon)
    for template, declared in fleet.document.platform.addons[addon].namespaces.items():
        at = ("platform", "addons", addon, "namespaces", template)
        name = str(fill(template, variables, at))
        if name in by_name:
            message = f"two namespaces of add-on '{addon}' are named '{name}'"
            raise InvalidPart([Problem(at, "duplicate-name", message, fix="remove one of them", at_key=True)])
        by_name[name] = (at, declared)
    return by_name


def _check(fleet: Fleet, scope: Scope, addon: str, name: str, at: Path) -> None:
    if problem := names.dns_label_problem(name):
        message = f"namespace '{name}' of add-on '{addon}' {problem}"
        raise InvalidPart([Problem(at, "bad-name", message, fix="correct the name", at_key=True)])
    platform = fleet.document.platform
    kubeconfigs = {cluster.kubeconfig.resolved.namespace for cluster in fleet.clusters.values() if cluster.kubeconfig}
    homes = {addon.namespace for addon in platform.addons.values()}  # of Flux objects; bootstrap makes them
    if names.is_reserved_namespace(name) or name in (platform.namespace, *kubeconfigs, *homes):
        message = f"namespace '{name}' of add-on '{addon}' belongs to the cluster or to Tenantry"
        raise InvalidPart(
            [Problem(at, "reserved-namespace", message, fix="remove it, or choose another name", at_key=True)]
        )
    if owner := _first_owner(fleet, scope, addon, name):
        message = f"add-ons '{owner}' and '{addon}' would both own namespace '{name}'"
        fix = f"remove it from one of them; add-on '{addon}' can depend on '{owner}' instead"
        raise InvalidPart([Problem(at, "shared-namespace", message, fix=fix, at_key=True)])


def _first_owner(fleet: Fleet, scope: Scope, addon: str, name: str) -> str | None:
    """Another add-on of the cluster that owns the namespace and comes before this one in the file."""
    addons = addons_on(fleet, scope.cluster)
    for owner in fleet.document.platform.addons:
        if owner == addon:
            return None
        with suppress(InvalidPart):
            if owner in addons and name in _names(fleet, addons[owner], scope.cluster, owner):
                return owner
    return None


def _manifest(scope: Scope, addon: str, name: str, declared: ExtraNamespace) -> Manifest:
    given = {key: value for key, value in (declared.labels or {}).items() if value is not None}
    labels = {
        **given,
        **(declared.podSecurity.labels if declared.podSecurity else {}),
        **installed_labels(scope),
        APP_LABEL: addon,
        # If a Kustomization applied this namespace before, its deletion must not delete the namespace.
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }
    written = {key: value for key, value in (declared.annotations or {}).items() if value is not None}
    annotations = {"annotations": written} if written else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels, **annotations}}


def management_objects(
    fleet: Fleet,
    scope: Scope,
    addon: str,
    namespaces: Sequence[Manifest],
    inside: Iterable[DeclaredObject],
) -> list[tuple[KubeObject, Path]]:
    """The namespaces and the objects in them on the management cluster, each with its place."""
    at, state = ("platform", "addons", addon, "namespaces"), _state(fleet, scope, addon)
    made = [in_state(on_management(namespace, scope.owner), state) for namespace in namespaces]
    ids = {namespace.id.name: namespace.id for namespace in made}
    return [(namespace, at) for namespace in made] + [
        (in_state(unawaited(on_management(object.manifest, scope.owner, (ids[object.namespace],))), state), object.at)
        for object in inside
    ]


def namespaces_release(
    fleet: Fleet,
    scope: Scope,
    addon: str,
    manifests: Sequence[Manifest],
    settings: TenantSettings,
    depends_on: tuple[ObjectId, ...],
) -> KubeObject:
    """The release that installs them, with the objects in them, on a remote cluster."""
    key, adopt = names.join(addon, "namespaces"), fleet.document.platform.addons[addon].adopt
    return objects_release(
        scope, scope, key, manifests, settings, depends_on, (), _state(fleet, scope, addon), adopt=adopt
    )


def _state(fleet: Fleet, scope: Scope, addon: str) -> Lifecycle:
    """The namespaces of a paused add-on are kept up to date all the same."""
    state = fleet.document.platform.addons[addon].state
    return lifecycle(fleet.clusters[scope.cluster].state, "active" if state == "paused" else state)
