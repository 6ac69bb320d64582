"""Blocks of Flux's objects: what the plan says anyway is left out, and nothing else."""

from __future__ import annotations

from typing import Any

from tenantry.importing.blocks import as_model, literal, smallest
from tenantry.model import Git, Helm, Kustomize
from tests.table import table

WAITING = {"healthChecks": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "web"}]}


@table(
    ("block", "expected"),
    [
        ({"prune": True, "path": "./", "wait": True, "force": False, "suspend": False}, {}),
        ({"wait": False}, {"wait": False}),
        ({**WAITING, "wait": False}, WAITING),
        ({**WAITING, "wait": True}, {**WAITING, "wait": True}),
        ({"deletionPolicy": "WaitForTermination", "prune": False}, {"prune": False}),
        ({"postBuild": {"substitute": {"A": "b"}}}, {"postBuild": {"substitute": {"A": "b"}}}),
    ],
)
def test_a_kustomization_says_what_differs_from_the_plan(block: dict[str, Any], expected: dict[str, Any]) -> None:
    assert smallest(block, as_model(Kustomize)) == expected


@table(
    ("block", "expected"),
    [
        ({"driftDetection": {"mode": "enabled"}}, {}),
        ({"driftDetection": {"mode": "enabled", "ignore": []}}, {"driftDetection": {"ignore": []}}),
        ({"driftDetection": {"mode": "disabled"}}, {"driftDetection": {"mode": "disabled"}}),
        ({"values": {"replicas": None, "debug": False}}, {"values": {"replicas": None, "debug": False}}),
    ],
)
def test_a_release_says_what_differs_from_the_plan(block: dict[str, Any], expected: dict[str, Any]) -> None:
    assert smallest(block, as_model(Helm)) == expected


def test_only_a_name_in_braces_is_escaped() -> None:
    block = {"patch": '[{"a": {}}]', "legend": "{job} {{pod}} ${NAME} {{ .x }}", "list": ["{", 1, None]}
    assert literal(block) == {**block, "legend": "{{job}} {{{{pod}}}} ${NAME} {{ .x }}"}


def test_a_key_that_the_model_needs_stays() -> None:
    block = {"url": "https://git.example.com/web", "ref": {"tag": "v1"}, "interval": "5m"}
    assert smallest(block, as_model(Git)) == {"url": "https://git.example.com/web", "ref": {"tag": "v1"}}


def test_a_block_that_the_model_refuses_stays_as_it_is() -> None:
    block = {"path": "/web", "wait": True}
    assert smallest(block, as_model(Kustomize)) == block
