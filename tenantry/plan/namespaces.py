"""Namespaces of tenants and of add-ons: which names they have, which are reserved, and which service accounts a tenant may bind.

Binding another tenant's service account would break the isolation between tenants. Binding one of the cluster or the
platform would give the tenant access to the rights of their controllers.

The namespaces that an add-on owns are created before it with the objects in them, and removed after it. On the management cluster
Pulumi creates them. On a remote cluster a release beside the add-on installs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import NamedTuple

from tenantry.fleet.blocks import blocks_of
from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.fleet.placement import addons_on, placements_of
from tenantry.fleet.settings import (
    TenantSettings,
    extra_namespaces,
    main_namespace,
    namespace_template,
    setting_origin,
    variables_of,
)
from tenantry.grants.wall import below
from tenantry.kube import names
from tenantry.kube.objects import Manifest
from tenantry.messages.errors import InvalidPart, Path, Problem
from tenantry.messages.placeholders import fill, is_unfilled
from tenantry.model.tenancy import ExtraNamespace, as_written
from tenantry.plan.declared_objects import DeclaredObject, declared_objects
from tenantry.plan.objects.baseline import account_namespace
from tenantry.plan.objects.scope import (
    APP_LABEL,
    Scope,
    installed_labels,
)

_RENAME_ENTRY = "rename the entry, or change its 'name'"


class _Claim(NamedTuple):
    """Who takes a namespace. key: of an extra namespace; "" for the main one."""

    tenant: str
    key: str = ""


class Territory:
    """The namespaces of one environment; remembers who was given which, so that no two tenants get the same."""

    def __init__(self, fleet: Fleet, environment: str) -> None:
        self.fleet = fleet
        self.environment = environment
        self._reserved = _reserved_namespaces(fleet)
        self._addons = addon_namespaces(fleet)
        self._patterns = fleet.document.platform.reservedNamespaces
        self._claims: dict[str, _Claim] = {}
        self._of: dict[str, tuple[str, dict[str, str]]] = {}

    def of(self, tenant: str) -> tuple[str, dict[str, str]]:
        """The tenant's main namespace, and its others by key. Raises: InvalidPart: one is reserved, or another's."""
        if tenant not in self._of:
            name = main_namespace(self.fleet, self.environment, tenant)
            at: Path = ("tenants", tenant)
            fix = "rename the tenant, or change the environment's 'namespace'"
            if self.fleet.document.tenants[tenant].namespace:
                at, fix = (*at, "namespace"), "choose another name"
            self._refuse_reserved(name, tenant, at, fix)
            self._claim(name, _Claim(tenant))
            extra = extra_namespaces(self.fleet, self.environment, tenant)
            for key, extra_name in extra.items():
                self._refuse_reserved(extra_name, tenant, _entry(tenant, key), _RENAME_ENTRY)
                self._claim(extra_name, _Claim(tenant, key))
            self._of[tenant] = (name, extra)
        return self._of[tenant]

    def holder(self, namespace: str) -> str | None:
        """The owner of a namespace, in words; None: the fleet knows no owner."""
        if self._is_reserved(namespace):
            return "the cluster or the platform"
        tenant = self._tenant_of.get(namespace)
        return f"tenant '{tenant}'" if tenant else None

    @cached_property
    def _tenant_of(self) -> dict[str, str]:
        """Who has which namespace; only bindings for service accounts ask."""
        holders: dict[str, str] = {}
        for tenant in self.fleet.document.tenants:
            with suppress(InvalidPart):  # a wrong name is reported elsewhere
                holders[main_namespace(self.fleet, self.environment, tenant)] = tenant
                for name in extra_namespaces(self.fleet, self.environment, tenant).values():
                    holders[name] = tenant
        return holders

    def _is_reserved(self, name: str) -> bool:
        return names.is_reserved_namespace(name) or name in self._reserved

    def _refuse_reserved(self, name: str, tenant: str, at: Path, fix: str) -> None:
        """Raises: InvalidPart: the namespace is the cluster's, the platform's, or by its name probably a platform tool's."""
        pattern = next((reserved for reserved in self._patterns if fnmatchcase(name, reserved)), None)
        if name in self._addons:
            whose = "for an add-on, which is installed there"
        elif self._is_reserved(name) or pattern is None:
            whose = "for the cluster or the platform"
        else:
            whose = f"by '{pattern}' in 'platform.reservedNamespaces'"
            fix = f"{fix}, or set 'platform.reservedNamespaces' to a list without it"
        if pattern or name in self._addons or self._is_reserved(name):
            message = f"namespace '{name}' of tenant '{tenant}' is reserved {whose}"
            raise InvalidPart([Problem(at, "reserved-namespace", message, fix=fix, at_key=True)])

    def _claim(self, name: str, claim: _Claim) -> None:
        """Not even on different clusters may two share it: the service account for remotes is named like the namespace."""
        first = self._claims.setdefault(name, claim)
        if first != claim:
            raise InvalidPart([self._shared(name, first, claim)])

    def _shared(self, name: str, first: _Claim, claim: _Claim) -> Problem:
        """Two namespaces of one name, reported at the entry or template that belongs to one of the two alone."""
        message = f"tenants '{first.tenant}' and '{claim.tenant}' would share namespace '{name}'"
        if first.tenant == claim.tenant:
            message = f"two namespaces of tenant '{first.tenant}' would both be named '{name}'"
        places = [self._place(holder) for holder in (claim, first)]
        at = next((place for place in places if place[0] == "tenants"), places[0])
        others = [place for place in places if place[0] == "tenants" and place != at and first.tenant != claim.tenant]
        notes = tuple(f"the other: {self.fleet.source.line_of(place)}" for place in others)
        fix = "choose another name for one of them" if at[0] == "tenants" else "put '{tenant}' into the template"
        return Problem(at, "shared-namespace", message, notes, _RENAME_ENTRY if at[2:3] == ("namespaces",) else fix)

    def _place(self, claim: _Claim) -> Path:
        if claim.key:
            return _entry(claim.tenant, claim.key)
        return namespace_template(self.fleet, self.environment, claim.tenant)[1]


