"""The Pulumi program's steps around the components: checks before any resource is created, and the stack's outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypedDict

import pulumi

from tenantry.cluster import connect
from tenantry.cluster.inventory import check_claim, held_on
from tenantry.cluster.stuck import stuck
from tenantry.fleet.fleet import Fleet
from tenantry.guard import Held, check, doubts, held, limits_of
from tenantry.guard.claims import claimed
from tenantry.guard.places import Places
from tenantry.load import load_fleet, plan_one, warnings_of
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.messages.text import declared, format_invalid, format_warnings
from tenantry.plan.engine_order import order_of_files
from tenantry.plan.plan import Plan
from tenantry.render import rendered
from tenantry.stacks.file import NAMESPACE

from .config import ClusterTarget, StackConfig, Target
from .secrets import left_over, read_secrets, with_secrets, without_secrets


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
        # Start on a new line, because Pulumi puts a word before the first one.
        raise pulumi.RunError(f"the fleet cannot be planned\n{format_invalid(error)}") from error
    except Refused as error:
        raise pulumi.RunError(str(error)) from error


def make_plan(config: StackConfig) -> Plan:
    """The plan of the stack's environment, after checking that its management cluster can accept it.

    Raises: InvalidFleet, Refused: in a preview too, because a preview without the cluster would show wrong changes.
    """
    fleet = load_fleet(config.fleet)
    if config.environment not in fleet.environments:
        environments = declared("declared", config.environment, fleet.environments)
        raise Refused(
            f"{config.fleet} has no environment '{config.environment}' ({environments})",
            f"pulumi config set {NAMESPACE}:environment NAME (by default it is the stack's name)",
        )
    planned = plan_one(fleet, config.environment)
    if warnings := warnings_of(fleet):
        # Start on a new line, because Pulumi puts a word before the first one.
        pulumi.log.warn(f"{config.fleet} is valid, but:\n{format_warnings(warnings)}")
    now = _held(fleet, planned, config)
    limits = limits_of(fleet, config.environment, config.max_deletions, config.allowed_deletions)
    for doubt in doubts(planned, now, limits):
        pulumi.log.warn(f"{doubt.message}\n  fix: {doubt.fix}")
    check(planned, now, limits)
    if isinstance(config.target, ClusterTarget):
        return claimed(planned, fleet.document.platform.namespace, config.claim)
    return planned


def _held(fleet: Fleet, planned: Plan, config: StackConfig) -> Held:
    """The environment's current objects, on its management cluster or in files."""
    if not isinstance(config.target, ClusterTarget):
        return held(rendered(config.target.directory), planned.environment)
    target = config.target
    with connect.connect(target.kubeconfig, target.context) as client, connect.answering(client.config):
        holdings = held_on(client, fleet, planned)
        # Read the claims first: they are one small list.
        check_claim(client, fleet, config.claim)
        found = list(holdings)
        for message in stuck(found, Places(found)):
            pulumi.log.warn(message)
        return held(found, planned.environment)


def with_values(planned: Plan, target: Target) -> Plan:
    """The plan as it is registered. A cluster gets the values of Secrets; files do not, because many people read them.

    Raises: Refused: values are missing.
    """
    if isinstance(target, ClusterTarget):
        secrets = read_secrets()
        for message in left_over(planned, secrets):
            pulumi.log.warn(message)
        return with_secrets(planned, secrets)
    if lost := order_of_files(planned.objects):
        pulumi.log.warn(lost)
    return without_secrets(planned)


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
