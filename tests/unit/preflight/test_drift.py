from __future__ import annotations

import pytest

from tenantry.cluster.drift import Comparison, Confirmed
from tenantry.guard.check import RunLimits
from tenantry.preflight import check
from tenantry.rollout.change import Difference
from tests.unit.memory import Memory
from tests.unit.texts import fleet, planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests, path: ./web}}")
PLAN = planned(TEXT)
WEB = next(each for each in PLAN.objects if each.id.kind == "Kustomization")
BY_A_RUN = Difference(WEB, WEB.manifest, (("spec", "path"),))


def test_what_the_api_server_does_not_change_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "the API server refuses Kustomization rocky/web: field is immutable"
    monkeypatch.setattr(check, "compare", lambda *_, **__: Comparison([BY_A_RUN], []))
    monkeypatch.setattr(check, "asked", lambda _, found, __: Confirmed(found, {WEB.id: why}))
    limits = RunLimits(protected=False, deletions=1)
    report = check.Check(Memory().client(), fleet(TEXT), PLAN, limits).report()
    (problem,) = [problem for problem in report.problems if problem.code == "not-changeable"]
    assert (problem.severity, problem.message, problem.fix) == (
        "error",
        f"{why}: `tenantry up` leaves it, and what belongs to it, as it is",
        "correct it in tenants.yaml; where a field cannot change, give the Kustomization another name",
    )
