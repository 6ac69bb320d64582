"""The effective value of a part of the file: layers merged, placeholders filled in, the result checked against its model. So too
the settings of a tenant on one cluster, the overrides that hold there, and the names of its namespaces.

Merge order: the entry with its templates, then the overrides that hold, in their order: those of `defaults` first, then those of
templates, then those of the entry. The plan and `explain` see the same values. A finding names the place where the author wrote the
value, in any layer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic_core import ValidationError

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin, with_whole
from tenantry.fleet.shape import findings_of
from tenantry.kube import names
from tenantry.messages.data import mapping_at, value_at, without
from tenantry.messages.errors import InvalidPart, Path, Problem
from tenantry.messages.placeholders import BUILT_IN, Scalar, Variables, all_names_in, fill, fill_block
from tenantry.model import Helm, Model, PlacedSettings, State
from tenantry.model.strict import FILLED
from tenantry.model.tenancy import Network, PodSecurity, TenantOwner, as_written

_M = TypeVar("_M", bound=Model)
_T = TypeVar("_T")


def resolved_once(
    fleet: Fleet,
    layers: Sequence[Layer],
    model: type[_M],
    variables: Variables,
    *,
    part: tuple[str, ...] = (),
    apart: str = "",
) -> _M:
    """As `resolved_layers`, computed once for all clusters on which the same layers apply and their placeholders become the same.

    The layers of the same paths have to have the same data for a model. `Planner` empties what is kept after each tenant.
    Args: apart: a key that is empty in the result if the layers have it, whatever its placeholders become.
    """

    def whole() -> _M:
        merged = resolved_layers(layers, model, variables, part=part)
        return merged.model_copy(update={apart: {}}) if apart in merged.model_fields_set else merged

    def written() -> dict[str, Any]:
        data = mapping_at(merge(layers), *part)
        return without(data, [(apart,)]) if apart else data

    return _once(fleet, (model, part), layers, variables, written, whole)


def filled_once(
    fleet: Fleet, layers: Sequence[Layer], variables: Variables, path: tuple[str, ...]
) -> dict[str, Any] | None:
    """The part of layers at a path, filled in, if they have it: the values of a chart. Computed as often as by `resolved_once`."""
    what = ("written", path, *(layer.path for layer in layers))
    written = fleet.once(what, (), lambda: value_at(merge(layers), path))

    def filled() -> dict[str, Any]:
        try:
            whole: dict[str, Any] = fill_block({path[-1]: written}, variables, path[:-1])[path[-1]]
        except InvalidPart as found:
            raise InvalidPart(
                replace(finding, path=origin(layers, finding.path)) for finding in found.findings
            ) from None
        return whole

    return None if written is None else _once(fleet, path, layers, variables, lambda: written, filled)


def _once(
    fleet: Fleet,
    what: tuple[Hashable, ...],
    layers: Sequence[Layer],
    variables: Variables,
    written: Callable[[], object],
    make: Callable[[], _T],
) -> _T:
    """What a function makes of layers and of the placeholders in a part of them."""
    key = (*what, *(layer.path for layer in layers))
    names = fleet.once(("names", *key), (), lambda: dict.fromkeys(all_names_in(written())))
    # By text, because 1 and true are equal.
    return fleet.once(("filled", *key, *(repr(variables.get(name)) for name in names)), (), make)


def resolved_layers(
    layers: Sequence[Layer],
    model: type[_M],
    variables: Variables | None,
    *,
    part: tuple[str, ...] = (),
) -> _M:
    """Several layers as one; variables: None where the layers take no placeholders; part: the path of the part that is wanted.

    Raises: InvalidPart: a placeholder is unknown, or the filled values do not fit the model, each by itself or together.
    """
    data = mapping_at(merge(layers), *part)
    try:
        if variables is not None:
            data = fill_block(data, variables, part) if model is Helm else fill(data, variables, part)
        return model.model_validate(data, context=None if variables is None else FILLED)
    except ValidationError as error:
        findings = findings_of(error, model, data, part)
    except InvalidPart as found:
        findings = iter(found.findings)
    raise InvalidPart(replace(finding, path=origin(layers, finding.path)) for finding in findings)


# --- settings of tenants and of the platform -------------------------------------------------------------------------

_INHERITED = set(PlacedSettings.model_fields)
"""Not selectors: each is taken whole from the nearest level, as half of one merged into another would mean neither. Nor grants,
which are no settings of the tenant's objects."""

_WHOLE = (("podSecurity",),)
"""Settings that a more specific layer replaces as a whole: a stricter `enforce` keeps no laxer `version` of another layer."""
TIMES = ("interval", "retryInterval", "timeout")
"""Settings that apps and add-ons take over where they do not set them themselves."""


