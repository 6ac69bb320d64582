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
        variables = {**_variables(fleet, environment, tenant), "namespace": own, "key": key}
        name = str(fill(declared.name, variables, (*at, "name")))
        _check_name(name, tenant, at, "shorten its 'name', or its key")
        found[key] = name
    return found


def _variables(fleet: Fleet, environment: str, tenant: str) -> dict[str, Scalar]:
    return {**fleet.environments[environment].variables, "env": environment, "tenant": tenant}


def _check_name(name: str, tenant: str, at: Path, fix: str) -> None:
    if problem := names.dns_label_problem(name):
        raise Found([Problem(at, "bad-name", f"namespace '{name}' of tenant '{tenant}' {problem}", fix=fix)])
