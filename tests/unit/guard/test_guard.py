"""What a run would take away, told from what the cluster holds and what is planned."""

from __future__ import annotations

import pytest

from tenantry.guard.check import RunLimits, check, refusals
from tenantry.guard.held import Held
from tenantry.guard.keeping import taken
from tenantry.guard.reading import held
from tenantry.guard.removals import removals
from tenantry.guard.ways import Declared, most_of
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused, refuse
from tests.table import table
from tests.unit.guard.fleets import fleet, now, refusal, tenant
from tests.unit.texts import FRAME, planned

HERE = Declared(clusters={"hub": ["dev"], "edge": ["dev"]})
OPEN, GUARDED = RunLimits(protected=False, deletions=1, declared=HERE), RunLimits(protected=True, deletions=9)


def gone(before: str, after: str) -> list[str]:
    return [str(each) for each in removals(planned(after), now(before))]


ROCKY, MOVY, TINA = tenant("rocky", "web", "db"), tenant("movy", "web"), tenant("tina", "web")


def test_what_stays_is_no_removal() -> None:
    assert gone(fleet(ROCKY, MOVY), fleet(MOVY, ROCKY, TINA)) == []


def test_a_tenant_stands_for_all_it_has() -> None:
    assert gone(fleet(ROCKY, MOVY), fleet(ROCKY)) == [
        "tenant 'movy' with its apps and rights, but not its data, on edge, hub"
    ]


def test_a_placement_is_told_by_its_namespaces_on_the_management_cluster_and_on_remotes() -> None:
    before = fleet(tenant("rocky", "web", rest="    namespaces: {jobs: {}}\n"))
    on_hub, on_edge = (fleet(tenant("rocky", "web", where=f"{{names: [{name}]}}")) for name in ("hub", "edge"))
    assert gone(before, on_hub) == [
        "namespace 'rocky' of tenant 'rocky' on edge, which stays there with its data",
        "namespace 'rocky-jobs' of tenant 'rocky' on edge, which stays there with its data",
        "namespace 'rocky-jobs' of tenant 'rocky' on hub, which stays there with its data",
    ]
    assert gone(before, on_edge) == [
        "namespace 'rocky' of tenant 'rocky' on hub, which stays there with its data",
        "namespace 'rocky-jobs' of tenant 'rocky' on edge, which stays there with its data",
        "namespace 'rocky-jobs' of tenant 'rocky' on hub, which stays there with its data",
    ]


def test_apps_and_add_ons_are_told_one_by_one() -> None:
    dns = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
    with_dns = FRAME.replace("platform: {", f"platform: {{addons: {{dns: {dns}}}, ")
    assert gone(fleet(ROCKY, frame=with_dns), fleet(tenant("rocky", "web"))) == [
        "add-on 'dns' on edge",
        "add-on 'dns' on hub",
        "app 'db' of tenant 'rocky' on edge",
        "app 'db' of tenant 'rocky' on hub",
    ]


def test_objects_of_others_are_passed_over() -> None:
    strange = [
        {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "a"}},
        {
            "kind": "HelmRelease",
            "apiVersion": "v2",
            "metadata": {"name": "a", "namespace": "b", "labels": None},
            "spec": None,
        },
        {
            "kind": "HelmRelease",
            "apiVersion": "v2",
            "metadata": {
                "name": "a",
                "namespace": "b",
                "labels": {"tenantry/environment": "dev", "tenantry/cluster": "x", "toolkit.fluxcd.io/tenant": "t"},
            },
            "spec": {"values": {"objects": "text"}, "kubeConfig": {}},
        },
    ]
    strangers = frozenset({ObjectId("v1", "Namespace", "", "a"), ObjectId("v2", "HelmRelease", "b", "a")})
    malformed = frozenset({"HelmRelease b/a: spec.values.objects is not a list"})
    expected = Held(namespaces={}, apps={}, kubeconfigs={}, strangers=strangers, malformed=malformed)
    assert held(strange, "dev") == expected


def test_one_of_a_kind_may_go_within_the_limit() -> None:
    on_hub = tenant("movy", "web", where="{names: [hub]}")
    check(planned(fleet(tenant("rocky", "web"), TINA)), now(fleet(tenant("rocky", "web"), on_hub, TINA)), OPEN)


