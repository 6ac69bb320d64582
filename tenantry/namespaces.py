"""What a tenant's namespaces are called in an environment. Whether it may have those names is for `territory`."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry import names
from tenantry.errors import Finding, Found, Path
from tenantry.fleet import Fleet
from tenantry.template import fill


def main_namespace(fleet: Fleet, environment: str, tenant: str) -> str:
    """The one that every tenant has. Raises: Found: the environment's template gives no name."""
    at = fleet.said_at(environment, "namespace")
    name = str(fill(fleet.environments[environment].namespace, _variables(fleet, environment, tenant), at))
    _check_name(name, tenant, at, "shorten the template or the tenant's name")
    return name


def extra_namespaces(fleet: Fleet, environment: str, tenant: str) -> dict[str, str]:
    """The names of the others by their keys, in the order of the keys. Raises: Found: a template gives no name."""
    main = main_namespace(fleet, environment, tenant)
    found: dict[str, str] = {}
    for key, declared in sorted(fleet.document.tenants[tenant].namespaces.items()):
        at = ("tenants", tenant, "namespaces", key)
        variables = {**_variables(fleet, environment, tenant), "namespace": main, "key": key}
        name = str(fill(declared.name, variables, (*at, "name")))
        _check_name(name, tenant, at, "shorten its 'name', or its key")
        found[key] = name
    return found


def all_namespaces(fleet: Fleet, environment: str) -> Iterator[tuple[str, str]]:
    """Every namespace of every tenant with the tenant; without those whose names are wrong, which is reported elsewhere."""
    for tenant in fleet.document.tenants:
        try:
            yield main_namespace(fleet, environment, tenant), tenant
            yield from ((name, tenant) for name in extra_namespaces(fleet, environment, tenant).values())
        except Found:
            continue


def _variables(fleet: Fleet, environment: str, tenant: str) -> dict[str, str]:
    return {**fleet.environments[environment].variables, "env": environment, "tenant": tenant}


def _check_name(name: str, tenant: str, at: Path, fix: str) -> None:
    if problem := names.dns_label_problem(name):
        raise Found([Finding(at, "bad-name", f"namespace '{name}' of tenant '{tenant}' {problem}", fix=fix)])
