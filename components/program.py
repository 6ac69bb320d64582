"""The Pulumi program's steps around the components: checks before any resource is created, and the stack's outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import pulumi

from tenantry.cluster import connect
from tenantry.cluster.inventory import claims_on, held_on
from tenantry.cluster.report import stuck
from tenantry.cluster.requests import one
from tenantry.fleet.fleet import Fleet, offboarded
from tenantry.guard import Held, Known, check, doubts, held, limits_of
from tenantry.guard.claims import Claim, claimed, foreign, other_claims
from tenantry.guard.keeping import kept_after, left_here
from tenantry.guard.places import Places
from tenantry.guard.targets import planned_targets
from tenantry.kube.objects import Manifest
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import InvalidFleet, Refused, RefusedChange, Severity, refuse
from tenantry.messages.text import declared, format_invalid, format_warnings
from tenantry.plan.engine_order import order_of_files
from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import Policed, fitted
from tenantry.render import rendered
from tenantry.stacks.file import NAMESPACE
from tenantry.stacks.outcome import for_stack, offboards, tell

from .config import ClusterTarget, DirectoryTarget, StackConfig, Target
from .holding import Holding, holding
from .keeping import Keeper, keeper_of
from .retained import check_retained
from .secrets import left_over, read_secrets, with_secrets, without_secrets
from .state import InState, outputs_in_state

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


class TenantOutput(TypedDict):
    """A tenant as the stack exports it."""

    namespaces: list[str]
    clusters: list[str]
    apps: list[str]
    objects: int


@contextmanager
def readable_errors() -> Iterator[None]:
    """Report errors in the file or the command as a message without a traceback, and end the program."""
    try:
        yield
    except InvalidFleet as error:
        tell("2")
        # Start on a new line, because Pulumi puts a word before the first one.
        raise pulumi.RunError(f"the fleet cannot be planned\n{format_invalid(error)}") from error
    except RefusedChange as error:
        tell("4")
        raise pulumi.RunError(for_stack(str(error), pulumi.get_stack())) from error
    except Refused as error:
        tell("2")
        raise pulumi.RunError(for_stack(str(error), pulumi.get_stack())) from error


def make_plan(config: StackConfig) -> tuple[Plan, Keeper | None]:
    """The plan of the stack's environment, after checking it, and that the management cluster can accept it.

    With what keeps the environment's record; None: nobody needs one.

    Raises: InvalidFleet, Refused: in a preview too, because a preview without the cluster would show wrong changes.
    """
    fleet = load_fleet(config.fleet)
    if config.environment not in fleet.environments:
        environments = declared("declared", config.environment, fleet.environments)
        raise Refused(
            f"{config.fleet} has no environment '{config.environment}' ({environments})",
            f"pulumi config set {NAMESPACE}:environment NAME (by default it is the stack's name)",
        )
    if offboards(config.environment):
        fleet = offboarded(fleet)
    planned = plan_one(fleet, config.environment)
    if warnings := warnings_of(fleet):
        # Start on a new line, because Pulumi puts a word before the first one.
        pulumi.log.warn(f"{config.fleet} is valid, but:\n{format_warnings(warnings)}")
    now = _held(fleet, planned, config)
    limits = limits_of(fleet, config.environment, config.max_deletions, config.allowed_deletions)
    for doubt in doubts(planned, now, limits):
        pulumi.log.warn(for_stack(f"{doubt.message}\n  fix: {doubt.fix}", pulumi.get_stack()))
    check(planned, now, limits)
    planned = _fitted(planned, config.target)
    if isinstance(config.target, ClusterTarget):
        platform = fleet.document.platform.namespace
        claim = replace(config.claim, kept=kept_after(planned, now, datetime.now(UTC)))
        check_retained(planned, left_here(planned, now))
        return claimed(planned, platform, claim), keeper_of(fleet, planned, config.target, claim)
    return planned, None


def _held(fleet: Fleet, planned: Plan, config: StackConfig) -> Held:
    """The environment's current objects, on its management cluster or in files."""
    if not isinstance(config.target, ClusterTarget):
        return _in_files(config.target, planned.environment)
    target = config.target
    with connect.connect(target.kubeconfig, target.context) as client, connect.answering(client.config):
        holdings = held_on(client, fleet, planned)
        # Read the claims first: they are one small list.
        there = _check_claim(client, fleet.document.platform.namespace, config.claim)
        found = list(holdings)
        for message in stuck(found, Places(found)):
            pulumi.log.warn(message)
        if planned.after:
            _check_after(client, fleet, planned, found)
        known = Known({each.id for each in planned.objects}, InState(), Policed(lambda id: one(client, id)))
        return held(found, planned.environment, known).recorded(chain.from_iterable(each.kept for each in there))


