"""Flux objects that the attacker makes in its own namespace, and that the API server itself refuses by an admission policy."""

from __future__ import annotations

from typing import Any

from tests.faults.forgeries import ACCOUNT, REFERENCE, REMOTE, Forgery, manifests, release

_CLOUD = "the cloud identity of Flux's controllers is not the tenants' to use"
_OFTEN = "a tenant's intervals are at least 1s"
_LONG = "a tenant's intervals and timeouts are at most 8784h"
_NO_DURATION = "type conversion error from 'string' to 'google.protobuf.Duration'"
"""Of Go's parser, which the API server shares with Flux's controllers."""
_AT_ONCE = {"strategy": {"name": "RetryOnFailure", "retryInterval": "0s"}}
_ANYWHERE = {"configMapRef": {"name": "anywhere"}}


_NOWHERE = "https://127.0.0.1:1/a"
_TIMED: dict[str, dict[str, Any]] = {
    "GitRepository": {"interval": "1h", "url": _NOWHERE},
    "OCIRepository": {"interval": "1h", "url": "oci://127.0.0.1:1/a"},
    "HelmRepository": {"interval": "1h", "url": _NOWHERE},
    "Bucket": {"interval": "1h", "bucketName": "a", "endpoint": "127.0.0.1:1"},
    "Provider": {"type": "generic", "address": _NOWHERE},
}
"""Kinds with a timeout of their own."""


def _cloud(kind: str, provider: str, **spec: Any) -> Forgery:
    """A source whose provider is a cloud."""
    tried = f"`provider: {provider}`"
    return Forgery(f"{kind.lower()}-{provider}", tried, kind, {"interval": "1h", "provider": provider, **spec}, _CLOUD)


def _alerting(type: str) -> Forgery:
    """Messages to a cloud, with a Secret in which the key may be missing."""
    spec = {"type": type, "address": "https://127.0.0.1:1/a", "channel": "a", "secretRef": {"name": "own"}}
    return Forgery(type, f"`type: {type}`", "Provider", spec, _CLOUD)


FRAMES = (
    *(
        manifests(f"often-{key.lower()}", f"`{key}: {value}`", _OFTEN, **{key: value})
        for key, value in (("interval", "1ms"), ("retryInterval", "0s"))
    ),
    manifests("long", "`timeout: 8785h`", _LONG, timeout="8785h"),
    # A CRD takes them, and a controller that lists one such object lists none of that kind any more.
    manifests("endless", "`timeout: 9999999h`", _NO_DURATION, timeout="9999999h"),
    manifests("endless-retry", "`retryInterval: 9999999h`", _NO_DURATION, retryInterval="9999999h"),
    *(
        release(f"endless-{action}", f"`{action}.timeout: 9999999h`", _NO_DURATION, **{action: {"timeout": "9999999h"}})
        for action in ("install", "upgrade", "test", "rollback", "uninstall")
    ),
    *(
        Forgery(
            f"endless-{kind.lower()}", "`timeout: 999999999m`", kind, {**spec, "timeout": "999999999m"}, _NO_DURATION
        )
        for kind, spec in _TIMED.items()
    ),
    manifests("empty-account", "an empty service account", ACCOUNT, serviceAccountName=""),
    manifests("neighbours-account", "a neighbour's service account", ACCOUNT, serviceAccountName="rocky"),
    manifests("any-key", "`decryption` without a Secret", _CLOUD, decryption={"provider": "sops"}),
    *(
        release(f"often-{key}", f"`{key}.strategy.retryInterval: 0s`", _OFTEN, **{key: _AT_ONCE})
        for key in ("install", "upgrade")
    ),
    release("release-account", "no service account", ACCOUNT, serviceAccountName=None),
    release("release-identity", "`kubeConfig` with Flux's own identity", REMOTE, kubeConfig=_ANYWHERE),
    _cloud("GitRepository", "azure", url="https://127.0.0.1:1/a.git"),
    _cloud("OCIRepository", "aws", url="oci://127.0.0.1:1/a"),
    _cloud("HelmRepository", "gcp", url="oci://127.0.0.1:1/a", type="oci"),
    *(_cloud("Bucket", each, bucketName="a", endpoint="127.0.0.1:1") for each in ("aws", "azure")),
    # Its key could be a description of a file of the controller's, and of where to send what stands in that.
    _cloud("Bucket", "gcp", bucketName="a", endpoint="127.0.0.1:1", secretRef={"name": "own"}),
    *(_alerting(each) for each in ("azuredevops", "azureeventhub", "googlepubsub")),
    Forgery(
        "watching",
        "alerts of a neighbour's apps",
        "Alert",
        {
            "providerRef": {"name": "any"},
            "eventSources": [{"kind": "Kustomization", "name": "*", "namespace": "rocky"}],
        },
        REFERENCE,
    ),
    Forgery(
        "waking",
        "a webhook for a neighbour's apps",
        "Receiver",
        {
            "type": "generic",
            "secretRef": {"name": "own"},
            "resources": [{"kind": "Kustomization", "name": "web", "namespace": "rocky"}],
        },
        REFERENCE,
    ),
)