def _entry(tenant: str, key: str) -> Path:
    return ("tenants", tenant, "namespaces", key)


def _reserved_namespaces(fleet: Fleet) -> set[str]:
    """Namespaces where a tenant could reach the platform's objects or a cluster's kubeconfig.

    On remotes a tenant's service account is named like its namespace and lies beside the platform's, so its name is reserved too:
    a tenant would act with its rights.
    """
    reserved = {fleet.document.platform.namespace}
    for name, cluster in fleet.clusters.items():
        reserved |= {cluster.kubeconfig.resolved.namespace} if cluster.kubeconfig else set()
        reserved |= {platform_account(fleet, environment, name) for environment in cluster.environments}
        reserved.add(cluster.platformServiceAccount)
    return reserved


def addon_namespaces(fleet: Fleet) -> set[str]:
    """The namespaces that add-ons install into, anywhere. A tenant there could use the service accounts of the add-ons."""
    targeted: set[str] = set()
    for addon in fleet.document.platform.addons:
        at = ("platform", "addons", addon)
        blocks = (block for path, block in blocks_of(fleet.source.data, at))
        targets = {str(block["targetNamespace"]) for block in blocks if block.get("targetNamespace")}
        own = fleet.document.platform.addons[addon].namespace
        for name in (*targets, *fleet.raw(*at, "namespaces"), *([own] if own else ())):
            targeted |= _filled_names(fleet, at, name) if is_unfilled(name) else {name}
    return targeted


def _filled_names(fleet: Fleet, at: tuple[str, ...], name: str) -> set[str]:
    """What a name with placeholders is on the clusters of an add-on; a mistake in it is reported with the add-on."""
    filled: set[str] = set()
    for environment, cluster in placements_of(fleet, at):
        with suppress(InvalidPart):
            filled.add(str(fill(name, variables_of(fleet, environment, cluster, app=at[-1]), at)))
    return filled


def foreign_accounts(
    fleet: Fleet, scope: Scope, settings: TenantSettings, holder: Callable[[str], str | None]
) -> Iterator[Problem]:
    """A finding for each service account that is not the tenant's to name.

    holder: who has a namespace, such as "tenant 'movy'"; None: nobody whom the fleet knows.
    """
    own = {scope.namespace, *scope.namespaces.values()}
    for index, subject in enumerate(settings.owners):
        if subject.serviceAccount is None:
            continue
        namespace = account_namespace(scope, subject.serviceAccount)
        if namespace not in own and (owner := holder(namespace)):
            yield Problem(
                setting_origin(
                    fleet, scope.tenant, scope.environment, scope.cluster, "owners", index, "serviceAccount"
                ),
                "foreign-account",
                f"service account '{namespace}/{subject.serviceAccount.name}' belongs to {owner}, not to tenant '{scope.tenant}'",
                fix="name one in the tenant's own namespaces, or in a namespace that Tenantry does not manage",
            )


