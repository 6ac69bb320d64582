"""How commands find the management cluster of an environment, and the options that override this."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tenantry.cli.progress import working
from tenantry.cluster.connect import LISTING, connected
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.stacks.file import Reach, target_of
from tenantry.stacks.outcome import for_stack

if TYPE_CHECKING:
    from tenantry.cluster.client import Client
    from tenantry.fleet.fleet import Fleet

_F = TypeVar("_F", bound=Callable[..., Any])


def management_options(command: _F) -> _F:
    """`--kubeconfig` and `--context` of the management cluster."""
    kubeconfig = click.option(
        "--kubeconfig",
        type=click.Path(path_type=Path, dir_okay=False),
        help="The kubeconfig of the management cluster;"
        " default: the one in Pulumi.<environment>.yaml, then KUBECONFIG, then ~/.kube/config.",
    )
    context = click.option(
        "--context",
        metavar="NAME",
        help="Its context; default: the one in Pulumi.<environment>.yaml, then the current one.",
    )
    return kubeconfig(context(command))


@contextmanager
def connect_management(
    file: Path, environment: str, kubeconfig: Path | None, context: str | None, seconds: float = LISTING
) -> Iterator[Client]:
    """A client for the environment's management cluster, from the options or otherwise from the stack's file.

    Args:   seconds: as for `connect`.
    Raises: Refused: it cannot be reached, or stops answering; commands in the fix are for the environment's stack.
    """
    given = target_of(file.resolve().parent, environment).reach
    with ExitStack() as stack:
        try:
            with working(f"connecting to the management cluster of {environment}"):
                way = Reach(kubeconfig or given.kubeconfig, context or given.context)
                client = stack.enter_context(connected(way, seconds))
        except Refused as refused:
            raise Refused(refused.message, for_stack(refused.fix, environment), code=refused.code) from None
        yield client


def cluster_environment(fleet: Fleet, cluster: str, environment: str | None) -> str:
    """The environment of a command about a cluster; None: its first.

    Raises: Refused: the cluster is not declared, or not in the environment.
    """
    if cluster not in fleet.clusters:
        message = f"cluster '{cluster}' is not declared in {fleet.source.file}"
        raise Refused(message, f"name another; {declared('declared', cluster, fleet.clusters)}", code=UNKNOWN_NAME)
    managed = [name for name, entry in fleet.environments.items() if cluster == entry.management]
    environments = list(dict.fromkeys([*fleet.clusters[cluster].environments, *managed]))
    chosen = environment or environments[0]
    if chosen not in environments:
        message = f"cluster '{cluster}' does not belong to environment '{chosen}'"
        raise Refused(message, f"name one of: {', '.join(environments)}", code=UNKNOWN_NAME)
    return chosen
