"""What an app, or a tenant, is in one environment, once for all clusters where it is the same; and why two environments differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tenantry.explain.app import variable
from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Origin, Value, placeholders
from tenantry.fleet.namespaces import main_namespace
from tenantry.fleet.placed import placed_app, placed_tenant, platform_entry, tenant_entry
from tenantry.fleet.settings import TIMES, settings_layers, tenant_states, variables_of
from tenantry.fleet.sources import source_layers, source_taken
from tenantry.fleet.template import fill_typed
from tenantry.messages.errors import Found, Path
from tenantry.messages.placeholders import Variables
from tenantry.messages.text import listed
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp

_Values: TypeAlias = tuple[Iterable[Value], Variables]
"""Values of a cluster, and the variables that fill in their placeholders."""


@dataclass(slots=True)
class Variant:
    """Values that some clusters of an environment have in common.

    values: by path. compared: the same as texts, in which `{cluster}` and `{namespace}` are not filled in, because they
    differ where nothing else does.
    shown: values of texts with placeholders, in which `{tenant}`, `{app}` and `{cluster}` are left.
    variables: of the first cluster, which fill in the placeholders; declared: where those are that the values use.
    """

    values: dict[Path, Value]
    compared: dict[Path, str]
    shown: dict[Path, Any] = field(default_factory=dict)
    variables: Variables = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    declared: Mapping[str, Origin | None] = field(default_factory=dict)


def app_variants(fleet: Fleet, plan: Plan, placed: Sequence[PlannedApp]) -> list[Variant]:
    """The variants of one app in an environment. Args: placed: on each of its clusters."""
    found: dict[tuple[Any, ...], list[Variant]] = {}
    for app in placed:
        variables = variables_of(fleet, plan.environment, app.cluster, tenant=app.tenant, app=app.name)

        def values(app: PlannedApp = app) -> _Values:
            there = placed_app(fleet, plan.environment, app.at, app.cluster)
            # Clusters are not compared, and the states of tenants are told of tenants.
            return [value for value in there.values if value.path != ("state",)], there.variables

        _take(found.setdefault(_parts(fleet, plan, app), []), fleet, plan.environment, app.cluster, variables, values)
    return [variant for variants in found.values() for variant in variants]


def tenant_variants(fleet: Fleet, plan: Plan, tenant: str, clusters: Iterable[str]) -> list[Variant]:
    """The variants of a tenant's settings, or with the tenant "" of what the platform's entry sets for all clusters.

    Times and the namespace are left out: they are settings of the tenant's apps.
    """
    found: dict[tuple[Any, ...], list[Variant]] = {}
    for cluster in clusters:
        layers = settings_layers(fleet, tenant, plan.environment, cluster) if tenant else ()
        variables = variables_of(fleet, plan.environment, cluster, **({"tenant": tenant} if tenant else {}))
        if tenant:
            variables["namespace"] = main_namespace(fleet, plan.environment, tenant)

        def values(cluster: str = cluster, variables: Variables = variables) -> _Values:
            if tenant:
                there = placed_tenant(fleet, plan.environment, tenant, cluster)
                own = (value for value in there if value.path[0] not in TIMES)
                return (*own, *tenant_entry(fleet, plan.environment, tenant, cluster)), variables
            entry = platform_entry(fleet, plan.environment, cluster)
            return [value.under("platform") for value in entry], variables

        key = (*(layer.path for layer in layers), tenant and tenant_states(fleet, tenant, cluster))
        _take(found.setdefault(key, []), fleet, plan.environment, cluster, variables, values)
    return [variant for variants in found.values() for variant in variants]


def _take(
    alike: list[Variant],
    fleet: Fleet,
    environment: str,
    cluster: str,
    variables: Variables,
    values: Callable[[], _Values],
) -> None:
    """Adds a cluster to the variant whose placeholders become the same there, or to a new one.

    Args: alike: the variants for which the same parts of the file speak. values: of the cluster, and the variables that fill them.
    """
    variant = next((each for each in alike if _fills_alike(each, variables)), None)
    if variant is None:
        there, variables = values()
        variant = _variant(_by_role(there), variables)
        variant.declared = {
            name: variable(fleet, environment, cluster, name, "", str(variables.get("tenant", ""))).origin
            for name in _used(variant)
        }
        alike.append(variant)
    variant.clusters.append(cluster)


def _parts(fleet: Fleet, plan: Plan, app: PlannedApp) -> tuple[Any, ...]:
    """The parts of the file that speak for the app on its cluster: equal where only placeholders can make a difference."""
    layers = list(app_layers(fleet, app.at, plan.environment, app.cluster))
    source = source_taken(fleet, app.at, layers, plan.environment, app.cluster)
    layers += source_layers(fleet, source, plan.environment, app.cluster)
    if app.tenant:
        layers += settings_layers(fleet, app.tenant, plan.environment, app.cluster)
    return (*(layer.path for layer in layers), fleet.clusters[app.cluster].shard)


_OWN = {"cluster", "namespace"}
"""Placeholders that are not filled in before values are compared."""


def _fills_alike(variant: Variant, variables: Variables) -> bool:
    return all(repr(variant.variables.get(name)) == repr(variables.get(name)) for name in _used(variant) - _OWN)


def _used(variant: Variant) -> set[str]:
    return {name for value in variant.values.values() for name in placeholders(value.written)}


def _by_role(values: Iterable[Value]) -> Iterator[tuple[Path, Value]]:
    """Values by paths that are the same whatever a tenant calls its source, and whether an app is a chart or not."""
    for value in values:
        path = value.path
        if path[0] == "sources":
            path = ("source", *path[2:])
        elif len(path) > 1 and path[0] in ("kustomize", "helm") and path[1] in TIMES:
            path = path[1:]
        yield path, value


def _variant(values: Iterable[tuple[Path, Value]], variables: Variables) -> Variant:
    by_path = dict(values)
    kept = {**variables, **{name: f"{{{name}}}" for name in _OWN}}
    compared = {path: repr(_filled(each, kept)) for path, each in by_path.items()}
    kept |= {"tenant": "{tenant}", "app": "{app}"}
    filled = {path: _filled(each, kept) for path, each in by_path.items() if placeholders(each.written)}
    return Variant(by_path, compared, filled, variables)


def _filled(value: Value, variables: Variables) -> Any:
    """A value with the placeholders of its text filled in by these variables."""
    if not placeholders(value.written):
        return value.value
    try:
        return fill_typed(value.written, variables, ())
    except Found:  # braces in a text that takes no placeholders, such as JSON in an annotation
        return value.value


_ENVIRONMENT, _CLUSTER = ("environment ", "environment"), ("cluster ", "cluster")
_WHERE = ("where ", "clusters with")


@dataclass(frozen=True, slots=True)
class Reason:
    """is_meant: whether the file writes the difference for an environment. origins: the places that decide."""

    is_meant: bool
    text: str
    origins: tuple[Origin, ...] = ()


def meant(text: str, origins: tuple[Origin, ...]) -> Reason:
    """A reason that the file writes for an environment."""
    return Reason(is_meant=True, text=text, origins=origins)


def follows(text: str, origins: tuple[Origin, ...]) -> Reason:
    """A reason that is not written for an environment."""
    return Reason(is_meant=False, text=text, origins=origins)


def reason_of(path: Path, one: Sequence[Variant], other: Sequence[Variant]) -> Reason:
    """Why the values at a path differ. Args: one, other: what one environment has and the other does not."""
    sides = [[(each, each.values[path]) for each in side if path in each.values] for side in (one, other)]
    origins = [tuple(dict.fromkeys(_origins(each for _, each in side))) for side in sides]
    if origins[0] and set(origins[0]) == set(origins[1]):
        return _by_placeholders(sides[0] + sides[1], origins[0])
    places = (*origins[0], *(origin for origin in origins[1] if origin not in origins[0]))
    own = [place for place in places if not (place in origins[0] and place in origins[1])]
    for prefix, words in (_ENVIRONMENT, _CLUSTER, _WHERE):
        if deciding := [each for each in own if each.level.startswith(prefix)]:
            make = meant if prefix == _ENVIRONMENT[0] else follows
            return make(f"set for {_names(deciding, prefix, words)}", tuple(deciding))
    if path[0] == "source":
        return follows("another source", places)
    return follows("it follows from another setting", places)


def _origins(values: Iterator[Value] | Sequence[Value]) -> Iterator[Origin]:
    for value in values:
        yield from filter(None, (value.origin, value.removed))


def _by_placeholders(found: Sequence[tuple[Variant, Value]], origins: tuple[Origin, ...]) -> Reason:
    """The same text on both sides: its placeholders make the difference."""
    names = dict.fromkeys(name for _, value in found for name in placeholders(value.written))
    differing = [name for name in names if len({repr(variant.variables.get(name)) for variant, _ in found}) > 1]
    differing = [each for each in differing if each != "cluster"] or list(names)
    placed = [place for variant, _ in found for name in differing if (place := variant.declared.get(name))]
    words = f"placeholder {listed(f'{{{each}}}' for each in differing)}"
    prefix, noun = _ENVIRONMENT
    if deciding := [each for each in dict.fromkeys(placed) if each.level.startswith(prefix)]:
        return meant(f"{words}, set for {_names(deciding, prefix, noun)}", tuple(deciding))
    if placed:
        return follows(f"{words}, a variable of clusters or groups", tuple(dict.fromkeys(placed)))
    if differing:
        return follows(words, origins)
    return follows("it follows from another setting", origins)


def _names(origins: Sequence[Origin], prefix: str, words: str) -> str:
    return f"{words} {listed(origin.level.removeprefix(prefix) for origin in origins)}"
