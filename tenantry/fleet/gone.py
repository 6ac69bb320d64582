"""What to write instead of a key that earlier drafts of the language had.

Called by: `hints`, for unknown keys.
Never: accepts such a key.
"""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.grants.model import Include
from tenantry.model import App, Model, Platform, Source, SourcePatch

_ARTIFACT = "Flux's own kinds of sources are left: write 'git:', 'oci:', 'helm:' or 'bucket:'"
GONE: Mapping[type[Model], Mapping[str, str]] = {
    Include: {
        "class": "declare each tenant with its 'class:' in this file or in a piece of it, and name a team's file after its tenant",
        "clusters": "write 'files:': pieces of this file hold clusters, too",
        "each": "write an entry on one line for each row into a YAML file, and include it with 'files:'",
        "environment": "write what it says as 'overrides: {environments: ...}' into a piece of this file: 'files:' alone",
        "of": "name each file after the tenant that it speaks of",
    },
    App: {
        "imageAutomation": "let an app on the management cluster apply the objects of image automation from the tenant's repository"
    },
    Source: {"externalArtifact": _ARTIFACT},
    SourcePatch: {"externalArtifact": _ARTIFACT},
    Platform: {"receivers": "remove it: an interval of the source makes Flux fetch, and receivers of tenants stay"},
}
"""Model -> key -> what to write, as the fix of an error. A row holds for models that extend its model, too."""


def fix_for_gone(model: type[Model], key: str) -> str:
    """What to write instead of the key; "" if the model never had it."""
    return next((rows[key] for known, rows in GONE.items() if issubclass(model, known) and key in rows), "")
