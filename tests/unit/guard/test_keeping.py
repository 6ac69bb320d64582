"""Namespaces that stay with their data: who gets them back, when they may go, and what is recorded of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.guard.check import RunLimits, refusals
from tenantry.guard.claims import Claim, Kept, claim_object, claims, unmarked
from tenantry.guard.held import Held
from tenantry.guard.keeping import kept_after, unfreed
from tenantry.guard.reading import held
from tenantry.guard.removals import removals
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tests.table import table
from tests.unit.guard.fleets import fleet, manifests, tenant
from tests.unit.texts import FRAME, planned

OPEN = RunLimits(protected=False, deletions=9)
ROCKY, MOVY = tenant("rocky", "web"), tenant("movy", "web")
OFF = ROCKY.replace("    clusters", "    state: offboarding\n    clusters")
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
SINCE = "2026-07-01T12:00:00Z"


def live(text: str, *, ready: bool = True, observed: int = 1, **status: Any) -> Held:
    """What the cluster holds once a fleet is up, with what Flux says of its releases."""
    found = manifests(text)
    for each in found:
        if each["kind"] == "HelmRelease":
            each["metadata"] = {**each["metadata"], "generation": 1}
            condition = {"type": "Ready", "status": "True" if ready else "False"}
            each["status"] = {"observedGeneration": observed, "conditions": [condition], "history": [{}], **status}
    return held(found, "dev")


def told(plan: Plan, now: Held, limits: RunLimits = OPEN) -> list[str]:
    return [f"{each.code}: {each.message}\n  fix: {each.fix}" for each in refusals(plan, now, limits)]


def kept(cluster: str, namespace: str, tenant: str, environment: str = "dev") -> Kept:
    return Kept(cluster, namespace, tenant, "2026-01-01T00:00:00Z", environment)


def test_what_helm_keeps_may_be_left_and_what_it_does_not_know_yet_may_not() -> None:
    without = planned(fleet(MOVY))
    assert told(without, live(fleet(ROCKY, MOVY))) == []
    assert told(without, live(fleet(ROCKY, MOVY), ready=False, history=[])) == []
    expected = [
        "not-marked-yet: this run would remove what is around namespaces that Helm does not keep yet, and they would be deleted"
        " with their data\n"
        "    namespace 'rocky' on edge\n"
        "  fix: put back what is missing and run `tenantry up`, which marks them; remove it when `tenantry status` shows"
        " everything ready; to delete them, set 'state: offboarding' instead"
    ]
    assert told(without, live(fleet(ROCKY, MOVY), observed=0)) == expected
    assert told(without, live(fleet(ROCKY, MOVY), ready=False)) == expected


def test_a_namespace_that_leaves_a_release_that_stays_is_judged_alike() -> None:
    jobs = fleet(tenant("rocky", "web", rest="    namespaces: {jobs: {}}\n"))
    (refusal,) = told(planned(fleet(ROCKY)), live(jobs, observed=0))
    assert "    namespace 'rocky-jobs' on edge\n" in refusal
    assert told(planned(fleet(ROCKY)), live(jobs), replace(OPEN, deletions=0)) == []


def test_what_was_off_boarded_goes_when_helm_knows_it() -> None:
    without, now = planned(fleet(MOVY)), live(fleet(OFF, MOVY))
    assert told(without, now) == []
    assert told(without, live(fleet(OFF, MOVY), observed=0)) == [
        "still-kept: this run would remove what was off-boarded before Helm knows it, and these namespaces would stay behind\n"
        "    namespace 'rocky' on edge\n"
        "  fix: put the entry back, wait until its clusters have it (`tenantry up` without another change, then `tenantry"
        " status`), and remove it then"
    ]


def test_one_placement_is_off_boarded_in_a_protected_environment_too() -> None:
    leaving = ROCKY.replace(
        "    sources", "    overrides: [{when: {clusters: {names: [edge]}}, state: offboarding}]\n    sources"
    )
    on_hub = tenant("rocky", "web", where="{all: true, exclude: [edge]}")
    limits = RunLimits(protected=True, deletions=0)
    assert told(planned(fleet(on_hub)), live(fleet(leaving)), limits) == []
    (refusal,) = told(planned(fleet(tenant("rocky", "web", where="{names: [edge]}"))), live(fleet(leaving)), limits)
    assert "namespace 'rocky' of tenant 'rocky' on hub, which stays there with its data" in refusal


def test_a_decommissioned_cluster_is_waited_for_by_nobody() -> None:
    gone = FRAME.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    on_hub = planned(fleet(tenant("rocky", "web", where="{names: [hub]}")))
    now = live(fleet(ROCKY, frame=gone), ready=False, observed=0)
    assert told(on_hub, now) == []
    assert kept_after(on_hub, now, NOW) == ()


def test_what_a_run_leaves_is_recorded_until_it_is_planned_again() -> None:
    without, now = planned(fleet(MOVY)), live(fleet(ROCKY, MOVY))
    left = kept_after(without, now, NOW)
    assert left == (Kept("edge", "rocky", "rocky", SINCE, "dev"), Kept("hub", "rocky", "rocky", SINCE, "dev"))
    later = live(fleet(MOVY)).recorded([kept("edge", "rocky", "rocky"), kept("hub", "rocky", "rocky")])
    assert {each.since for each in kept_after(without, later, NOW)} == {"2026-01-01T00:00:00Z"}
    assert kept_after(planned(fleet(ROCKY, MOVY)), later, NOW) == ()
    assert kept_after(without, live(fleet(OFF, MOVY)), NOW) == ()
    never = live(fleet(ROCKY, MOVY), ready=False, history=[])
    assert kept_after(without, never, NOW) == (Kept("hub", "rocky", "rocky", SINCE, "dev"),)


def hub_after(text: str, *entries: Kept) -> Held:
    """What the cluster holds of a fleet without rocky, whose namespace was left on the management cluster."""
    (namespace,) = (each for each in manifests(fleet(ROCKY)) if each["kind"] == "Namespace")
    return held([*manifests(text), namespace], "dev").recorded(entries)


def test_a_namespace_that_was_left_is_no_removal_any_more() -> None:
    without = planned(fleet(MOVY))
    assert (
        told(without, hub_after(fleet(MOVY), kept("hub", "rocky", "rocky")), RunLimits(protected=True, deletions=0))
        == []
    )
    (refusal,) = told(without, hub_after(fleet(MOVY)), RunLimits(protected=True, deletions=0))
    assert "tenant 'rocky' with its apps and rights, but not its data, on hub" in refusal


def test_an_extra_namespace_that_was_left_does_not_count_when_its_tenant_goes() -> None:
    """Otherwise a tenant that was off-boarded would seem to go with its apps alone, and be refused where these are paused."""
    more = fleet(tenant("rocky", "web", rest="    namespaces: {jobs: {}}\n"))
    jobs = [
        each for each in manifests(more) if each["kind"] == "Namespace" and each["metadata"]["name"] == "rocky-jobs"
    ]
    now = held([*manifests(fleet(OFF, MOVY)), *jobs], "dev").recorded([kept("hub", "rocky-jobs", "rocky")])
    assert [str(each) for each in removals(planned(fleet(MOVY)), now)] == [
        "tenant 'rocky' with everything it has on edge, hub"
    ]


@table("environment", ["dev", "qa"])
def test_another_tenant_does_not_get_the_data(environment: str) -> None:
    tina = tenant("tina", "web", rest="    namespace: rocky\n")
    now = hub_after(fleet(MOVY), kept("hub", "rocky", "rocky", environment))
    for adopting in (frozenset[str](), frozenset({"tina"})):
        assert told(planned(fleet(tina, MOVY)), now, replace(OPEN, adopting=adopting)) == [
            "others-data: namespace 'rocky' on hub holds the data of tenant 'rocky', kept since 2026-01-01T00:00:00Z, and tenant"
            " 'tina' would get it\n"
            "  fix: choose another name; to delete the data for good, declare tenant 'rocky' again with 'adopt: true' and"
            " 'state: offboarding', run `tenantry up`, then remove it"
        ]


def test_the_tenant_itself_gets_it_back_if_it_says_so() -> None:
    now, again = hub_after(fleet(MOVY), kept("edge", "rocky", "rocky")), planned(fleet(ROCKY, MOVY))
    assert told(again, now) == [
        "kept-data: namespace 'rocky' on edge holds the data of tenant 'rocky', kept since 2026-01-01T00:00:00Z\n"
        "  fix: to go on with this data: tenantry set tenants.rocky.adopt true"
    ]
    assert told(again, now, replace(OPEN, adopting=frozenset({"rocky"}))) == []


def test_the_tenant_itself_gets_it_back_and_deletes_it() -> None:
    again = OFF.replace("    clusters", "    adopt: true\n    clusters", 1)
    left, adopting = kept("edge", "rocky", "rocky"), replace(OPEN, adopting=frozenset({"rocky"}))
    assert told(planned(fleet(again, MOVY)), hub_after(fleet(MOVY), left), adopting) == []
    now = live(fleet(again, MOVY))
    assert told(planned(fleet(MOVY)), now) == []
    assert kept_after(planned(fleet(MOVY)), now, NOW) == ()


def test_namespaces_that_a_destroyed_stack_has_left_are_taken_over_again() -> None:
    """The records went with the claims, so that nothing says whose data it is but the labels of the tenant itself."""
    again = planned(fleet(ROCKY, MOVY))
    left = [dict(each.manifest) for each in again.objects if each.id.kind == "Namespace"]
    assert [each["metadata"]["name"] for each in left] == ["rocky", "movy"]
    assert told(again, held(left, "dev"), RunLimits(protected=True, deletions=0)) == []


def test_what_a_failed_run_recorded_and_did_not_remove_needs_no_permission() -> None:
    entries = [kept("edge", "rocky", "rocky"), kept("hub", "rocky", "rocky")]
    now = live(fleet(ROCKY, MOVY)).recorded(entries)
    assert told(planned(fleet(ROCKY, MOVY)), now) == []
    (refusal,) = told(planned(fleet(MOVY)), now, RunLimits(protected=True, deletions=0))
    assert "tenant 'rocky' with its apps and rights, but not its data, on edge, hub" in refusal


ADDONS = (
    "addons: {dns: {clusters: {all: true}, namespaces: {dns: {}}, source: {helm: {url: https://charts.example.com}},"
    " helm: {chart: dns, version: 1.x}}}, "
)


def test_the_same_holds_for_add_ons() -> None:
    frame = FRAME.replace("platform: {", f"platform: {{{ADDONS}")
    without, with_dns = planned(fleet(ROCKY)), planned(fleet(ROCKY, frame=frame))
    left = kept_after(without, live(fleet(ROCKY, frame=frame)), NOW)
    assert left == (Kept("edge", "dns", "", SINCE, "dev"), Kept("hub", "dns", "", SINCE, "dev"))
    now = live(fleet(ROCKY)).recorded(left)
    holds = "holds the data of an add-on, kept since 2026-07-01T12:00:00Z"
    fix = "to go on with this data: tenantry set platform.addons.dns.adopt true"
    assert sorted(told(with_dns, now)) == [
        f"kept-data: namespace 'dns' on {cluster} {holds}\n  fix: {fix}" for cluster in ("edge", "hub")
    ]
    assert told(with_dns, now, replace(OPEN, adopting_addons=frozenset({"dns"}))) == []


def test_what_is_given_up_everywhere_keeps_nothing_any_more() -> None:
    frame = FRAME.replace("platform: {", f"platform: {{{ADDONS}")
    given_up = fleet(OFF, frame=frame.replace("dns: {", "dns: {state: offboarding, ", 1))
    assert unfreed(manifests(given_up), "dev") == []
    assert unfreed(manifests(fleet(ROCKY)), "dev") == ["namespace 'rocky' on edge"]
    found = manifests(given_up)
    for each in found:
        if each["kind"] == "HelmRelease":
            each["metadata"] = {**each["metadata"], "generation": 2}
    assert unfreed(found, "dev") == [
        *("namespace 'dns' on edge", "namespace 'rocky' on edge"),
        *("HelmRelease kamaji/edge-dns", "HelmRelease tenantry-system/dns"),
    ]


def test_a_claim_holds_the_record_and_claims_nothing_more() -> None:
    mine = Claim("dev", "fleet/dev", kept=(kept("hub", "rocky", "rocky"),))
    manifest = claim_object("tenantry-system", mine).manifest
    assert manifest["data"]["kept"] == (
        '[{"cluster":"hub","namespace":"rocky","tenant":"rocky","since":"2026-01-01T00:00:00Z"}]'
    )
    (read,) = claims([manifest])
    assert (read, read.kept) == (mine, mine.kept)
    assert read == Claim("dev", "fleet/dev")


@table("text", ["{", "{}x", '["text"]', '[{"cluster": "a"}]', '[{"cluster": 1}]', "3"])
def test_a_malformed_record_is_refused(text: str) -> None:
    manifest: dict[str, Any] = dict(claim_object("tenantry-system", Claim("dev", "fleet/dev")).manifest)
    manifest["data"] = {**manifest["data"], "kept": text}
    with pytest.raises(Refused) as refused:
        list(claims([manifest]))
    assert str(refused.value) == (
        "key 'kept' of ConfigMap tenantry-system/tenantry-dev is malformed, so nobody knows which namespaces hold whose data: it"
        " has to be a JSON list of objects with cluster, namespace, tenant, since\n"
        "  fix: correct it: kubectl --namespace tenantry-system edit configmap tenantry-dev"
    )


def resources(text: str, *, retained: bool) -> Iterable[dict[str, Any]]:
    for each in planned(text).objects:
        yield {"inputs": each.manifest, "retainOnDelete": True} if retained else {"inputs": each.manifest}
    yield {"type": "pulumi:pulumi:Stack"}


def test_pulumis_state_has_to_say_that_a_namespace_stays() -> None:
    staying = {each.id for each in planned(fleet(MOVY)).objects}
    assert list(unmarked(resources(fleet(ROCKY, MOVY), retained=True), staying)) == []
    assert list(unmarked(resources(fleet(OFF, MOVY), retained=False), staying)) == []
    (problem,) = unmarked(resources(fleet(ROCKY, MOVY), retained=False), staying)
    assert problem.message == (
        "this run would remove objects that Pulumi does not keep yet, and they would be deleted with their data\n"
        "    Namespace rocky"
    )
    assert problem.fix == (
        "put back what is missing and run `tenantry up`, which marks them; then remove it; to delete them, set"
        " 'state: offboarding' instead"
    )


def test_a_namespace_that_is_another_tenants_today_is_not_handed_over() -> None:
    tina = tenant("tina", "web").replace("  tina:\n", "  tina:\n    namespace: rocky\n    adopt: true\n")
    found = [each for each in refusals(planned(fleet(tina)), live(fleet(ROCKY)), OPEN) if each.code == "others-data"]
    assert [(each.message, each.fix) for each in found][:1] == [
        (
            "namespace 'rocky' on edge holds the data of tenant 'rocky', and tenant 'tina' would get it",
            "choose another name; to delete the data for good, off-board tenant 'rocky' first",
        )
    ]
