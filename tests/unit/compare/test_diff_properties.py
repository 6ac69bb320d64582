"""What holds for the difference of any two fleets."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tenantry.compare.diff import Diff, Share, diff, diff_all
from tenantry.compare.story import consequences, others
from tenantry.load import fleet_of, plan_all
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.strategies import Data, fleets, shuffled, text_of

quickly = settings(
    max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def plans(fleet: Data) -> dict[str, Plan]:
    return plan_all(fleet_of(parse(text_of(fleet), "tenants.yaml")))


@quickly
@given(st.data())
def test_a_fleet_has_no_difference_to_itself_nor_to_its_keys_in_another_order(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    for found in diff_all(plans(fleet), plans(data.draw(shuffled(fleet)))):
        assert not found
        assert (consequences(found), found.deletions) == ([], (0, 0, 0))


@quickly
@given(fleets(), fleets())
def test_the_way_back_removes_what_the_way_there_adds(one: Data, other: Data) -> None:
    before, after = plans(one), plans(other)
    there = {found.environment: found for found in diff_all(before, after)}
    back = {found.environment: found for found in diff_all(after, before)}
    assert there.keys() == back.keys()
    for name, found in there.items():
        assert (_content(found.removed), _content(found.added)) == (
            _content(back[name].added),
            _content(back[name].removed),
        )
        assert {each.id for each in found.changed} == {each.id for each in back[name].changed}
        assert found.unchanged == back[name].unchanged


@quickly
@given(fleets(), fleets())
def test_what_is_removed_added_and_changed_makes_the_one_plan_the_other(one: Data, other: Data) -> None:
    before, after = plans(one), plans(other)
    for name in before.keys() & after.keys():
        found = diff(before[name], after[name])
        objects: dict[Any, Any] = {each.id: each.manifest for each in before[name].objects}
        for gone in found.removed.objects:
            del objects[gone.id]
        objects |= {each.id: each.manifest for each in found.added.objects}
        objects |= {each.id: each.after.manifest for each in found.changed}
        assert objects == {each.id: each.manifest for each in after[name].objects}
        assert all(each.fields for each in found.changed)


@quickly
@given(st.data())
def test_removing_a_tenant_is_told_of_that_tenant_alone(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    assume(fleet["tenants"])
    tenant = data.draw(st.sampled_from(sorted(fleet["tenants"])))
    smaller = {**fleet, "tenants": {name: each for name, each in fleet["tenants"].items() if name != tenant}}
    before = plans(fleet)
    for found in diff_all(before, plans(smaller)):
        placed = any(each.tenant == tenant for each in before[found.environment].placements)
        assert (found.added.objects, found.changed, found.replaced) == ((), (), ())
        assert found.removed.tenants == ((tenant,) if placed else ())
        assert {each.owner.tenant for each in found.removed.objects} <= {tenant, ""}
        assert {each.owner.tenant for each in others(found, found.removed)} <= {""}
        assert _sentences(found) == int(placed) + len(found.removed.clusters)


def _sentences(found: Diff) -> int:
    return len(consequences(found))


def _content(share: Share) -> tuple[Any, ...]:
    """Without the order, which is that of the plan it comes from."""
    return (
        set(share.tenants),
        set(share.clusters),
        set(share.placements),
        set(share.namespaces),
        {app.id for app in share.apps},
        {each.id for each in share.objects},
    )
