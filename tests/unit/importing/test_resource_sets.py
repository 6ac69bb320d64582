"""What ResourceSets of the Flux Operator apply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.importing.programs import NotBuilt
from tenantry.importing.resource_sets import COPIED, resolved
from tests.table import table
from tests.unit.importing.test_follow import Repository, leads

SPACE: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "<< inputs.tenant >>"}}
APP = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: << inputs.tenant >>}
spec: {interval: 5m, path: "./<< inputs.where.path >>", prune: << inputs.prune >>, sourceRef: {kind: OCIRepository, name: apps}}
"""


def resource_set(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "tenants", "namespace": "flux-system"}
    return {"apiVersion": "fluxcd.controlplane.io/v1", "kind": "ResourceSet", "metadata": metadata, "spec": spec}


def test_each_resource_is_made_for_each_input_once() -> None:
    inputs = [
        {"tenant": "harbour", "where": {"path": "web"}, "prune": True},
        {"tenant": "quarry", "where": {"path": 1}, "prune": False},
    ]
    once = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "all"}, "data": {"a": "$x"}}
    found = list(resolved(resource_set(inputs=inputs, resources=[SPACE, once], resourcesTemplate=APP)))
    assert [(each["kind"], each["metadata"]["name"]) for each in found] == [
        *(("Namespace", "harbour"), ("ConfigMap", "all"), ("Kustomization", "apps")),
        *(("Namespace", "quarry"), ("Kustomization", "apps")),
    ]
    assert [(each["metadata"]["namespace"], each["spec"]["path"], each["spec"]["prune"]) for each in found[2::2]] == [
        ("harbour", "./web", True),
        ("quarry", "./1", False),
    ]
    (quoted,) = resolved(resource_set(inputs=[{"a": 'say "x"'}], resourcesTemplate='{"a": << inputs.a | quote >>}'))
    assert quoted == {"a": 'say "x"'}


UNKNOWN: dict[str, dict[str, Any]] = {
    "spec.inputsFrom is not resolved here": {"inputsFrom": [{"name": "branches"}], "resources": [SPACE]},
    "its template '<< inputs.tenant | upper >>' is not resolved here": {
        "inputs": [{"tenant": "a"}],
        "resourcesTemplate": "a: << inputs.tenant | upper >>",
    },
    "its template '<< inputs.tenant >>' is not resolved here": {"inputs": [{"name": "a"}], "resources": [SPACE]},
    "its template '<<- range $x := inputs.all >>' is not resolved here": {
        "inputs": [{"all": []}],
        "resourcesTemplate": "<<- range $x := inputs.all >>\n<<- end >>",
    },
}


@table("reason", UNKNOWN)
def test_what_is_made_at_run_time_is_not_known(reason: str) -> None:
    with pytest.raises(NotBuilt) as refused:
        list(resolved(resource_set(**UNKNOWN[reason])))
    assert str(refused.value) == reason


def test_inputs_cannot_take_all_memory() -> None:
    bomb = resource_set(inputs=[{"a": "x" * 2**16}], resourcesTemplate="a: " + "<< inputs.a >>" * 600)
    with pytest.raises(NotBuilt, match="its objects become more than 32 MiB"):
        list(resolved(bomb))
    with pytest.raises(NotBuilt, match="it has more than 20000 objects"):
        list(resolved(resource_set(inputs=[{"a": "x"}] * 201, resources=[SPACE] * 100)))


def test_what_it_applies_is_read_with_its_labels_and_stays_its_own_otherwise(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.write(
        "clusters/prod/tenants.yaml", leads("tenants", "./tenants", postBuild={"substitute": {"ENV": "prod"}})
    )
    metadata = {"name": "a", "namespace": "b", "annotations": {COPIED: "a/b"}}
    copied = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    inputs = [{"tenant": "harbour", "where": {"path": "${ENV}"}, "prune": True}]
    known = resource_set(inputs=inputs, resources=[SPACE, copied], resourcesTemplate=APP)
    unknown = resource_set(inputsFrom=[{"name": "a"}], resources=[SPACE])
    unknown["metadata"]["name"] = "unknown"
    repository.write("tenants/all.yaml", *(yaml.safe_dump(each) for each in (known, unknown)))
    found, reading = repository.read()
    assert sorted(found) == [
        *("GitRepository flux-system", "Kustomization apps", "Kustomization tenants", "Namespace harbour"),
        *("ResourceSet tenants", "ResourceSet unknown"),
    ]
    app = found["Kustomization apps"].manifest
    assert (app["spec"]["path"], app["metadata"]["labels"]) == (
        "./prod",
        {
            f"resourceset.fluxcd.controlplane.io/{each}": name
            for each, name in (("name", "tenants"), ("namespace", "flux-system"))
        },
    )
    assert json.dumps([each.reason for each in reading.unread]) == '["spec.inputsFrom is not resolved here"]'
