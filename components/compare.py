"""Compares the management cluster with the plan before a run: what a run changes, removes, and restores.

Pulumi alone compares a plan with its own memory. It restores what differs on the cluster only after a refresh, which `tenantry up`
asks for; what is still different in the end makes the run fail.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pulumi

from tenantry.cluster.drift import asked, compare, compare_again, compared, is_applied
from tenantry.cluster.inventory import namespaces_of
from tenantry.cluster.leftovers import orphans, remains
from tenantry.cluster.reading import check_deletable, permitted
from tenantry.cluster.requests import in_parallel, one
from tenantry.guard.claims import CLAIM_LABEL
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id, readable_id
from tenantry.messages.text import counted, lines_of
from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import Policed
from tenantry.rollout.change import Difference
from tenantry.rollout.readiness import Live
from tenantry.stacks.file import refreshes_always
from tenantry.stacks.outcome import REFRESH, is_started_by_tenantry, is_unrefreshed, report_outcome

from .secrets import SecretConfig, with_plain_secrets
from .state import State, check_retained

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

REPORTED = 32
"""The exit code of a program that has said why it ends: Pulumi adds no message of its own."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was not as planned before the run.

    rewritten: what is as planned, but for fields that the API server writes otherwise. refused: what the API server refuses.
    removed: what the plan no longer has, and the state has. orphans: what an interrupted run has left in no state.
    unfit: what may not be applied, whatever the cluster has, and what it has; None: nothing.
    """

    differences: Sequence[Difference] = ()
    rewritten: Sequence[Difference] = ()
    flux: Live = field(default_factory=dict)
    refused: Mapping[ObjectId, str] = field(default_factory=dict)
    removed: Mapping[ObjectId, Manifest] = field(default_factory=dict)
    orphans: Mapping[ObjectId, Manifest] = field(default_factory=dict)
    unfit: Mapping[ObjectId, Manifest | None] = field(default_factory=dict)

    def with_live_fields(self, plan: Plan) -> Plan:
        """The plan, in which Pulumi leaves alone what the API server writes otherwise.

        After a refresh it would show these fields as changes in every preview, and write them in every run.
        """
        fields = {difference.id: difference.reachable for difference in self.rewritten}
        objects = (
            replace(planned, rewritten=fields[planned.id]) if planned.id in fields else planned
            for planned in plan.objects
        )
        return replace(plan, objects=tuple(objects)) if fields else plan


def compare_with_cluster(
    client: Client, plan: Plan, state: State, secrets: SecretConfig, missing: Collection[ObjectId]
) -> Comparison:
    """Compare before anything is registered. missing: what may not be applied in any case, such as Secrets without a value.

    Raises: Refused: the cluster or the state cannot be read, or the run would delete what these credentials may not.
    """
    objects = with_plain_secrets((planned for planned in plan.objects if planned.id not in missing), secrets)
    comparison = compare(client, plan.environment, objects, secrets=True)
    namespaces = list(namespaces_of(client)) if comparison.differences or comparison.unplanned else []
    names = {str(namespace["metadata"]["name"]) for namespace in namespaces}
    confirmed = asked(client, comparison.differences, names)
    differences = confirmed.differences
    left = {difference.id for difference in differences}
    rewritten = [
        difference for difference in comparison.differences if difference.id not in left and difference.changed
    ]
    unplanned = [live for live in comparison.unplanned if readable_id(live) not in missing]
    removed, abandoned = _unplanned(client, unplanned, Places(namespaces), state)
    if client.unlisted and not pulumi.runtime.is_dry_run():
        # Nobody has seen the Secrets that are not planned any more.
        planned = {object.id for object in plan.objects}
        secrets_left = (id for id in state.objects() if id.kind == "Secret" and id not in planned)
        check_deletable(client, plan.environment, secrets_left)
    data = [id for id in remains(plan, comparison.unplanned) if id.kind != "Namespace"]
    # Of namespaces, the plan has been checked for this.
    check_retained(state, plan, [str(id) for id in data if id in state])
    permitted_objects = in_parallel(lambda id: permitted(client, id, metadata_only=True), missing)
    unfit = dict(zip(missing, permitted_objects, strict=True))
    return Comparison(differences, rewritten, comparison.flux, confirmed.refused, removed, abandoned, unfit)


def _unplanned(
    client: Client, unplanned: Sequence[Manifest], places: Places, state: State
) -> tuple[dict[ObjectId, Manifest], dict[ObjectId, Manifest]]:
    """What the plan no longer has: what the state has, and what no state knows, without what a tenant can have made."""
    if not unplanned:
        return {}, {}
    proven, unproven = orphans(unplanned, places, state.__contains__)
    proven += filter(Policed(lambda id: one(client, id)), unproven) if unproven else ()
    # Also what is being deleted already. Its claim a stack keeps for itself.
    removed = ((readable_id(live), live) for live in unplanned if CLAIM_LABEL not in labels_of(live))
    return {id: live for id, live in removed if id and id in state}, {object_id(live): live for live in proven}


# --- what the state does not know -------------------------------------------------------------------------------------


def unknown_to_state(differences: Iterable[Difference], held: Collection[ObjectId], state: State) -> list[Difference]:
    """What the engine would leave as it is, because the state says that it is what the run registers. held: what is blocked."""
    return [difference for difference in differences if _is_unknown(difference, state, is_held=difference.id in held)]


def _is_unknown(difference: Difference, state: State, *, is_held: bool) -> bool:
    remembered = state.object(difference.id)
    if remembered is None:
        return False
    if difference.live is None or (remembered.is_secret and difference.changed):
        # What is encrypted cannot be compared, so that the engine has to.
        return True
    if is_held:
        return bool(compared(remembered.inputs, difference.live)[0])
    return bool(difference.changed) and not compared(difference.planned.manifest, remembered.inputs)[0]


def end_for_refresh(differences: Sequence[Difference], *, is_elsewhere: bool = False) -> NoReturn:
    """End a run that has to refresh. The command that begins it again needs no error. is_elsewhere: a refresh does not help."""
    report_outcome(REFRESH)
    verb = "is" if len(differences) == 1 else "are"
    message = (
        f"{counted(len(differences), 'object')} on the management cluster {verb} not as planned, and"
        f" Pulumi's state does not know it\n{lines_of(differences)}"
    )
    if is_unrefreshed():
        pulumi.log.info(message)
        sys.exit(REPORTED)
    stack = pulumi.get_stack()
    if is_elsewhere:
        raise pulumi.RunError(
            f"{message}\n  nothing there was applied by Tenantry: the state is of another management cluster\n"
            "  fix: correct the stack's kubeconfig if it leads to the wrong cluster; if the management cluster is a new one,\n"
            "  begin a new state, which deletes nothing:\n"
            f"    pulumi stack export --stack {stack} --file old-state.json\n"
            f"    pulumi stack rm {stack} --yes --force --preserve-config\n"
            f"    pulumi stack init {stack}"
        )
    raise pulumi.RunError(f"{message}\n  fix: pulumi up --stack {stack} --refresh")


def report_differences(differences: Sequence[Difference], unknown: Sequence[Difference]) -> None:
    """Name what others have changed of the fleet's objects; what it takes over now was never as planned.

    unknown: what a preview that has not refreshed does not show.
    """
    changed = (difference for difference in differences if difference.by and difference.live)
    if by_hand := [difference for difference in changed if is_applied(difference.live or {})]:
        pulumi.log.warn(f"changed by others than Pulumi, and put back by this run:\n{lines_of(by_hand)}")
    if unknown and pulumi.runtime.is_dry_run() and not is_started_by_tenantry() and not refreshes_always(Path.cwd()):
        pulumi.log.warn(
            f"not as planned on the management cluster; without a refresh, Pulumi does not show it:\n{lines_of(unknown)}"
            f"\n  fix: pulumi preview --stack {pulumi.get_stack()} --refresh"
        )


def report_orphans(orphans_left: Iterable[ObjectId]) -> None:
    """Name what an interrupted run has left, and this one deletes."""
    if ids := list(orphans_left):
        pulumi.log.warn(f"left by an interrupted run, not in the file, and deleted by this run:\n{lines_of(ids)}")


def check_applied(
    client: Client, plan: Plan, before: Iterable[Difference], applied: Mapping[ObjectId, Mapping[str, Any]]
) -> None:
    """End the run with an error if something is still not as planned, although the engine says that it is.

    applied: what the engine says of each object. Raises: RunError.
    """
    # What the engine was told to leave alone, as by `--target`, is not as planned in its answer either.
    known = [
        difference
        for difference in before
        if difference.id in applied and not compared(difference.planned.manifest, applied[difference.id])[0]
    ]
    # A field that the plan has dropped can be another manager's of Pulumi, too.
    known = [difference for difference in known if difference.live is None or difference.changed or difference.added]
    if not known:
        return
    if left := compare_again(client, plan.environment, known):
        foreign = {difference.id for difference in left if not is_applied(difference.live or {})}
        end_for_refresh(left, is_elsewhere=foreign.issuperset(object.id for object in plan.objects))
