"""Alerts, receivers and rights on whole clusters: what belongs to an owner beside its apps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.importing.blocks import Named, as_model, authors_part, literal, smallest
from tenantry.importing.secrets import leave_part
from tenantry.importing.settings import Space
from tenantry.importing.world import FoundApp, Thing, World
from tenantry.kube.names import dns_label_problem, slug
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.model import Alert, FluxBlock, Provider, Receiver
from tenantry.plan.objects.scope import APP_LABEL, TENANT_LABEL

SERVICE_ACCOUNTS = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class Attached:
    """What one owner has in one place. path: of the owner; home: the namespace of its Flux objects; prefix: of their names."""

    _world: World
    _path: tuple[str, ...]
    _home: str
    _prefix: str
    _named: Named
    _apps: Mapping[str, FoundApp]

    def alerts(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for thing, key in self._mine("Alert"):
            provider = self._world.get("Provider", self._home, str(thing.at("spec", "providerRef", "name")))
            if provider is None:
                self._world.notes.leave(thing.read, "its provider was not read", "import the provider with it")
                continue
            if leave_part(self._world, thing, provider):
                continue
            found[key] = self._alert(thing, provider)
            self._world.notes.take(thing.read, *self._path, "alerts", key)
            self._world.notes.take(provider.read, *self._path, "alerts", key)
            if provider.name != thing.name:
                text = f"alert {key} has a provider of its own, which is named like the alert"
                self._world.notes.leave(provider.read, text, "keep it as long as an alert names it")
        return found

    def _alert(self, thing: Thing, provider: Thing) -> dict[str, Any]:
        entry = {"provider": self._block(provider, Provider), **self._named.credentials_of(provider)}
        spec = authors_part(self._world, thing, Alert, self._named)
        about = {key: each for key, each in mapping_at(spec, "eventMetadata").items() if self._whose().get(key) != each}
        spec.pop("eventMetadata", None)
        if about:
            spec["eventMetadata"] = about
        sources = thing.spec.get("eventSources")
        apps = list(map(self._app_of, mappings_in(sources)))
        if apps and all(apps):
            entry["apps"] = sorted(set(apps))
        elif not all(isinstance(each, dict) and each.get("matchLabels") for each in sources or ()):
            text = "Tenantry tells of all apps and sources of the owner, by labels"
            self._world.notes.leave(
                thing.read, text, "name 'apps' in the alert, if it is too much", "spec.eventSources"
            )
        return {**entry, **literal(spec)}

    def _whose(self) -> dict[str, str]:
        """What Tenantry adds to every event."""
        place = next(iter(self._apps.values())).place
        whose = {"environment": place.environment, "tenant": self._path[-1], "cluster": place.cluster}
        return whose if self._path[0] == "tenants" else {"cluster": place.cluster}

    def _app_of(self, source: Mapping[str, Any]) -> str:
        if label := mapping_at(dict(source), "matchLabels").get(APP_LABEL):
            return str(label)
        name = str(source.get("name")).removeprefix(self._prefix)
        return name if source.get("kind") in ("Kustomization", "HelmRelease") and name in self._apps else ""

    def receivers(self, sources: Mapping[tuple[str, str], str]) -> dict[str, Any]:
        """sources: what the file calls a source, by its kind and name."""
        found: dict[str, Any] = {}
        for thing, key in self._mine("Receiver"):
            resources = mappings_in(thing.spec.get("resources"))
            names = [sources.get((str(resource.get("kind")), str(resource.get("name")))) for resource in resources]
            if not all(names) or not names:
                text = "it makes Flux fetch something that is not a source of the same owner"
                self._world.notes.leave(thing.read, text, "keep it, or declare a receiver by hand")
                continue
            entry = {"sources": list(dict.fromkeys(names)), **self._named.credentials_of(thing)}
            found[key] = {**self._block(thing, Receiver), **entry}
            self._world.notes.take(thing.read, *self._path, "receivers", key)
        return found

    def _block(self, thing: Thing, model: type[FluxBlock]) -> dict[str, Any]:
        return literal(smallest(authors_part(self._world, thing, model, self._named), as_model(model)))

    def _is_owners(self, thing: Thing) -> bool:
        """Whether a label does not say that the object is another's: beside a kubeconfig lie those of many."""
        tenant = thing.labels.get(TENANT_LABEL)
        return tenant is None if self._path[0] == "platform" else tenant in (None, self._path[-1])

    def _mine(self, kind: str) -> list[tuple[Thing, str]]:
        """The owner's objects of a kind, with what the file calls them."""
        there = self._world.of(kind, namespace=self._home)
        own = (each for each in there if each.name.startswith(self._prefix) and self._is_owners(each))
        found = ((each, each.name.removeprefix(self._prefix)) for each in own)
        return [(each, key) for each, key in found if not dns_label_problem(key)]


def cluster_roles(space: Space, things: list[Thing], world: World) -> dict[str, Any]:
    """`clusterRoles` of a tenant in one place."""
    found: dict[str, Any] = {}
    users = {f"{SERVICE_ACCOUNTS}{space.namespace}:{space.account}"}
    roles = {each.name: each for each in things if each.kind == "ClusterRole"}
    for thing in things:
        if thing.kind != "ClusterRoleBinding" or not _is_for(thing, users, space):
            continue
        name = str(thing.at("roleRef", "name"))
        key = thing.name.removeprefix(f"tenantry.{space.namespace}.")
        key = key if not dns_label_problem(key) else slug(thing.name)
        path = ("tenants", space.tenant, "clusterRoles", key)
        own = roles.get(name)
        if own is not None and name == thing.name:
            found[key] = {"rules": own.read.manifest.get("rules")}
            world.notes.take(own.read, *path)
        else:
            found[key] = {"role": name}
        world.notes.take(thing.read, *path)
    return found


def _is_for(thing: Thing, users: set[str], space: Space) -> bool:
    """Whether a binding is for the tenant's account alone."""
    if thing.name.startswith(f"tenantry.{space.namespace}."):
        return True
    names = {
        f"{SERVICE_ACCOUNTS}{each.get('namespace')}:{each.get('name')}"
        if each.get("kind") == "ServiceAccount"
        else str(each.get("name"))
        for each in mappings_in(thing.at("subjects"))
    }
    return bool(names) and names == users
