"""Asks one cluster as Flux does: `tenantry preflight --cluster`. No message quotes any part of a kubeconfig. It changes nothing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from tenantry.cluster.inventory import secret_of, unmarked
from tenantry.cluster.requests import server_version
from tenantry.fleet.fleet import Fleet, platform_account
from tenantry.messages.errors import Problem, Refused, Severity, error
from tenantry.model import SecretKey
from tenantry.plan.plan import Plan
from tenantry.preflight import remotes
from tenantry.preflight.adoption import namespaces_to_make
from tenantry.preflight.check import of_management
from tenantry.preflight.kubeconfig import check_secret, expiries
from tenantry.preflight.remotes import Answer, Checker, Remote

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True)
class Contact:
    """problems: errors first. answer: the cluster's; None: it was not asked, or did not answer.

    expires: until when what the kubeconfig holds is valid, by what users call it.
    """

    cluster: str
    problems: tuple[Problem, ...]
    answer: Answer | None = None
    expires: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def fit(self) -> bool:
        return not any(problem.severity is Severity.ERROR for problem in self.problems)


def contact_remote(
    hub: Client,
    remote: Remote,
    reference: SecretKey,
    now: datetime,
    *,
    local: bool,
) -> Contact:
    """Check a kubeconfig and, unless Flux would refuse it anyway, what it permits on its cluster.

    local: as in `check_kubeconfig`.
    Raises: Refused: the Secret may not be read.
    """
    secret = secret_of(hub, reference)
    problems = check_secret(reference, secret, now=now, local=local)
    kubeconfig = secret.data.get(reference.key, b"") if secret else b""
    found = Contact(remote.name, problems, expires=expiries(kubeconfig))
    if not found.fit or not kubeconfig:
        return found
    checker = Checker(hub, now, local, remotes.connect, answers={})
    try:
        asked = list(checker.access(remote, kubeconfig))
    except Refused as refused:
        asked = [error("not-readable", refused.message, refused.fix)]
    return replace(
        found,
        problems=_ordered([*problems, *map(_decisive, asked)]),
        answer=(checker.answers or {}).get(remote.name),
    )


def _ordered(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(problems, key=lambda problem: problem.severity))


def _decisive(problem: Problem) -> Problem:
    """A cluster that cannot be asked is a warning for a plan, and the answer of who asks about this cluster."""
    if problem.code != "unreachable":
        return problem
    return replace(problem, severity=Severity.ERROR)


def remote_of(fleet: Fleet, plan: Plan, name: str) -> Remote:
    """A remote cluster as `remotes` has it, also if nothing is planned on it yet."""
    if found := next((each for each in remotes.remotes(fleet, plan) if each.name == name), None):
        return found
    kubeconfig = fleet.clusters[name].kubeconfig
    assert kubeconfig is not None, "a remote cluster has a kubeconfig"
    account = platform_account(fleet, plan.environment, name)
    return Remote(
        name,
        plan.environment,
        kubeconfig.resolved,
        (account,),
        account,
        fleet.document.platform.namespace,
        namespaces_to_make(fleet, plan, name),
    )


def contact_management(client: Client, fleet: Fleet, plan: Plan, now: datetime) -> Contact:
    """Check the marker, the policies and Flux's controllers of a management cluster that has answered already."""
    started = time.monotonic()
    version = server_version(client)
    answer = Answer(round((time.monotonic() - started) * 1000), version)
    marks = tuple(unmarked(client, fleet, plan))
    problems = marks or tuple(of_management(client, fleet, plan, now))
    return Contact(plan.management, _ordered(problems), answer)
