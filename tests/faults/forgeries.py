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

_PLURALS = {"GitRepository": "gitrepositories", "OCIRepository": "ocirepositories"}
_PLURALS |= {"HelmRepository": "helmrepositories"}
"""Of the kinds whose plural is not their name and an `s`."""
_SOURCE_API = "source.toolkit.fluxcd.io/v1"
_APIS = {
    "Kustomization": "kustomize.toolkit.fluxcd.io/v1",
    "HelmRelease": "helm.toolkit.fluxcd.io/v2",
    **dict.fromkeys(("GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket"), _SOURCE_API),
    **dict.fromkeys(("Provider", "Alert"), "notification.toolkit.fluxcd.io/v1beta3"),
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
        return manifest(self.kind, self.name, self.spec)


def manifest(kind: str, name: str, spec: Mapping[str, Any], namespace: str = TENANT) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": _APIS[kind], "kind": kind, "metadata": metadata, "spec": spec}


def collection(kind: str, namespace: str = TENANT) -> str:
    """The path in the API of a kind's objects."""
    return f"/apis/{_APIS[kind]}/namespaces/{namespace}/{_PLURALS.get(kind, f'{kind.lower()}s')}"


def manifests(name: str, tried: str, refusal: str, *targets: str, **spec: Any) -> Forgery:
    usual = {
        "interval": "1h",
        "prune": True,
        "path": f"./{BAIT}",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
        "serviceAccountName": TENANT,
        "targetNamespace": TENANT,
    }
    return Forgery(name, tried, "Kustomization", _without_none({**usual, **spec}), refusal, targets)


def release(name: str, tried: str, refusal: str, *targets: str, **spec: Any) -> Forgery:
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


MISSING = f'secrets "{KUBECONFIG}" not found'
REFERENCE = "a tenant's Flux objects refer to objects of their own namespace only"
ACCOUNT = "a tenant's serviceAccountName names the tenant's account"
REMOTE = "a tenant's Flux objects have no kubeConfig: they act on this cluster"
NEIGHBOURS = {"kind": "GitRepository", "name": "manifests", "namespace": "rocky"}
DEPENDENCY = "a tenant's dependsOn names its own namespace, or without a readyExpr 'tenantry-system'"

FORGERIES = (
    manifests("source", "a neighbour's source", REFERENCE, sourceRef=NEIGHBOURS),
    manifests("no-account", "no service account", ACCOUNT, serviceAccountName=None),
    manifests(
        "flux-account",
        "the name of Flux's own service account",
        ACCOUNT,
        serviceAccountName="kustomize-controller",
    ),
    manifests(
        "target",
        "a neighbour's `targetNamespace`",
        _as("patch", "configmaps", "rocky"),
        intruder("rocky"),
        targetNamespace="rocky",
    ),
    manifests(
        "remote",
        "`kubeConfig` with a remote cluster's kubeconfig",
        REMOTE,
        kubeConfig={"secretRef": {"name": KUBECONFIG}},
    ),
    manifests(
        "identity",
        "`kubeConfig` with Flux's own identity",
        REMOTE,
        kubeConfig={"configMapRef": {"name": "anywhere"}},
    ),
    manifests(
        "substitution",
        "a remote cluster's kubeconfig as variables",
        MISSING,
        postBuild={"substituteFrom": [{"kind": "Secret", "name": KUBECONFIG}]},
    ),
    manifests(
        "decryption",
        "a remote cluster's kubeconfig as a key",
        MISSING,
        decryption={"provider": "sops", "secretRef": {"name": KUBECONFIG}},
    ),
    manifests(
        "oracle",
        "a question about a neighbour's app in `dependsOn`",
        DEPENDENCY,
        dependsOn=[
            {"name": "web", "namespace": "rocky", "readyExpr": "dep.spec.postBuild.substitute.DOMAIN.startsWith('r')"}
        ],
    ),
    manifests(
        "platform-oracle",
        "a question about an add-on in `dependsOn`",
        DEPENDENCY,
        dependsOn=[{"name": "any", "namespace": "tenantry-system", "readyExpr": "dep.spec.prune"}],
    ),
    release(
        "release-oracle",
        "a question about another tenant's baseline in `dependsOn`",
        DEPENDENCY,
        dependsOn=[
            {
                "name": "edge-1-rocky-baseline",
                "namespace": "kamaji-edge",
                "readyExpr": "dep.spec.values.objects.size() > 1",
            }
        ],
    ),
    release(
        "chart-source",
        "a chart of a neighbour's source",
        REFERENCE,
        chart={"spec": {"chart": "./web", "sourceRef": NEIGHBOURS}},
    ),
    release(
        "chart-ref",
        "a neighbour's chart",
        REFERENCE,
        chart=None,
        chartRef={"kind": "HelmChart", "name": "any", "namespace": "kamaji-edge"},
    ),
    release(
        "storage",
        "`storageNamespace` of the platform",
        _as("list", "secrets", "tenantry-system"),
        storageNamespace="tenantry-system",
    ),
    release(
        "release-target",
        "a neighbour's `targetNamespace`",
        _as("get", "configmaps", "rocky"),
        intruder("rocky"),
        targetNamespace="rocky",
        storageNamespace=TENANT,
    ),
    release(
        "release-namespace",
        "`createNamespace`",
        'in the namespace "intruder"',
        "/api/v1/namespaces/intruder",
        targetNamespace="intruder",
        storageNamespace=TENANT,
        install={"createNamespace": True},
    ),
    release(
        "values",
        "a remote cluster's kubeconfig as values",
        MISSING,
        valuesFrom=[{"kind": "Secret", "name": KUBECONFIG, "valuesKey": "admin.conf"}],
    ),
    release("release-remote", "`kubeConfig` with a remote's", REMOTE, kubeConfig={"secretRef": {"name": KUBECONFIG}}),
    Forgery(
        "git-secret",
        "a remote cluster's kubeconfig as a Git password",
        "GitRepository",
        {"interval": "1h", "url": "https://127.0.0.1:1/a.git", "secretRef": {"name": KUBECONFIG}},
        MISSING,
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
            "resources": [{"kind": "Kustomization", "name": "web"}],
        },
        MISSING,
    ),
)
