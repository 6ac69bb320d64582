"""A change in a few words: what a cell of the map says, and the title of a page with a handful of changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tenantry.cli.diff.values import both, format_field, shown
from tenantry.cli.diff.words import Alike, Together, extent, parted, together
from tenantry.compare.review.model import Change, Effect, PartKind, Review
from tenantry.messages.data import ABSENT
from tenantry.messages.text import printable

_ARROW = "\N{RIGHTWARDS ARROW}"
_LONGEST = 44
"""The most characters of what a cell says of one change."""
_MOST_PHRASES = 3
_LONGEST_TITLE = 110
_FEW = 2
"""So many clusters and tenants are named in a title; others are counted."""


def in_short(change: Change) -> str:
    """Such as "2.3.0 → 2.4.0" or "quota pods 40 → 50, and 1 more"; "" if the sign and the name of the part say it."""
    if change.effect in (Effect.ADDED, Effect.REMOVED):
        return _COMES_AND_GOES[change.effect] if change.part.kind is PartKind.TENANT else ""
    if change.effect is Effect.RENAMED:
        return printable(f"was {change.was}") if change.was else ""
    values = [(setting.key, setting.before, setting.after) for setting in change.settings]
    values += [(format_field(field.path[1:]), field.before, field.after) for field in change.fields]
    if not values:
        return next((printable(each) for each in change.sentences if len(each) <= _LONGEST), "")
    more = f", and {len(values) - 1} more" if len(values) > 1 else ""
    return f"{_value(*values[0])}{more}"


_COMES_AND_GOES = {Effect.ADDED: "new here", Effect.REMOVED: "leaves"}


def _value(key: str, before: Any, after: Any) -> str:
    name = _key_in_short(key)
    one, other = ("" if each is ABSENT else shown(each) for each in (before, after))
    if one and other:
        one, other = both(before, after)
    text = f"{one} {_ARROW} {other}" if one and other else f"{'+' if other else 'no longer '}{one or other}"
    told = text if name in _SELF_EVIDENT and one and other else f"{name} {text}"
    several_lines = any(isinstance(each, str) and "\n" in each for each in (before, after))
    return name if several_lines or len(told) > _LONGEST else told


_SELF_EVIDENT = ("version", "chart", "tag", "ref")
_OUTER = ("helm", "kustomize", "values", "git", "oci", "ref")


def _key_in_short(key: str) -> str:
    """helm.version -> version; helm.values.web.replicas -> web.replicas; quota.pods -> quota pods"""
    parts = printable(key).split(".")
    while len(parts) > 1 and parts[0] in _OUTER:
        parts.pop(0)
    return " ".join(parts) if parts[0] in ("quota", "limits") else ".".join(parts)


def title(review: Review) -> str:
    """What a handful of changes does, such as "prod: tina leaves hub-prod; rocky/web 2.3.0 → 2.4.0"; else how much changes."""
    parts = [(_names(each), list(_phrases(each))) for each in together(review)]
    if all(phrases for _, phrases in parts) and sum(len(phrases) for _, phrases in parts) <= _MOST_PHRASES:
        text = "; ".join(f"{names}: {'; '.join(phrases)}" for names, phrases in parts)
        if len(text) <= _LONGEST_TITLE:
            return text
    names = ", ".join(printable(environment.environment) for environment in review.environments)
    return f"{names}: {extent(review.environments)}"


def _names(shown: Together) -> str:
    return ", ".join(printable(environment.environment) for environment in shown.environments)


def _phrases(shown: Together) -> Iterator[str]:
    for cluster in shown.clusters:
        if cluster.part.kind is PartKind.ENVIRONMENT:
            yield from map(printable, cluster.sentences)
        else:
            yield _happens(f"cluster {printable(cluster.part.name)}", cluster)
    for tenant in shown.tenants:
        yield from _of_tenant(tenant)


def _of_tenant(shown: Alike) -> Iterator[str]:
    whole, changes = parted(shown.review)
    who = _listed(shown.tenants, "tenants") if shown.tenants[0] else "the platform"
    several = len(shown.tenants) > 1
    if whole and whole.effect is not Effect.CHANGED:
        yield _of_part(whole, who, several=several)
        return
    told = [*([whole] if whole else []), *changes]
    yield from (_of_part(each, who, several=several) for each in told)
    if not told:
        yield from (f"{who}: {printable(each)}" for each in shown.review.sentences)


def _of_part(change: Change, who: str, *, several: bool) -> str:
    match change.part.kind:
        case PartKind.TENANT if change.effect is Effect.ADDED:
            return f"{who} comes to {_clusters(change)}"
        case PartKind.TENANT if change.effect is Effect.REMOVED:
            return f"{who} leaves {_clusters(change)}"
        case PartKind.SETTINGS if change.effect is Effect.CHANGED and in_short(change):
            return f"{in_short(change)} for {who}{_place(change)}"
        case PartKind.TENANT | PartKind.SETTINGS:
            return _happens(who, change)
        case PartKind.APP:
            name = printable(change.part.name)
            return _happens(f"app {name} of {who}" if several else f"{who}/{name}", change)
        case PartKind.ADDON:
            return _happens(f"add-on {printable(change.part.name)}", change)
    return _happens(f"{change.part.kind.value} {printable(change.part.name)} of {who}", change)


def _happens(what: str, change: Change) -> str:
    match change.effect:
        case Effect.ADDED:
            return f"{what} is new{_place(change)}"
        case Effect.REMOVED:
            return f"{what} is removed{_place(change, 'from')}"
        case Effect.RENAMED:
            return f"{printable(change.was)} becomes {what}" if change.was else f"{what} is renamed"
    return f"{what} {in_short(change) or 'changes'}{_place(change)}"


def _place(change: Change, preposition: str = "on") -> str:
    """Where, unless it is everywhere."""
    everywhere = len(change.clusters) >= change.of or change.part.kind is PartKind.CLUSTER
    return "" if everywhere else f" {preposition} {_clusters(change)}"


def _clusters(change: Change) -> str:
    return _listed(change.clusters, "clusters")


def _listed(names: Sequence[str], noun: str) -> str:
    return " and ".join(map(printable, names)) if len(names) <= _FEW else f"{len(names)} {noun}"
