"""Which stack runs an environment: a ConfigMap next to the cluster's marker, kept by the stack itself.

One stack runs an environment. The guard checks one environment's objects. If a stack is suddenly given another environment, the
guard alone would allow it, and the engine would delete the first environment's objects, which are still in the stack's state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from tenantry.guard.kept import KEY, Kept, read, written
from tenantry.kube.objects import KubeObject, Manifest, Owner, readable_id
from tenantry.messages.problems import Problem, error
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan

CLAIM_LABEL = "tenantry/claim"
"""Holds the environment; all claims on a management cluster are found by it."""
RECORD_LABEL = "tenantry/record"
"""Holds the environment whose record a ConfigMap is, for the gates of other environments."""
MANAGER = "pulumi-kubernetes"
"""The field manager of Pulumi's provider. A transfer writes it into the state, so that the next run finds no other owner."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An environment and the stack that runs it, as `project/stack`.

    kept: the namespaces that were left with their data. They make no other claim.
    """

    environment: str
    stack: str
    kept: tuple[Kept, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Of the ConfigMap."""
        return f"tenantry-{self.environment}"

    @property
    def record(self) -> str:
        """The name of the ConfigMap in which the stack keeps its record, if the gate of another environment needs one."""
        return f"tenantry-{self.environment}.record"

    @property
    def data(self) -> dict[str, str]:
        """Of the ConfigMap."""
        kept = {KEY: written(self.kept)} if self.kept else {}
        return {"environment": self.environment, "stack": self.stack, **kept}


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
            at = readable_id(manifest)
            kept = read(data.get(KEY), data["environment"], f"{at.namespace}/{at.name}" if at else "")
            yield Claim(data["environment"], data["stack"], kept)


def other_claims(mine: Claim, there: Iterable[Claim], platform: str) -> Iterator[Problem]:
    """Problems with a stack's claim: it runs something else, or another stack runs the same."""
    for each in there:
        if each.stack == mine.stack and each.environment != mine.environment:
            yield error(
                "other-environment",
                f"stack '{mine.stack}' runs environment '{each.environment}', and would delete all of it for '{mine.environment}'",
                f"pulumi config set tenantry:environment {each.environment}; run '{mine.environment}' from a stack of its own;"
                f" to remove '{each.environment}', run `tenantry destroy --environment {each.environment}` first",
            )
        elif each.environment == mine.environment and each.stack != mine.stack:
            patch = f'{{"data":{{"stack":"{mine.stack}"}}}}'
            yield error(
                "other-stack",
                f"environment '{mine.environment}' is run by stack '{each.stack}', and this is stack '{mine.stack}'",
                f"pulumi stack select {each.stack.rpartition('/')[2]}; if that stack was renamed or is gone: kubectl --namespace"
                f" {platform} patch configmap {mine.name} --type merge --patch '{patch}'",
            )
