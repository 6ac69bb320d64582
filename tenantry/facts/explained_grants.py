"""What a tenant's included file may set, choose and reach, and which line says so.

The answer needs no plan: it is the same in all environments, except for what placeholders in addresses become.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

from tenantry.facts.explain import known
from tenantry.fleet.choice import Choice, choice_of_grant
from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Layer, Origin, Value, origin, origin_at, trace
from tenantry.fleet.model_paths import fields_of
from tenantry.fleet.placement import tenant_barrier
from tenantry.fleet.settings import variables_of
from tenantry.fleet.template import fill
from tenantry.grants.frames import BLOCKS, PARTS, SELECTOR
from tenantry.grants.grants import grant_at, grant_layers, grants_of
from tenantry.grants.model import GRANTABLE
from tenantry.kube.values import in_words, rights_of_rules
from tenantry.messages.errors import Found, Path
from tenantry.messages.placeholders import names_in
from tenantry.model.document import Tenant

ALWAYS = (*PARTS, SELECTOR, *BLOCKS)
"""What every included file may say of its tenant."""
NEVER = tuple(key for key in fields_of(Tenant) if key not in (*ALWAYS, *get_args(GRANTABLE)))
"""What no included file may say, whatever the main file grants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedCluster:
    """Whether the included file can select a cluster, and what decides it."""

    cluster: str
    granted: bool
    reason: str
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedEnvironment:
    """Whether the tenant is placed in an environment. origin: None where nothing says so, which grants it."""

    environment: str
    granted: bool
    origin: Origin | None
    clusters: tuple[GrantedCluster, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantedAddress:
    """A granted pattern. becomes: by environment and cluster, if it has placeholders; None where one is not known."""

    pattern: str
    origin: Origin
    becomes: dict[str, dict[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedGrants:
    """The grants of one tenant.

    include: the entry of `include` that takes the file. selector: in words, "" if the main file selects no clusters.
    settings: what else the file may set.
    rights: what the tenant may do on whole clusters, in words, by the keys of `clusterRoles`.
    """

    tenant: str
    file: str
    include: Origin
    frame: Value
    always: tuple[str, ...]
    never: tuple[str, ...]
    selector: str
    selected: Origin
    environments: tuple[GrantedEnvironment, ...]
    sources: tuple[GrantedAddress, ...]
    alerts: tuple[GrantedAddress, ...]
    settings: tuple[Value, ...]
    rights: tuple[Value, ...]


def explain_grants(fleet: Fleet, tenant: str, environment: str | None = None) -> ExplainedGrants | None:
    """What the tenant's included file may do; None: it has none.

    Args:   environment: the only one to show; default: all.
    Raises: Refused: the tenant or the environment is not declared.
    """
    known("tenant", tenant, fleet.document.tenants, fleet.source.file)
    if environment is not None:
        fleet.check_stack(environment)
        known("environment", environment, fleet.environments, fleet.source.file)
    shown = fleet.in_order() if environment is None else [environment]
    return _Explaining(fleet, tenant).run(shown) if tenant in fleet.source.fills else None


def rights_on_clusters(fleet: Fleet, tenant: str, at: Callable[[Path], Origin] | None = None) -> tuple[Value, ...]:
    """What the tenant may do on whole clusters, in words, by the keys of `clusterRoles`. Args: at: the origin of a path."""
    found = []
    for key, rights in sorted(fleet.document.tenants[tenant].clusterRoles.items()):
        rules = [rule.model_dump() for rule in rights.rules or ()]
        words = in_words(rights_of_rules(rules)) if rules else f"role {rights.role}"
        path = ("tenants", tenant, "clusterRoles", key)
        found.append(Value((key,), words, at(path) if at else origin_at(fleet.source, path)))
    return tuple(found)


class _Explaining:
    """Collects the answer about one tenant; each origin names the frame that the included file fills."""

    def __init__(self, fleet: Fleet, tenant: str) -> None:
        grants = grants_of(fleet, tenant)
        assert grants is not None  # an included file speaks of the tenant
        self.fleet, self.tenant, self.grants = fleet, tenant, grants
        self.fill = fleet.source.fills[tenant]

    def run(self, shown: Iterable[str]) -> ExplainedGrants:
        choices = {each: choice_of_grant(self.fleet, each, self.tenant) for each in shown}
        frame = self._frame()
        selected = next((choice for choice in choices.values() if choice), None)
        environments = tuple(self._environment(each, choice) for each, choice in choices.items())
        return ExplainedGrants(
            tenant=self.tenant,
            file=self.fill.file.file,
            include=origin_at(self.fleet.source, self.fill.at),
            frame=Value(("frame",), f"tenants.{self.tenant}", frame),
            always=ALWAYS,
            never=NEVER,
            selector=selected.selector if selected else "",
            selected=selected.origin if selected else frame,
            environments=environments,
            sources=tuple(self._addresses("sources", environments)),
            alerts=tuple(self._addresses("alerts", environments)),
            settings=self._settings(),
            rights=rights_on_clusters(self.fleet, self.tenant, self._at),
        )

    def _frame(self) -> Origin:
        return Origin("tenant", self.fleet.source.locate(("tenants", self.tenant), key=True))

    def _at(self, path: Path) -> Origin:
        return origin_at(self.fleet.source, path)

    def _environment(self, environment: str, choice: Choice | None) -> GrantedEnvironment:
        barrier = tenant_barrier(self.fleet, environment, self.tenant)
        at = barrier.at if barrier else self._granting()
        return GrantedEnvironment(
            environment=environment,
            granted=barrier is None,
            origin=self._at(at) if at else None,
            clusters=() if barrier else tuple(self._clusters(environment, choice)),
        )

    def _granting(self) -> Path | None:
        """The list that names the environments; None: there is no list, so all of them are granted."""
        if self.grants.environments is not None:
            return grant_at(self.fleet, self.tenant, "environments")
        listed = self.fleet.document.tenants[self.tenant].environments
        return None if listed is None else ("tenants", self.tenant, "environments")

    def _clusters(self, environment: str, choice: Choice | None) -> Iterator[GrantedCluster]:
        for decision in choice.decisions if choice else ():
            yield GrantedCluster(
                cluster=decision.cluster,
                granted=decision.placed,
                reason=decision.reason,
                origin=decision.origin,
            )
        for cluster in clusters_of(self.fleet, environment) if choice is None else ():
            reason = "no selector in the main file"
            yield GrantedCluster(cluster=cluster, granted=False, reason=reason, origin=self._frame())

    def _addresses(self, key: str, environments: tuple[GrantedEnvironment, ...]) -> Iterator[GrantedAddress]:
        layers = grant_layers(self.fleet, self.tenant)
        for index, pattern in enumerate(getattr(self.grants, key) or ()):
            at = self._at(origin(layers, (key, index)))
            filled = any(names_in(pattern))
            becomes = {each.environment: self._filled(pattern, each) for each in environments if filled}
            used = {environment: by_cluster for environment, by_cluster in becomes.items() if by_cluster}
            yield GrantedAddress(pattern=pattern, origin=at, becomes=used)

    def _filled(self, pattern: str, environment: GrantedEnvironment) -> dict[str, str | None]:
        """What a pattern becomes on each cluster that the file can choose."""
        return {
            cluster.cluster: self._on(pattern, environment.environment, cluster.cluster)
            for cluster in environment.clusters
            if cluster.granted
        }

    def _on(self, pattern: str, environment: str, cluster: str) -> str | None:
        try:
            return str(fill(pattern, variables_of(self.fleet, environment, cluster, tenant=self.tenant), ()))
        except Found:
            return None

    def _settings(self) -> tuple[Value, ...]:
        effective = {"settings": self.grants.settings or []}
        layers = [
            Layer(layer.path, {key: value for key, value in layer.data.items() if key in effective})
            for layer in grant_layers(self.fleet, self.tenant)
        ]
        return trace(self.fleet.source, layers, effective)
