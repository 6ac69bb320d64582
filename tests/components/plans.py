"""A plan made by hand: small, with an object for every place in the tree and an edge between all that can have one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.run import Run
from tenantry.kube.objects import KubeObject, ObjectId, Owner
from tenantry.plan.plan import Plan
from tenantry.rollout.change import Change, Lines
from tenantry.stacks.file import Reach
from tenantry.stacks.states import type_token
from tests.components.recording import Key

FLEET, EDGE, ROCKY = Owner(), Owner("", "edge"), Owner("rocky", "")
ON_EDGE, ON_HUB = Owner("rocky", "edge"), Owner("rocky", "hub")


def planned(api_version: str, kind: str, place: str, owner: Owner, *after: KubeObject, **body: Any) -> KubeObject:
    """An object at `namespace/name`, or at `name` without a namespace."""
    namespace, _, name = place.rpartition("/")
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    manifest: Mapping[str, Any] = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
    return KubeObject(manifest, owner, tuple(each.id for each in after))


PLATFORM = planned("v1", "ServiceAccount", "edge/platform", FLEET)
CHART = planned("source.toolkit.fluxcd.io/v1", "HelmChart", "edge/objects", EDGE, spec={"chart": "objects"})
IDENTITY = planned("v1", "ServiceAccount", "edge/rocky", ROCKY)
BASELINE = planned(
    "helm.toolkit.fluxcd.io/v2",
    "HelmRelease",
    "edge/rocky-baseline",
    ON_EDGE,
    CHART,
    PLATFORM,
    spec={"values": {"n": 2}},
)
REMOTE_APP = planned(
    "kustomize.toolkit.fluxcd.io/v1",
    "Kustomization",
    "edge/rocky-web",
    ON_EDGE,
    BASELINE,
    IDENTITY,
    spec={"path": "./web", "prune": True, "snake_case": {"camelCase": [], "empty": {}}},
)
NAMESPACE = planned("v1", "Namespace", "rocky", ON_HUB)
BINDING = planned(
    "rbac.authorization.k8s.io/v1",
    "RoleBinding",
    "rocky/reconciler",
    ON_HUB,
    NAMESPACE,
    roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin"},
    subjects=[{"kind": "User", "name": "rocky"}],
)
CREDENTIAL = planned("v1", "Secret", "rocky/git", ON_HUB, NAMESPACE, type="Opaque", stringData={"username": "rocky"})

PLAN = Plan(
    "dev",
    "hub",
    (PLATFORM, CHART, IDENTITY, BASELINE, REMOTE_APP, NAMESPACE, BINDING, CREDENTIAL),
    placements=(),
    apps=(),
)


def key(identity: ObjectId) -> Key:
    """What the object is called in a stack."""
    return Key(type_token(identity), f"{identity.namespace}/{identity.name}".lstrip("/"))


def unchecked(plan: Plan) -> Run:
    """A run that registers a plan as it is: nothing of it counts as a change."""
    return Run(plan=plan, target=Reach(), change=Change(Lines(plan), {}))
