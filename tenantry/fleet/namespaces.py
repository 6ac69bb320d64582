"""What the templates of a tenant's namespaces become in an environment. Names are the same on all of its clusters."""

from __future__ import annotations

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.template import fill
from tenantry.kube import names
from tenantry.messages.errors import Found, Path, Problem
from tenantry.messages.placeholders import Scalar


def namespace_template(fleet: Fleet, environment: str, tenant: str) -> tuple[str, Path]:
    """The template for a tenant's main namespace, and where it is written: at the tenant, or else at the environment."""
    if own := fleet.document.tenants[tenant].namespace:
        return own, ("tenants", tenant, "namespace")
    return fleet.environments[environment].namespace, fleet.said_at(environment, "namespace")


def main_namespace(fleet: Fleet, environment: str, tenant: str) -> str:
    """The one that every tenant has. Raises: Found: its template gives no name."""
    template, at = namespace_template(fleet, environment, tenant)
    name = str(fill(template, _variables(fleet, environment, tenant), at))
    _check_name(name, tenant, at, "shorten the template or the tenant's name")
    return name


def extra_namespaces(fleet: Fleet, environment: str, tenant: str) -> dict[str, str]:
    """The names of the others by their keys, in the order of the keys. Raises: Found: a template gives no name."""
    own = main_namespace(fleet, environment, tenant)
    found: dict[str, str] = {}
    for key, declared in sorted(fleet.document.tenants[tenant].namespaces.items()):
        at = ("tenants", tenant, "namespaces", key)
        main = former_main(fleet, environment, declared.formerly[0].tenant) if declared.formerly else own
        variables = {**_variables(fleet, environment, tenant), "namespace": main, "key": key}
        name = str(fill(declared.name, variables, (*at, "name")))
        _check_name(name, tenant, at, "shorten its 'name', or its key")
        found[key] = name
    return found


def former_main(fleet: Fleet, environment: str, former: str) -> str:
    """The main namespace of a tenant that may have another name today, or be gone. Raises: Found: as for `main_namespace`."""
    tenants = fleet.document.tenants
    if former in tenants:
        return main_namespace(fleet, environment, former)
    if today := next((name for name, tenant in tenants.items() if former in tenant.formerly), None):
        return main_namespace(fleet, environment, today)
    at = fleet.said_at(environment, "namespace")
    variables = {**fleet.environments[environment].variables, "env": environment, "tenant": former}
    return str(fill(fleet.environments[environment].namespace, variables, at))


def _variables(fleet: Fleet, environment: str, tenant: str) -> dict[str, Scalar]:
    named_after = fleet.document.tenants[tenant].first_name(tenant)
    return {**fleet.environments[environment].variables, "env": environment, "tenant": named_after}


def _check_name(name: str, tenant: str, at: Path, fix: str) -> None:
    if problem := names.dns_label_problem(name):
        raise Found([Problem(at, "bad-name", f"namespace '{name}' of tenant '{tenant}' {problem}", fix=fix)])
