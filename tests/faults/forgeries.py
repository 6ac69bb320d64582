"""Flux objects that the attacker makes in its own namespace of the management cluster, as its service account.

`refusal` is what the API server or Flux has to say of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.faults.arena import BAIT, TENANT
from tests.faults.commits import forbidden, intruder

KUBECONFIG = "edge-1-admin-kubeconfig"
"""The name of the Secret beside which Flux's objects for the remote cluster lie."""

_PLURALS = {
    "Kustomization": "kustomizations",
    "HelmRelease": "helmreleases",
    "GitRepository": "gitrepositories",
    "Receiver": "receivers",
}
_APIS = {
    "Kustomization": "kustomize.toolkit.fluxcd.io/v1",
    "HelmRelease": "helm.toolkit.fluxcd.io/v2",
    "GitRepository": "source.toolkit.fluxcd.io/v1",
    "Receiver": "notification.toolkit.fluxcd.io/v1",
}


@dataclass(frozen=True, slots=True)
class Forgery:
    name: str
    tried: str
    kind: str
    spec: Mapping[str, Any]
    refusal: str
    targets: tuple[str, ...] = ()

    @property
    def collection(self) -> str:
        return collection(self.kind)

    @property
    def manifest(self) -> dict[str, Any]:
        metadata = {"name": self.name, "namespace": TENANT}
        return {"apiVersion": _APIS[self.kind], "kind": self.kind, "metadata": metadata, "spec": self.spec}


def collection(kind: str, namespace: str = TENANT) -> str:
    """The path in the API of a kind's objects."""
    return f"/apis/{_APIS[kind]}/namespaces/{namespace}/{_PLURALS[kind]}"


def _manifests(name: str, tried: str, refusal: str, *targets: str, **spec: Any) -> Forgery:
    usual = {
        "interval": "1h",
        "prune": True,
        "path": f"./{BAIT}",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
        "serviceAccountName": TENANT,
        "targetNamespace": TENANT,
    }
    return Forgery(name, tried, "Kustomization", _without_none({**usual, **spec}), refusal, targets)


def _release(name: str, tried: str, refusal: str, *targets: str, **spec: Any) -> Forgery:
    source = {"kind": "GitRepository", "name": "manifests"}
    usual = {
        "interval": "1h",
        "chart": {"spec": {"chart": f"./{BAIT}", "sourceRef": source}},
        "serviceAccountName": TENANT,
    }
    return Forgery(name, tried, "HelmRelease", _without_none({**usual, **spec}), refusal, targets)


def _without_none(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if value is not None}


def _as(verb: str, resource: str, namespace: str, account: str = TENANT) -> str:
    user = f"system:serviceaccount:{TENANT}:{account}"
    return forbidden(verb, resource, "", namespace).format(user=user)


_MISSING = f'secrets "{KUBECONFIG}" not found'
_SOURCE = "can't access 'GitRepository/rocky/manifests', cross-namespace references have been blocked"
_NEIGHBOURS = {"kind": "GitRepository", "name": "manifests", "namespace": "rocky"}
_DEPENDENCY = "a tenant's dependsOn names its own namespace, or without a readyExpr 'tenantry-system'"
_IDENTITY = "a tenant's kubeConfig is a Secret of its own: with configMapRef Flux would lend it its own identity"

