"""A Flux object that would change hands in one run."""

from __future__ import annotations

from tenantry.guard.check import RunLimits, check
from tests.unit.guard.fleets import fleet, now, refusal, tenant
from tests.unit.texts import FRAME, planned

ANYTHING = RunLimits(protected=False, deletions=9)
ADDON = """\
    addons:
      cert-manager:
        clusters: {names: [edge]}
        source: {git: {url: https://git.example.com/a, ref: {branch: main}}}
        kustomize: {targetNamespace: cert-manager}
"""
WITH_ADDON = FRAME.replace("platform: {chart:", "platform:\n    chart:").replace("0.1.0}}}\n", "0.1.0}}\n") + ADDON


def test_an_object_of_an_addon_does_not_become_a_tenants() -> None:
    before, after = fleet(frame=WITH_ADDON), fleet(tenant("cert", "manager", where="{names: [edge]}"))
    assert refusal(before, after, ANYTHING) == (
        "Kustomization kamaji/edge-cert-manager belongs to add-on 'cert-manager', and would become that of app 'manager' of"
        " tenant 'cert'\n"
        "  fix: leave it to add-on 'cert-manager'; or give the second another name; or, if what is installed may go with its data,"
        " remove the first in one `tenantry up`, and add the second in the next one"
    )
    assert "would become that of add-on 'cert-manager'" in refusal(after, before, ANYTHING)


def test_an_object_of_a_tenant_does_not_become_anothers() -> None:
    before = fleet(tenant("a", "b-c", where="{names: [edge]}"))
    after = fleet(tenant("a-b", "c", where="{names: [edge]}"))
    assert "belongs to app 'b-c' of tenant 'a', and would become that of app 'c' of tenant 'a-b'" in refusal(
        before, after, ANYTHING
    )


def test_an_app_that_another_tenant_declares_is_a_new_one() -> None:
    before, after = (
        fleet(tenant("a", "web", "db"), tenant("b", "db")),
        fleet(tenant("a", "db"), tenant("b", "db", "web")),
    )
    protected = RunLimits(protected=True, deletions=9)
    assert "app 'web' of tenant 'a'" in refusal(before, after, protected)


def test_what_stays_is_no_handover() -> None:
    text = fleet(tenant("cert", "manager", where="{names: [edge]}"))
    check(planned(text), now(text), RunLimits(protected=True, deletions=0))
