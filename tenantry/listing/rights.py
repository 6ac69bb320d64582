"""Who may do what for a tenant: people, groups and accounts, with their roles, and the file of the tenant's team.

Called by: `lists`. The bindings are those that `plan.objects.baseline` plans: they hold in all namespaces of the tenant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from tenantry.fleet.fleet import Fleet, addon_account, platform_account
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.namespaces import extra_namespaces, main_namespace
from tenantry.fleet.placement import addons_on
from tenantry.fleet.settings import settings_layers, tenant_settings
from tenantry.grants.grants import DEFAULT_ROLES, grant_at, grants_of
from tenantry.kube.names import PLATFORM
from tenantry.kube.values import in_words, rights_of_rules
from tenantry.listing.taken import Place
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import Path
from tenantry.model.tenancy import Subject
from tenantry.plan.addon_namespaces import owned_namespaces
from tenantry.plan.bootstrap import homes_of_accounts

Kind: TypeAlias = Literal["user", "group", "serviceAccount", "flux", "file"]
EVERYTHING = "cluster-admin"
UNKNOWN = "what others bind"
"""The rights of an account that is not the fleet's."""
"""The role that `tenantry bootstrap` binds for the platform's account."""
_GIVING = ("role", "owners", "roleBindings")
"""The settings by which a tenant's own file can give roles."""


@dataclass(frozen=True, slots=True)
class Right:
    """What somebody may do for a tenant, or with the tenant `platform` on whole clusters.

    kind:       `flux` is the account as which Flux applies the tenant's apps; `file` is the included file of its team.
    name:       of a service account `NAMESPACE/NAME`.
    may:        `role`: the role in the namespaces; `cluster`: rights on whole clusters; `file`: what the file may set.
    namespaces: the tenant's; none for rights on whole clusters.
    line:       where the file says so; None for a default.
    """

    tenant: str
    kind: Kind
    name: str
    may: Literal["role", "cluster", "file"]
    role: str
    namespaces: tuple[str, ...]
    line: str | None

    def data(self) -> dict[str, Any]:
        return {**asdict(self), "namespaces": list(self.namespaces)}


def rights_of_platform(fleet: Fleet, places: Iterable[Place]) -> Mapping[Right, list[Place]]:
    """The accounts as which Flux applies baselines and add-ons, each with the clusters where it may do everything, and those that
    add-ons have of their own.
    """
    found: dict[Right, list[Place]] = {}
    hubs = {hub for environment in fleet.environments.values() for hub in environment.managements}
    for place in places:
        at = ("clusters", place.cluster, "platformServiceAccount")
        written = "platformServiceAccount" in fleet.raw("clusters", place.cluster)
        name = f"{fleet.document.platform.namespace}/{platform_account(fleet, *place)}"
        line = fleet.source.line_of(at) if written else None
        found.setdefault(Right(PLATFORM, "flux", name, "cluster", EVERYTHING, (), line), []).append(place)
        for addon, owner in addons_on(fleet, *place).items():
            declared = fleet.document.platform.addons[addon].account
            if declared and owner == place.environment:
                home = fleet.document.platform.addons[addon].namespace or fleet.document.platform.namespace
                account = f"{home}/{addon_account(fleet, *place, addon)}"
                line = fleet.source.line_of(("platform", "addons", addon, "account"))
                if declared.existing:
                    found.setdefault(Right(PLATFORM, "flux", account, "cluster", UNKNOWN, (), line), []).append(place)
                    continue
                there = owned_namespaces(fleet, *place, addon)
                found.setdefault(Right(PLATFORM, "flux", account, "role", declared.role, there, line), []).append(place)
                if rules := [rule.model_dump() for rule in declared.rules]:
                    role = in_words(rights_of_rules(rules))
                    found.setdefault(Right(PLATFORM, "flux", account, "cluster", role, (), line), []).append(place)
        for home in homes_of_accounts(fleet, place.cluster)[1:] if place.cluster in hubs else ():
            own = f"{home}/{platform_account(fleet, *place)}"
            found.setdefault(Right(PLATFORM, "flux", own, "cluster", EVERYTHING, (), line), []).append(place)
    return found