def test_a_tenant_on_many_clusters_counts_with_all_of_its_namespaces() -> None:
    assert refusal(fleet(ROCKY, MOVY, TINA), fleet(ROCKY, TINA), OPEN) == (
        "this run would remove the apps and rights of 2 namespaces; the limit for 'dev' is 1 (maxDeletions)\n"
        "    tenant 'movy' with its apps and rights, but not its data, on edge, hub\n"
        "  fix: if this is intended, undo this change, and announce the removal in a run of its own:\n"
        "    tenantry set tenants.movy.state removing\n"
        "    tenantry up -e dev\n"
        "  then make this change again, without a mark on what stays in the file:\n"
        "    tenantry up -e dev\n"
        "  or run `pulumi config set tenantry:maxDeletions 2`\n"
        "  or put back what changed"
    )


@table("limit, allowed", [("100%", 4), ("60%", 2), ("50%", 2), ("10%", 1), ("0%", 0), (3, 3)])
def test_a_share_of_what_is_there_is_rounded_down_and_lets_one_go(limit: int | str, allowed: int) -> None:
    assert most_of(limit, 4) == allowed


def test_a_limit_can_be_a_share_of_what_the_cluster_holds() -> None:
    before = fleet(*(tenant(f"t{index}", "web", where="{names: [hub]}") for index in range(6)))
    after = [tenant(f"t{index}", "web", where="{names: [hub]}") for index in range(4)]
    check(planned(fleet(*after)), now(before), RunLimits(protected=False, deletions="34%"))
    told = refusal(before, fleet(*after), RunLimits(protected=False, deletions="20%"))
    assert told.startswith(
        "this run would remove 2 tenants; the limit for 'dev' is 1 (maxDeletions: 20% of 6 tenants)\n"
    )


def test_more_than_the_limit_are_refused_by_name() -> None:
    assert refusal(fleet(ROCKY, MOVY, TINA), fleet(ROCKY), OPEN) == (
        "this run would remove 2 tenants; the limit for 'dev' is 1 (maxDeletions)\n"
        "    tenant 'movy' with its apps and rights, but not its data, on edge, hub\n"
        "    tenant 'tina' with its apps and rights, but not its data, on edge, hub\n"
        "  fix: if this is intended, undo this change, and announce the removal in a run of its own:\n"
        "    tenantry set tenants.movy.state removing\n"
        "    tenantry set tenants.tina.state removing\n"
        "    tenantry up -e dev\n"
        "  then make this change again, without a mark on what stays in the file:\n"
        "    tenantry up -e dev\n"
        "  or run `pulumi config set tenantry:maxDeletions 2`\n"
        "  or put back what changed"
    )


def test_the_last_tenant_does_not_go_unless_somebody_says_so() -> None:
    assert refusal(fleet(ROCKY), fleet(), OPEN) == (
        "this run would remove every tenant of environment 'dev'\n"
        "    tenant 'rocky' with its apps and rights, but not its data, on edge, hub\n"
        "  fix: if this is intended, run `pulumi config set --path 'tenantry:allowDeletions[0]' tenant/rocky`; or put back what"
        " changed"
    )
    check(planned(fleet()), now(fleet(ROCKY)), RunLimits(protected=False, deletions=0, allowed=("tenant/rocky",)))


def test_tenants_that_stay_do_not_lose_every_namespace_unless_somebody_says_so() -> None:
    before, after = (
        fleet(tenant("rocky", "web", where=f"{{names: [{name}]}}"), frame=FRAME) for name in ("hub", "edge")
    )
    assert refusal(before, after, OPEN) == (
        "this run would remove every namespace of environment 'dev'\n"
        "    namespace 'rocky' of tenant 'rocky' on hub, which stays there with its data\n"
        "  fix: if this is intended, run `pulumi config set --path 'tenantry:allowDeletions[0]' namespace/hub/rocky`; or put back"
        " what changed"
    )
    check(planned(after), now(before), RunLimits(protected=False, deletions=0, allowed=("namespace/hub/rocky",)))
    both = fleet(tenant("rocky", "web"))
    check(planned(both), now(before), OPEN)
    check(planned(before), now(both), OPEN)


def test_where_it_is_protected_nothing_goes_unannounced_whatever_the_limit() -> None:
    after = fleet(tenant("rocky", "web"))
    for limits in (GUARDED, RunLimits(protected=True, deletions=9, allowed=("app/edge/rocky/db", "app/hub/rocky/db"))):
        assert refusal(fleet(ROCKY), after, limits).startswith(
            "environment 'dev' is protected, and this run would remove\n    app 'db' of tenant 'rocky' on edge\n"
        )


