"""Audit logs: the API servers of the sandbox log each change with the user that made it.

They show as which user Flux acted, which matters most in a fleet of tenants and cannot be seen in the objects.
"""

import json
from pathlib import Path

from tenantry.sandbox.layout import write_private

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        # Heartbeats would drown everything else.
        {
            "level": "None",
            "resources": [{"group": "coordination.k8s.io"}, {"group": "events.k8s.io"}, {"resources": ["events"]}],
        },
        {"level": "None", "verbs": ["get", "list", "watch"]},
        {"level": "Metadata"},
    ],
}


def flags(home: Path, log: Path) -> dict[str, object]:
    """The API server's flags: one JSON object per request and line; metadata only, so no Secret's content is in it."""
    policy = home / "audit-policy.json"
    write_private(policy, json.dumps(POLICY).encode())
    return {
        "audit-policy-file": policy,
        "audit-log-path": log,
        "audit-log-maxsize": 100,
        "audit-log-maxbackup": 1,
    }
