"""The alerts and receivers of one owner in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tenantry.importing.apps import source_key
from tenantry.importing.blocks import Named, as_model, authors_part, literal, smallest
from tenantry.importing.leaving import leave_secret
from tenantry.importing.resources import App, Resource, World
from tenantry.kube.names import dns_label_problem
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Path
from tenantry.model import Alert, FluxBlock, Provider, Receiver
from tenantry.plan.objects.scope import TENANT_LABEL


@dataclass(frozen=True, slots=True)
class Notifications:
    """path: of the owner; home: the namespace of its Flux objects; prefix: of their names; apps: by what the file calls them."""

    world: World
    path: Path
    home: str
    prefix: str
    named: Named
    apps: Mapping[str, App]

    def alerts(self) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        for alert, key in self._own("Alert"):
            provider = self.world.get("Provider", self.home, str(alert.at("spec", "providerRef", "name")))
            if provider is None:
                alert.leave("its provider was not read", "import the provider with it")
            elif self.world.keeps_values or not leave_secret(alert, provider):
                entries[key] = self._alert(alert, provider)
                for resource in (alert, provider):
                    resource.take(*self.path, "alerts", key)
                if provider.name != alert.name:
                    text = f"alert {key} has a provider of its own, which is named like the alert"
                    provider.leave(text, "keep it as long as an alert names it")
        return entries

    def _alert(self, alert: Resource, provider: Resource) -> dict[str, Any]:
        entry = {"provider": self._block(provider, Provider), **self.named.credentials_of(provider)}
        spec = authors_part(alert, Alert, self.named)
        place = next(iter(self.apps.values())).place
        # What Tenantry adds to every event.
        own = {"cluster": place.cluster, "environment": place.environment, "tenant": str(self.path[-1])}
        about = {key: value for key, value in mapping_at(spec, "eventMetadata").items() if own.get(key) != value}
        spec = {key: value for key, value in spec.items() if key != "eventMetadata"}
        apps = [self._app_of(source) for source in mappings_in(alert.spec.get("eventSources"))]
        if apps and all(apps):
            entry["apps"] = sorted(set(apps))
        return {**entry, **literal({**spec, **({"eventMetadata": about} if about else {})})}

    def _app_of(self, source: Mapping[str, Any]) -> str:
        name = str(source.get("name")).removeprefix(self.prefix)
        return name if source.get("kind") in ("Kustomization", "HelmRelease") and name in self.apps else ""

    def receivers(self) -> dict[str, Any]:
        sources = self._sources()
        entries: dict[str, Any] = {}
        for receiver, key in self._own("Receiver"):
            resources = mappings_in(receiver.spec.get("resources"))
            names = [sources.get((str(resource.get("kind")), str(resource.get("name")))) for resource in resources]
            if not all(names) or not names:
                text = "it makes Flux fetch something that is not a source of the same owner"
                receiver.leave(text, "keep it, or declare a receiver by hand")
                continue
            entry = {"sources": list(dict.fromkeys(names)), **self.named.credentials_of(receiver)}
            entries[key] = {**self._block(receiver, Receiver), **entry}
            receiver.take(*self.path, "receivers", key)
        return entries

    def _sources(self) -> dict[tuple[str, str], str]:
        """What the file calls a source of the tenant, by its kind and name."""
        names: dict[tuple[str, str], str] = {}
        for app in self.apps.values():
            chart = app.resource.at("spec", "chartRef", "name")
            if app.source and app.source.namespace == app.home:
                names[app.source.kind, app.source.name] = source_key(app)
            if app.source and isinstance(chart, str):
                names["HelmChart", chart] = source_key(app)
        return names

    def _block(self, resource: Resource, model: type[FluxBlock]) -> dict[str, Any]:
        return literal(smallest(authors_part(resource, model, self.named), as_model(model)))

    def _own(self, kind: str) -> Iterator[tuple[Resource, str]]:
        """The owner's objects of a kind, with what the file calls them: beside a kubeconfig lie those of many."""
        labels = (None, self.path[-1]) if self.path[0] == "tenants" else (None,)
        for resource in self.world.of(kind, namespace=self.home):
            key = resource.name.removeprefix(self.prefix)
            is_named = resource.name.startswith(self.prefix) and not dns_label_problem(key)
            if is_named and resource.labels.get(TENANT_LABEL) in labels:
                yield resource, key
