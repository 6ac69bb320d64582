"""A review of any two fleets accounts for every object once, says nothing that is not so, and is empty for equal fleets."""

from __future__ import annotations

import copy
from collections import Counter

from hypothesis import reject
from hypothesis import strategies as st

from tenantry.facts.changes import Effect
from tenantry.facts.facts import Facts
from tenantry.facts.objects import differences
from tenantry.facts.review import Review
from tenantry.messages.errors import InvalidFleet
from tests.drawn import given, one_in
from tests.properties.promises import Planned, planned, reviewed
from tests.strategies import Data, fleets, mutated, shared_hubs


def accounted_for(before: Planned, after: Planned) -> None:
    """Every object that differs is in the review, and every subject of a change is on every cluster that the change names."""
    reviews = {each.environment: each for each in reviewed(before, after)}
    for each in differences(before.plans, after.plans):
        found = reviews[each.environment]
        ids = {one.id for one in (*each.removed, *each.added, *each.changed)}
        counts = Counter(one.object for one in found.objects)
        assert set(counts) == ids
        assert each.elsewhere or max(counts.values(), default=1) == 1
        assert bool(found) or not ids
        silent = [one for one in found.changes if one.effect is Effect.CHANGED and not one.values]
        assert silent == []
        _says_what_is_so(found, before, after)


def _says_what_is_so(found: Review, before: Planned, after: Planned) -> None:
    name = found.environment
    sides = [Facts(side.fleet, side.plans[name]).clusters if name in side.plans else {} for side in (before, after)]
    for each in found.changes:
        needed = {Effect.REMOVED: sides[:1], Effect.ADDED: sides[1:], Effect.CHANGED: sides}[each.effect]
        for subject, clusters in each.where.by_subject():
            assert all(set(clusters) <= set(side.get(subject, ())) for side in needed)


@one_in(4)
@given(st.one_of(fleets(), shared_hubs()), fleets())
def test_every_object_is_accounted_for_once_between_any_two_fleets(one: Data, other: Data) -> None:
    accounted_for(valid(one), planned(other))


def valid(fleet: Data) -> Planned:
    """The plans, if the fleet has any: an edit can make it invalid."""
    try:
        return planned(fleet)
    except InvalidFleet:
        reject()


@one_in(4)
@given(st.data())
def test_every_object_is_accounted_for_once_after_any_edits(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    after = valid(data.draw(mutated(fleet)))  # most are invalid, so this comes first
    before = planned(fleet)
    accounted_for(before, after)
    accounted_for(after, before)


@one_in(4)
@given(st.data())
def test_every_object_is_accounted_for_once_after_edits_of_states_and_settings(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    after = valid(edits(data, fleet))
    before = planned(fleet)
    accounted_for(before, after)
    accounted_for(after, before)


def edits(data: st.DataObject, fleet: Data) -> Data:
    """The fleet with some names, states and settings changed, as people do."""
    edited = copy.deepcopy(fleet)
    for tenant in edited["tenants"].values():
        tenant["state"] = data.draw(st.sampled_from(["active", "paused", "offboarding"]))
        for app in tenant["apps"].values():
            app["state"] = data.draw(st.sampled_from(["active", "active", "paused", "offboarding"]))
    for cluster in edited["clusters"].values():
        cluster["state"] = data.draw(st.sampled_from(["active", "active", "paused", "decommissioned"]))
    for environment in edited["environments"].values():
        environment["protected"] = data.draw(st.booleans())
    for group in ("tenants", "clusters"):
        names = list(edited[group])
        if names and data.draw(st.booleans()):
            old = data.draw(st.sampled_from(names))
            edited[group] = {f"{old}x" if name == old else name: each for name, each in edited[group].items()}
    edited["defaults"] |= data.draw(st.sampled_from([{}, {"interval": "7m"}, {"role": "view"}, {"quota": {"pods": 3}}]))
    return edited


@one_in(4)
@given(st.one_of(fleets(), shared_hubs()))
def test_equal_plans_give_an_empty_review(fleet: Data) -> None:
    one, other = valid(fleet), valid(fleet)
    assert not any(reviewed(one, other))
