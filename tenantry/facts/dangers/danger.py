"""A danger of one subject on one cluster, and how equal ones become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tenantry.facts.subjects import THE_PLATFORM, Homes, Kind, Subject, Where, together
from tenantry.kube.objects import Owner


class DangerKind(StrEnum):
    """Why a reviewer has to look twice, the worst first."""

    RIGHTS = "rights"
    DELETION = "deletion"
    REINSTALLATION = "reinstallation"
    KUBECONFIG = "kubeconfig"
    NAMESPACE = "namespace"
    PROTECTION = "protection"
    NETWORK = "network"
    POD_SECURITY = "pod-security"
    ADOPTION = "adoption"
    ROLLOUT = "rollout"
    GATE = "gate"
    QUOTA = "quota"
    LIMITS = "limits"


class ClusterDanger(NamedTuple):
    """A danger of one subject on one cluster. cluster: "" for none in particular. text: says what happens, without either."""

    kind: DangerKind
    subject: Subject
    cluster: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """The same danger of all these subjects on all these clusters."""

    kind: DangerKind
    where: Where
    text: str


_KINDS = list(DangerKind)


def by_kind(danger: Danger) -> int:
    """The place of a danger among others, the worst first."""
    return _KINDS.index(danger.kind)


def joined(every: Iterable[ClusterDanger], homes: Homes) -> tuple[Danger, ...]:
    """The dangers, the worst first, each once for all subjects and clusters that have it."""
    lines = (((danger.kind, danger.text), danger.subject, danger.cluster) for danger in dict.fromkeys(every))
    dangers = [Danger(kind=kind, where=where, text=text) for (kind, text), where in together(lines, homes)]
    # A stable sort: dangers of a kind stay in the order of the plan.
    return tuple(sorted(dangers, key=by_kind))


def of_owner(kind: DangerKind, owner: Owner, text: str) -> ClusterDanger:
    """A danger of the tenant that an object belongs to, or of the platform."""
    subject = Subject(Kind.TENANT, owner.tenant) if owner.tenant else THE_PLATFORM
    return ClusterDanger(kind, subject, owner.cluster, text)
