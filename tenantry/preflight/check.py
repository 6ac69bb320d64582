"""Runs all checks concurrently. Anything that cannot be read is a problem, and does not prevent the other checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from tenantry.cluster.drift import asked, compare
from tenantry.cluster.inventory import (
    OTHER_CLUSTER,
    against_claim,
    claims_on,
    holdings,
    namespaces_of,
    unmarked,
)
from tenantry.cluster.leftovers import rights_by_cluster
from tenantry.cluster.reading import not_read, permitted, unserved
from tenantry.cluster.requests import in_parallel
from tenantry.fleet.fleet import Fleet
from tenantry.guard.check import RunLimits, doubts, refusals
from tenantry.guard.claims import Claim
from tenantry.guard.held import Held
from tenantry.guard.reading import Known, held
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import NOT_ALLOWED, Problem, Refused, Severity, error, warning
from tenantry.messages.text import listed
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import homes_of_addons, management_policies
from tenantry.plan.plan import Plan
from tenantry.preflight import remotes
from tenantry.preflight.adoption import (
    Adoption,
    adopters,
    adoptions,
    check_adoptions,
    check_appliers,
    check_rights,
    keeps_chart,
)
from tenantry.preflight.fitness import Policed, check_lockdown, check_policies, deployments_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True)
class Report:
    """problems: errors first. adoptions: empty if the state that the guard needs could not be read.

    refused: whether the guard would refuse the run. The reasons are among the problems.
    """

    json_keys: ClassVar = ("fit", "refused", "problems", "adoptions")
    problems: tuple[Problem, ...]
    adoptions: tuple[Adoption, ...]
    refused: bool = False

    @property
    def fit(self) -> bool:
        return not any(problem.severity is Severity.ERROR for problem in self.problems)


def contact_management(client: Client, fleet: Fleet, plan: Plan) -> list[Problem]:
    """The problems of the marker, the policies and Flux's controllers of a management cluster that has answered already."""
    if problems := list(unmarked(client, fleet, plan)):
        return problems
    return [*_problems_of(lambda: _controllers(client, fleet)), *_problems_of(lambda: _policies(client, fleet, plan))]


