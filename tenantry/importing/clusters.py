"""Remote clusters, from the kubeconfigs that Flux objects name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from tenantry.importing.owners import territories
from tenantry.importing.resources import APPS, Resource, World
from tenantry.kube.names import is_reserved_namespace, slug
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import grouped

_FLUX_KEY = "value"
"""The key that Flux reads if none is named. Source: fluxcd.io, Kustomization, "Remote clusters"."""
_HOLDERS = ("kubeconfigs", "tenantry-kubeconfigs")
"""Where a kubeconfig is expected that may not stay where it is: the first of these that is no tenant's."""
_TOO_VAGUE = ("cluster", "remote", "kubeconfig", "value")
"""Names of Secrets that say nothing of the cluster."""


class Reference(NamedTuple):
    """What a Flux object says of the cluster that it acts on."""

    kind: str
    namespace: str
    name: str
    key: str


def reference_of(resource: Resource) -> Reference | None:
    """How an app reaches its cluster; None: it is the management cluster."""
    written = mapping_at(resource.spec, "kubeConfig")
    if secret := mapping_at(written, "secretRef"):
        return Reference("Secret", resource.namespace, str(secret.get("name")), str(secret.get("key") or _FLUX_KEY))
    if config := mapping_at(written, "configMapRef"):
        return Reference("ConfigMap", resource.namespace, str(config.get("name")), "")
    return None


def drop_proxies(resources: Iterable[Resource]) -> None:
    """Take the kubeconfigs from apps that Capsule's proxy leads to the cluster on which they are.

    Capsule makes a Secret for the account of a Tenant's owner, beside the account and named after it. Source: projectcapsule.dev,
    Flux; clastix/flux2-capsule-multi-tenancy.
    """
    resources = list(resources)
    tenants = [tenant for tenant in resources if tenant.kind == "Tenant" and tenant.key.group.startswith("capsule.")]
    owners = {str(owner.get("name")) for tenant in tenants for owner in mappings_in(tenant.spec.get("owners"))}
    accounts = {(account.namespace, account.name) for account in resources if account.kind == "ServiceAccount"}
    for resource in resources if owners else ():
        reference = reference_of(resource) if resource.kind in APPS else None
        account = reference.name.removesuffix("-kubeconfig") if reference else ""
        is_owners = {account, f"system:serviceaccount:{resource.namespace}:{account}"} & owners
        if reference and is_owners and reference.name != account and (resource.namespace, account) in accounts:
            rest = {key: value for key, value in resource.spec.items() if key != "kubeConfig"}
            resource.spec = {"serviceAccountName": account, **rest}
            resource.is_through_proxy = True
            text = f"Secret {reference.name} leads through Capsule's proxy to the cluster that the app is on"
            resource.leave(text, "keep it: Flux goes on using it", "spec.kubeConfig")


