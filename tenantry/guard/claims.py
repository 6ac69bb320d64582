"""Which stack runs an environment, or a shard of one: a ConfigMap next to the cluster's marker, kept by the stack itself.

The guard checks one environment's objects. If a stack is suddenly given another environment, the guard alone would allow it,
and the engine would delete the first environment's objects, which are still in the stack's state. The same holds for a stack
that is suddenly given another shard: its state still holds tenants that now belong to other stacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tenantry.guard.kept import KEY, Kept, read, written
from tenantry.kube.objects import KubeObject, Manifest, Owner, readable_id
from tenantry.messages.problems import Problem, error
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan
from tenantry.plan.shards import WHOLE, Shard, shard_in

CLAIM_LABEL = "tenantry/claim"
"""Holds the environment; all claims on a management cluster are found by it."""
RECORD_LABEL = "tenantry/record"
"""Holds the environment whose record a ConfigMap is, for the gates of other environments."""
MANAGER = "pulumi-kubernetes"
"""The field manager of Pulumi's provider. Commands that write a claim use it, so that the next run finds no other owner."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An environment and the stack that runs it or a shard of it, as `project/stack`.

    moving: into how many shards `tenantry shards move` divides the environment at the moment; 0: it is not at work.
    kept: the namespaces that were left with their data. They make no other claim.
    """

    environment: str
    stack: str
    shard: Shard = WHOLE
    moving: int = 0
    kept: tuple[Kept, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Of the ConfigMap. The first shard has that of an undivided environment, whose stack it becomes."""
        return f"tenantry-{self.environment}" + (f".{self.shard.index}" if self.shard.index > 1 else "")

    @property
    def record(self) -> str:
        """The name of the ConfigMap in which the stack keeps its record, if the gate of another environment needs one."""
        return f"tenantry-{self.environment}.record" + (f".{self.shard.index}" if self.shard.index > 1 else "")

    @property
    def data(self) -> dict[str, str]:
        """Of the ConfigMap."""
        shard = {} if self.shard == WHOLE else {"shard": str(self.shard)}
        moving = {"moving": str(self.moving)} if self.moving else {}
        kept = {KEY: written(self.kept)} if self.kept else {}
        return {"environment": self.environment, "stack": self.stack, **shard, **moving, **kept}


def claim_object(platform: str, claim: Claim) -> KubeObject:
    """What the stack keeps in the platform's namespace of its management cluster."""
    metadata = {
        "name": claim.name,
        "namespace": platform,
        "labels": {**MANAGED_BY, ENVIRONMENT_LABEL: claim.environment, CLAIM_LABEL: claim.environment},
    }
    return KubeObject({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": claim.data}, Owner())


def claimed(plan: Plan, platform: str, claim: Claim) -> Plan:
    """The plan as a stack applies it: its claim first."""
    return replace(plan, objects=(claim_object(platform, claim), *plan.objects))


def claims(manifests: Iterable[Manifest]) -> Iterator[Claim]:
    """The claims among ConfigMaps. A ConfigMap that somebody emptied claims nothing.

    Raises: Refused: what one records of kept namespaces is malformed.
    """
    for manifest in manifests:
        data = manifest.get("data") or {}
        if "environment" in data and "stack" in data:
            moving = data.get("moving", "")
            shard = shard_in(data.get("shard", "1/1")) or WHOLE
            number = int(moving) if moving.isdecimal() and len(moving) < 4 else 0
            at = readable_id(manifest)
            kept = read(data.get(KEY), data["environment"], f"{at.namespace}/{at.name}" if at else "")
            yield Claim(data["environment"], data["stack"], shard, number, kept)


def other_claims(mine: Claim, there: Iterable[Claim], platform: str) -> Iterator[Problem]:
    """Problems with a stack's claim: it runs something else, another stack runs the same, or the environment is being divided."""
    known = list(there)
    unfinished = next((each for each in known if each.environment == mine.environment and each.moving), None)
    if unfinished:
        yield _unfinished(unfinished)
        return
    for each in known:
        if each.stack == mine.stack and each.environment != mine.environment:
            yield error(
                "other-environment",
                f"stack '{mine.stack}' runs environment '{each.environment}', and would delete all of it for '{mine.environment}'",
                f"pulumi config set tenantry:environment {each.environment}; run '{mine.environment}' from a stack of its own;"
                f" to remove '{each.environment}', run `tenantry destroy --environment {each.environment}` first",
            )
        elif each.environment == mine.environment and each.stack == mine.stack:
            yield from _other_division(mine, each)
        elif each.environment == mine.environment:
            yield from _other_stack(mine, each, platform)


def _unfinished(claim: Claim) -> Problem:
    return error(
        "unfinished-move",
        f"environment '{claim.environment}' is being divided into {claim.moving} shards, and its stacks' states are not complete",
        f"finish it: tenantry shards move --environment {claim.environment} --to {claim.moving}",
    )


def _other_division(mine: Claim, before: Claim) -> Iterator[Problem]:
    """The same stack with another shard. Its state holds what the former shard had, and the engine would delete all of that."""
    if before.shard != mine.shard:
        setting = "config rm tenantry:shard" if before.shard == WHOLE else f"config set tenantry:shard {before.shard}"
        yield error(
            "other-shard",
            f"stack '{mine.stack}' runs {before.shard.in_words} of '{mine.environment}' and is set to run {mine.shard.in_words}:"
            " it would delete tenants that other stacks should run",
            f"pulumi {setting}; then move the tenants from state to state:"
            f" tenantry shards move --environment {mine.environment} --to {mine.shard.count}",
        )


def _other_stack(mine: Claim, other: Claim, platform: str) -> Iterator[Problem]:
    if other.shard.count != mine.shard.count:
        yield error(
            "other-division",
            f"stack '{other.stack}' runs {other.shard.in_words} of '{mine.environment}', and stack '{mine.stack}' is set to run"
            f" {mine.shard.in_words}: both would have some of the same tenants",
            f"tenantry shards move --environment {mine.environment} --to {max(mine.shard.count, other.shard.count)}",
        )
    elif other.shard == mine.shard:
        patch = f'{{"data":{{"stack":"{mine.stack}"}}}}'
        what = (
            f"environment '{mine.environment}'"
            if mine.shard == WHOLE
            else f"shard {mine.shard} of '{mine.environment}'"
        )
        yield error(
            "other-stack",
            f"{what} is run by stack '{other.stack}', and this is stack '{mine.stack}'",
            f"pulumi stack select {other.stack.rpartition('/')[2]}; if that stack was renamed or is gone: kubectl --namespace"
            f" {platform} patch configmap {mine.name} --type merge --patch '{patch}'",
        )