def _fitted(planned: Plan, target: Target) -> Plan:
    """The plan without what the cluster's Flux does not know and the fleet can do without."""
    if not isinstance(target, ClusterTarget):
        return planned
    with connect.connect(target.kubeconfig, target.context) as client, connect.answering(client.config):
        return fitted(client, planned)


def _check_after(client: Client, fleet: Fleet, planned: Plan, found: Iterable[Manifest]) -> None:
    """Refuse changes that the environment before does not run yet. A preview only tells it."""
    from tenantry.preflight.after import Mode, Run, ask

    mode = Mode.PREVIEW if pulumi.runtime.is_dry_run() else Mode.RUN
    answer = ask(client, fleet, Run(plan=planned, project=Path.cwd(), mode=mode), found)
    if answer.note:
        pulumi.log.info(answer.note)
    if problem := answer.problem:
        refuse([problem] if problem.severity is Severity.ERROR else ())
        pulumi.log.warn(f"{problem.message}\n  fix: {problem.fix}")


def _check_claim(client: Client, platform: str, mine: Claim) -> list[Claim]:
    """All claims on the cluster.

    Raises: Refused: the claims, or without its claim the stack's own state, say that it runs something else.
    """
    there = claims_on(client, platform)
    refuse(other_claims(mine, there, platform))
    if mine not in there:
        urns = outputs_in_state()
        refuse(foreign(mine, urns))
        if any(each.endswith(f"::{platform}/{mine.name}") for each in urns):
            pulumi.log.warn(
                f"ConfigMap {platform}/{mine.name}, which says what this stack runs, was deleted\n"
                f"  fix: write it again: tenantry up --environment {mine.environment}"
            )
    return there


def _in_files(target: DirectoryTarget, environment: str) -> Held:
    """What a directory holds."""
    files = list(rendered(target.directory))
    return replace(held(files, environment), targets=planned_targets(files, environment))


def with_values(planned: Plan, target: Target) -> tuple[Plan, Holding]:
    """The plan as it is registered, and what of it is held. A cluster gets the values of Secrets; files do not, because many people
    read them.

    Raises: Refused: values of the platform's are missing.
    """
    if isinstance(target, ClusterTarget):
        secrets = read_secrets()
        for message in left_over(planned, secrets):
            pulumi.log.warn(for_stack(message, pulumi.get_stack()))
        held_back = holding(planned, secrets, target, InState())
        return with_secrets(held_back.registered(planned), secrets, held_back.kept), held_back
    if lost := order_of_files(planned.objects):
        pulumi.log.warn(lost)
    return without_secrets(planned), Holding()


def tenant_outputs(planned: Plan) -> dict[str, TenantOutput]:
    """The outputs for each tenant, sorted, so that a new order in the file is not a change."""
    facts = {placement.tenant: _Facts() for placement in planned.placements}
    for placement in planned.placements:
        facts[placement.tenant].namespaces.update(placement.namespaces)
        facts[placement.tenant].clusters.add(placement.cluster)
    for app in planned.apps:
        if app.tenant:
            facts[app.tenant].apps.add(app.name)
    objects = Counter(each.owner.tenant for each in planned.objects)
    return {tenant: facts[tenant].output(objects[tenant]) for tenant in sorted(facts)}


@dataclass(slots=True)
class _Facts:
    """Collects the facts about one tenant from the whole plan."""

    namespaces: set[str] = field(default_factory=set)
    clusters: set[str] = field(default_factory=set)
    apps: set[str] = field(default_factory=set)

    def output(self, objects: int) -> TenantOutput:
        return TenantOutput(
            namespaces=sorted(self.namespaces), clusters=sorted(self.clusters), apps=sorted(self.apps), objects=objects
        )