FORGERIES = (
    _manifests("source", "a neighbour's source", _SOURCE, sourceRef=_NEIGHBOURS),
    _manifests(
        "no-account", "no service account", _as("patch", "configmaps", TENANT, "default"), serviceAccountName=None
    ),
    _manifests(
        "flux-account",
        "the name of Flux's own service account",
        _as("patch", "configmaps", TENANT, "kustomize-controller"),
        serviceAccountName="kustomize-controller",
    ),
    _manifests(
        "target",
        "a neighbour's `targetNamespace`",
        _as("patch", "configmaps", "rocky"),
        intruder("rocky"),
        targetNamespace="rocky",
    ),
    _manifests(
        "remote",
        "`kubeConfig` with a remote cluster's kubeconfig",
        _MISSING,
        kubeConfig={"secretRef": {"name": KUBECONFIG}},
    ),
    _manifests(
        "identity",
        "`kubeConfig` with Flux's own identity",
        _IDENTITY,
        kubeConfig={"configMapRef": {"name": "anywhere"}},
    ),
    _manifests(
        "substitution",
        "a remote cluster's kubeconfig as variables",
        _MISSING,
        postBuild={"substituteFrom": [{"kind": "Secret", "name": KUBECONFIG}]},
    ),
    _manifests(
        "decryption",
        "a remote cluster's kubeconfig as a key",
        _MISSING,
        decryption={"provider": "sops", "secretRef": {"name": KUBECONFIG}},
    ),
    _manifests(
        "oracle",
        "a question about a neighbour's app in `dependsOn`",
        _DEPENDENCY,
        dependsOn=[
            {"name": "web", "namespace": "rocky", "readyExpr": "dep.spec.postBuild.substitute.DOMAIN.startsWith('r')"}
        ],
    ),
    _manifests(
        "platform-oracle",
        "a question about an add-on in `dependsOn`",
        _DEPENDENCY,
        dependsOn=[{"name": "any", "namespace": "tenantry-system", "readyExpr": "dep.spec.prune"}],
    ),
    _release(
        "release-oracle",
        "a question about another tenant's baseline in `dependsOn`",
        _DEPENDENCY,
        dependsOn=[
            {
                "name": "edge-1-rocky-baseline",
                "namespace": "kamaji-edge",
                "readyExpr": "dep.spec.values.objects.size() > 1",
            }
        ],
    ),
    _release(
        "chart-source",
        "a chart of a neighbour's source",
        "cross-namespace references are not allowed: cannot access HelmChart",
        chart={"spec": {"chart": "./web", "sourceRef": _NEIGHBOURS}},
    ),
    _release(
        "chart-ref",
        "a neighbour's chart",
        "cross-namespace references are not allowed: cannot access HelmChart",
        chart=None,
        chartRef={"kind": "HelmChart", "name": "any", "namespace": "kamaji-edge"},
    ),
    _release(
        "storage",
        "`storageNamespace` of the platform",
        _as("list", "secrets", "tenantry-system"),
        storageNamespace="tenantry-system",
    ),
    _release(
        "release-target",
        "a neighbour's `targetNamespace`",
        _as("get", "configmaps", "rocky"),
        intruder("rocky"),
        targetNamespace="rocky",
        storageNamespace=TENANT,
    ),
    _release(
        "release-namespace",
        "`createNamespace`",
        'in the namespace "intruder"',
        "/api/v1/namespaces/intruder",
        targetNamespace="intruder",
        storageNamespace=TENANT,
        install={"createNamespace": True},
    ),
    _release(
        "values",
        "a remote cluster's kubeconfig as values",
        _MISSING,
        valuesFrom=[{"kind": "Secret", "name": KUBECONFIG, "valuesKey": "admin.conf"}],
    ),
    _release(
        "release-remote", "`kubeConfig` with a remote's", _MISSING, kubeConfig={"secretRef": {"name": KUBECONFIG}}
    ),
    Forgery(
        "git-secret",
        "a remote cluster's kubeconfig as a Git password",
        "GitRepository",
        {"interval": "1h", "url": "https://127.0.0.1:1/a.git", "secretRef": {"name": KUBECONFIG}},
        _MISSING,
    ),
    Forgery(
        "git-include",
        "a neighbour's source included by a path",
        "GitRepository",
        {
            "interval": "1h",
            "url": "https://127.0.0.1:1/a.git",
            "include": [{"repository": {"name": "../rocky/manifests"}}],
        },
        '"../rocky/manifests" not found',
    ),
    Forgery(
        "receiver",
        "a webhook with a remote cluster's kubeconfig as its token",
        "Receiver",
        {
            "type": "generic",
            "secretRef": {"name": KUBECONFIG},
            "resources": [{"kind": "Kustomization", "name": "web", "namespace": "rocky"}],
        },
        _MISSING,
    ),
)
