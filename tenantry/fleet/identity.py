"""Where a Flux object of a tenant would use the identity of Flux's controllers, which can read objects of all teams.

Called by: the rules, about what is written; the plan, about the same after merging and filling in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.messages.errors import Finding, Path

_CLOUDS = ("aws", "azure", "gcp")
_CLOUD_ALERTS = ("azuredevops", "azureeventhub", "googlepubsub")
"""Types of alerts' providers that log in with the controller's own identity where they are given no other."""


def borrowed(kind: str, spec: Mapping[str, Any], at: Path = ()) -> Iterator[Finding]:
    """A finding for each field of an object's spec with that effect. Args: at: the path of the spec."""
    if kind == "Provider":
        if spec.get("type") in _CLOUD_ALERTS and not spec.get("secretRef"):
            yield _finding((*at, "type"), f"'{spec['type']}' without credentials uses the cloud identity")
        return
    if spec.get("provider") in _CLOUDS:
        yield _finding((*at, "provider"), f"provider '{spec['provider']}' uses the cloud identity")
    if isinstance(decryption := spec.get("decryption"), dict) and "secretRef" not in decryption:
        yield _finding((*at, "decryption"), "decryption without 'secretRef' uses the keys and the cloud identity")


def _finding(at: Path, message: str) -> Finding:
    return Finding(
        at,
        "shared-identity",
        f"{message} of Flux's controllers, which all tenants would share",
        fix="declare credentials for the tenant, or ask the platform team to set 'platform: {sharedIdentity: true}'",
    )
