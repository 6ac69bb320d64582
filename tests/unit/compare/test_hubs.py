"""The difference between two files where an environment has several management clusters, or gets or loses one."""

from __future__ import annotations

from tenantry.compare.diff import Diff, diff, diff_all
from tenantry.compare.moves import Rehomed
from tenantry.compare.review.build import review
from tenantry.compare.review.parts import Planned
from tenantry.load import plan_all
from tests.unit.plan.test_hubs import BOTH, EU, US, text
from tests.unit.texts import fleet, planned

MOVED = BOTH.replace("edge-2: {group: edge, management: hub-eu}", "edge-2: {group: edge, management: hub-us}")
SINGLE = text("hub-eu", EU)
ELSEWHERE = text("[hub-jp, hub-au]", (EU + US).replace("hub-eu", "hub-jp").replace("hub-us", "hub-au"))


def between(before: str, after: str) -> Diff:
    return diff(planned(before, "prod"), planned(after, "prod"))


def told(before: str, after: str) -> list[str]:
    """The dangers of a change."""
    one, other = (Planned(loaded, plan_all(loaded)) for loaded in (fleet(before), fleet(after)))
    (found,) = review(diff_all(one.plans, other.plans), one, other).environments
    return [each.text for each in found.dangers]


def test_nothing_differs_between_equal_files_and_in_another_order_of_hubs() -> None:
    assert not between(BOTH, BOTH)
    assert not between(BOTH, BOTH.replace("[hub-eu, hub-us]", "[hub-us, hub-eu]"))


def test_a_cluster_that_changes_its_hub_is_replaced_and_is_told() -> None:
    found = between(BOTH, MOVED)
    assert found.rehomed == (Rehomed("edge-2", "hub-eu", "hub-us", is_hub=True),)
    assert {each.hub for each in found.removed.objects} == {"hub-eu"}
    assert {each.hub for each in found.added.objects} == {"hub-us"}
    assert found.removed.clusters == found.added.clusters == ()
    assert {each.before.cluster for each in found.replaced} == {"edge-2"}
    assert [place.cluster for place in found.recreated] == ["edge-2"]
    assert told(BOTH, MOVED)[:1] == [
        "its management cluster is hub-us instead of hub-eu on edge-2: all Flux objects are replaced, and Flux deletes what they"
        " installed; namespaces stay with their data"
    ]


def test_what_stays_on_its_hub_stays_when_another_hub_joins_or_leaves() -> None:
    joins, leaves = between(SINGLE, BOTH), between(BOTH, SINGLE)
    assert (joins.removed.objects, joins.elsewhere, bool(joins)) == ((), False, True)
    assert {each.hub for each in joins.added.objects} == {"hub-us"}
    assert joins.added.clusters == ("hub-us", "edge-3")
    assert leaves.added.objects == joins.removed.objects
    assert {each.id for each in leaves.removed.objects} == {each.id for each in joins.added.objects}
    assert "hub-us is no longer a management cluster: every object there is deleted" in told(BOTH, SINGLE)


def test_with_other_hubs_alone_every_object_is_another_one() -> None:
    found = between(BOTH, ELSEWHERE)
    assert (found.elsewhere, found.changed, found.unchanged) == (True, (), 0)
    assert len(found.removed.objects) == len(found.added.objects) == len(planned(BOTH, "prod").objects)
    assert told(BOTH, ELSEWHERE)[:1] == [
        "the management cluster is hub-jp, hub-au instead of hub-eu, hub-us: every object is deleted there and created here"
    ]
