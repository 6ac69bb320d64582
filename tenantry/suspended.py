"""What Flux leaves alone: it deletes a suspended object without a look at what it installed, which nobody would know of then."""

from __future__ import annotations

from tenantry.errors import Refused
from tenantry.kube import Manifest
from tenantry.objects.lifecycle import STATE_LABEL


def is_suspended(manifest: Manifest) -> bool:
    """By the fleet or by hand; what a cluster that is given up leaves behind, it is meant to."""
    decommissioned = (manifest["metadata"].get("labels") or {}).get(STATE_LABEL) == "decommissioned"
    return bool((manifest.get("spec") or {}).get("suspend")) and not decommissioned


def left_behind(listed: str) -> Refused:
    """Args: listed: what of it a run would remove, a line each."""
    return Refused(
        f"this run would remove what is suspended, and Flux would leave behind what it installed\n{listed}",
        "let Flux go on first (take 'state: paused' away and run `pulumi up`; `flux resume` what was suspended by hand);"
        " a cluster that is gone gets 'state: decommissioned'",
    )
