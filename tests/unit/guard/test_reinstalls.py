"""What Flux would uninstall and install anew: judged by what it has recorded, and not by the live spec."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.guard.check import RunLimits, check, doubts, refusals, refusals_of_change
from tenantry.guard.reading import held
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.texts import FRAME, planned, rocky

OPEN, NONE = RunLimits(protected=False, deletions=1), RunLimits(protected=False, deletions=0)
GUARDED = RunLimits(protected=True, deletions=9)
DNS = (
    "{clusters: {names: [edge]}, namespaces: {dns: {}}, source: {helm: {url: https://charts.example.com}},"
    " helm: {chart: dns, version: 1.x}}"
)
BASE = rocky(
    "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: valkey, version: 1.0.0}}",
    "clusters: {names: [edge]}",
).replace("platform: {", f"platform: {{addons: {{dns: {DNS}}}, ")
MOVED = BASE.replace("platform: {", "platform: {namespace: fleet-system, ")
OTHER_CHART = BASE.replace("chart: valkey", "chart: redis")
CHARTS = {"baseline": "tenantry-objects", "namespaces": "tenantry-objects", "cache": "valkey", "dns": "dns"}
PLATFORM = (
    "Flux would uninstall a part of the platform and install it anew: role bindings, quotas, network policies and all else that"
    " it made are gone meanwhile, and namespaces and claims without 'helm.sh/resource-policy: keep' lose their data\n"
)
PERMIT = "reinstall/edge/rocky/cache"


def live(text: str = BASE, **charts: str) -> list[dict[str, Any]]:
    """The objects on the management cluster, after Flux has applied them. charts: other names than the usual ones."""
    return [_reconciled(dict(each.manifest), {**CHARTS, **charts}) for each in planned(text).objects]


def _reconciled(manifest: dict[str, Any], charts: dict[str, str]) -> dict[str, Any]:
    spec, name = manifest.get("spec", {}), manifest["metadata"]["name"]
    if manifest["kind"] == "Kustomization":
        return {**manifest, "status": {"inventory": {"entries": [{"id": "rocky_web_apps_Deployment", "v": "v1"}]}}}
    if manifest["kind"] != "HelmRelease":
        return manifest
    newest = {
        "name": spec["releaseName"],
        "namespace": spec["targetNamespace"],
        "chartName": charts[name.rpartition("-")[2]],
    }
    status = {"storageNamespace": spec["storageNamespace"], "history": [newest], "lastAttemptedGeneration": 1}
    return {**manifest, "metadata": {**manifest["metadata"], "generation": 1}, "status": status}


def refused(after: str, limits: RunLimits, there: list[dict[str, Any]] | None = None) -> str:
    with pytest.raises(Refused) as refusal:
        check(planned(after), held(live() if there is None else there, "dev"), limits)
    return str(refusal.value)


PUT_BACK = (
    "  fix: put back what changed; a chart's name may change in the run after one that sets upgrade.chartNameChangeStrategy:"
    " InPlaceUpdate (from Flux 2.9 on); to move an add-on, declare it under another name beside, then off-board the old one"
)


def allowed(after: str, limits: RunLimits = GUARDED, there: list[dict[str, Any]] | None = None) -> None:
    check(planned(after), held(live() if there is None else there, "dev"), limits)


def with_spec(manifests: list[dict[str, Any]], name: str, **spec: Any) -> list[dict[str, Any]]:
    return [
        {**each, "spec": {**each["spec"], **spec}} if each["metadata"]["name"] == name else each for each in manifests
    ]


def test_what_stays_where_it_is_is_not_reinstalled() -> None:
    allowed(BASE)
    allowed(BASE.replace("version: 1.0.0", "version: 2.0.0"))


@table("limits", [GUARDED, RunLimits(protected=False, deletions=9)])
def test_another_platform_namespace_is_refused_everywhere(limits: RunLimits) -> None:
    change = "(storageNamespace tenantry-system -> fleet-system, targetNamespace tenantry-system -> fleet-system)"
    assert refused(MOVED, limits) == (
        PLATFORM
        + f"    the namespaces of add-ons on edge {change}\n"
        + f"    add-on 'dns' on edge {change}\n"
        + f"    the baseline of tenant 'rocky' on edge {change}\n"
        + PUT_BACK
    )


def test_the_documented_way_to_move_the_platforms_namespace_is_let_pass() -> None:
    """The cluster is decommissioned, leaves the file, and comes back with tenants and add-ons that adopt."""
    given_up = BASE.replace("  edge: {", "  edge: {state: decommissioned, ")
    without = "".join(line for line in BASE.splitlines(keepends=True) if not line.startswith("  edge:"))
    without = without.replace(f"addons: {{dns: {DNS}}}, ", "").replace("[edge]", "[hub]")
    allowed(given_up)
    allowed(without, there=live(given_up))
    back = MOVED.replace("clusters: {names: [edge]}\n", "clusters: {all: true}\n    adopt: true\n")
    back = back.replace(DNS, DNS.replace("{clusters", "{adopt: true, clusters"))
    adopting = RunLimits(protected=True, deletions=0, adopting=frozenset({"rocky"}), adopting_addons=frozenset({"dns"}))
    allowed(back, adopting, live(without))


def test_a_spec_that_was_written_already_hides_no_reinstallation() -> None:
    there = with_spec(live(), "edge-rocky-baseline", storageNamespace="fleet-system", targetNamespace="fleet-system")
    assert "the baseline of tenant 'rocky' on edge (storageNamespace" in refused(MOVED, GUARDED, there)
    redis = next(each for each in live(OTHER_CHART, cache="valkey") if each["metadata"]["name"] == "edge-rocky-cache")
    redis["metadata"]["generation"] = 2
    there = [redis if each["metadata"]["name"] == "edge-rocky-cache" else each for each in live()]
    assert "app 'cache' of tenant 'rocky' on edge (chart valkey -> redis)" in refused(OTHER_CHART, GUARDED, there)


def test_a_release_that_was_never_installed_is_not_reinstalled() -> None:
    there = [{key: value for key, value in each.items() if key != "status"} for each in live()]
    allowed(MOVED, there=there)


def test_another_chart_of_an_app_is_refused_where_it_is_protected_unless_it_is_named() -> None:
    assert refused(OTHER_CHART, GUARDED) == (
        "environment 'dev' is protected, and this run would uninstall apps and install them anew: Helm deletes what their charts"
        " made, with PersistentVolumeClaims and their data; claims from volumeClaimTemplates stay\n"
        "    app 'cache' of tenant 'rocky' on edge (chart valkey -> redis)\n"
        "  fix: put back what changed; if this is intended, run"
        " `pulumi config set --path 'tenantry:allowDeletions[0]' reinstall/edge/rocky/cache`"
    )
    allowed(OTHER_CHART, RunLimits(protected=True, deletions=0, allowed=(PERMIT,)))


def test_elsewhere_a_reinstalled_app_counts_like_a_removed_one() -> None:
    allowed(OTHER_CHART, OPEN)
    assert refused(OTHER_CHART, NONE) == (
        "this run would uninstall and reinstall 1 app; the limit for 'dev' is 0 (maxDeletions): Helm deletes what their charts"
        " made, with PersistentVolumeClaims and their data; claims from volumeClaimTemplates stay\n"
        "    app 'cache' of tenant 'rocky' on edge (chart valkey -> redis)\n"
        "  fix: if this is intended, run `pulumi config set tenantry:maxDeletions 1`; or put back what changed"
    )
    both = OTHER_CHART.replace("      web: {kustomize: {source: manifests}}\n", "")
    assert (
        "this run would remove or uninstall and reinstall 2 apps; the limit for 'dev' is 1 (maxDeletions)"
        in refused(both, OPEN)
    )
    allowed(OTHER_CHART, RunLimits(protected=False, deletions=0, allowed=(PERMIT,)))


def test_a_permission_to_reinstall_that_a_run_does_not_use_is_told() -> None:
    limits = RunLimits(protected=True, deletions=0, allowed=(PERMIT,))
    assert list(doubts(planned(OTHER_CHART), held(live(), "dev"), limits)) == []
    (doubt,) = doubts(planned(BASE), held(live(), "dev"), limits)
    assert doubt.message == (
        "tenantry:allowDeletions permits the removal of reinstall/edge/rocky/cache, which this run does not remove"
    )


@table("field", ["namePrefix", "nameSuffix", "targetNamespace"])
def test_a_pruning_kustomization_makes_its_objects_anew_under_other_names(field: str) -> None:
    after = BASE.replace("{source: manifests}", f"{{source: manifests, {field}: x}}")
    wanted = "x"
    before = "rocky" if field == "targetNamespace" else "unset"
    if field == "targetNamespace":
        after = after.replace("    sources:\n", "    namespaces: {x: {}}\n    sources:\n", 1)
        wanted = "rocky-x"
    told = refused(after, GUARDED)
    assert "Flux prunes what they applied, with PersistentVolumeClaims and their data\n" in told
    assert f"    app 'web' of tenant 'rocky' on edge ({field} {before} -> {wanted})\n" in told
    allowed(after.replace("manifests, ", "manifests, prune: false, "))


def test_an_addon_is_upgraded_in_place_if_its_chart_gets_another_name() -> None:
    after = BASE.replace("chart: dns", "chart: coredns")
    allowed(after)
    before = [{**each} for each in live()]
    for each in before:
        if each["metadata"]["name"] == "edge-dns":
            each["spec"] = {**each["spec"], "upgrade": {}}
    assert refused(after, GUARDED, before) == (
        PLATFORM + "    add-on 'dns' on edge (chart dns -> coredns)\n" + PUT_BACK
    )
    reinstall = after.replace("version: 1.x}", "version: 1.x, upgrade: {chartNameChangeStrategy: Reinstall}}")
    assert "add-on 'dns' on edge (chart dns -> coredns)" in refused(reinstall, GUARDED)


def test_an_addon_that_moves_is_refused_with_the_way_to_move_it() -> None:
    after = BASE.replace("version: 1.x}", "version: 1.x, releaseName: other}")
    assert refused(after, OPEN).endswith(f"    add-on 'dns' on edge (releaseName dns -> other)\n{PUT_BACK}")


def test_a_chart_with_another_name_in_the_index_than_in_its_chart_yaml_is_no_change() -> None:
    allowed(BASE, there=live(cache="valkey-cluster"))


def test_what_was_given_up_may_be_reinstalled() -> None:
    there = live(BASE.replace("cache: {helm", "cache: {state: offboarding, helm"))
    allowed(OTHER_CHART.replace("cache: {helm", "cache: {state: offboarding, helm"), there=there)
    decommissioned = BASE.replace("  edge: {", "  edge: {state: decommissioned, ")
    allowed(decommissioned.replace("chart: valkey", "chart: redis"))


def test_a_release_that_would_be_taken_over_is_judged_too() -> None:
    there = live()
    for each in there:
        each["metadata"] = {**each["metadata"], "labels": {}}
    adopting = RunLimits(protected=True, deletions=0, adopting=frozenset({"rocky"}))
    told = [each.message for each in refusals(planned(OTHER_CHART), held(there, "dev"), adopting)]
    assert any("    app 'cache' of tenant 'rocky' on edge (chart valkey -> redis)" in each for each in told)


@table("history", ["text", [None], [{"chartName": 7}], [["text"]]])
def test_a_malformed_history_hides_nothing_else(history: Any) -> None:
    there = live()
    for each in there:
        if each["kind"] == "HelmRelease":
            each["status"] = {**each["status"], "history": history}
    after = BASE.replace("{source: manifests}", "{source: manifests, namePrefix: x}")
    assert "app 'web' of tenant 'rocky' on edge (namePrefix unset -> x)" in refused(after, GUARDED, there)
    if history != [{"chartName": 7}]:
        (doubt,) = doubts(planned(BASE), held(there, "dev"), GUARDED)
        assert "HelmRelease kamaji/edge-rocky-cache: status.history is not a list of mappings" in doubt.message


@table("after", [MOVED, OTHER_CHART, BASE.replace("manifests}", "manifests, namePrefix: x}")])
def test_diff_judges_as_a_run_does(after: str) -> None:
    expected = [each.message for each in refusals(planned(after), held(live(), "dev"), GUARDED)]
    assert [each.message for each in refusals_of_change(planned(BASE), planned(after), GUARDED)] == expected
    assert len(expected) == 1


def test_the_frame_alone_reinstalls_nothing() -> None:
    assert list(refusals_of_change(planned(FRAME), planned(FRAME), GUARDED)) == []
