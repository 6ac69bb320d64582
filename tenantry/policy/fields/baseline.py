"""The release of a tenant's baseline on a remote cluster, which runs with the platform's rights: all of it is the main file's."""

from __future__ import annotations

from typing import Any

from tenantry.policy.fields.checks import INTERVAL, KUBECONFIG, OWN_NAME, duration, word
from tenantry.policy.fields.table import Check, Each, Filled, Table
from tenantry.policy.resource import mapping


def _own_release(value: Any, of: Filled) -> str:
    return "" if value == f"{of.place.namespace}-baseline" else "has the name of another release"


def _keeps_off(value: Any, of: Filled) -> str:
    """Whether it leaves alone what is there already. To take it over is a word of the main file alone."""
    adopts = of.place.frame.own.get("adopt") is True
    return "" if value is True or adopts else "takes over objects that exist already"


def _stands_still(value: Any, of: Filled) -> str:
    state = mapping(of.place.frame.file.clusters.get(of.place.cluster)).get("state")
    return "" if value is False or state in ("paused", "decommissioned") else "is suspended on a cluster that is not"


def _there(value: Any, of: Filled) -> str:
    """What a release has to say, because Helm's default would be another."""
    return _keeps_off(mapping(value).get("disableTakeOwnership"), of)


_OBJECT: Table = {"kind": OWN_NAME, "name": OWN_NAME}
_ACTION: Table = {
    "disableTakeOwnership": _keeps_off,
    "strategy": {"name": word("RetryOnFailure"), "retryInterval": INTERVAL},
}

SPEC: Table = {
    "chartRef": _OBJECT,
    "dependsOn": Each({"name": OWN_NAME, "namespace": OWN_NAME}),
    "driftDetection": {"mode": word("enabled")},
    "install": _ACTION,
    "interval": INTERVAL,
    "kubeConfig": {"configMapRef": {"name": KUBECONFIG}, "secretRef": {"key": KUBECONFIG, "name": KUBECONFIG}},
    "releaseName": _own_release,
    "serviceAccountName": OWN_NAME,
    "storageNamespace": OWN_NAME,
    "suspend": _stands_still,
    "targetNamespace": OWN_NAME,
    "timeout": duration,
    "upgrade": {**_ACTION, "chartNameChangeStrategy": word("InPlaceUpdate")},
    "values": OWN_NAME,
}
REQUIRED: dict[str, Check] = {"install": _there, "upgrade": _there}
"""What is wrong if a field is left out."""
