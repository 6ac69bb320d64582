"""A remote cluster that gets another name in tenants.yaml, with the same kubeconfig: it is the same cluster."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

from tenantry.guard.check import RunLimits, check, refusals
from tenantry.guard.reading import held
from tests.table import table
from tests.unit.guard.fleets import fleet, manifests, now, refusal, refused, tenant
from tests.unit.texts import FRAME, planned, problems

ROCKY = tenant("rocky", "web")
ANYTHING = RunLimits(protected=False, deletions=9)
RENAMED = FRAME.replace("  edge: {", "  edge-1: {")
DECOMMISSIONED = FRAME.replace("labels: {tier: edge},", "labels: {tier: edge}, state: decommissioned,")


def test_another_name_for_a_cluster_is_refused() -> None:
    assert refusal(fleet(ROCKY), fleet(ROCKY, frame=RENAMED), ANYTHING) == (
        "cluster 'edge-1' would be reached through kamaji/edge-admin-kubeconfig, which is the kubeconfig of cluster 'edge' today:"
        " Flux would remove everything that it installed for 'edge', namespaces with their data included\n"
        "  fix: put the name 'edge' back; to rename the cluster, set 'state: decommissioned' on 'edge', run `tenantry up` of"
        " all of its environments, then rename it and remove the state; if it is another cluster, remove 'edge' in a run of its"
        " own first"
    )


def test_a_kubeconfig_that_the_fleet_describes_is_told_in_the_same_way() -> None:
    described = "kubeconfig: {configMap: {name: edge, namespace: kamaji}}"
    frame, after = (
        each.replace("kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}", described)
        for each in (FRAME, RENAMED)
    )
    told = refusal(fleet(ROCKY, frame=frame), fleet(ROCKY, frame=after), ANYTHING)
    assert told.startswith(
        "cluster 'edge-1' would be reached through kamaji/edge, which is the kubeconfig of cluster 'edge' today"
    )


def test_a_decommissioned_cluster_is_renamed() -> None:
    check(
        planned(fleet(ROCKY, frame=RENAMED)),
        now(fleet(ROCKY, frame=DECOMMISSIONED)),
        RunLimits(protected=True, deletions=0),
    )


@table(("frame", "refused"), [(FRAME, True), (DECOMMISSIONED, False)])
def test_a_cluster_does_not_get_another_name_in_another_environment_either(frame: str, *, refused: bool) -> None:
    """The environment that has it would remove its add-ons from it, which are the new one's by then."""
    prod = frame.replace("dev", "prod")
    there = held((each.manifest for each in planned(fleet(ROCKY, frame=prod), "prod").objects), "dev")
    found = refusals(planned(fleet(ROCKY, frame=RENAMED)), replace(there, strangers=frozenset()), ANYTHING)
    assert [each.code for each in found] == ["renamed-cluster"] * refused


@table("part", ["suspend", "label"])
def test_but_not_while_flux_would_still_remove_something(part: str) -> None:
    """Somebody resumed a release, or the run that decommissions ended half-way."""
    before = [dict(each.manifest) for each in planned(fleet(ROCKY, frame=DECOMMISSIONED)).objects]
    (baseline,) = (each for each in before if each["metadata"]["name"] == "edge-rocky-baseline")
    if part == "suspend":
        baseline["spec"] = {**baseline["spec"], "suspend": False}
    else:
        labels = {key: value for key, value in baseline["metadata"]["labels"].items() if key != "tenantry/state"}
        baseline["metadata"] = {**baseline["metadata"], "labels": labels}
    told = refused(fleet(ROCKY, frame=RENAMED), held(before, "dev"), ANYTHING)
    assert "which is the kubeconfig of cluster 'edge' today" in told


def test_two_clusters_with_one_kubeconfig_are_refused_before_anything_is_read() -> None:
    (entry,) = (line for line in FRAME.splitlines(keepends=True) if line.startswith("  edge:"))
    told = problems(fleet(ROCKY, frame=FRAME.replace(entry, entry + entry.replace("  edge:", "  edge-1:"))))
    assert "clusters 'edge' and 'edge-1' name the same kubeconfig Secret 'kamaji/edge-admin-kubeconfig'" in told


@table("kinds", [("HelmRelease", "Kustomization"), ("HelmRelease",), ("Kustomization",)])
def test_a_cluster_is_not_renamed_together_with_the_labels_of_its_live_objects(kinds: tuple[str, ...]) -> None:
    """Labels are claims: the names of the releases and their kubeconfigs tell that it is the same cluster."""
    there = deepcopy(manifests(fleet(ROCKY)))
    for each in there:
        if each["kind"] in kinds and each["metadata"]["labels"]["tenantry/cluster"] == "edge":
            each["metadata"]["labels"]["tenantry/cluster"] = "edge-1"
    told = refused(fleet(ROCKY, frame=RENAMED), held(there, "dev"), ANYTHING)
    if "HelmRelease" in kinds and "Kustomization" in kinds:
        assert told.startswith(
            "what HelmRelease kamaji/edge-rocky-baseline has installed on the cluster behind kamaji/edge-admin-kubeconfig would be"
            " installed by HelmRelease kamaji/edge-1-rocky-baseline: Flux would remove everything that the first has installed"
        )
    else:
        assert "which is the kubeconfig of cluster 'edge' today" in told
