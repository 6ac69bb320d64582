"""`tenantry sandbox break`: what fails is found by `tenantry why`, as in production, and repaired."""

from __future__ import annotations

import json

import pytest

from tests.e2e.clusters import eventually
from tests.e2e.project import Project

pytestmark = pytest.mark.e2e
WHERE = ("rocky/web", "--cluster", "edge-1")
CAUSE = "cannot be pulled (ImagePullBackOff: not found)"


def cause(fleet: Project) -> str:
    """What `tenantry why` names; "" if all is well."""
    found = json.loads(fleet.tenantry("why", *WHERE, "-e", "dev", "--output", "json").out)["apps"][0]
    return "" if found["well"] else str(found["cause"])


def test_a_broken_app_is_explained_and_can_be_repaired(fleet: Project) -> None:
    """docs/sandbox.md breaks it in another way, see test_documentation."""
    said = fleet.tenantry("sandbox", "break", WHERE[0], "image", *WHERE[1:]).ok()
    assert "tenantry why rocky/web -e dev -c edge-1" in said.text
    eventually(lambda: CAUSE in cause(fleet), CAUSE)
    fleet.tenantry("sandbox", "break", WHERE[0], "--repair", *WHERE[1:]).ok()
    eventually(lambda: not cause(fleet), "other pods to be ready")
    assert fleet.preview() == {}


def test_an_app_that_does_not_exist_is_refused(fleet: Project) -> None:
    refused = fleet.tenantry("sandbox", "break", "rocky/nothing", "crash")
    assert (refused.code, "has no app 'nothing'" in refused.text) == (2, True)
