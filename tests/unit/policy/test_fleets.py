"""What a fleet yields keeps all rules of the policy pack, whatever the fleet, and lets no tenant out of its frame."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.guard.claims import Claim, claim_object
from tenantry.load import load_fleet, plan_all
from tenantry.model.document import RESERVED
from tenantry.policy.main_file import USUAL, MainFile, read
from tenantry.stacks.record import Record, record_object
from tests.hostile.confinement import escapes_of, registered
from tests.unit.policy.test_rules import violations
from tests.unit.texts import CHART, FROM_GIT, rocky
from tests.unit.texts import fleet as fleet_of

pytestmark = pytest.mark.usefixtures("plans_once")

ROOT = Path(__file__).resolve().parents[3]
FLEETS = [
    ROOT / "tenants.yaml",
    *sorted(ROOT.glob("examples/*/tenants.yaml")),
    *sorted(ROOT.glob("tests/golden/*/tenants.yaml")),
]


each_fleet = pytest.mark.parametrize("fleet", FLEETS, ids=lambda fleet: str(fleet.parent.relative_to(ROOT)))


@each_fleet
def test_all_objects_of_a_fleet_keep_all_rules(fleet: Path) -> None:
    for environment, plan in plan_all(load_fleet(fleet)).items():
        given = registered(plan)
        found = [f"{environment}: {rule}: {violation}" for rule, violation in violations(given)]
        assert given
        assert found == []


def test_what_a_stack_keeps_for_itself_keeps_all_rules() -> None:
    plan, mine = plan_all(load_fleet(ROOT / "tenants.yaml"))["dev"], Claim("dev", "fleet/dev")
    own = claim_object("tenantry-system", mine), record_object("tenantry-system", mine, Record("dev"))
    given = replace(plan, objects=(*plan.objects, *own))
    assert list(violations(registered(given))) == []
    assert escapes_of([given], read(ROOT / "tenants.yaml")) == []


@each_fleet
def test_every_plan_of_a_fleet_is_confined(fleet: Path) -> None:
    assert escapes_of(plan_all(load_fleet(fleet)).values(), read(fleet)) == []


def test_the_pack_knows_which_namespaces_are_reserved_by_default() -> None:
    assert list(USUAL) == list(RESERVED)


def test_rights_on_whole_clusters_are_those_of_all_accounts_of_the_tenant_in_any_order() -> None:
    extra = ", ".join(f"{name}: {{serviceAccount: true}}" for name in ("a", "b", "c", "d", "e"))
    written = f"clusters: {{names: [hub]}}\nnamespaces: {{{extra}}}\nclusterRoles: {{pv: {{role: volumes}}}}"
    loaded = fleet_of(rocky("web: {kustomize: {source: manifests}}", written))
    assert escapes_of(plan_all(loaded).values(), MainFile(loaded.source.data)) == []


VERIFIED = ", verify: {provider: cosign}"
PINNED = f"oci: {{url: oci://registry.example.com/objects, ref: {{digest: 'sha256:{'0' * 64}'}}{VERIFIED}}}"


@pytest.mark.parametrize(
    ("chart", "one", "other"),
    [
        (FROM_GIT, "/fleet", "/mine"),
        (FROM_GIT, "charts/objects", "charts/own"),
        (FROM_GIT, "branch: main", "branch: next"),
        (FROM_GIT, FROM_GIT, CHART),
        (PINNED, "/objects", "/mine"),
        (PINNED, "0" * 64, "1" * 64),
        (PINNED, VERIFIED, ""),
        (PINNED, PINNED, CHART),
    ],
)
def test_baselines_take_the_chart_from_the_place_that_the_main_file_names(chart: str, one: str, other: str) -> None:
    loaded = fleet_of(rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}").replace(CHART, chart))
    assert escapes_of(plan_all(loaded).values(), MainFile(loaded.source.data)) == []
    said = fleet_of(rocky("web: {kustomize: {source: manifests}}").replace(CHART, chart.replace(one, other)))
    (escape,) = escapes_of(
        plan_all(loaded).values(), MainFile({**loaded.source.data, "platform": said.source.data["platform"]})
    )
    assert escape.endswith(
        "HelmRelease kamaji/edge-rocky-baseline of tenant 'rocky' takes a chart that is not the platform's in spec.chartRef"
    )
