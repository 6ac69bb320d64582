"""Environments beside each other: on one management cluster, or on one remote cluster, each with its own stack.

No object may be in two plans: the stack that goes first would take it from the other. What carries a tenant's namespace
in its name is kept apart by the namespaces; the rest carries the environment's name, but only where there is another
environment to be told from, and only if the environment says `{env}` in its namespaces. So the one environment of a
management cluster that does not say it keeps its names when others join it.
"""

from __future__ import annotations

from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import join
from tenantry.messages.placeholders import names_in


def says_itself(fleet: Fleet, environment: str) -> bool:
    """Whether the environment's name is part of its tenants' namespaces."""
    return "env" in names_in(fleet.environments[environment].namespace)


def environment_part(fleet: Fleet, environment: str) -> tuple[str, ...]:
    """What tells the environment's own objects from those of others on its management cluster; a part of their names."""
    management = fleet.environments[environment].management
    shared = any(each.management == management for name, each in fleet.environments.items() if name != environment)
    return (environment,) if shared and says_itself(fleet, environment) else ()


def platform_account(fleet: Fleet, environment: str, cluster: str) -> str:
    """Whom the environment's baselines and add-ons act as on a cluster.

    On the management cluster itself nobody's stack owns the account, so there all environments share it.
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
