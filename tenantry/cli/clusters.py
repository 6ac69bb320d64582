"""What the commands about one cluster have in common."""

from __future__ import annotations

from tenantry.diagnostics import declared
from tenantry.errors import Refused
from tenantry.fleet import Fleet


def environment_of(fleet: Fleet, name: str, environment: str | None) -> str:
    """The environment a command about a cluster is for. Raises: Refused: no such cluster, or it is not in there."""
    if name not in fleet.clusters:
        message = f"cluster '{name}' is not declared in {fleet.source.file}"
        raise Refused(message, f"name another; {declared('declared', name, fleet.clusters)}")
    managed = [each for each, declared_as in fleet.environments.items() if declared_as.management == name]
    environments = list(dict.fromkeys([*fleet.clusters[name].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        message = f"cluster '{name}' does not belong to environment '{chosen}'"
        raise Refused(message, f"name one of: {', '.join(environments)}")
    return chosen
