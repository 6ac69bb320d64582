"""Environments that share a management cluster or a remote cluster, each with its own stack.

No object may be in two plans: the stack that runs first would take it from the other. Objects with a tenant's namespace in
their name are unique because the namespaces are. All others carry the environment's name if another environment shares the
management cluster. Of the environments without `{env}` in their namespaces, the first in the file keeps plain names, so it
keeps its names when others join.
"""

from __future__ import annotations

from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import join
from tenantry.messages.placeholders import names_in


def environment_part(fleet: Fleet, environment: str) -> tuple[str, ...]:
    """The part of a name that separates the environment's objects from those of others on its management cluster."""
    management = fleet.environments[environment].management
    beside = [name for name, each in fleet.environments.items() if each.management == management]
    plain = next((name for name in beside if not _says_itself(fleet, name)), None)
    return (environment,) if len(beside) > 1 and environment != plain else ()


def _says_itself(fleet: Fleet, environment: str) -> bool:
    """Whether the environment's name is part of its tenants' namespaces."""
    return "env" in names_in(fleet.environments[environment].namespace)


def platform_account(fleet: Fleet, environment: str, cluster: str) -> str:
    """The service account that the environment's baselines and add-ons use on a cluster.

    On the management cluster itself no stack owns the account, so all environments share it there.
    """
    account = fleet.clusters[cluster].platformServiceAccount
    if cluster == fleet.environments[environment].management:
        return account
    return join(account, *environment_part(fleet, environment))


def neighbours(fleet: Fleet, environment: str) -> list[str]:
    """The other environments that share the management cluster or any cluster with this one."""
    management = fleet.environments[environment].management
    beside = {e for each in fleet.clusters.values() if environment in each.environments for e in each.environments}
    return [
        name
        for name, each in fleet.environments.items()
        if name != environment and (name in beside or each.management == management)
    ]
