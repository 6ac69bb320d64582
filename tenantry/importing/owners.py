"""Whose a namespace is: the platform's or a tenant's, and which of a tenant's is the main one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tenantry.importing.checkouts import FLUX
from tenantry.importing.world import Thing, World
from tenantry.kube.names import dns_label_problem
from tenantry.model.document import RESERVED
from tenantry.plan.objects.scope import APP_LABEL

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
    apps = [app for world in worlds for app in world.of("Kustomization", "HelmRelease")]
    ours = Counter(each.namespace for each in apps if each.is_ours and not each.tenant and not _remote(each))
    ours += Counter(_storage(each) for each in apps if each.is_ours and _remote(each) and _is_platform_release(each))
    if ours:
        return ours.most_common(1)[0][0]
    if any(each.namespace == FLUX and not _remote(each) and each.name != FLUX for each in apps):
        return FLUX
    # Tenantry stores the releases of add-ons in one namespace, so it should be that of releases that exist. But the platform's
    # namespace may hold no kubeconfigs.
    kubeconfigs = {each.namespace for each in apps if _remote(each)}
    releases = (each for each in apps if each.kind == "HelmRelease" and _remote(each))
    stored = Counter(_storage(each) for each in releases if not each.spec.get("serviceAccountName"))
    stored = Counter({name: count for name, count in stored.items() if name not in kubeconfigs})
    return stored.most_common(1)[0][0] if stored else FLUX


def _is_platform_release(thing: Thing) -> bool:
    """Whether Tenantry stores the release in the platform's namespace: that of an add-on, or of a baseline."""
    return thing.kind == "HelmRelease" and (not thing.tenant or APP_LABEL not in thing.labels)


def _storage(thing: Thing) -> str:
    return str(thing.spec.get("storageNamespace") or thing.namespace)


def is_platforms(world: World, namespace: str) -> bool:
    """Whether a namespace is the platform team's, by its name or by what lies in it."""
    if namespace in (FLUX, world.platform) or is_tools(world, namespace):
        return True
    made = world.get("Namespace", "", namespace)
    if (made and made.tenant) or any(each.tenant for each in world.of(*_FLUX_KINDS, namespace=namespace)):
        return False
    if _acts_as_itself(world, namespace):
        return False
    return any(fnmatchcase(namespace, pattern) for pattern in RESERVED) or namespace in ("default", "kube-system")


def _acts_as_itself(world: World, namespace: str) -> bool:
    """Whether Flux applies all that a namespace leads to as accounts of its own: then it is a tenant's, whatever its name is."""
    apps = [each for each in world.of("Kustomization", "HelmRelease", namespace=namespace) if not _remote(each)]
    accounts = {str(each.spec.get("serviceAccountName") or "") for each in apps}
    return bool(apps) and all(world.get("ServiceAccount", namespace, each) for each in accounts)


def is_tools(world: World, namespace: str) -> bool:
    """Whether a namespace is that of a tool of the platform team, which Flux applies with its own rights.

    Its name tells: one of those that are reserved for tools, or that of a chart in it. So do its releases, if all install into
    other namespaces, and a Kustomization that names none for what it applies: it reaches everywhere. A tenant has an account.
    """
    apps = list(world.of("Kustomization", "HelmRelease", namespace=namespace))
    accounts = (str(app.spec.get("serviceAccountName") or CONTROLLERS["Kustomization"]) for app in apps)
    if apps and all(app.is_ours and not app.tenant for app in apps):
        return True
    if not apps or any(account not in CONTROLLERS.values() for account in accounts):
        return False
    if any(fnmatchcase(namespace, pattern) for pattern in RESERVED):
        return True
    made = world.get("Namespace", "", namespace)
    if (made and made.tenant) or any(each.tenant for each in world.of(*_FLUX_KINDS, namespace=namespace)):
        return False
    releases = [app for app in apps if app.kind == "HelmRelease"]
    elsewhere = (app.spec.get("targetNamespace") not in (None, "", namespace) for app in releases)
    everywhere = (app.kind == "Kustomization" and not app.spec.get("targetNamespace") for app in apps)
    return (
        any(namespace in (app.name, str(app.at("spec", "chart", "spec", "chart"))) for app in releases)
        or any(everywhere)
        or (len(releases) == len(apps) and all(elsewhere))
    )


def tenant_namespaces(world: World) -> set[str]:
    """The namespaces on the management cluster that are tenants'."""
    return {name for territory in territories(world) for name in territory.namespaces}


def territories(world: World) -> list[Territory]:
    """The tenants of the management cluster with their namespaces."""
    owned: dict[str, list[str]] = defaultdict(list)
    for namespace in _candidates(world):
        owned[_owner(world, namespace)].append(namespace)
    found: list[Territory] = []
    for tenant, namespaces in owned.items():
        of_flux = {each: sum(1 for _ in world.of(*_FLUX_KINDS, namespace=each)) for each in namespaces}
        main = max(namespaces, key=lambda each: (of_flux[each], each == tenant, -len(each)))
        mine = Territory(tenant, main)
        found.append(mine)
        for other in namespaces:
            if other == main:
                continue
            key = other.removeprefix(f"{main}-").removesuffix(f"-{main}")
            if main in other and key != other and not dns_label_problem(key):
                mine.extra[key] = other
            else:
                found.append(Territory(other if other not in set(owned) else f"{other}-namespace", other))
    return found


def extra_name(main: str, key: str, name: str) -> str:
    """The template of an extra namespace's name."""
    return "{namespace}-{key}" if name == f"{main}-{key}" else name.replace(main, "{namespace}", 1)


def _candidates(world: World) -> Iterable[str]:
    """Namespaces with a tenant's label, and those that hold apps which act on the management cluster."""
    labelled = [each.name for each in world.of("Namespace") if each.tenant]
    acting = [each.namespace for each in world.of(*_FLUX_KINDS) if not _remote(each)]
    return (each for each in dict.fromkeys((*labelled, *acting)) if each and not _is_kubeconfigs(world, each))


def _is_kubeconfigs(world: World, namespace: str) -> bool:
    """Whether a namespace is for remote clusters alone, or the platform's."""
    if is_platforms(world, namespace):
        return True
    made = world.get("Namespace", "", namespace)
    if made and made.tenant:
        return False
    apps = list(world.of("Kustomization", "HelmRelease", namespace=namespace))
    remote = any(map(_remote, apps)) or any(_remote(each) for each in world.beside if each.namespace == namespace)
    # What makes clusters often lies beside their kubeconfigs. A tenant has an account.
    return remote and all(_remote(app) or not app.spec.get("serviceAccountName") for app in apps)


def _owner(world: World, namespace: str) -> str:
    made = world.get("Namespace", "", namespace)
    if made and (named := made.tenant):
        return named
    claims = {named for each in world.of(*_FLUX_KINDS, namespace=namespace) if (named := each.tenant)}
    if len(claims) == 1:
        return claims.pop()
    return without_environment(namespace, world.environment)


def without_environment(name: str, environment: str) -> str:
    """A name without the environment at its beginning or end."""
    short = name.removeprefix(f"{environment}-").removesuffix(f"-{environment}")
    return short or name


def _remote(thing: Thing) -> bool:
    return bool(thing.spec.get("kubeConfig"))