class Remotes:
    """The remote clusters of one environment: the name of each, and how it is reached."""

    def __init__(self, world: World, taken: dict[str, Any], decisions: dict[Path, list[str]]) -> None:
        """taken: the clusters of all environments so far, and what tells them apart. decisions: the comments in the file."""
        self._taken = taken
        self._world = world
        self._decisions = decisions
        self._names: dict[Reference, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        for (holder, kind, secret, key), references in self._by_holder(_references(world)).items():
            place = {"name": secret, "namespace": holder}
            kubeconfig = {"secret": {**place, "key": key}} if kind == "Secret" else {"configMap": place}
            name = self._free(holder, kubeconfig, references[0])
            self._names |= dict.fromkeys(references, name)
            self.entries[name] = kubeconfig
            self._comment(name, holder, references)
            self._keep(name, references)

    def name(self, resource: Resource) -> str | None:
        """The remote cluster of an app; None: the management cluster."""
        reference = reference_of(resource)
        return self._names[reference] if reference else None

    def kubeconfig_namespace(self, cluster: str) -> str:
        return str(next(iter(self.entries[cluster].values()))["namespace"])

    def _by_holder(self, references: Iterable[Reference]) -> dict[tuple[str, str, str, str], list[Reference]]:
        """The references to one kubeconfig together: a Secret that lies beside each tenant is the same cluster's everywhere, and
        that of one beside the platform's apps.
        """
        tenants = {name for territory in territories(self._world) for name in territory.namespaces}
        apart = next(name for name in _HOLDERS if name not in tenants)

        def may_stay(reference: Reference) -> bool:
            """Whether the file's own rules accept kubeconfigs there: not the platform's, and those of Kubernetes and Flux."""
            namespace = reference.namespace
            return (
                namespace not in tenants and namespace != self._world.platform and not is_reserved_namespace(namespace)
            )

        by_name = grouped(filter(may_stay, references), lambda reference: reference[2:])
        holders: dict[tuple[str, str, str, str], list[Reference]] = defaultdict(list)
        for reference in references:
            kept = by_name.get(reference[2:], [])
            holder = reference.namespace if reference in kept else apart
            # Secrets of a vague name are those of other clusters in other namespaces.
            if reference not in kept and len(kept) == 1 and _short(reference) not in _TOO_VAGUE:
                holder = kept[0].namespace
            holders[holder, reference.kind, reference.name, reference.key].append(reference)
        return holders

    def _free(self, holder: str, kubeconfig: dict[str, Any], reference: Reference) -> str:
        """A name that no other cluster has: a kubeconfig means another cluster on each management cluster."""
        short = _short(reference)
        name = slug(reference.namespace if short in _TOO_VAGUE else short)[:63].strip("-") or "remote"
        itself = (self._world.management, kubeconfig)
        for free in (name, f"{name}-{slug(holder)}", f"{name}-{slug(holder)}-{self._world.environment}"):
            if self._taken.setdefault(free, itself) == itself and free not in self.entries:
                if free != name:
                    text = f"'{name}' is the name of another cluster; the Flux objects for this one get new names"
                    self._decisions["clusters", free].append(text)
                return free
        raise Refused(f"two remote clusters would be named '{name}'", "rename the Secret with the kubeconfig of one")

    def _comment(self, name: str, holder: str, references: list[Reference]) -> None:
        """Say that a kubeconfig has to be copied, and that several are taken for one."""
        namespaces, first = sorted(reference.namespace for reference in references), references[0]
        away = [namespace for namespace in namespaces if namespace != holder]
        comments = []
        if len(away) == len(namespaces) and self._world.get(first.kind, holder, first.name) is None:
            whose = "the namespace of a tenant, of the platform, or of Flux"
            text = f"copy {first.kind} {first.name} from namespace {away[0]} to {holder}: a kubeconfig must not lie in"
            comments.append(f"{text} {whose}")
        if len(namespaces) > 1:
            text = f"decide: {first.kind}s named {first.name} in {', '.join(namespaces)} are taken for the same cluster"
            comments.append(f"{text}: see that they name the same server")
        if comments:
            self._decisions["clusters", name, "kubeconfig"] += comments

    def _keep(self, name: str, references: Iterable[Reference]) -> None:
        """The kubeconfigs and their namespaces stay as they are."""
        for reference in references:
            if holder := self._world.get(reference.kind, reference.namespace, reference.name):
                text = f"it is the kubeconfig of cluster {name}, which Flux reads as before"
                holder.leave(text, "keep it, and what creates it", fate="left")
            space = self._world.get("Namespace", "", reference.namespace)
            if space is not None and not space.tenant:
                text = f"it holds the kubeconfig of cluster {name}"
                space.leave(text, "keep it, and what creates it", fate="left")


def _references(world: World) -> list[Reference]:
    """Every way to a cluster that is named."""
    # What others apply, such as a chart that makes clusters, names clusters too.
    apps = (*world.of(*APPS), *(app for app in world.beside if app.kind in APPS and not app.is_ours))
    return list(dict.fromkeys(reference for app in apps if (reference := reference_of(app))))


def _short(reference: Reference) -> str:
    """The name of a kubeconfig without what tools write around the cluster's."""
    name = reference.name.removeprefix("vc-") if reference.key == "config" else reference.name
    affixes = ("-admin-kubeconfig", "-kubeconfig")
    affix = next((affix for affix in affixes if name.endswith(affix) and name != affix), "")
    return name.removesuffix(affix).removeprefix("kubeconfig-")
