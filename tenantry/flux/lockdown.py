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
_OWN_KUBECONFIG = {**_GATE, "default-kubeconfig-service-account": "default"}

IDENTITY: Mapping[str, Mapping[str, str]] = {
    **{controller: {**_GATE, "default-service-account": "default"} for controller in LOCKDOWN},
    "kustomize-controller": {**_OWN_KUBECONFIG, "default-decryption-service-account": "default"},
    "helm-controller": _OWN_KUBECONFIG,
}
"""Controller -> the flags that keep its own identity, in a cloud or in the cluster, from tenants that share it.

With them, an object that names no service account gets the identity of the account `default` beside it.
"""

Minor = tuple[int, int]
"""The first two numbers of a version."""

_UNGATED: Mapping[str, Minor] = {
    "source-controller": (1, 10),
    "kustomize-controller": (1, 10),
    "helm-controller": (1, 7),
    "notification-controller": (1, 10),
    "image-reflector-controller": (1, 3),
    "image-automation-controller": (1, 3),
}
"""Controller -> its version in Flux 2.10, from which on an object's own identity needs no feature gate. Source: the controllers'
changelogs.
"""


def identity_flags(controller: str, version: Minor | None) -> dict[str, str]:
    """The flags of `IDENTITY` as a version of the controller takes them: a controller stops on a gate that it does not know.

    version: None: not known.
    """
    retired = version is not None and version >= _UNGATED[controller]
    return {name: value for name, value in IDENTITY[controller].items() if not (retired and name == FEATURE_GATES)}
