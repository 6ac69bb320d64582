"""`tenantry sandbox break`: what fails is found by `tenantry why`, as in production, and repaired."""

from __future__ import annotations

import json

import pytest

from tests.e2e.clusters import eventually
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e
WHERE = ("rocky/web", "--cluster", "edge-1")
CAUSES = {
    "crash": "Deployment rocky/web: container 'web' keeps crashing (5 restarts): exit code 1",
    "image": "cannot be pulled (ImagePullBackOff: not found)",
    "quota": "Deployment rocky/web gets no more pods: quota 'sandbox-rehearsal' is used up",
}


def cause(fleet: Project) -> str:
    """What `tenantry why` names; "" if all is well."""
    found = json.loads(fleet.tenantry("why", *WHERE, "-e", "dev", "--output", "json").out)["apps"][0]
    return "" if found["well"] else str(found["cause"])


@pytest.mark.parametrize("failure", CAUSES)
def test_a_broken_app_is_explained_and_can_be_repaired(fleet: Project, failure: str) -> None:
    said = fleet.tenantry("sandbox", "break", WHERE[0], failure, *WHERE[1:]).ok()
    assert "tenantry why rocky/web -e dev -c edge-1" in said.text
    eventually(lambda: CAUSES[failure] in cause(fleet), CAUSES[failure])
    fleet.tenantry("sandbox", "break", WHERE[0], "--repair", *WHERE[1:]).ok()
    eventually(lambda: not cause(fleet), "other pods to be ready")
    assert fleet.preview() == {}


def test_an_app_that_does_not_exist_is_refused(fleet: Project) -> None:
    refused = fleet.tenantry("sandbox", "break", "rocky/nothing", "crash")
    assert (refused.code, "has no app 'nothing'" in refused.text) == (2, True)
