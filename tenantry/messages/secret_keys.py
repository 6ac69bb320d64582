"""Which keys of plain data, such as Helm values, hold a secret itself, and which only name one.

Charts and programs choose their keys freely, so this is a guess. It errs towards a secret.
"""

from __future__ import annotations

import re
from functools import lru_cache

_STRONG = re.compile(
    r"(?i)passw|passphrase|passwd|(?:^|[^a-z])pwd|htpasswd|dockerconfig|key[-_.]?data"
    r"|(?:api|access|account|auth|client|encryption|license|master|private|root|secret|shared|signing|ssh)[-_.]?keys?$"
    r"|connection[-_.]?string|webhook[-_.]?ur[il]$|(?:^|[-_.])(?:authorization|dsn|hmac|jwt|otp|pin|salt|pass|psk)$"
    r"|(?:^|[-_./])(?:id_rsa|id_ed25519|tls\.key|key\.pem)$"
)
_WEAK = re.compile(r"(?i)secret|token|credential|bearer|kubeconfig")

_NAMES_ONE = re.compile(
    r"(?i)(?:^|[-_.]|(?<=[a-z0-9]))"
    r"(?:names?|refs?|namespaces?|keys?|paths?|files?|mounts?|mountpath|enabled|policy|types?|kinds?|class|provider|issuer|audiences?"
    r"|ttl|seconds|minutes|hours|days|duration|interval|timeout|expiry|expiration|lifetime|length|size|count|limit|versions?"
    r"|format|algorithm|selector|labels|annotations|create|optional|store|operator|driver|endpoint|hosts?|ports?|ur[il]s?)$"
)
"""The last word of a key whose value describes a secret: a name, a place or a number."""
_NAMED = re.compile(r"(?i)existing[-_]?secrets?$|pull[-_]?secrets?$|automount|^(?:count/)?secrets$|^max[-_]?|^min[-_]?")
"""Keys whose values are the names of Secrets, how many there may be, or switches."""
_PRODUCTS = re.compile(r"(?i)(?:external|sealed)[-_]?secrets?|secrets?[-_]?(?:store|manager|operator|generator|csi)")
"""Programs that work with secrets. Their settings stand below their names."""
_STRUCTURE = frozenset(
    {
        *(
            "apiVersion",
            "kind",
            "name",
            "namespace",
            "key",
            "keys",
            "path",
            "optional",
            "enabled",
            "create",
            "type",
            "mode",
        ),
        *(
            "defaultMode",
            "audience",
            "expirationSeconds",
            "image",
            "tag",
            "repository",
            "registry",
            "resources",
            "replicas",
        ),
        *("replicaCount", "annotations", "labels", "provider", "items", "version", "port", "host"),
    }
)
"""Keys below a key of a secret whose values are not secret."""


@lru_cache(maxsize=1024)
def holds_secret(key: str) -> bool:
    """Whether the value of a key is a secret itself: `password`, `DB_TOKEN`; not `secretName` or `tokenTTL`."""
    if _PRODUCTS.search(key) or _NAMED.search(key):
        return False
    if _STRONG.search(key):
        return not _NAMES_ONE.search(key) or _is_key(key)
    return bool(_WEAK.search(key)) and not _NAMES_ONE.search(key)


def holds_secrets_below(key: str) -> bool:
    """As `holds_secret`, for a key whose value is a mapping or a list: `secrets` is one then."""
    return holds_secret(key) or key.lower() == "secrets"


def is_structure(key: str) -> bool:
    """Whether the value of a key below a key of a secret is not secret, such as the `name` in `secretKeyRef: {name: ...}`."""
    return key in _STRUCTURE or (bool(_NAMES_ONE.search(key)) and not _STRONG.search(key))


def _is_key(key: str) -> bool:
    """Whether the key is of a cryptographic key: `privateKey`, but not the `passwordKey` that names a key of a Secret."""
    return bool(_KEY.search(key))


_KEY = re.compile(
    r"(?i)(?:api|access|account|auth|client|encryption|license|master|private|root|secret|shared|signing|ssh)[-_.]?keys?$"
    r"|webhook[-_.]?ur[il]$|tls\.key$"
)
