"""Which stack runs an environment: a ConfigMap next to the cluster's marker, kept by the stack itself.

The guard checks one environment's objects. If a stack is suddenly given another environment, the guard alone would allow it,
and the engine would delete the first environment's objects, which are still in the stack's state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tenantry.kube.objects import KubeObject, Manifest, Owner
from tenantry.messages.problems import Problem, error
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan

CLAIM_LABEL = "tenantry/claim"
"""Holds the environment; all claims on a management cluster are found by it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An environment and the stack that runs it, as `project/stack`."""

    environment: str
    stack: str


def claim_object(platform: str, claim: Claim) -> KubeObject:
    """What the stack keeps in the platform's namespace of its management cluster."""
    metadata = {
        "name": f"tenantry-{claim.environment}",
        "namespace": platform,
        "labels": {**MANAGED_BY, ENVIRONMENT_LABEL: claim.environment, CLAIM_LABEL: claim.environment},
    }
    data = {"environment": claim.environment, "stack": claim.stack}
    return KubeObject({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, Owner())


def claimed(plan: Plan, platform: str, claim: Claim) -> Plan:
    """The plan as a stack applies it: its claim first."""
    return replace(plan, objects=(claim_object(platform, claim), *plan.objects))


def claims(manifests: Iterable[Manifest]) -> Iterator[Claim]:
    """The claims among ConfigMaps. A ConfigMap that somebody emptied claims nothing."""
    for manifest in manifests:
        data = manifest.get("data") or {}
        if "environment" in data and "stack" in data:
            yield Claim(data["environment"], data["stack"])


def other_claims(mine: Claim, there: Iterable[Claim], platform: str) -> Iterator[Problem]:
    """Problems with a stack's claim: it runs another environment, or another stack runs this one."""
    for each in there:
        if each.stack == mine.stack and each.environment != mine.environment:
            yield error(
                "other-environment",
                f"stack '{mine.stack}' runs environment '{each.environment}', and would delete all of it for '{mine.environment}'",
                f"pulumi config set tenantry:environment {each.environment}; run '{mine.environment}' from a stack of its own;"
                f" to remove '{each.environment}', run `pulumi destroy` first",
            )
        if each.environment == mine.environment and each.stack != mine.stack:
            patch = f'{{"data":{{"stack":"{mine.stack}"}}}}'
            yield error(
                "other-stack",
                f"environment '{mine.environment}' is run by stack '{each.stack}', and this is stack '{mine.stack}'",
                f"pulumi stack select {each.stack.rpartition('/')[2]}; if that stack was renamed or is gone: kubectl --namespace"
                f" {platform} patch configmap tenantry-{mine.environment} --type merge --patch '{patch}'",
            )
