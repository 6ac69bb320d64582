"""Tenants that have another name: what they had under the former one is theirs, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime

from tenantry.guard import RunLimits, held, refusals
from tenantry.guard.held import Held
from tenantry.guard.keeping import kept_after
from tenantry.guard.kept import Kept
from tenantry.plan.plan import Plan
from tests.unit.guard.fleets import SOURCES, fleet, manifests, now, tenant
from tests.unit.texts import planned

PROTECTED = RunLimits(protected=True, deletions=0)
BEFORE = fleet(tenant("rocky", "web", "db"), tenant("movy", "web"))
FORMERLY = "    formerly: [rocky]\n"
AFTER = fleet(tenant("nova", "web", "db", rest=FORMERLY), tenant("movy", "web"))


def told(text: str, there: Held) -> list[str]:
    plan = planned(text)
    return [each.message for each in refusals(plan, there.with_new_owners(plan), PROTECTED)]


def identities(plan: Plan) -> set[str]:
    return {str(each.id) for each in plan.objects}


def test_only_labels_change() -> None:
    before, after = planned(BEFORE), planned(AFTER)
    assert identities(before) == identities(after)
    changed = "".join(str(each.manifest) for each in before.objects)
    changed = changed.replace("'toolkit.fluxcd.io/tenant': 'rocky'", "'toolkit.fluxcd.io/tenant': 'nova'")
    expected = "".join(str(each.manifest) for each in after.objects)
    # On the management cluster the label of the account tells the admission policy that it keeps its name.
    account = ", 'tenantry/account': 'rocky'"
    assert account in expected
    assert changed == expected.replace(account, "")


def test_a_protected_environment_lets_a_tenant_have_another_name_and_nothing_more() -> None:
    there = now(BEFORE)
    assert told(AFTER, there) == []
    assert any("tenant 'rocky'" in each for each in told(AFTER.replace(FORMERLY, "    namespace: rocky\n"), there))
    fewer = fleet(tenant("nova", "web", rest=FORMERLY), tenant("movy", "web"))
    (refused,) = told(fewer, there)
    assert "app 'db' of tenant 'nova' on edge" in refused


def test_a_run_that_was_interrupted_goes_on() -> None:
    half = [*manifests(AFTER)[:6], *manifests(BEFORE)[6:]]
    assert {str(each["metadata"]["labels"].get("toolkit.fluxcd.io/tenant")) for each in half} > {"rocky", "nova"}
    assert told(AFTER, held(half, "dev")) == []


def test_what_the_tenant_has_left_with_its_data_stays_its_own() -> None:
    left = Kept("edge", "rocky-old", "rocky", "2026-01-01T00:00:00Z", "dev")
    there = now(BEFORE).recorded([left])
    plan = planned(AFTER)
    after = kept_after(plan, there.with_new_owners(plan), datetime(2026, 7, 1, tzinfo=UTC))
    assert after == (left._replace(tenant="nova"),)


def test_former_names_pile_up_and_lead_back() -> None:
    again = fleet(tenant("vega", "web", "db", rest="    formerly: [rocky, nova]\n"), tenant("movy", "web"))
    assert identities(planned(again)) == identities(planned(BEFORE))
    assert told(again, now(AFTER)) == []
    back = fleet(tenant("rocky", "web", "db", rest="    formerly: [rocky, nova]\n"), tenant("movy", "web"))
    assert [each.manifest for each in planned(back).objects] == [each.manifest for each in planned(BEFORE).objects]
    assert told(back, now(AFTER)) == []
    assert SOURCES in back
