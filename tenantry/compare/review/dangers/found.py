"""Dangers of single objects, and how equal ones of several tenants and clusters become one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from tenantry.compare.review.model import Danger, DangerKind
from tenantry.messages.text import MOST_NAMES, counted, grouped, listed


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


class Found(NamedTuple):
    """A danger for one tenant on one cluster. tenant: "" for the platform; cluster: "" for no cluster in particular.

    The sentence is: lead, who, verb, where, tail. lead: such as "the quota of "; verb: for one tenant and for several;
    tail: begins with its own punctuation. who: instead of the tenant, such as an app; it is followed by the tenant in brackets.
    nobody: the sentence names nobody; nowhere: nor the clusters. at: the preposition before the clusters.
    """

    kind: DangerKind
    rank: Rank
    tenant: str
    cluster: str
    verb: tuple[str, str] = ("", "")
    tail: str = ""
    lead: str = ""
    who: str = ""
    nobody: bool = False
    nowhere: bool = False
    at: str = "on"


Homes: TypeAlias = Mapping[tuple[str, str], Set[str]]
"""The clusters of a tenant, or of one of its apps: by the tenant and by what `Found.who` calls the app, or ""."""


def in_sentences(found: Iterable[Found], total: int, homes: Homes) -> list[Danger]:
    """The dangers, the worst first; those with the same words in one sentence. Args: total: how many clusters there are."""
    by_words = grouped(dict.fromkeys(found), lambda each: each._replace(tenant="", cluster=""))
    groups = [part for own in by_words.values() for part in _in_one_sentence(own, homes)]
    # A stable sort: equal ranks stay in the order of the plan.
    groups.sort(key=lambda own: (own[0].rank, -len(own)))
    return [_danger(own, total, homes) for own in groups]


def _in_one_sentence(found: Sequence[Found], homes: Homes) -> Iterator[list[Found]]:
    """Tenants with the same clusters together, and those that it concerns wherever they are.

    Otherwise the sentence would say what is not so.
    """
    by_tenant = grouped(found, lambda each: each.tenant)
    alike = grouped(by_tenant.values(), lambda own: frozenset(each.cluster for each in own))
    groups = [[each for tenant in own for each in tenant] for own in alike.values()]
    everywhere = [own for own in groups if _is_everywhere(own, homes)]
    if len(everywhere) > 1:
        yield [each for own in everywhere for each in own]
        groups = [own for own in groups if own not in everywhere]
    yield from groups


def _is_everywhere(found: Sequence[Found], homes: Homes) -> bool:
    """Whether the danger is on all clusters of the tenants that it concerns."""
    if found[0].nowhere:
        return False
    own = grouped(found, lambda each: (each.tenant, each.who))
    return all({each.cluster for each in group} == homes.get(key) for key, group in own.items())


def _danger(own: Sequence[Found], total: int, homes: Homes) -> Danger:
    tenants = tuple(dict.fromkeys(each.tenant for each in own if each.tenant))
    clusters = tuple(dict.fromkeys(each.cluster for each in own if each.cluster))
    first = own[0]
    verb = first.verb[len(tenants) > 1 and not first.who]
    told = f"{first.lead}{_whom(first, tenants)} {verb}".rstrip()
    where = "" if first.nowhere or not clusters else f" {first.at} {_clusters(clusters, total)}"
    everywhere = ""
    if _is_everywhere(own, homes):
        everywhere = f"{told} {first.at} all of {'its' if len(tenants) < 2 else 'their'} clusters{first.tail}"
    # Several tenants on different clusters are in one sentence only if it concerns them everywhere.
    differ = len(own) < len(tenants) * len(clusters)
    text = everywhere if differ else f"{told}{where}{first.tail}"
    return Danger(kind=first.kind, text=text, everywhere=everywhere, tenants=tenants, clusters=clusters)


def _whom(found: Found, tenants: Sequence[str]) -> str:
    if found.nobody:
        return ""
    if found.who:
        return f"{found.who} ({tenants_in_words(tenants)})" if tenants else found.who
    return tenants_in_words(tenants) if tenants else "the platform"


def tenants_in_words(tenants: Sequence[str]) -> str:
    """Such as "tenants 'rocky', 'movy'" or "200 tenants ('rocky', 'movy', 'tina' and 197 more)"."""
    quoted = [f"'{each}'" for each in tenants]
    if len(quoted) <= MOST_NAMES:
        return f"tenant{'' if len(quoted) == 1 else 's'} {listed(quoted)}"
    return f"{len(quoted)} tenants ({listed(quoted, 3)})"


def _clusters(clusters: Sequence[str], total: int) -> str:
    """Such as "hub, edge" or "479 of 501 clusters"."""
    if len(clusters) <= MOST_NAMES:
        return listed(clusters)
    return f"all {total} clusters" if len(clusters) == total else f"{len(clusters)} of {counted(total, 'cluster')}"