@table("limits", [GUARDED, RunLimits(protected=False, deletions=0)])
def test_what_was_given_up_before_may_go(limits: RunLimits) -> None:
    leaving = fleet(ROCKY.replace("    clusters", "    state: offboarding\n    clusters"), MOVY)
    check(planned(fleet(MOVY)), now(leaving), limits)
    app = fleet(ROCKY.replace("db: {", "db: {state: offboarding, "))
    check(planned(fleet(tenant("rocky", "web"))), now(app), limits)
    cluster = FRAME.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")
    without = "".join(line for line in FRAME.splitlines(keepends=True) if not line.startswith("  edge:"))
    check(planned(fleet(ROCKY, frame=without)), now(fleet(ROCKY, frame=cluster)), limits)


SUSPENDED = (
    "this run would remove suspended objects, and Flux would leave behind what they installed\n"
    "{}"
    "  fix: undo this change and resume them first: remove 'state: paused' and run `tenantry up`, or, for what was suspended by"
    " hand, do what `tenantry why {} -e dev` says; if their cluster is gone, run `tenantry set clusters.edge.state decommissioned`"
)
ALL_MAY_GO = RunLimits(protected=False, deletions=9)


def test_an_app_that_is_paused_does_not_go_before_it_is_active_again() -> None:
    paused = fleet(ROCKY.replace("db: {", "db: {state: paused, "))
    assert refusal(paused, fleet(tenant("rocky", "web")), ALL_MAY_GO) == SUSPENDED.format(
        "    app 'db' of tenant 'rocky' on edge\n    app 'db' of tenant 'rocky' on hub\n", "rocky/db"
    )
    check(planned(fleet(ROCKY)), now(paused), ALL_MAY_GO)


def test_what_is_on_a_paused_cluster_does_not_go_though_it_was_given_up() -> None:
    frame = FRAME.replace("labels: {tier: edge},", "labels: {tier: edge}, state: paused,")
    leaving = ROCKY.replace("    clusters", "    state: offboarding\n    clusters")
    assert refusal(fleet(leaving, MOVY, frame=frame), fleet(MOVY, frame=frame), ALL_MAY_GO) == SUSPENDED.format(
        "    tenant 'rocky' with everything it has on edge, hub\n", "rocky"
    )
    on_hub = tenant("rocky", "web", "db", where="{names: [hub]}")
    assert refusal(fleet(ROCKY, frame=frame), fleet(on_hub, frame=frame), ALL_MAY_GO) == SUSPENDED.format(
        "    namespace 'rocky' of tenant 'rocky' on edge, which stays there with its data\n", "rocky"
    )


def test_what_a_paused_tenant_has_would_be_left_in_the_namespace_that_stays() -> None:
    paused = ROCKY.replace("    clusters", "    state: paused\n    clusters")
    with pytest.raises(Refused, match="Flux would leave behind what they installed\n    tenant 'rocky' with its apps"):
        check(planned(fleet(MOVY)), now(fleet(paused, MOVY)), OPEN)


def test_with_a_namespace_that_was_given_up_goes_all_that_is_in_it() -> None:
    leaving = ROCKY.replace("    clusters", "    state: offboarding\n    clusters")
    paused = leaving.replace("      web: {", "      web: {state: paused, ")
    assert paused != leaving
    check(planned(fleet(MOVY)), now(fleet(paused, MOVY)), OPEN)


def test_a_namespace_goes_from_a_baseline_that_stays_as_soon_as_it_is_no_longer_suspended() -> None:
    frame = FRAME.replace("labels: {tier: edge},", "labels: {tier: edge}, state: paused,")
    jobs = tenant("rocky", "web", rest="    namespaces: {jobs: {}}\n")
    check(planned(fleet(tenant("rocky", "web"), frame=frame)), now(fleet(jobs, frame=frame)), ALL_MAY_GO)


def test_where_no_tenant_is_left_an_add_on_may_go() -> None:
    dns = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
    with_dns = FRAME.replace("platform: {", f"platform: {{addons: {{dns: {dns}}}, ")
    check(planned(fleet()), now(fleet(frame=with_dns)), RunLimits(protected=False, deletions=2))


