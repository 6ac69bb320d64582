"""What is told of objects of an environment that its file does not plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tenantry.cluster.inventory import CORE_KINDS, owned_on
from tenantry.cluster.leftovers import format_undeclared, leftovers
from tenantry.flux.schemas import kinds, schema_of
from tenantry.guard.claims import Claim, claim_object
from tenantry.kube.objects import ObjectId
from tenantry.load import load_fleet, plan_all
from tests.table import table
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

ROOT = Path(__file__).resolve().parents[3]
FLEETS = sorted(
    [ROOT / "tenants.yaml", *ROOT.glob("examples/*/tenants.yaml"), *ROOT.glob("tests/e2e/fleets/*/tenants.yaml")]
)
PLAN = planned(rocky("web: {kustomize: {source: manifests}}"))
OLD = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old", "namespace": "rocky"}}


def test_what_is_planned_is_no_leftover_and_neither_is_the_claim() -> None:
    mine = Claim("dev", "fleet/dev")
    own = claim_object("tenantry-system", mine)
    assert leftovers(PLAN, [each.manifest for each in (*PLAN.objects, own)]) == []


def test_what_is_not_planned_is_one_unless_it_is_in_deletion() -> None:
    gone: dict[str, Any] = {**OLD, "metadata": {**OLD["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert leftovers(PLAN, [OLD]) == [ObjectId("v1", "ConfigMap", "rocky", "old")]
    assert leftovers(PLAN, [gone]) == []


def test_leftovers_are_named_with_what_to_do() -> None:
    some = [ObjectId("v1", "ConfigMap", "rocky", f"old-{number}") for number in range(9)]
    fix = (
        " Objects that remain after it were created by an interrupted run: run `tenantry up` with the file of that run, then with"
        " this one. Those in a tenant's namespace can also be the tenant's own, with copied labels: ask the tenant"
    )
    assert format_undeclared("dev", some[:1]) == (
        "1 object of environment 'dev' on its management cluster is not in the file: ConfigMap rocky/old-0\n"
        f"  fix: `tenantry up` removes it if its stack's state has it.{fix}"
    )
    assert format_undeclared("dev", some).endswith(
        f"ConfigMap rocky/old-7 and 1 more\n  fix: `tenantry up` removes them if its stack's state has them.{fix}"
    )
    assert format_undeclared("dev", []) == ""


@table("file", FLEETS, ids=lambda file: file.parent.name)
def test_every_kind_that_is_planned_is_looked_for(file: Path) -> None:
    looked_for = {*CORE_KINDS, *((schema_of(kind).api_version, kind) for kind in kinds())}
    ids = (each.id for plan in plan_all(load_fleet(file)).values() for each in plan.objects)
    assert {(id.api_version, id.kind) for id in ids} <= looked_for


def test_what_an_environment_owns_is_asked_for_by_its_labels_and_as_metadata() -> None:
    memory = Memory()
    marked = {**OLD["metadata"], "labels": {"app.kubernetes.io/managed-by": "tenantry"}}
    memory.objects["/api/v1/configmaps"] = {
        "metadata": {},
        "items": [{"metadata": marked}, {"metadata": OLD["metadata"]}],
    }
    with memory.client() as client:
        assert owned_on(client, "dev") == [{**OLD, "metadata": marked}]
    selectors = {parameters["labelSelector"] for _, _, parameters in memory.requests}
    assert selectors == {"tenantry/environment=dev"}
    assert {"/api/v1/secrets", "/apis/helm.toolkit.fluxcd.io/v2/helmreleases"} <= {
        path for _, path, _ in memory.requests
    }
