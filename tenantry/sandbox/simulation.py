"""The configuration that makes a cluster without machines behave like one with machines.

kwok has its own stages for nodes and pods. Volumes are simulated here: no provisioner runs, so a stage binds the claims, and the
scheduler does not wait for volumes. Otherwise every chart with a StatefulSet would stay Pending.
"""

from pathlib import Path
from typing import Any

import yaml

from tenantry.sandbox.layout import write_private

CLAIM_STAGE = {
    "apiVersion": "kwok.x-k8s.io/v1alpha1",
    "kind": "Stage",
    "metadata": {"name": "claim-bind"},
    "spec": {
        "resourceRef": {"apiGroup": "v1", "kind": "PersistentVolumeClaim"},
        "selector": {"matchExpressions": [{"key": ".status.phase", "operator": "In", "values": ["Pending"]}]},
        "next": {
            "statusTemplate": "phase: Bound\n"
            "accessModes: {{ YAML .spec.accessModes 1 }}\n"
            "capacity: {{ YAML .spec.resources.requests 1 }}\n"
        },
    },
}

VOLUME_PLUGINS = ("NodeVolumeLimits", "VolumeBinding", "VolumeZone")


def write_stages(home: Path) -> Path:
    """Write kwok's configuration; the stages it does not name are kwok's own."""
    return _write(home / "stages.yaml", CLAIM_STAGE)


def write_scheduler(home: Path, kubeconfig: Path) -> Path:
    """Write the scheduler's configuration."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 200, "burst": 400},
        "leaderElection": {"leaderElect": False},
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {"multiPoint": {"disabled": [{"name": name} for name in VOLUME_PLUGINS]}},
            }
        ],
    }
    return _write(home / "config.yaml", document)


def _write(path: Path, document: dict[str, Any]) -> Path:
    write_private(path, yaml.safe_dump(document, sort_keys=False).encode())
    return path