@dataclass(frozen=True, slots=True)
class _Binding:
    """A role of a subject wherever the same levels hold. subject: None for the account of Flux."""

    role: str
    subject: Subject | None
    line: str | None


def rights(fleet: Fleet, tenant: str, places: Iterable[Place]) -> Mapping[Right, list[Place]]:
    """All rights of a tenant, each with the places where it holds."""
    found: dict[Right, list[Place]] = {}
    bindings: dict[tuple[Path, ...], list[_Binding]] = {}
    for place in places:
        key = tuple(layer.path for layer in settings_layers(fleet, tenant, *place))
        if key not in bindings:
            bindings[key] = list(_bindings(fleet, tenant, place))
        for right in _rights(fleet, tenant, place.environment, bindings[key]):
            found.setdefault(right, []).append(place)
    return found


def _rights(fleet: Fleet, tenant: str, environment: str, bindings: Iterable[_Binding]) -> Iterator[Right]:
    main, extra = main_namespace(fleet, environment, tenant), extra_namespaces(fleet, environment, tenant)
    namespaces = (main, *extra.values())
    account = fleet.document.tenants[tenant].serviceAccount
    flux = account.name if account and account.name else tenant
    for binding in bindings:
        kind, name = _who(binding.subject, flux, main, extra)
        yield Right(tenant, kind, name, "role", binding.role, namespaces, binding.line)
    for key, given in sorted(fleet.document.tenants[tenant].clusterRoles.items()):
        at = ("tenants", tenant, "clusterRoles", key)
        rules = [rule.model_dump() for rule in given.rules or ()]
        role = in_words(rights_of_rules(rules)) if rules else str(given.role)
        yield Right(tenant, "flux", flux, "cluster", role, (), fleet.source.line_of(at))
    if grants := grants_of(fleet, tenant):
        giving = any(key in _GIVING for key in grants.settings or ())
        roles = DEFAULT_ROLES if grants.roles is None else grants.roles
        words = ", ".join(("apps", *(grants.settings or ()))) + (f" (roles: {', '.join(roles)})" if giving else "")
        line = fleet.source.line_of(grant_at(fleet, tenant, "settings"))
        yield Right(tenant, "file", fleet.source.fills[tenant].file.file, "file", words, namespaces, line)


def _bindings(fleet: Fleet, tenant: str, place: Place) -> Iterator[_Binding]:
    layers = settings_layers(fleet, tenant, *place)
    settings, merged = tenant_settings(fleet, tenant, *place), merge(layers)

    def line(*path: str | int) -> str | None:
        return None if value_at(merged, path, ABSENT) is ABSENT else _line(fleet, layers, path)

    def words(role: str) -> str:
        own = settings.roles.get(role)
        return f"{role} ({in_words(rights_of_rules(rule.model_dump() for rule in own.rules))})" if own else role

    yield _Binding(words(settings.role), None, line("role"))
    for index, owner in enumerate(settings.owners):
        yield _Binding(words(owner.role), owner, line("owners", index))
    for name, extra in sorted(settings.roleBindings.items()):
        for index, subject in enumerate(extra.subjects):
            yield _Binding(words(extra.role), subject, line("roleBindings", name, "subjects", index))


def _line(fleet: Fleet, layers: list[Layer], path: Path) -> str:
    return fleet.source.line_of(origin(layers, path))


def _who(subject: Subject | None, flux: str, main: str, extra: Mapping[str, str]) -> tuple[Kind, str]:
    if subject is None:
        return "flux", flux
    if subject.group is not None:
        return "group", subject.group
    if subject.user is not None:
        return "user", subject.user
    assert subject.serviceAccount is not None  # a check of the model
    account = subject.serviceAccount
    namespace = main if account.namespace is None else extra.get(account.namespace, account.namespace)
    return "serviceAccount", f"{namespace}/{account.name}"