# --- what add-ons own -------------------------------------------------------------------------------------------------


def addon_owners(fleet: Fleet, cluster: str) -> dict[str, str]:
    """All namespaces on a cluster that add-ons own, each with the first that does; mistakes in a name are reported elsewhere."""
    owners: dict[str, str] = {}
    for addon, environment in addons_on(fleet, cluster).items():
        with suppress(InvalidPart):
            for name in owned_namespaces(fleet, environment, cluster, addon):
                owners.setdefault(name, addon)
    return owners


def owned_namespaces(
    fleet: Fleet, environment: str, cluster: str, addon: str
) -> dict[str, tuple[Path, ExtraNamespace]]:
    """The namespaces on a cluster that an add-on of an environment owns, by name, each with its place.

    Raises: InvalidPart: a placeholder is unknown, or two have one name.
    """
    by_name: dict[str, tuple[Path, ExtraNamespace]] = {}
    variables = variables_of(fleet, environment, cluster, app=addon)
    for template, declared in fleet.document.platform.addons[addon].namespaces.items():
        at = ("platform", "addons", addon, "namespaces", template)
        name = str(fill(template, variables, at))
        if name in by_name:
            message = f"two namespaces of add-on '{addon}' are named '{name}'"
            raise InvalidPart([Problem(at, "duplicate-name", message, fix="remove one of them", at_key=True)])
        by_name[name] = (at, declared)
    return by_name


def addons_objects(fleet: Fleet, scope: Scope, addon: str) -> tuple[list[Manifest], list[DeclaredObject]]:
    """The namespaces of an add-on on a cluster, and the platform team's own objects in them.

    Raises: InvalidPart: a namespace has no name of its own, or an object cannot be there.
    """
    owned = owned_namespaces(fleet, scope.environment, scope.cluster, addon)
    owners = fleet.once(("owners of namespaces", scope.cluster), (), lambda: addon_owners(fleet, scope.cluster))
    for name, (at, _) in owned.items():
        _check(fleet, owners, addon, name, at)
    variables = variables_of(fleet, scope.environment, scope.cluster, app=addon)
    inside: list[DeclaredObject] = []
    for name, (at, declared) in owned.items():
        own = replace(scope, namespace=name)
        inside += declared_objects(own, as_written(declared.objects or {}), variables, below(*at))
    return [_manifest(scope, addon, name, declared) for name, (_, declared) in owned.items()], inside


def _check(fleet: Fleet, owners: Mapping[str, str], addon: str, name: str, at: Path) -> None:
    """Raises: InvalidPart: an add-on cannot own a namespace of this name."""
    platform, what = fleet.document.platform, f"namespace '{name}' of add-on '{addon}'"
    kubeconfigs = {cluster.kubeconfig.resolved.namespace for cluster in fleet.clusters.values() if cluster.kubeconfig}
    homes = {addon.namespace for addon in platform.addons.values()}  # of Flux objects; bootstrap makes them
    if problem := names.dns_label_problem(name):
        code, message, fix = "bad-name", f"{what} {problem}", "correct the name"
    elif names.is_reserved_namespace(name) or name in (platform.namespace, *kubeconfigs, *homes):
        message, fix = f"{what} belongs to the cluster or to Tenantry", "remove it, or choose another name"
        code = "reserved-namespace"
    elif (owner := owners.get(name, addon)) != addon:
        message = f"add-ons '{owner}' and '{addon}' would both own namespace '{name}'"
        fix = f"remove it from one of them; add-on '{addon}' can depend on '{owner}' instead"
        code = "shared-namespace"
    else:
        return
    raise InvalidPart([Problem(at, code, message, fix=fix, at_key=True)])


def _manifest(scope: Scope, addon: str, name: str, declared: ExtraNamespace) -> Manifest:
    labels = {
        **{key: value for key, value in (declared.labels or {}).items() if value is not None},
        **(declared.podSecurity.labels if declared.podSecurity else {}),
        **installed_labels(scope),
        APP_LABEL: addon,
        # If a Kustomization applied this namespace before, its deletion must not delete the namespace.
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }
    written = {key: value for key, value in (declared.annotations or {}).items() if value is not None}
    annotations = {"annotations": written} if written else {}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels, **annotations}}
