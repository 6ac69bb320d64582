"""What a stack permits by name, and what a number permits."""

from __future__ import annotations

import pytest

from tenantry.guard.check import RunLimits, check, doubts
from tenantry.guard.removals import removals
from tenantry.guard.ways import checked
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.guard.fleets import fleet, now, refusal, tenant
from tests.unit.texts import FRAME, planned

ROCKY, MOVY, TINA = tenant("rocky", "web", "db"), tenant("movy", "web"), tenant("tina", "web")


def allowing(*names: str, deletions: int = 0, protected: bool = False) -> RunLimits:
    return RunLimits(protected=protected, deletions=deletions, allowed=names)


def test_no_number_permits_that_every_tenant_goes() -> None:
    assert refusal(fleet(ROCKY, MOVY), fleet(), allowing(deletions=10)) == (
        "this run would remove every tenant of environment 'dev'\n"
        "    tenant 'movy' with its apps and rights, but not its data, on edge, hub\n"
        "    tenant 'rocky' with its apps and rights, but not its data, on edge, hub\n"
        "  fix: if this is intended, list each under tenantry:allowDeletions in the stack's file (tenant/movy, tenant/rocky); or"
        " put back what changed"
    )


def test_every_tenant_goes_once_all_of_them_are_named() -> None:
    told = refusal(fleet(ROCKY, MOVY), fleet(), allowing("tenant/movy", deletions=10))
    assert (
        "fix: if this is intended, run `pulumi config set --path 'tenantry:allowDeletions[1]' tenant/rocky`; or" in told
    )
    check(planned(fleet()), now(fleet(ROCKY, MOVY)), allowing("tenant/movy", "tenant/rocky"))


def test_what_is_named_does_not_count_against_the_limit() -> None:
    before, after = fleet(ROCKY, MOVY, TINA), fleet(ROCKY)
    check(planned(after), now(before), allowing("tenant/movy", deletions=2))
    assert "would remove 1 tenant; the limit for 'dev' is 0 (maxDeletions)" in refusal(
        before, after, allowing("tenant/movy")
    )


def test_a_name_permits_what_it_names_and_nothing_else() -> None:
    dns = "{clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}}"
    frame = FRAME.replace("platform: {", f"platform: {{addons: {{dns: {dns}}}, ")
    before = fleet(tenant("rocky", "web", "db", rest="    namespaces: {jobs: {}}\n"), MOVY, frame=frame)
    after = fleet(tenant("rocky", "web"))
    names = [each.permit for each in removals(planned(after), now(before))]
    assert names == [
        "addon/edge/dns",
        "addon/hub/dns",
        "app/edge/rocky/db",
        "app/hub/rocky/db",
        "namespace/edge/rocky-jobs",
        "namespace/hub/rocky-jobs",
        "tenant/movy",
    ]
    assert checked(names) == tuple(names)
    check(planned(after), now(before), allowing(*names))
    for name in names:
        if name.startswith("namespace/"):
            continue  # these stay with their data, so they need no permission
        others = allowing(*(each for each in names if each != name))
        told = refusal(before, after, others)
        assert "would remove 1 " in told
        assert told.partition("\n  fix: ")[0].count("\n    ") == 1


def test_in_a_protected_environment_no_name_permits_anything() -> None:
    told = refusal(fleet(ROCKY, MOVY), fleet(ROCKY), allowing("tenant/movy", protected=True))
    assert told.startswith("environment 'dev' is protected, and this run would remove\n    tenant 'movy' with")


def test_a_permission_that_a_run_does_not_use_is_a_warning() -> None:
    limits = allowing("tenant/movy", "tenant/gone", "tenant/rocky")
    (doubt,) = doubts(planned(fleet(ROCKY)), now(fleet(ROCKY, MOVY)), limits)
    assert (doubt.severity, doubt.code) == ("warning", "unused-permission")
    assert doubt.message == (
        "tenantry:allowDeletions permits the removal of tenant/gone, tenant/rocky, which this run does not remove"
    )
    assert doubt.fix == "remove what is no longer needed: pulumi config rm --path 'tenantry:allowDeletions[1]'"


@table(
    "name",
    [
        "",
        "rocky",
        "tenants/rocky",
        "tenant/",
        "tenant/a/b",
        "namespace/rocky",
        "app/edge/rocky",
        "reinstall/edge/rocky",
        "addon/dns",
        "*",
    ],
)
def test_a_name_that_could_permit_nothing_is_refused(name: str) -> None:
    with pytest.raises(Refused) as refused:
        checked([name])
    assert str(refused.value) == (
        f"tenantry:allowDeletions names '{name}', which is nothing that a run could remove\n"
        "  fix: write tenant/TENANT, namespace/CLUSTER/NAMESPACE, app/CLUSTER/TENANT/APP, addon/CLUSTER/ADDON or"
        " reinstall/CLUSTER/TENANT/APP"
    )
