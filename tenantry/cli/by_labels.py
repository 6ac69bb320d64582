"""How the commands for live states go on if the file is invalid or not there: by the labels on the management cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.management import connect_management
from tenantry.cli.output import say, working
from tenantry.messages.errors import NO_FILE, InvalidFleet, Refused
from tenantry.messages.text import counted

if TYPE_CHECKING:
    from tenantry.cluster.apps import Selection
    from tenantry.cluster.client import Client
    from tenantry.cluster.labelled import Labelled


@contextmanager
def by_labels(
    file: Path,
    environment: str,
    kubeconfig: Path | None,
    context: str | None,
    failure: InvalidFleet | Refused,
    named: Selection,
) -> Iterator[tuple[Client, Labelled]]:
    """The management cluster, and what its labels say; the reason is told once, on stderr.

    failure: why there is no plan. It is raised if it is about something else or about a file that the user named, or if the
    cluster cannot be reached or has no objects of the environment.
    named: what the arguments name: what is left out of that is told, too.
    """
    # Most files are valid.
    from tenantry.cluster.labelled import labelled

    why = _why(file, failure)
    if not why:
        raise failure
    with ExitStack() as opened:
        try:
            client = opened.enter_context(connect_management(file, environment, kubeconfig, context))
            with working(f"reading the labels of {environment}"):
                found = labelled(client, environment)
        except Refused as refused:
            say(f"{why}\n  and the labels on the management cluster cannot be read: {refused}")
            raise failure from None
        if chosen := [name for name in named.clusters if "=" in name]:
            say(why)
            raise Refused(f"the labels of clusters, such as '{chosen[0]}', are in the file alone", "name the clusters")
        server, management = client.servers, ", ".join(filter(None, found.plan.hubs))
        say(f"{why}\n  going by the labels of the objects on {f'{management} ({server})' if management else server}")
        for message in found.left_out_of(named):
            say(f"left out: {message}")
        yield client, found


def _why(file: Path, failure: InvalidFleet | Refused) -> str:
    """Why there is no plan, on one line; "" if labels are no way out."""
    if isinstance(failure, InvalidFleet):
        first, *others = failure.diagnostics
        more = f"; and {counted(len(others), 'more problem')}" if others else ""
        return f"{file} is invalid ({first.location.file}:{first.location.line}: {first.message}{more})"
    if failure.code != NO_FILE or click.get_current_context().obj is not None:
        return ""
    return failure.message if file.exists() else f"there is no {file} in this directory or above it"