def test_a_namespace_may_be_given_up_by_itself() -> None:
    jobs = "    namespaces: {jobs: {state: offboarding}, batch: {}}\n"
    stays = planned(fleet(tenant("rocky", "web", rest="    namespaces: {batch: {}}\n")))
    goes = planned(fleet(tenant("rocky", "web", rest="    namespaces: {jobs: {}}\n")))
    before = now(fleet(tenant("rocky", "web", rest=jobs)))
    assert {name for (_, _, name), each in before.namespaces.items() if each.leaving} == {"rocky-jobs"}
    check(stays, before, GUARDED)
    with pytest.raises(
        Refused, match="namespace 'rocky-batch' of tenant 'rocky' on edge, which stays there with its data"
    ):
        check(goes, before, GUARDED)


def test_in_a_protected_environment_a_namespace_that_was_given_up_is_not_protected() -> None:
    frame = FRAME.replace("{management: hub}", "{management: hub, protected: true}")
    rest = "    namespaces: {jobs: {state: offboarding}}\n"
    plan = planned(fleet(tenant("rocky", "web", rest=rest), frame=frame))
    found = {each.id.name: each.protect for each in plan.objects if each.id.kind == "Namespace"}
    assert found == {"rocky": True, "rocky-jobs": False}


def test_many_removals_are_cut_short() -> None:
    many = [tenant(f"t{index}", "web", where="{names: [hub]}") for index in range(30)]
    assert "    and 9 more\n" in refusal(fleet(*many), fleet(many[0]), OPEN)


def test_another_reference_to_a_kubeconfig_is_refused() -> None:
    after = fleet(ROCKY, frame=FRAME.replace("controlPlane: edge", "controlPlane: other"))
    assert refusal(fleet(ROCKY), after, OPEN) == (
        "cluster 'edge' is reached through kamaji/edge-admin-kubeconfig today, and would be reached through"
        " kamaji/other-admin-kubeconfig: everything on it would be removed and installed again\n"
        "  fix: to rotate the kubeconfig, replace the content of kamaji/edge-admin-kubeconfig and leave the file as it is; if it is"
        " another cluster, remove everything from the cluster first (let no selector match it), or declare a new cluster"
        " beside 'edge' and move"
        " tenants there"
    )
    another_key = fleet(ROCKY, frame=FRAME.replace("namespace: kamaji}", "namespace: kamaji, key: admin.svc}"))
    check(planned(another_key), now(fleet(ROCKY)), OPEN)


def with_strangers(text: str, *names: str) -> Held:
    """A cluster on which some of a plan's objects are already, without the fleet's labels, and others' things."""
    ids = {str(each.id): each.id for each in planned(text).objects}
    others = ObjectId("v1", "Namespace", "", "kube-system")
    return Held(namespaces={}, apps={}, kubeconfigs={}, strangers={others, *(ids[name] for name in names)})


def taking_over(before: Held) -> str:
    with pytest.raises(Refused) as refused:
        refuse(refusals(planned(fleet(ROCKY, MOVY)), before, OPEN))
    return str(refused.value)


def test_a_namespace_of_others_is_taken_over_only_by_a_tenant_that_adopts() -> None:
    before = with_strangers(fleet(ROCKY, MOVY), "Namespace rocky")
    assert taking_over(before) == (
        "Namespace rocky exists already on 'hub' outside of environment 'dev': tenant 'rocky' would take it over\n"
        "  fix: to let the tenant take it over, set 'adopt: true' under tenants.rocky; or, if it is new, rename the tenant"
    )
    adopting = RunLimits(protected=True, deletions=0, adopting=frozenset({"rocky"}))
    check(planned(fleet(ROCKY, MOVY)), before, adopting)


def test_what_a_tenant_would_take_over_blocks_its_own_objects_and_refuses_no_run() -> None:
    names = ("ServiceAccount rocky/rocky", "Kustomization rocky/web")
    plan, before = planned(fleet(ROCKY, MOVY)), with_strangers(fleet(ROCKY, MOVY), *names)
    check(plan, before, OPEN)
    assert [[*map(str, each.objects)] for each in taken(plan, before, (), frozenset())] == [[*names]]
    with pytest.raises(Refused, match="ServiceAccount kamaji/tenantry-platform exists already"):
        check(plan, with_strangers(fleet(ROCKY, MOVY), "ServiceAccount kamaji/tenantry-platform"), OPEN)


