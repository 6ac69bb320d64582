"""The sources of one scope, each built once, when an app first takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tenantry.fleet.apps import EffectiveApp
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.resolve import resolved
from tenantry.flux.conformance import check_spec
from tenantry.kube.objects import KubeObject
from tenantry.messages.errors import AlreadyTold, Finding, Found, Path, raise_found
from tenantry.model import Helm, Source
from tenantry.plan.attachments import Attachments
from tenantry.plan.objects.scope import Scope, check_length, check_size
from tenantry.plan.objects.sources import source_object
from tenantry.plan.wall import Wall, below


def charts_of(scope: Scope, apps: Iterable[EffectiveApp]) -> dict[str, str]:
    """The sources that releases take, each with the first app that does."""
    charts: dict[str, str] = {}
    for app in apps:
        if isinstance(app.block, Helm) and (source := app.block.source if scope.tenant else app.name):
            charts.setdefault(source, app.name)
    return charts


class SourceSet:
    """What is `built` has passed all checks, and lies behind what it needs in `add`."""

    def __init__(
        self,
        fleet: Fleet,
        scope: Scope,
        variables: Mapping[str, str],
        attachments: Attachments,
        charts: Iterable[str],
        wall: Wall,
        add: Callable[[KubeObject], None],
    ) -> None:
        """charts: the sources that releases take; add: is given every object once, dependencies first."""
        self._fleet = fleet
        self._scope = scope
        self._variables = variables
        self._attachments = attachments
        self._charts = frozenset(charts)
        self._wall = wall
        self._add = add
        self.built: dict[str, KubeObject] = {}
        self._being_built: list[str] = []

    def get(self, name: str) -> KubeObject:
        """The object of a source.

        Raises: Found: it cannot be planned; AlreadyTold: it is not declared, or wrong as it is written.
        """
        if name not in self.built:
            self._being_built.append(name)
            try:
                self.built[name] = self._build(name)
            finally:
                self._being_built.pop()
        return self.built[name]

    def _build(self, name: str) -> KubeObject:
        at = self._path(name)
        source = self._declared(at)
        planned = source_object(self._scope, name, source, at, is_chart=name in self._charts)
        check_length(planned, at)
        check_size(planned, at)
        block = (*at, source.kind)
        raise_found(check_spec(planned.id.kind, planned.manifest["spec"], block))
        raise_found(self._wall.check(planned.id.kind, planned.manifest["spec"], below(*block)))
        planned = self._attachments.bound(self._with_included(planned, block))
        self._add(planned)
        return planned

    def _path(self, name: str) -> tuple[str, ...]:
        tenant = self._scope.tenant
        return ("tenants", tenant, "sources", name) if tenant else ("platform", "addons", name, "source")

    def _declared(self, at: tuple[str, ...]) -> Source:
        if at in self._fleet.left_out or not self._fleet.raw(*at):
            raise AlreadyTold(f"source '{at[-1]}'")
        return resolved(self._fleet, at, Source, self._variables)

    def _with_included(self, planned: KubeObject, at: Path) -> KubeObject:
        """A Git source with the names of the objects of those it includes, and after them."""
        spec = planned.manifest["spec"]
        if not spec.get("include") or planned.id.kind != "GitRepository":
            return planned
        included = [self._included(entry, (*at, "include", index)) for index, entry in enumerate(spec["include"])]
        entries = [
            {"toPath": entry["repository"]["name"], **entry, "repository": {"name": object.id.name}}
            for entry, object in zip(spec["include"], included, strict=True)
        ]
        manifest = {**planned.manifest, "spec": {**spec, "include": entries}}
        return replace(planned, manifest=manifest, depends_on=(*planned.depends_on, *(each.id for each in included)))

    def _included(self, entry: dict[str, Any], at: Path) -> KubeObject:
        name = entry["repository"]["name"]
        if name in self._being_built:
            chain = " -> ".join([*self._being_built[self._being_built.index(name) :], name])
            raise Found(
                [Finding(at, "dependency-cycle", f"sources include each other: {chain}", fix="remove one of them")]
            )
        return self.get(name)
