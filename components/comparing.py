"""Compares the management cluster with the plan before a run, and again after it: a run that ends well leaves it as planned.

Pulumi alone compares a plan with its own memory. It restores what differs on the cluster only after a refresh, which `tenantry up`
and `Pulumi.yaml` ask for; what is still different in the end makes the run fail.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pulumi

from tenantry.cluster.drift import (
    CONFIRMED,
    Difference,
    compare,
    compare_again,
    compared,
    confirmed,
    is_applied,
    take_off_added,
    told,
)
from tenantry.cluster.inventory import namespaces_of
from tenantry.cluster.leftovers import delete, orphans, remains
from tenantry.cluster.reading import check_deletable
from tenantry.cluster.requests import one
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, ObjectId, object_id, readable_id
from tenantry.messages.text import counted, lines_of
from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import Policed
from tenantry.rollout.conditions import Waiting
from tenantry.rollout.moves import Move, moves_of
from tenantry.stacks.backend import refreshes_always
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import REFRESH, is_started_by_tenantry, is_unrefreshed, tell
from tenantry.stacks.targets import key_in_state, key_of

from .contact import connected
from .gates import TOLD
from .secrets import SecretConfig, read_secrets, with_plain_secrets
from .state import check_retained, outputs_in_state
from .staying import Staying
from .waiting import Conditions, Held

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_CLEAN_UP = 300.0
"""Seconds in which Flux has to clean up what an interrupted run had created."""


@dataclass(frozen=True, slots=True)
class Restoring:
    """What was not as planned before the run.

    rewritten: what is as planned, but for fields that the API server writes otherwise. moves: the apps that move to another source.
    staying: what can stay as it is in the midst of the run. held: what waits, and stays as it is from the beginning.
    """

    target: Reach
    plan: Plan
    before: Sequence[Difference]
    rewritten: Sequence[Difference] = ()
    moves: Sequence[Move] = ()
    staying: Staying = field(default_factory=Staying)
    held: Held = field(default_factory=Held)

    @property
    def ids(self) -> frozenset[ObjectId]:
        return frozenset(difference.id for difference in self.before)

    def leaving(self, plan: Plan) -> Plan:
        """The plan, in which Pulumi leaves alone what the API server writes otherwise.

        After a refresh it would show these fields as changes in every preview, and write them in every run.
        """
        fields = {each.id: each.reachable for each in self.rewritten}
        objects = (
            replace(planned, rewritten=fields[planned.id]) if planned.id in fields else planned
            for planned in plan.objects
        )
        return replace(plan, objects=tuple(objects)) if fields else plan

    async def check(self, answers: Mapping[ObjectId, Mapping[str, Any]]) -> None:
        """End the run with an error if something is still not as planned.

        Args: answers: what the engine says of each object. Where that is not as planned either, the engine was told to leave the
              object alone: by `--target`, a transform, or an ignored change.
        """
        known = [each for each in self.before if each.id in answers and _is_planned(each, answers[each.id])]
        if known and (left := await asyncio.to_thread(self._again, known)):
            _end(left, elsewhere=self._is_elsewhere(left))

    def _again(self, found: Iterable[Difference]) -> list[Difference]:
        with connected(self.target) as client:
            return compare_again(client, self.plan.environment, found)

    def _is_elsewhere(self, left: Iterable[Difference]) -> bool:
        """Whether the management cluster has nothing that a run has applied, although the engine has refreshed its state.

        The engine then asks the cluster that the state knows, and the program another one.
        """
        foreign = {each.id for each in left if not is_applied(each.live or {})}
        return foreign.issuperset(each.id for each in self.plan.objects)


def _is_planned(difference: Difference, answer: Mapping[str, Any]) -> bool:
    return not compared(difference.planned.manifest, answer)[0]


def _end(left: Sequence[Difference], *, elsewhere: bool = False) -> NoReturn:
    """End a run that has to refresh. The command that begins it again needs no error. elsewhere: a refresh does not help."""
    tell(REFRESH)
    message = (
        f"{counted(len(left), 'object')} on the management cluster {'is' if len(left) == 1 else 'are'} not as planned, and Pulumi's"
        f" state does not know it\n{told(left)}"
    )
    if is_unrefreshed():
        pulumi.log.info(message)
        sys.exit(TOLD)
    stack = pulumi.get_stack()
    if elsewhere:
        raise pulumi.RunError(
            f"{message}\n  nothing there was applied by Tenantry: the state is of another management cluster\n"
            "  fix: correct the stack's kubeconfig if it leads to the wrong cluster; if the management cluster is a new one,\n"
            "  begin a new state, which deletes nothing:\n"
            f"    pulumi stack export --stack {stack} --file old-state.json\n"
            f"    pulumi stack rm {stack} --yes --force --preserve-config\n"
            f"    pulumi stack init {stack}"
        )
    raise pulumi.RunError(f"{message}\n  fix: pulumi up --stack {stack} --refresh")


def restoring(
    plan: Plan,
    target: Reach,
    held: Collection[ObjectId] = (),
    conditions: Conditions = lambda *_: Waiting(),
    secrets: SecretConfig | None = None,
) -> Restoring | None:
    """Compare before anything is registered, and do what the engine cannot: take off what others have added to planned objects, and
    delete what an interrupted run has left in no state. A preview only says so. None: there is nothing to restore.

    Args:   plan: of the stack. held: objects that stay as they are. conditions: what else has to.
            secrets: None: those of the stack's config.
    Raises: Refused: the cluster cannot be read or changed. RunError: a run that can be begun again has to refresh.
    """
    objects = with_plain_secrets(
        (planned for planned in plan.objects if planned.id not in held), secrets or read_secrets()
    )
    with connected(target) as client:
        found = compare(client, plan.environment, objects, secrets=True)
        unplanned = [each for each in found.unplanned if readable_id(each) not in held]
        differences, rewritten = found.differences, list[Difference]()
        if len(differences) <= CONFIRMED:
            differences = confirmed(client, found.differences)
            left = {difference.id for difference in differences}
            rewritten = [each for each in found.differences if each.id not in left and each.changed]
        unchanging = Restoring(target, plan, (), rewritten) if rewritten else None
        there = _Orphans(unplanned, Places(namespaces_of(client)), client)
        data = [id for id in remains(plan, found.unplanned) if id.kind != "Namespace"]
        waits = conditions(client, differences, unplanned)
        nothing = not differences and not there.possible and not data and not waits
        # Nobody has seen the Secrets that are not planned any more.
        blind = client.unlisted and not pulumi.runtime.is_dry_run()
        if nothing and not blind:
            return unchanging
        there_before = outputs_in_state()
        urns = {key_of(urn): urn for urn in there_before}
        state = {key: there_before[urn] for key, urn in urns.items()}
        if blind:
            leaving = (id for id in _leaving(plan, state) if id not in waits.objects)
            check_deletable(client, plan.environment, leaving)
        if nothing:
            return unchanging
        kept_back = Held.of(plan, waits, differences, unplanned, state)
        differences = [each for each in differences if each.id not in waits.objects]
        _tell(differences)
        if not is_started_by_tenantry() and pulumi.runtime.is_dry_run() and not refreshes_always(Path.cwd()):
            _advise([each for each in differences if _is_unknown(each, state)])
        if is_unrefreshed() and (unknown := [each for each in differences if _is_unknown(each, state)]):
            _end(unknown)
        # Of namespaces, the plan has been checked for this.
        check_retained(plan, [str(id) for id in data if key_in_state(id) in state])
        changed = [(each.planned, each.live) for each in differences if each.live]
        moves = moves_of(plan, changed, found.unplanned)
        needed = {id for move in moves for id in move.needs} | waits.objects.keys()
        abandoned = there.outside(state, needed)
        if pulumi.runtime.is_dry_run():
            return unchanging
        take_off_added(client, (each for each in differences if each.added))
        delete(client, abandoned, _CLEAN_UP)
    staying = Staying.of(urns, {planned.id: live for planned, live in changed}, found.unplanned)
    return Restoring(target, plan, differences, rewritten, moves, staying, kept_back)


def _leaving(plan: Plan, state: Mapping[str, Mapping[str, Any]]) -> Iterator[ObjectId]:
    """The Secrets that the state has and the plan does not. state: by what `key_in_state` gives."""
    planned = {key_in_state(each.id) for each in plan.objects}
    for key, outputs in state.items():
        if key not in planned and outputs.get("kind") == "Secret":
            yield object_id(outputs)


def _is_unknown(difference: Difference, state: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether the engine would leave an object as it is, because the state says that it is as planned."""
    remembered = state.get(key_in_state(difference.id))
    if remembered is None:
        return False
    return difference.live is None or bool(difference.changed and _is_planned(difference, remembered))


