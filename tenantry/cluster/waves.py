"""What the management cluster keeps of rollouts beside the objects of a plan: since when waves have been good, and who approved.

Both are ConfigMaps in the platform's namespace and not in Pulumi's state, so that a run that fails loses nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.drift import compare
from tenantry.cluster.requests import FIELD_MANAGER
from tenantry.guard.claims import Claim
from tenantry.kube.objects import Manifest, ObjectId, Owner, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.plan.bootstrap import approvals_name
from tenantry.plan.objects.scope import CLUSTER_LABEL, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.rollout.conditions import Approved, Known, Mark, Waiting, has_conditions, read_marks, waiting, written
from tenantry.rollout.ignoring import ignored
from tenantry.rollout.parts import Part, digests_of, parts_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_WAVES_LABEL = "tenantry/waves"
_LINES = "lines"
_MOST = 900_000
"""Bytes in a ConfigMap, which may have 1 MiB."""


def known_on(client: Client, plan: Plan, platform: str, now: datetime, *, runs: bool = False) -> Known:
    """What decides. client: of the management cluster that keeps it. runs: whether its user runs the change.

    Raises: Refused: reading is not allowed.
    """
    approves = any(wave.groups for rollout in plan.rollouts for wave in rollout.waves)
    soaks = any(wave.soak for rollout in plan.rollouts for wave in rollout.waves)
    runner = requests.user_of(client)[0] if approves and runs else ""
    approvals = approvals_on(client, platform, plan.environment) if approves else []
    return Known(
        now,
        marks_on(client, platform, plan.environment) if soaks else {},
        # Where nobody knows who runs the change, the approval could be that one's own.
        approvals if runner or not (approves and runs) else None,
        runner,
        ignored(plan.environment),
    )


def owners_of(live: Iterable[Manifest]) -> dict[ObjectId, Owner]:
    """Whom each object is for, as its labels say."""
    labels = {id: labels_of(each) for each in live if (id := readable_id(each))}
    return {id: Owner(each.get(TENANT_LABEL, ""), each.get(CLUSTER_LABEL, "")) for id, each in labels.items()}


@dataclass(frozen=True, slots=True)
class Changes:
    """What a run would change now, and what of it waits.

    parts: with the digest of what each would become. outside: how many objects would change that are in no wave. begin: when a
    change could begin, in sentences.
    """

    plan: Plan
    now: datetime
    known: Known
    waiting: Waiting
    parts: Mapping[Part, str]
    outside: int
    begin: tuple[str, ...]


def changes_on(client: Client, plan: Plan, platform: str, now: datetime) -> Changes:
    """Compare an environment with its plan. Raises: Refused: reading is not allowed."""
    # Of Secrets the plan knows no values, and who approves need not read any.
    objects = [each for each in plan.objects if each.id.kind != "Secret"]
    changed = [each.id for each in compare(client, plan.environment, objects, others=False).differences]
    known = known_on(client, plan, platform, now) if has_conditions(plan) else Known(now)
    parts = parts_of(plan)
    touched = {parts[id] for id in changed if id in parts}
    digests = digests_of(plan, parts) if touched else {}
    return Changes(
        plan,
        now,
        known,
        waiting(plan, changed, known),
        {part: digests[part] for part in sorted(touched)},
        sum(id not in parts for id in changed),
        tuple(plan.windows.begin(now)),
    )


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


def approvals_on(client: Client, platform: str, environment: str) -> list[Approved] | None:
    """The approvals of an environment; None: the cluster is not prepared for any. Raises: Refused: reading is not allowed."""
    found = requests.one(client, approvals_of(platform, environment))
    if found is None:
        return None
    return [each for entry in mapping_at(found, "data").values() for each in _approved(str(entry))]


def approvals_of(platform: str, environment: str) -> ObjectId:
    return ObjectId("v1", "ConfigMap", platform, approvals_name(environment))


def approve(
    client: Client, id: ObjectId, parts: Mapping[Part, str], *, by: str, group: str, commit: str, now: datetime
) -> None:
    """Approve what parts of one wave would become. The cluster refuses what is not in the name of its user.

    Raises: Refused: writing is not allowed, or the ConfigMap is full.
    """
    first = next(iter(parts))
    moment = f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    subjects = ",".join(f"{part.subject}={digest}" for part, digest in parts.items())
    fields = (by, group, moment, commit, str(first.wave), first.rollout, subjects)
    key = f"{moment.replace(':', '')}-{sha256(chr(10).join(fields).encode()).hexdigest()[:8]}"
    if requests.patched(client, id, {"data": {key: "\n".join(fields)}}, manager=FIELD_MANAGER, dry_run=False) is None:
        raise Refused(f"{id} does not exist", "prepare the management cluster: tenantry bootstrap NAME")


def _approved(entry: str) -> Iterator[Approved]:
    """What an entry approves. What is malformed approves nothing."""
    match entry.split("\n"):
        case [by, group, _, _, wave, rollout, parts] if wave.isdecimal():
            for each in parts.split(","):
                subject, _, digest = each.partition("=")
                yield Approved(Part(rollout, int(wave), subject), digest, by, group)
