"""Whose a namespace is: the platform's or a tenant's, and which of a tenant's is the main one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tenantry.importing.resources import APPS, FLUX, World
from tenantry.kube.names import dns_label_problem
from tenantry.model.document import RESERVED

CONTROLLERS = {"Kustomization": "kustomize-controller", "HelmRelease": "helm-controller"}
"""The controller of a kind, which has an account of this name in Flux's namespace."""
_FLUX_KINDS = (
    *("Kustomization", "HelmRelease", "GitRepository", "OCIRepository", "HelmRepository", "Bucket"),
    *("Alert", "Receiver", "Provider", "ImageUpdateAutomation", "ImagePolicy", "ImageRepository"),
)


@dataclass(slots=True)
class Territory:
    """The namespaces of one tenant on the management cluster. extra: by the key that the file gives each."""

    tenant: str
    main: str
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def namespaces(self) -> tuple[str, ...]:
        return (self.main, *self.extra.values())


def platform_namespace(worlds: Iterable[World]) -> str:
    """Where add-ons lie on management clusters, and where their releases are stored: one namespace for all environments."""
    apps = [app for world in worlds for app in world.of(*APPS)]
    if any(app.namespace == FLUX and not app.is_remote and app.name != FLUX for app in apps):
        return FLUX
    # Tenantry stores the releases of add-ons in one namespace, so it should be that of releases that exist. But the platform's
    # namespace may hold no kubeconfigs.
    kubeconfigs = {app.namespace for app in apps if app.is_remote}
    releases = [app for app in apps if app.kind == "HelmRelease" and app.is_remote and not app.account]
    stored = Counter(app.storage for app in releases if app.storage not in kubeconfigs)
    return stored.most_common(1)[0][0] if stored else FLUX


def is_platforms(world: World, namespace: str) -> bool:
    """Whether a namespace is the platform team's, by its name or by what lies in it."""
    if namespace in (FLUX, world.platform) or _is_tools(world, namespace):
        return True
    # Where Flux applies all that a namespace leads to as accounts of its own, it is a tenant's, whatever its name is.
    accounts = {app.account for app in world.of(*APPS, namespace=namespace) if not app.is_remote}
    acts_as_itself = accounts and all(world.get("ServiceAccount", namespace, account) for account in accounts)
    if _is_labelled(world, namespace) or acts_as_itself:
        return False
    return _is_reserved(namespace) or namespace in ("default", "kube-system")


def _is_reserved(namespace: str) -> bool:
    return any(fnmatchcase(namespace, pattern) for pattern in RESERVED)


def _is_labelled(world: World, namespace: str) -> bool:
    """Whether the labels of a namespace, or of what Flux reads in it, name a tenant."""
    made = world.get("Namespace", "", namespace)
    return bool(made and made.tenant) or any(
        resource.tenant for resource in world.of(*_FLUX_KINDS, namespace=namespace)
    )


def _is_tools(world: World, namespace: str) -> bool:
    """Whether a namespace is that of a tool of the platform team, which Flux applies with its own rights.

    Its name tells: one of those that are reserved for tools, or that of a chart in it. So do its releases, if all install into
    other namespaces, and a Kustomization that names none for what it applies: it reaches everywhere. A tenant has an account.
    """
    apps = list(world.of(*APPS, namespace=namespace))
    if not apps or any(app.account not in ("", *CONTROLLERS.values()) for app in apps):
        return False
    if _is_reserved(namespace):
        return True
    if _is_labelled(world, namespace):
        return False
    releases = [app for app in apps if app.kind == "HelmRelease"]
    elsewhere = (app.spec.get("targetNamespace") not in (None, "", namespace) for app in releases)
    return (
        any(namespace in (app.name, str(app.at("spec", "chart", "spec", "chart"))) for app in releases)
        or any(app.kind == "Kustomization" and not app.spec.get("targetNamespace") for app in apps)
        or (len(releases) == len(apps) and all(elsewhere))
    )


def territories(world: World) -> list[Territory]:
    """The tenants of the management cluster with their namespaces."""
    owned: dict[str, list[str]] = defaultdict(list)
    for namespace in _tenants_namespaces(world):
        owned[_owner(world, namespace)].append(namespace)
    result: list[Territory] = []
    for tenant, namespaces in owned.items():
        of_flux = {name: sum(1 for _ in world.of(*_FLUX_KINDS, namespace=name)) for name in namespaces}
        main = max(namespaces, key=lambda name: (of_flux[name], name == tenant, -len(name)))
        territory = Territory(tenant, main)
        result.append(territory)
        for other in namespaces:
            key = other.removeprefix(f"{main}-").removesuffix(f"-{main}")
            if other == main:
                continue
            if main in other and key != other and not dns_label_problem(key):
                territory.extra[key] = other
            else:
                result.append(Territory(f"{other}-namespace" if other in owned else other, other))
    return result


def extra_name(main: str, key: str, name: str) -> str:
    """The template of an extra namespace's name."""
    return "{namespace}-{key}" if name == f"{main}-{key}" else name.replace(main, "{namespace}", 1)


def _tenants_namespaces(world: World) -> Iterator[str]:
    """Namespaces with a tenant's label, and those that hold apps which act on the management cluster."""
    labelled = [space.name for space in world.of("Namespace") if space.tenant]
    acting = [resource.namespace for resource in world.of(*_FLUX_KINDS) if not resource.is_remote]
    for namespace in dict.fromkeys((*labelled, *acting)):
        if namespace and not is_platforms(world, namespace) and not _is_for_kubeconfigs(world, namespace):
            yield namespace


def _is_for_kubeconfigs(world: World, namespace: str) -> bool:
    """Whether a namespace is for remote clusters alone."""
    made = world.get("Namespace", "", namespace)
    if made and made.tenant:
        return False
    apps = list(world.of(*APPS, namespace=namespace))
    beside = (resource for resource in world.beside if resource.namespace == namespace)
    # What makes clusters often lies beside their kubeconfigs. A tenant has an account.
    return any(app.is_remote for app in (*apps, *beside)) and all(app.is_remote or not app.account for app in apps)


def _owner(world: World, namespace: str) -> str:
    made = world.get("Namespace", "", namespace)
    if made and made.tenant:
        return made.tenant
    named = {resource.tenant for resource in world.of(*_FLUX_KINDS, namespace=namespace) if resource.tenant}
    return named.pop() if len(named) == 1 else without_environment(namespace, world.environment)


def without_environment(name: str, environment: str) -> str:
    """A name without the environment at its beginning or end."""
    return name.removeprefix(f"{environment}-").removesuffix(f"-{environment}") or name