@dataclass(frozen=True, slots=True)
class _Orphans:
    """Objects with the environment's label that are not planned."""

    unplanned: Sequence[Manifest]
    places: Places
    client: Client

    @property
    def possible(self) -> bool:
        return any(orphans(self.unplanned, self.places, lambda _: False))

    def outside(self, state: Collection[str], needed: Collection[ObjectId]) -> list[Manifest]:
        """Those that no state knows, without those that a tenant can have made: the guard has warned of these.

        needed: by apps that move in this run; a later one deletes them.
        """
        left, others = orphans(self.unplanned, self.places, lambda id: key_in_state(id) in state)
        if others:
            left += filter(Policed(lambda id: one(self.client, id)), others)
        if left := [each for each in left if object_id(each) not in needed]:
            what, them = ("object was", "it") if len(left) == 1 else ("objects were", "them")
            pulumi.log.warn(
                f"{len(left)} {what} left by an interrupted run and {'is' if len(left) == 1 else 'are'} not in the file: this run"
                f" deletes {them}\n{lines_of(str(object_id(manifest)) for manifest in left)}"
            )
        return left


def _advise(unknown: Sequence[Difference]) -> None:
    """A preview that has not refreshed shows nothing of these."""
    if unknown:
        pulumi.log.warn(
            f"not as planned on the management cluster; without a refresh, Pulumi does not show it:\n{told(unknown)}"
            f"\n  fix: pulumi preview --stack {pulumi.get_stack()} --refresh"
        )


def _tell(differences: Iterable[Difference]) -> None:
    """Name what others have changed of the fleet's objects; what it takes over now was never as planned."""
    changed = (difference for difference in differences if difference.by and difference.live)
    if by_hand := [difference for difference in changed if is_applied(difference.live or {})]:
        pulumi.log.warn(f"changed by others than Pulumi, and put back by this run:\n{told(by_hand)}")
