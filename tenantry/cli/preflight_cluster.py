"""`tenantry preflight --cluster`: one cluster, and the kubeconfig through which Flux reaches it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from tenantry.cli.environment import environment_of
from tenantry.cli.management import connect_management
from tenantry.cli.output import counts, data, working
from tenantry.fleet.fleet import Fleet
from tenantry.messages.errors import Problem, Refused
from tenantry.messages.text import counted
from tenantry.model import SecretKey
from tenantry.plan.plan import plan
from tenantry.preflight.contact import Contact, contact_management, contact_remote, remote_of
from tenantry.preflight.kubeconfig import is_loopback


def contacted(
    file: Path, fleet: Fleet, environment: str, name: str, kubeconfig: Path | None, context: str | None
) -> Contact:
    """What a cluster answers to what Flux does there.

    Raises: Refused: the cluster is not in the environment or has no kubeconfig, or its management cluster cannot be asked.
    """
    environment_of(fleet, name, environment)
    planned = plan(fleet, environment)
    reference = _reference(fleet, name) if name != planned.management else None
    with connect_management(file, environment, kubeconfig, context) as client, working(f"asking {name}"):
        now = datetime.now(UTC)
        if reference is None:
            return contact_management(client, fleet, planned, now)
        local = is_loopback(urlsplit(client.config.cluster.server).hostname or "")
        return contact_remote(client, remote_of(fleet, planned, name), reference, now, local=local)


def _reference(fleet: Fleet, name: str) -> SecretKey:
    declared = fleet.clusters[name].kubeconfig
    reference = declared and declared.resolved
    if not isinstance(reference, SecretKey):
        message = f"cluster '{name}' is reached by workload identity: there is no kubeconfig to check"
        raise Refused(message, "see `tenantry status` for what Flux says about it")
    return reference


def print_contact(found: Contact, as_line: Callable[[Problem], str]) -> None:
    """Print what a cluster answers. as_line: a problem as it is printed."""
    now = datetime.now(UTC)
    if found.answer:
        version = f", Kubernetes {found.answer.version}" if found.answer.version else ""
        data(f"{found.cluster} answered in {found.answer.milliseconds} ms{version}")
    for what, end in found.expires.items():
        if end > now:
            data(f"{what} is valid until {end:%Y-%m-%d %H:%M} UTC, for {counted((end - now).days, 'day')}")
    for problem in found.problems:
        data(as_line(problem))
    data(f"{found.cluster}: {counts(found.problems) or 'no problems'}")