@dataclass(frozen=True, slots=True)
class TenantSettings:
    """The settings of one tenant everywhere; durations as Go writes them ("10m"), quantities as Kubernetes does ("8Gi")."""

    role: str = "admin"
    interval: str = "10m"
    retryInterval: str = "30s"
    timeout: str = "5m"
    network: Network = "isolated"
    quota: dict[str, str] = field(default_factory=dict)
    limits: dict[str, dict[str, str]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    podSecurity: PodSecurity = field(default_factory=PodSecurity)
    owners: list[TenantOwner] = field(default_factory=list)
    dependsOn: list[str] = field(default_factory=list)
    objects: dict[str, dict[str, Any]] = field(default_factory=dict)


def platform_settings(fleet: Fleet) -> TenantSettings:
    """The settings of add-ons; only the defaults' times apply to them."""
    return fleet.once(("platform settings",), (), lambda: settings_of(platform_layers(fleet)))


def platform_layers(fleet: Fleet) -> list[Layer]:
    """The layers of the settings of add-ons."""
    return [Layer(("defaults",), {key: value for key, value in fleet.valid("defaults").items() if key in TIMES})]


def tenant_settings(fleet: Fleet, tenant: str, environment: str, cluster: str | None) -> TenantSettings:
    """A tenant's settings on a cluster; cluster: None for what all clusters of the environment have in common.

    Clusters on which the same parts of the file speak have the same object.
    """
    return namespace_settings(fleet, tenant, environment, cluster, "")


_NO_SETTINGS = ("name", "serviceAccount", "state")
"""Keys of an entry that say something of a namespace or a placement, and nothing of what is in it."""


def namespace_settings(fleet: Fleet, tenant: str, environment: str, cluster: str | None, key: str) -> TenantSettings:
    """The settings of one of the tenant's extra namespaces: the tenant's settings there merged with its entry."""
    alike = settings_alike(fleet, tenant, environment, cluster)
    return fleet.once(
        ("settings", key, *alike), (), lambda: settings_of(namespace_layers(fleet, tenant, environment, cluster, key))
    )


def namespace_layers(fleet: Fleet, tenant: str, environment: str, cluster: str | None, key: str) -> list[Layer]:
    """The layers of the settings in one namespace of a tenant. Args: key: of an extra namespace; "" for the main one."""
    layers = settings_layers(fleet, tenant, environment, cluster)
    at = ("tenants", tenant, "namespaces", key)
    own = {setting: value for setting, value in fleet.raw(*at).items() if setting not in _NO_SETTINGS}
    return with_whole([*layers, Layer(at, own)], _WHOLE) if key else layers


def setting_origin(
    fleet: Fleet, tenant: str, environment: str, cluster: str, *path: str | int, namespace: str = ""
) -> Path:
    """Where in the document the tenant's setting at `path` on a cluster is written.

    Args: namespace: the key of the extra namespace that the setting is for.
    """
    return fleet.source.origin(origin(namespace_layers(fleet, tenant, environment, cluster, namespace), path))


def settings_layers(fleet: Fleet, tenant: str, environment: str, cluster: str | None) -> list[Layer]:
    """The layers of a tenant's settings."""
    layers = (
        Layer(layer.path, {key: value for key, value in layer.data.items() if key in _INHERITED})
        for layer in layers_of(fleet, ("tenants", tenant), environment, cluster)
    )
    return with_whole([*layers], _WHOLE)


def settings_alike(fleet: Fleet, tenant: str, environment: str, cluster: str | None) -> tuple[Path, ...]:
    """The paths of these layers: equal for two clusters on which the same parts of the file speak."""
    return tuple(layer.path for layer in layers_of(fleet, ("tenants", tenant), environment, cluster))


def tenant_states(fleet: Fleet, tenant: str, cluster: str) -> tuple[State, State]:
    """The state of a tenant everywhere, and that on one cluster."""
    declared, index = fleet.document.tenants[tenant], state_override(fleet, tenant, cluster)
    return declared.state, "active" if index is None else declared.overrides[index].state


def state_override(fleet: Fleet, tenant: str, cluster: str) -> int | None:
    """Which override of a tenant says its state on a cluster; None: none does."""
    labels = fleet.clusters[cluster].labels
    for index, override in reversed([*enumerate(fleet.document.tenants[tenant].overrides)]):
        if "state" in override.model_fields_set and override.when.holds((), cluster, labels):
            return index
    return None


def tenant_variables(fleet: Fleet, tenant: str) -> dict[str, Scalar]:
    """The variables of a tenant."""
    declared = fleet.document.tenants.get(tenant)
    given = (declared and declared.variables) or {}
    return {name: value for name, value in given.items() if value is not None}


def variables_of(fleet: Fleet, environment: str, cluster: str, **built_in: str) -> dict[str, Scalar]:
    """All placeholders for something on a cluster; the cluster's variables win over the environment's. `tenant` adds its own.

    A label and a variable of one name have the same value, or rules and the plan refuse them.
    """
    return {
        **fleet.clusters[cluster].labels,
        **fleet.environments[environment].variables,
        **fleet.clusters[cluster].variables,
        **(tenant_variables(fleet, built_in["tenant"]) if built_in.get("tenant") else {}),
        "env": environment,
        "cluster": cluster,
        "management": fleet.environments[environment].management,
        **built_in,
    }


def variables_of_app(fleet: Fleet, at: Sequence[str], environment: str, cluster: str) -> dict[str, Scalar]:
    """All placeholders for an app or an add-on on a cluster. Args: at: where it is declared."""
    tenant = {"tenant": at[1]} if at[0] == "tenants" else {}
    return variables_of(fleet, environment, cluster, **tenant, app=at[-1])


def variable_at(fleet: Fleet, environment: str, cluster: str, name: str, tenant: str = "") -> Path | None:
    """Where a placeholder of `variables_of` gets its value, a variable or a label; None for a built-in one."""
    if name in BUILT_IN:
        return None
    owners: list[tuple[str, ...]] = [("tenants", tenant)] if tenant else []
    owners += [("clusters", cluster), ("environments", environment)]
    places = [*((*owner, "variables") for owner in owners), ("clusters", cluster, "labels")]
    return next(((*place, name) for place in places if name in fleet.raw(*place)), None)


def overrides(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str | None) -> Iterator[Layer]:
    """The overrides of an entry that hold in an environment, on a cluster or without one, in their order, as written."""
    written = fleet.raw(*at).get("overrides")
    if not written or (*at, "overrides") in fleet.left_out:
        return
    holder: Any = fleet.document
    for part in at:
        holder = holder[part] if isinstance(holder, dict) else getattr(holder, part)
    lineage, labels = fleet.lineage(environment), fleet.clusters[cluster].labels if cluster else {}
    for index, (data, override) in enumerate(zip(written, holder.overrides, strict=True)):
        if override.when.holds(lineage, cluster, labels):
            yield Layer((*at, "overrides", index), data)


def layers_of(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str | None) -> Iterator[Layer]:
    """What the file says of a tenant, of a source or of the platform's chart at a path: there, and in the overrides that hold.

    Those of its tenant or of the platform come before those of the add-on whose source it is.
    """
    yield Layer(at, fleet.valid(*at))
    owner = at[:2] if at[0] == "tenants" else at[:1]
    for holder in (owner, at[:-1]) if at[:2] == ("platform", "addons") else (owner,):
        for layer in overrides(fleet, holder, environment, cluster):
            if written := mapping_at(layer.data, *at[len(holder) :]):
                yield Layer((*layer.path, *at[len(holder) :]), written)


def settings_of(layers: list[Layer]) -> TenantSettings:
    """What layers make together, as `settings_layers` and `namespace_layers` give them."""
    # Validating turns numbers into the text that Kubernetes wants.
    merged = resolved_layers(layers, PlacedSettings, None)
    values: dict[str, Any] = {key: getattr(merged, key) for key in merged.model_fields_set}
    if merged.limits:
        values["limits"] = merged.limits.model_dump(exclude_none=True)
    if merged.objects:
        values["objects"] = as_written(merged.objects)
    return TenantSettings(**values)


def namespace_template(fleet: Fleet, environment: str, tenant: str) -> tuple[str, Path]:
    """The template for a tenant's main namespace, and where it is written: at the tenant, or else at the environment."""
    if own := fleet.document.tenants[tenant].namespace:
        return own, ("tenants", tenant, "namespace")
    return fleet.environments[environment].namespace, fleet.declared_at(environment, "namespace")


def main_namespace(fleet: Fleet, environment: str, tenant: str) -> str:
    """The one that every tenant has. Raises: InvalidPart: its template gives no name."""
    template, at = namespace_template(fleet, environment, tenant)
    name = str(fill(template, _variables(fleet, environment, tenant), at))
    _check_name(name, tenant, at, "shorten the template or the tenant's name")
    return name


def extra_namespaces(fleet: Fleet, environment: str, tenant: str) -> dict[str, str]:
    """The names of the others by their keys, in the order of the keys. Raises: InvalidPart: a template gives no name."""
    own = main_namespace(fleet, environment, tenant)
    names_by_key: dict[str, str] = {}
    for key, declared in sorted(fleet.document.tenants[tenant].namespaces.items()):
        at = ("tenants", tenant, "namespaces", key)
        variables = {**_variables(fleet, environment, tenant), "namespace": own, "key": key}
        name = str(fill(declared.name, variables, (*at, "name")))
        _check_name(name, tenant, at, "shorten its 'name', or its key")
        names_by_key[key] = name
    return names_by_key


def _variables(fleet: Fleet, environment: str, tenant: str) -> dict[str, Scalar]:
    return {**fleet.environments[environment].variables, "env": environment, "tenant": tenant}


def _check_name(name: str, tenant: str, at: Path, fix: str) -> None:
    if problem := names.dns_label_problem(name):
        raise InvalidPart([Problem(at, "bad-name", f"namespace '{name}' of tenant '{tenant}' {problem}", fix=fix)])
