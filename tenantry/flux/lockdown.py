"""The flags of Flux's multi-tenancy lockdown: they keep tenants' own Flux objects inside their namespaces.

Preflight checks that a cluster's controllers have them, and the sandbox starts its controllers with them.

Source: fluxcd.io, "Multi-tenancy lockdown".
"""

from __future__ import annotations

from collections.abc import Mapping

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