def test_everything_that_would_be_taken_over_is_told_at_once() -> None:
    names = ("ServiceAccount rocky/rocky", "Kustomization rocky/web", "ServiceAccount kamaji/tenantry-platform")
    assert taking_over(with_strangers(fleet(ROCKY, MOVY), *names)).splitlines() == [
        "2 objects exist already on 'hub' outside of environment 'dev': tenant 'rocky' would take them over",
        "    ServiceAccount rocky/rocky",
        "    Kustomization rocky/web",
        "  fix: to let the tenant take them over, set 'adopt: true' under tenants.rocky; or, if it is new, rename the tenant",
        "ServiceAccount kamaji/tenantry-platform exists already on 'hub' outside of environment 'dev':"
        " the platform would take it over",
        "  fix: to let Tenantry manage it: kubectl label KIND NAME --namespace NAMESPACE tenantry/environment=dev",
    ]


def test_every_reason_for_a_refusal_is_told_at_once() -> None:
    after = fleet(ROCKY, frame=FRAME.replace("controlPlane: edge", "controlPlane: other"))
    told = refusal(fleet(ROCKY, MOVY, TINA), after, OPEN)
    assert told.count("  fix: ") == 2
    assert told.startswith("cluster 'edge' is reached through kamaji/edge-admin-kubeconfig today")
    assert "\nthis run would remove 2 tenants; the limit for 'dev' is 1 (maxDeletions)\n" in told


def test_every_planned_object_carries_its_environment() -> None:
    """What does not would look like a stranger's in the next run."""
    for plan in (planned(fleet(ROCKY, MOVY, tenant("tina", "web", rest="    quota: {pods: 4}\n"))),):
        assert {each.manifest["metadata"]["labels"]["tenantry/environment"] for each in plan.objects} == {"dev"}


def with_inventory(text: str, **entries: str) -> Held:
    """What the cluster holds once a fleet is up, and Flux has applied a ConfigMap of each named app in a namespace."""
    manifests = [dict(each.manifest) for each in planned(text).objects]
    for manifest in manifests:
        app = manifest["metadata"]["labels"].get("tenantry/app")
        if namespace := entries.get(app):
            manifest["status"] = {"inventory": {"entries": [{"id": f"{namespace}_{app}__ConfigMap", "v": "v1"}]}}
    return held(manifests, "dev")


JOBS = "    namespaces: {jobs: {}}\n"


def test_a_namespace_does_not_leave_a_remote_cluster_before_the_app_in_it() -> None:
    before = with_inventory(fleet(tenant("rocky", "web", "db", rest=JOBS)), db="rocky-jobs", web="rocky")
    with pytest.raises(Refused) as refused:
        check(planned(fleet(tenant("rocky", "web"))), before, RunLimits(protected=False, deletions=9))
    assert str(refused.value) == (
        "namespace 'rocky-jobs' of tenant 'rocky' would leave edge before what is installed there (app 'db'),"
        " and Flux could not clean up any more\n"
        "  fix: keep the namespace for one `tenantry up` in which these apps are removed or moved, and remove it when they are gone"
        " from there"
    )


def test_a_namespace_goes_with_its_app_where_the_engine_deletes_both() -> None:
    on_hub = {"where": "{names: [hub]}"}
    before = with_inventory(fleet(tenant("rocky", "web", "db", rest=JOBS, **on_hub)), db="rocky-jobs", web="rocky")
    check(planned(fleet(tenant("rocky", "web", **on_hub))), before, OPEN)


def test_an_app_that_stays_moves_out_before_its_namespace_goes_on_any_cluster() -> None:
    on_hub = {"where": "{names: [hub]}"}
    before = with_inventory(fleet(tenant("rocky", "web", "db", rest=JOBS, **on_hub)), db="rocky-jobs")
    with pytest.raises(
        Refused, match=r"namespace 'rocky-jobs' of tenant 'rocky' would leave hub before .*\(app 'db'\)"
    ):
        check(planned(fleet(tenant("rocky", "web", "db", **on_hub))), before, OPEN)


def test_a_namespace_that_nothing_is_in_any_more_goes() -> None:
    before = with_inventory(fleet(tenant("rocky", "web", rest=JOBS)), web="rocky")
    check(planned(fleet(tenant("rocky", "web"))), before, RunLimits(protected=False, deletions=9))


def test_a_placement_that_goes_as_a_whole_is_in_nobodys_way() -> None:
    before = with_inventory(fleet(tenant("rocky", "db", rest=JOBS)), db="rocky-jobs")
    after = fleet(tenant("rocky", "db", rest=JOBS, where="{names: [hub]}"))
    check(planned(after), before, RunLimits(protected=False, deletions=9))
