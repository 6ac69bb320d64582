"""Whom a tenant lets into its namespaces: service accounts of its own and of bystanders, not of its neighbours.

A neighbour's account in a binding would be a door in the wall between tenants; one of the cluster's or the platform's
would lend their controllers to whoever the tenant is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tenantry.errors import Finding, Path
from tenantry.fleet import Fleet
from tenantry.model.tenancy import Subject
from tenantry.objects.bindings import account_namespace
from tenantry.objects.scope import Scope
from tenantry.settings import TenantSettings, setting_origin


def foreign_accounts(
    fleet: Fleet, scope: Scope, settings: TenantSettings, holder: Callable[[str], str | None]
) -> Iterator[Finding]:
    """A finding for each service account that is not the tenant's to name.

    holder: who has a namespace, such as "tenant 'movy'"; None: nobody whom the fleet knows.
    """
    own = {scope.namespace, *scope.namespaces.values()}
    for path, subject in _subjects(settings):
        if subject.serviceAccount is None:
            continue
        namespace = account_namespace(scope, subject.serviceAccount)
        if namespace not in own and (who := holder(namespace)):
            yield Finding(
                setting_origin(fleet, scope.tenant, *path, "serviceAccount"),
                "foreign-account",
                f"service account '{namespace}/{subject.serviceAccount.name}' belongs to {who}, not to tenant '{scope.tenant}'",
                fix="name one in the tenant's own namespaces, or in a namespace outside the fleet",
            )


def _subjects(settings: TenantSettings) -> Iterator[tuple[Path, Subject]]:
    for index, owner in enumerate(settings.owners):
        yield ("owners", index), owner
    for name, binding in settings.roleBindings.items():
        for index, subject in enumerate(binding.subjects):
            yield ("roleBindings", name, "subjects", index), subject
