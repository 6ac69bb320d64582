"""Where the sandbox has to serve what a plan's sources fetch."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tenantry.sandbox.spec import loopback_ports

from tenantry.plan.plan import Plan


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"url": "http://127.0.0.1:8930/git/rocky/manifests.git"}, (8930,)),
        ({"url": "oci://127.0.0.1:8931/oci/rocky/bundle", "insecure": True}, (8931,)),
        ({"url": "http://localhost/charts"}, (80,)),
        ({"endpoint": "127.0.0.1:8932", "bucketName": "apps"}, (8932,)),
        ({"endpoint": "s3.example.com", "bucketName": "apps"}, ()),
        ({"url": "https://git.example.com:8930/rocky/manifests"}, ()),
        ({"type": "generic", "address": "http://127.0.0.1:8933"}, ()),
        ({}, ()),
    ],
)
def test_the_ports_of_this_machine_that_sources_name_are_found(spec: dict[str, Any], expected: tuple[int, ...]) -> None:
    plan = SimpleNamespace(objects=[SimpleNamespace(manifest={"kind": "Any", "spec": spec})])

    assert expected == loopback_ports(cast("Plan", plan))
