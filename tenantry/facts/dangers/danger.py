"""A danger of one subject on one cluster, and how equal ones become one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

from tenantry.facts.subjects import THE_PLATFORM, Homes, Kind, Subject, Where, together
from tenantry.kube.objects import Owner


class DangerKind(StrEnum):
    """Why a reviewer has to look twice."""

    RIGHTS = "rights"
    NETWORK = "network"
    QUOTA = "quota"
    LIMITS = "limits"
    POD_SECURITY = "pod-security"
    NAMESPACE = "namespace"
    KUBECONFIG = "kubeconfig"
    DELETION = "deletion"
    PROTECTION = "protection"
    ADOPTION = "adoption"
    REINSTALLATION = "reinstallation"
    RESTART = "restart"
    ROLLOUT = "rollout"
    GATE = "gate"


class Rank(IntEnum):
    """How bad a danger is, the worst first."""

    EVERYTHING = 0
    """All of an environment or of a cluster."""
    ADMIN = 1
    """Rights without a bound."""
    DATA = 2
    """Things that are deleted with their data."""
    ACCESS = 3
    """More rights, less protection."""
    WALLS = 4
    """Networks and pod security."""
    WORK = 5
    """What may stop workloads."""


class ClusterDanger(NamedTuple):
    """A danger of one subject on one cluster. cluster: "" for none in particular. text: says what happens, without either."""

    kind: DangerKind
    rank: Rank
    subject: Subject
    cluster: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """The same danger of all these subjects on all these clusters."""

    kind: DangerKind
    rank: Rank
    where: Where
    text: str


def joined(every: Iterable[ClusterDanger], homes: Homes) -> tuple[Danger, ...]:
    """The dangers, the worst first, each once for all subjects and clusters that have it."""
    lines = (
        ((danger.kind, danger.rank, danger.text), danger.subject, danger.cluster) for danger in dict.fromkeys(every)
    )
    dangers = [
        Danger(kind=kind, rank=rank, where=where, text=text) for (kind, rank, text), where in together(lines, homes)
    ]
    # A stable sort: equal ranks stay in the order of the plan.
    return tuple(sorted(dangers, key=lambda danger: danger.rank))


def of_owner(kind: DangerKind, rank: Rank, owner: Owner, text: str) -> ClusterDanger:
    """A danger of the tenant that an object belongs to, or of the platform."""
    subject = Subject(Kind.TENANT, owner.tenant) if owner.tenant else THE_PLATFORM
    return ClusterDanger(kind, rank, subject, owner.cluster, text)
