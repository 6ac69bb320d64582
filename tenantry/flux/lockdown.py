"""The flags of Flux's multi-tenancy lockdown: they keep tenants' own Flux objects inside their namespaces.

Preflight checks that a cluster's controllers have them, and the sandbox starts its controllers with them.

Source: fluxcd.io, "Multi-tenancy lockdown".
"""

from __future__ import annotations

from collections.abc import Mapping

FEATURE_GATES = "feature-gates"
"""The flag that can be given several times, each time with several values."""

_OWN_NAMESPACE = {"no-cross-namespace-refs": "true"}
_ACTING = {**_OWN_NAMESPACE, "default-service-account": "default"}

LOCKDOWN: Mapping[str, Mapping[str, str]] = {
    "source-controller": {},
    "kustomize-controller": {**_ACTING, "no-remote-bases": "true"},
    "helm-controller": _ACTING,
    "notification-controller": _OWN_NAMESPACE,
    "image-reflector-controller": _OWN_NAMESPACE,
    "image-automation-controller": _OWN_NAMESPACE,
}
"""Controller -> its flags. Any default service account is enough, whatever its name."""

# A controller does not start with one of the accounts and without the gate.
_GATE = {FEATURE_GATES: "ObjectLevelWorkloadIdentity=true"}
_OWN_IDENTITY = {**_GATE, "default-service-account": "default"}
_OWN_KUBECONFIG = {**_GATE, "default-kubeconfig-service-account": "default"}

IDENTITY: Mapping[str, Mapping[str, str]] = {
    "source-controller": _OWN_IDENTITY,
    "kustomize-controller": {**_OWN_KUBECONFIG, "default-decryption-service-account": "default"},
    "helm-controller": _OWN_KUBECONFIG,
    "notification-controller": _OWN_IDENTITY,
    "image-reflector-controller": _OWN_IDENTITY,
    "image-automation-controller": _OWN_IDENTITY,
}
"""Controller -> the flags that keep its own identity, in a cloud or in the cluster, from tenants that share it.

With them, an object that names no service account gets the identity of the account `default` beside it.
"""
