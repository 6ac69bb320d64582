"""A review of any two fleets accounts for every object once, and the order of clusters does not matter to it."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator

from hypothesis import reject
from hypothesis import strategies as st

from tenantry.compare.diff import Diff, diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.model import Change, Effect, EnvironmentReview, Part, PartKind
from tenantry.compare.review.parts import Planned
from tenantry.messages.errors import InvalidFleet
from tests.drawn import given, one_in
from tests.properties.promises import planned
from tests.strategies import Data, fleets, mutated, shared_hubs


def changes_of(environment: EnvironmentReview) -> Iterator[Change]:
    yield from environment.clusters
    for tenant in environment.tenants:
        yield from tenant.changes


def accounted_for(before: Planned, after: Planned) -> None:
    diffs = diff_all(before.plans, after.plans)
    reviews = {each.environment: each for each in review(diffs, before, after).environments}
    assert list(reviews) == [each.environment for each in diffs if each]
    for each in diffs:
        if each:
            changes = list(changes_of(reviews[each.environment]))
            found = [id for change in changes for id in change.objects]
            assert Counter(found) == Counter({id: 1 for id in _objects(each)})
            silent = (one for one in changes if not (one.settings or one.fields or one.sentences))
            assert [one.part for one in silent if one.effect is Effect.CHANGED] == []


def _objects(diff: Diff) -> set[object]:
    return {each.id for each in (*diff.removed.objects, *diff.added.objects, *diff.changed)}


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
    found = review(diff_all(one.plans, other.plans), one, other)
    assert (found.environments, found.unchanged) == ((), tuple(one.plans))


@one_in(4)
@given(fleets(), fleets(), st.data())
def test_the_order_of_clusters_does_not_change_the_groups(one: Data, other: Data, data: st.DataObject) -> None:
    expected = _groups(planned(one), planned(other))
    names = data.draw(st.permutations(list(one["clusters"])))
    one = {**one, "clusters": {name: one["clusters"][name] for name in names}}
    assert _groups(planned(one), planned(other)) == expected


def _groups(before: Planned, after: Planned) -> set[object]:
    found = review(diff_all(before.plans, after.plans), before, after)
    changes = [(each.environment, change) for each in found.environments for change in changes_of(each)]
    # What clusters share is counted once, in the first of the changes that it is part of.
    plans = (*before.plans.values(), *after.plans.values())
    shared = {planned.id for plan in plans for planned in plan.objects if not planned.owner.cluster}
    groups: set[object] = {
        (environment, _named(change), change.effect, frozenset(change.clusters), frozenset({*change.objects} - shared))
        for environment, change in changes
    }
    return groups | (shared & {id for _, change in changes for id in change.objects})


def _named(change: Change) -> Part:
    """The part; the names of several clusters are in the order of the file."""
    return change.part._replace(name="") if change.part.kind is PartKind.CLUSTER else change.part
