from __future__ import annotations

from typing import Any

import pytest

from tenantry.cluster import leftovers as module
from tenantry.cluster.leftovers import delete, orphans
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, object_id
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.memory import Memory

LABELS = {"app.kubernetes.io/managed-by": "tenantry", "tenantry/environment": "dev", "tenantry/cluster": "hub"}
TENANT = {**LABELS, "toolkit.fluxcd.io/tenant": "rocky"}


def made(kind: str, name: str, labels: dict[str, str] = TENANT, api: str = "v1", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "rocky", "labels": labels, "uid": name}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **rest}


SPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rocky", "labels": TENANT}}
PLACES = Places([SPACE])
APP = made("Kustomization", "web", {**TENANT, "tenantry/app": "web"}, "kustomize.toolkit.fluxcd.io/v1")
ACCOUNT = made("ServiceAccount", "rocky")


def names(found: list[Manifest]) -> list[str]:
    return [str(object_id(each)) for each in found]


def test_objects_that_no_state_knows_are_orphans_except_for_what_can_hold_data() -> None:
    claim = made("PersistentVolumeClaim", "data")
    found = orphans([APP, ACCOUNT, claim, SPACE], PLACES, lambda id: id.name == "web")
    assert (names(found.proven), names(found.others)) == ([], ["ServiceAccount rocky/rocky"])
    beside = {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "namespace": "kamaji"}}
    assert names(orphans([beside], PLACES, lambda _: False).proven) == ["ServiceAccount kamaji/rocky"]


def test_in_a_tenants_namespace_a_tenant_can_have_made_it() -> None:
    found = orphans([APP, ACCOUNT], PLACES, lambda _: False)
    assert (names(found.proven), names(found.others)) == ([], names([APP, ACCOUNT]))


@table(
    "stranger",
    [
        made("ServiceAccount", "by-hand", {"tenantry/environment": "dev"}),
        made("ServiceAccount", "forged", {**TENANT, "toolkit.fluxcd.io/tenant": "movy"}),
        {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "deletionTimestamp": "2026-01-31T12:00:00Z"}},
        {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "labels": {**TENANT, "tenantry/claim": "dev"}}},
        {"kind": "ServiceAccount"},
    ],
)
def test_what_is_not_the_fleets_or_goes_by_itself_is_none(stranger: Manifest) -> None:
    assert not any(orphans([stranger], PLACES, lambda _: False))


def test_apps_go_first_then_baselines_then_what_they_need() -> None:
    baseline = made("HelmRelease", "edge-rocky-baseline", TENANT, "helm.toolkit.fluxcd.io/v2")
    memory = Memory()
    delete(memory.client(), [ACCOUNT, baseline, APP], 1)
    assert [path.rpartition("/")[2] for method, path, _ in memory.requests if method == "DELETE"] == [
        "web",
        "edge-rocky-baseline",
        "rocky",
    ]


def test_what_flux_does_not_clean_up_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0)
    memory = Memory()
    memory.objects["/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/rocky/kustomizations/web"] = APP
    with pytest.raises(Refused) as refused:
        delete(memory.client(), [APP, ACCOUNT], 0)
    assert str(refused.value) == (
        "Flux has not cleaned up in 0 s what an interrupted run had created: Kustomization rocky/web\n"
        "  fix: look at why with `tenantry status`, then run the same command again"
    )
    assert not [path for method, path, _ in memory.requests if method == "DELETE" and path.endswith("rocky/rocky")]


def test_a_deletion_that_is_not_allowed_names_the_right() -> None:
    memory = Memory()
    memory.refuse("DELETE", "/api/v1/namespaces/rocky/serviceaccounts/rocky", 403, "no")
    with pytest.raises(Refused, match="credentials that may 'delete' serviceaccounts"):
        delete(memory.client(), [ACCOUNT], 1)
