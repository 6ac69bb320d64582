"""Where a Flux object of a tenant would use the identity of Flux's controllers, which can read objects of all teams.

Called by: the rules, about what is written; the plan, about the same after merging and filling in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.messages.errors import Path, Problem

_CLOUDS = ("aws", "azure", "gcp")
_CLOUD_ALERTS = ("azuredevops", "azureeventhub", "googlepubsub")
"""Types of alerts' providers that log in with the controller's own identity where they are given no other."""
_WITH_FILES = ("googlepubsub",)
"""Those whose key may name a file, such as a token of the controller's, and an address to which its content is sent."""

_OWN, _OTHER_TYPE = "declare credentials for the tenant", "choose another type"


def borrowed(kind: str, spec: Mapping[str, Any], at: Path = ()) -> Iterator[Problem]:
    """A finding for each field of an object's spec with that effect. Args: at: the path of the spec."""
    if kind == "Provider":
        type = spec.get("type")
        fix = _OTHER_TYPE if type in _WITH_FILES else _OWN
        if type in _CLOUD_ALERTS and not spec.get("secretRef"):
            yield _finding((*at, "type"), f"'{type}' without credentials uses the cloud identity", fix)
        elif type in _WITH_FILES:
            yield _finding((*at, "type"), f"credentials of '{type}' can name files", fix)
        return
    if spec.get("provider") in _CLOUDS:
        yield _finding((*at, "provider"), f"provider '{spec['provider']}' uses the cloud identity")
    if isinstance(decryption := spec.get("decryption"), dict) and "secretRef" not in decryption:
        yield _finding((*at, "decryption"), "decryption without 'secretRef' uses the keys and the cloud identity")


def _finding(at: Path, message: str, fix: str = _OWN) -> Problem:
    return Problem(
        at,
        "shared-identity",
        f"{message} of Flux's controllers, which all tenants would share",
        fix=f"{fix}, or ask the platform team to set 'platform: {{sharedIdentity: true}}'",
    )
