"""The alerts and receivers of one owner on a management cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tenantry.importing.apps import source_key
from tenantry.importing.blocks import Named, as_model, authors_part, literal, smallest
from tenantry.importing.leaving import leave_secret
from tenantry.importing.resources import APPS, App, Resource, World
from tenantry.kube.names import dns_label_problem
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Path
from tenantry.model import Alert, FluxBlock, Provider, Receiver
from tenantry.plan.objects.scope import TENANT_LABEL


class Notifications(NamedTuple):
    """path: of the owner; home: the namespace of its Flux objects; apps: by what the file calls them."""

    world: World
    path: Path
    home: str
    named: Named
    apps: Mapping[str, App]

    def alerts(self) -> dict[str, Any]:
        """The entries of `alerts`."""
        entries: dict[str, Any] = {}
        for alert in self._own("Alert"):
            provider = self.world.get("Provider", self.home, str(alert.at("spec", "providerRef", "name")))
            if provider is None:
                alert.leave("its provider was not read", "import the provider with it")
            elif self.world.keeps_values or not leave_secret(alert, provider):
                entries[alert.name] = self._alert(alert, provider)
                for resource in (alert, provider):
                    resource.take(*self.path, "alerts", alert.name)
                if provider.name != alert.name:
                    text = f"alert {alert.name} has a provider of its own, which is named like the alert"
                    provider.leave(text, "keep it as long as an alert names it")
        return entries

    def _alert(self, alert: Resource, provider: Resource) -> dict[str, Any]:
        entry = {"provider": self._block(provider, Provider), **self.named.credentials_of(provider)}
        spec = authors_part(alert, Alert, self.named)
        # What Tenantry adds to every event.
        own = {"cluster": self.world.management, "environment": self.world.environment, "tenant": str(self.path[-1])}
        about = {key: value for key, value in mapping_at(spec, "eventMetadata").items() if own.get(key) != value}
        spec = {key: value for key, value in spec.items() if key != "eventMetadata"}
        sources = mappings_in(alert.spec.get("eventSources"))
        names = {str(source.get("name")) if source.get("kind") in APPS else "" for source in sources}
        if names and names <= self.apps.keys():
            entry["apps"] = sorted(names)
        return {**entry, **literal({**spec, **({"eventMetadata": about} if about else {})})}

    def receivers(self) -> dict[str, Any]:
        """The entries of `receivers`."""
        sources = dict(self._sources())
        entries: dict[str, Any] = {}
        for receiver in self._own("Receiver"):
            resources = mappings_in(receiver.spec.get("resources"))
            names = [sources.get((str(resource.get("kind")), str(resource.get("name")))) for resource in resources]
            if not all(names) or not names:
                text = "it makes Flux fetch something that is not a source of the same owner"
                receiver.leave(text, "keep it, or declare a receiver by hand")
                continue
            entry = {"sources": list(dict.fromkeys(names)), **self.named.credentials_of(receiver)}
            entries[receiver.name] = {**self._block(receiver, Receiver), **entry}
            receiver.take(*self.path, "receivers", receiver.name)
        return entries

    def _sources(self) -> Iterator[tuple[tuple[str, str], str]]:
        """What the file calls a source of the tenant, by its kind and name."""
        for app in self.apps.values():
            chart = app.resource.at("spec", "chartRef", "name")
            if app.source and app.source.namespace == app.home:
                yield (app.source.kind, app.source.name), source_key(app)
            if app.source and isinstance(chart, str):
                yield ("HelmChart", chart), source_key(app)

    def _block(self, resource: Resource, model: type[FluxBlock]) -> dict[str, Any]:
        return literal(smallest(authors_part(resource, model, self.named), as_model(model)))

    def _own(self, kind: str) -> Iterator[Resource]:
        """The owner's objects of a kind that a key of the file can name."""
        labels = (None, self.path[-1]) if self.path[0] == "tenants" else (None,)
        for resource in self.world.of(kind, namespace=self.home):
            if not dns_label_problem(resource.name) and resource.labels.get(TENANT_LABEL) in labels:
                yield resource