@dataclass(slots=True)
class Check:
    """Finds everything that would make the next run of an environment fail or do something unexpected.

    client: of the management cluster. limits, claim: of the stack that runs the environment; None: no stack is known.
    drift: whether all planned objects are compared with the live ones, as each run does by itself, or only those of tenants that
    take something over.
    in_state: whether the state of the stack has an object; None: nobody can tell.
    """

    client: Client
    fleet: Fleet
    plan: Plan
    limits: RunLimits
    claim: Claim | None = None
    drift: bool = True
    in_state: Callable[[ObjectId], bool] | None = None
    _adopted: tuple[Adoption, ...] = ()
    _strangers: Set[ObjectId] = frozenset()
    _refused: bool = False

    def report(self) -> Report:
        """All that was found."""
        marks = _problems_of(lambda: unmarked(self.client, self.fleet, self.plan))
        if claim := self.claim:
            marks += _problems_of(lambda: against_claim(self.client, self.fleet, claim))
        if any(mark.code == OTHER_CLUSTER for mark in marks):
            return Report(tuple(marks), ())  # other findings would be about the wrong cluster
        self.client.unread = set[ObjectId]()
        parts: list[Callable[[], Iterable[Problem]]] = [self._guard]
        parts += [lambda: check_rights(self.client, rights_by_cluster(self.fleet, self.plan)[self.plan.management])]
        parts += [lambda: unserved(self.client, self.fleet, self.plan), lambda: _controllers(self.client, self.fleet)]
        parts += [lambda: _policies(self.client, self.fleet, self.plan), self._remotes]
        problems = [*marks, *chain.from_iterable(in_parallel(_problems_of, parts)), *_problems_of(self._compare)]
        if message := not_read(self.client):
            problems.append(warning("secret-not-read", message, f"let who may read them check: {self._command}"))
        return Report(remotes.errors_first(dict.fromkeys(problems)), self._adopted, self._refused)

    @property
    def _command(self) -> str:
        return f"tenantry preflight --environment {self.plan.environment}"

    def _read(self, id: ObjectId) -> Manifest | None:
        return permitted(self.client, id)

    def _guard(self) -> Iterator[Problem]:
        manifests = list(holdings(self.client, self.plan))
        platform = self.fleet.document.platform.namespace
        kept = (entry for claim in claims_on(self.client, platform) for entry in claim.kept)
        now = self._held(manifests).recorded(kept)
        self._strangers = now.strangers
        for refusal in refusals(self.plan, now, self.limits):
            self._refused = True
            yield refusal
        yield from doubts(self.plan, now, self.limits)

    def _held(self, manifests: Sequence[Manifest]) -> Held:
        """Raises: Refused: only the state tells what the fleet has in a tenant's namespace, and it cannot be read."""
        if self.in_state is None:
            return held(manifests, self.plan.environment)
        planned = {planned.id for planned in self.plan.objects}
        return held(manifests, self.plan.environment, Known(planned, self.in_state, Policed(self._read)))

    def _compare(self) -> Iterator[Problem]:
        """What a run takes over, and what the API server refuses of what differs, as a dry run says. Of Secrets the plan knows no
        values.
        """
        tenants = adopters(self.plan, self._strangers, self.limits.adopting)
        objects = [planned for planned in self.plan.objects if self.drift or planned.owner.tenant in tenants]
        if not objects:
            return
        differences = compare(self.client, self.plan.environment, objects, others=False).differences
        self._adopted = tuple(adoptions(self.plan, differences, self._strangers, self.limits.adopting))
        yield from check_adoptions(self.client, self.plan, self._adopted)
        taken = {difference.id: difference.live for difference in differences if difference.id in self._strangers}
        live = {id: manifest for id, manifest in taken.items() if manifest}
        yield from check_appliers(self.client, live, {planned.id for planned in self.plan.objects})
        if not self.drift:
            return
        known = [difference for difference in differences if difference.by or difference.id.kind != "Secret"]
        tried = [difference for difference in known if not keeps_chart(difference.planned, difference.live)]
        names = {str(namespace["metadata"]["name"]) for namespace in namespaces_of(self.client)} if tried else ()
        for id, reason in asked(self.client, tried, names).refused.items():
            fix = f"correct it in tenants.yaml; where a field cannot change, give the {id.kind} another name"
            yield error("not-changeable", f"{reason}: `tenantry up` leaves it, and what belongs to it, as it is", fix)

    def _remotes(self) -> Iterator[Problem]:
        unread = list[str]()

        def contact(remote: remotes.Remote) -> list[Problem]:
            try:
                found = remotes.contact(self.client, remote)
            except Refused as refused:
                if refused.code == NOT_ALLOWED and isinstance(remote.reference, SecretKey):
                    unread.append(remote.name)
                    return []
                found = [error("not-readable", refused.message, refused.fix)]
            return [replace(problem, message=f"cluster '{remote.name}': {problem.message}") for problem in found]

        yield from chain.from_iterable(in_parallel(contact, remotes.remotes(self.fleet, self.plan)))
        if unread:
            yield warning(
                "kubeconfig-not-read",
                f"the kubeconfig of {listed(sorted(unread), 3)} may not be read with these credentials, so nobody has"
                " checked whether Flux can use it there",
                f"let who may read it check: {self._command}",
            )


def _controllers(client: Client, fleet: Fleet) -> Iterator[Problem]:
    return check_lockdown(deployments_of(client), shared_identity=fleet.document.platform.sharedIdentity)


def _policies(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Problem]:
    homes = homes_of_addons(fleet, plan.management)
    wanted = management_policies(homes, shared_identity=fleet.document.platform.sharedIdentity)
    fix = f"tenantry bootstrap {plan.management} --kubeconfig FILE --context NAME"
    yield from check_policies(wanted, f"'{plan.management}'", lambda id: permitted(client, id), fix)


def _problems_of(part: Callable[[], Iterable[Problem]]) -> list[Problem]:
    """The problems that a part finds. If something cannot be read, this is the last problem."""
    from httpx2 import RequestError

    problems: list[Problem] = []
    try:
        for problem in part():
            problems.append(problem)
    except Refused as refused:
        problems.append(error("not-readable", refused.message, refused.fix))
    except RequestError as failure:
        message = f"the management cluster does not answer as one should: {type(failure).__name__}"
        problems.append(error("not-readable", message, "check that it runs, then run the command again"))
    return problems
