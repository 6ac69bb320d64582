"""Reads the record of an environment, for whoever has to know what it runs and cannot read its objects.

Called by: gates between environments. Never: asks a cluster that the stack's settings do not name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tenantry.cluster import connect
from tenantry.cluster.inventory import marked_as
from tenantry.cluster.recorded import records_on
from tenantry.cluster.requests import in_parallel
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Refused
from tenantry.stacks.exported import outputs_of
from tenantry.stacks.file import StackTarget
from tenantry.stacks.project import stacks_running, target_of
from tenantry.stacks.record import OUTPUT, Record, read

_SECONDS = 10.0


def read_record(project: Path, fleet: Fleet, environment: str) -> Record | str:
    """The record from the management cluster, or from the stack's outputs if that cannot be read; a text says why there is none.

    project: the directory with Pulumi.yaml.
    """
    try:
        target = target_of(project, environment)
        data = _from_cluster(target, fleet, environment)
        data = _from_outputs(project, environment) if data is None else data
    except Refused as refused:
        return refused.message
    return _only(environment, data)


def _only(environment: str, data: Iterable[dict[str, Any]]) -> Record | str:
    parts = [read(each) for each in data]
    known = [each for each in parts if each]
    if len(known) < len(parts):
        return f"the record of '{environment}' was written by another version of Tenantry, or is damaged"
    match [each for each in known if each.environment == environment]:
        case [record]:
            return record
        case []:
            return f"there is no record of '{environment}': a successful `tenantry up --environment {environment}` leaves one"
        case _:
            return f"several stacks have left a record of '{environment}', and only one of them can run it"


def _from_cluster(target: StackTarget, fleet: Fleet, environment: str) -> list[dict[str, Any]] | None:
    """None: nobody says where the cluster is, it does not answer, or another one does."""
    if target.files or not (target.kubeconfig or target.context):
        return None
    platform = fleet.document.platform.namespace
    try:
        with connect.connect(target.kubeconfig, target.context, _SECONDS) as client, connect.answering(client.config):
            if marked_as(client, platform) != fleet.environments[environment].management:
                return None
            return records_on(client, platform, environment)
    except Refused:
        return None


def _from_outputs(project: Path, environment: str) -> list[dict[str, Any]]:
    """Raises: Refused: the outputs of a stack cannot be read, or no stack runs the environment."""
    stacks = [each.name for each in stacks_running(project, environment) if not each.target.files]
    if not stacks:
        raise Refused(f"no stack of this project runs '{environment}'", "run it in the project of that stack")
    found = in_parallel(lambda name: outputs_of(project, name).get(OUTPUT), stacks)
    return [each for each in found if isinstance(each, dict)]
