"""Kubeconfigs that other stacks export: what is stored, and what is held while a stack does not give one that Flux takes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Mapping
from typing import Any

import pulumi
import pytest
from pulumi.runtime import rpc

from components.fleet import Fleet
from components.run import Run
from components.secrets import Holding, SecretConfig, holding, read_secrets, with_plain_secrets, with_secrets
from tenantry.cluster import connect
from tenantry.kube.objects import ObjectId
from tenantry.stacks.file import Reach
from tests.components.recording import Recording, record
from tests.unit.memory import Memory
from tests.unit.plan.test_identities import EXPORTED, by
from tests.unit.texts import one, planned

PLAN = planned(by(EXPORTED))
SECRET = one(PLAN, "Secret", "edge").id
STACK = "acme/clusters/edge"
CONTENT = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [{"name": "edge", "cluster": {"server": "https://edge.example.com"}}],
    "users": [{"name": "flux", "user": {"token": "geheim"}}],
    "contexts": [{"name": "edge", "context": {"cluster": "edge", "user": "flux"}}],
    "current-context": "edge",
}
TEXT = json.dumps(CONTENT)
PLUGIN = {**CONTENT, "users": [{"name": "flux", "user": {"exec": {"command": "aws"}}}]}
NOT_STORED = "a kubeconfig of another stack is not stored, so Secret clusters/edge"
UNKNOWN = f"stack '{STACK}' cannot be read: "


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    return told


def outputs(**given: object) -> dict[str, Mapping[str, Any]]:
    return {STACK: given}


def read(stacks: Mapping[str, Mapping[str, Any]]) -> SecretConfig:
    found: list[SecretConfig] = []
    record(lambda: found.append(read_secrets(PLAN.objects)), stacks=stacks)
    return found[0]


def built(make: Callable[[], Run]) -> Recording:
    return record(lambda: Fleet("dev", run=make()))


def held(
    monkeypatch: pytest.MonkeyPatch,
    secrets: SecretConfig,
    *,
    live: bool = False,
    state: Collection[ObjectId] = (),
) -> Holding:
    """live: whether the Secret is on the cluster."""
    memory = Memory()
    if live:
        metadata = {"name": "edge", "namespace": "clusters"}
        memory.objects["/api/v1/namespaces/clusters/secrets/edge"] = {"metadata": metadata}
    monkeypatch.setattr(connect, "connect", lambda *_: memory.client())
    return holding(PLAN, secrets, Reach(), state.__contains__)


@pytest.mark.parametrize("exported", [TEXT, CONTENT], ids=["text", "mapping"])
def test_what_a_stack_exports_becomes_the_value_of_the_secret_and_is_marked_as_secret(
    monkeypatch: pytest.MonkeyPatch, exported: object
) -> None:
    secrets = read(outputs(kubeconfig=exported))
    found = held(monkeypatch, secrets)
    assert found == Holding()
    recording = built(lambda: Run(plan=with_secrets(PLAN, secrets, found.kept), target=Reach()))
    (made,) = (each for each in recording.objects if each.key.name == "clusters/edge" and "Secret" in each.key.type)
    assert made.inputs["data"][rpc._special_sig_key] == rpc._special_secret_sig
    assert json.loads(base64.b64decode(made.inputs["data"]["value"]["value"])) == CONTENT
    assert not any("geheim" in repr(each) for each in (secrets, PLAN))


def test_what_is_on_the_cluster_is_compared_with_what_the_stack_exports() -> None:
    plain = {each.id: each.manifest for each in with_plain_secrets(PLAN.objects, read(outputs(kubeconfig=TEXT)))}
    assert base64.b64decode(plain[SECRET]["data"]["value"]).decode() == TEXT


@pytest.mark.parametrize(
    ("stacks", "why"),
    [
        ({}, UNKNOWN),
        (
            outputs(),
            f"output 'kubeconfig' of stack '{STACK}' has no value, or one that cannot be decrypted here (outputs: none)",
        ),
        (outputs(kubeconfig="", other=1), "(outputs: kubeconfig, other)"),
        (
            outputs(kubeconfig="geheim"),
            f"Flux would not take output 'kubeconfig' of stack '{STACK}': the content of the key is not",
        ),
        (outputs(kubeconfig=PLUGIN), f"Flux would not take output 'kubeconfig' of stack '{STACK}': "),
    ],
    ids=["no-stack", "no-output", "empty", "no-kubeconfig", "plugin"],
)
def test_without_a_kubeconfig_that_flux_takes_the_secret_alone_is_held(
    monkeypatch: pytest.MonkeyPatch, said: list[str], stacks: Mapping[str, Mapping[str, Any]], why: str
) -> None:
    secrets = read(stacks)
    new = held(monkeypatch, secrets)
    assert (new.kept, new.left_out) == (frozenset(), {SECRET})
    there = held(monkeypatch, secrets, live=True, state=[SECRET])
    assert (there.kept, there.left_out) == ({SECRET}, frozenset())
    assert said[0].startswith(f"{NOT_STORED} is left out; everything else of the run goes through\n")
    assert said[1].startswith(f"{NOT_STORED} stays as it is; ")
    assert all(why in each and "\n  fix: " in each for each in said)
    assert not any("geheim" in each for each in said)
    objects = built(lambda: Run(plan=with_secrets(new.registered(PLAN), secrets), target=Reach())).objects
    assert len(objects) == len(PLAN.objects) - 1


def test_a_stack_is_asked_once_for_all_of_its_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    answer = type("Answer", (), {"value": {"outputs": {"kubeconfig": TEXT}}})
    monkeypatch.setattr("components.outputs.invoke", lambda _, inputs: calls.append(inputs["name"]) or answer)
    twin = "  twin: {environments: [dev], kubeconfig: {" + EXPORTED.replace("name: edge", "name: twin") + "}}\n"
    text = by(EXPORTED).replace("platform:", f"{twin}platform:").replace("names: [edge]", "names: [edge, twin]")
    found: list[SecretConfig] = []
    record(lambda: found.append(read_secrets(planned(text).objects)))
    assert (calls, found[0].lacking) == ([STACK], {})
