"""What the management cluster keeps of rollouts beside the objects of a plan: since when waves have been good.

These are ConfigMaps in the platform's namespace and not in Pulumi's state, so that a run that fails loses nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.requests import FIELD_MANAGER
from tenantry.guard.claims import Claim
from tenantry.kube.objects import Manifest, ObjectId, Owner, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.plan.objects.scope import CLUSTER_LABEL, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.conditions import Known, Mark, read_marks, written
from tenantry.rollout.ignoring import ignored
from tenantry.rollout.parts import Part

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_WAVES_LABEL = "tenantry/waves"
_LINES = "lines"
_MOST = 900_000
"""Bytes in a ConfigMap, which may have 1 MiB."""


def known_on(client: Client, plan: Plan, platform: str, now: datetime) -> Known:
    """What decides. client: of the management cluster that keeps it. Raises: Refused: reading is not allowed."""
    return Known(now, marks_on(client, platform, plan.environment), ignored(plan.environment))


def owners_of(live: Iterable[Manifest]) -> dict[ObjectId, Owner]:
    """Whom each object is for, as its labels say."""
    labels = {id: labels_of(each) for each in live if (id := readable_id(each))}
    return {id: Owner(each.get(TENANT_LABEL, ""), each.get(CLUSTER_LABEL, "")) for id, each in labels.items()}


def marks_on(client: Client, platform: str, environment: str) -> dict[Part, Mark]:
    """Since when each part has been good. Raises: Refused: reading is not allowed."""
    found = requests.every(client, "v1", "ConfigMap", namespace=platform, selector=f"{_WAVES_LABEL}={environment}")
    return read_marks(line for each in found for line in str(mapping_at(each, "data").get(_LINES, "")).splitlines())


def keep_marks(client: Client, platform: str, environment: str, marks: Mapping[Part, Mark]) -> None:
    """Write the marks, into as many ConfigMaps as they need. Those that are not needed any more become empty.

    The claim owns them, so they go with it. Raises: Refused: writing is not allowed.
    """
    claim = requests.one(client, ObjectId("v1", "ConfigMap", platform, Claim(environment, "").name), metadata_only=True)
    uid = mapping_at(claim or {}, "metadata").get("uid")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": Claim(environment, "").name, "uid": uid}
    texts = _texts(marks)
    for number in count(1):
        id = ObjectId(
            "v1", "ConfigMap", platform, f"tenantry-{environment}.waves" + (f".{number}" if number > 1 else "")
        )
        text = next(texts, None)
        if text is None and (number == 1 or requests.one(client, id, metadata_only=True) is None):
            return
        metadata = {
            "name": id.name,
            "namespace": platform,
            "labels": {_WAVES_LABEL: environment},
            **({"ownerReferences": [owner]} if uid else {}),
        }
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {_LINES: text or ""}}
        requests.written(client, id, manifest, manager=FIELD_MANAGER)


def _texts(marks: Mapping[Part, Mark]) -> Iterator[str]:
    text = ""
    for line in written(marks):
        if text and len(text) + len(line.encode()) >= _MOST:
            yield text
            text = ""
        text += f"{line}\n"
    yield text
