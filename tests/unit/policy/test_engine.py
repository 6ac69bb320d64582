"""The rules as the SDK runs them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)
from pulumi_policy.proxy import UNKNOWN_STRING_VALUE, UnknownValueError, unknown_checking_proxy

from tenantry.policy import engine
from tenantry.policy.engine import policies
from tenantry.policy.rule import name_of, reason_of
from tenantry.policy.rules import FRAME_RULES, OBJECT_RULES, STACK_RULES
from tests.policy.cases import MAIN

ROOT = Path(__file__).parents[3]
POLICIES = {policy.name: policy for policy in policies()}
OPTIONS = PolicyResourceOptions(
    protect=False,
    ignore_changes=[],
    delete_before_replace=None,
    aliases=[],
    custom_timeouts=PolicyCustomTimeouts(0, 0, 0),
    additional_secret_outputs=[],
)
MANAGEMENT = PolicyProviderResource("pulumi:providers:kubernetes", unknown_checking_proxy({}), "urn:p", "management")
KUSTOMIZATION = "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization"


def kustomization(**spec: Any) -> Any:
    """A manifest as the SDK hands it over, which is of no dicts and lists."""
    metadata = {"name": "web", "namespace": "rocky"}
    manifest = {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata}
    return unknown_checking_proxy({**manifest, "spec": spec})


def told_of_object(name: str, props: Any) -> list[str]:
    policy = POLICIES[name]
    assert isinstance(policy, ResourceValidationPolicy)
    told: list[str] = []
    args = ResourceValidationArgs(KUSTOMIZATION, props, "urn:web", "web", OPTIONS, MANAGEMENT)
    policy.validate(args, lambda message, _: told.append(message))
    return told


def test_every_rule_is_a_policy_under_its_name_with_its_reason() -> None:
    rules = (*OBJECT_RULES, *STACK_RULES, *FRAME_RULES)
    assert {name: policy.description for name, policy in POLICIES.items()} == {
        name_of(rule): reason_of(rule) for rule in rules
    }


def test_a_violation_is_reported_with_its_fix() -> None:
    assert told_of_object("reconcilers-name-a-service-account", kustomization(prune=True)) == [
        "Kustomization rocky/web names no service account\n"
        "fix: set spec.serviceAccountName to the tenant's service account, or to the platform's for an add-on"
    ]


def test_a_sound_object_is_not_reported() -> None:
    assert told_of_object("reconcilers-name-a-service-account", kustomization(serviceAccountName="rocky")) == []


def test_a_value_that_only_an_up_will_know_is_left_to_the_sdk() -> None:
    with pytest.raises(UnknownValueError):
        told_of_object("reconcilers-name-a-service-account", kustomization(serviceAccountName=UNKNOWN_STRING_VALUE))


def test_a_violation_of_a_rule_about_the_stack_names_the_resource() -> None:
    policy = POLICIES["kubeconfigs-are-for-flux-alone"]
    assert isinstance(policy, StackValidationPolicy)
    key = {"name": "edge"}
    props = kustomization(kubeConfig={"secretRef": key}, decryption={"provider": "sops", "secretRef": key})
    resource = PolicyResource(KUSTOMIZATION, props, "urn:web", "web", OPTIONS, MANAGEMENT, None, [], {})
    told: list[tuple[str, str | None]] = []
    policy.validate(StackValidationArgs([resource]), lambda message, urn: told.append((message.splitlines()[0], urn)))
    assert told == [("Kustomization rocky/web names the kubeconfig 'edge' in spec.decryption.secretRef", "urn:web")]


@pytest.fixture
def anew() -> Iterator[None]:
    engine.main_file.cache_clear()
    yield
    engine.main_file.cache_clear()


def told_of_another_address() -> list[str]:
    policy = POLICIES["tenants-reach-granted-addresses"]
    assert isinstance(policy, StackValidationPolicy)
    labels = {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/environment": "dev", "tenantry/cluster": "hub"}
    metadata = {"name": "m", "namespace": "rocky", "labels": labels}
    spec = {"url": "https://evil.example.com/m"}
    manifest = {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "GitRepository",
        "metadata": metadata,
        "spec": spec,
    }
    type = "kubernetes:source.toolkit.fluxcd.io/v1:GitRepository"
    props: Any = unknown_checking_proxy(manifest)
    resource = PolicyResource(type, props, "urn:m", "m", OPTIONS, MANAGEMENT, None, [], {})
    told: list[str] = []
    policy.validate(StackValidationArgs([resource]), lambda message, _: told.append(message.splitlines()[0]))
    return told


REFUSED = ["GitRepository rocky/m of tenant 'rocky' has an address in spec.url that is not granted to it"]


@pytest.mark.usefixtures("anew")
def test_rules_about_frames_ask_the_file_that_the_environment_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_FILE", str(MAIN))
    assert told_of_another_address() == REFUSED


@pytest.mark.usefixtures("anew")
def test_rules_about_frames_ask_the_file_of_the_stack(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    monkeypatch.setenv("PULUMI_PROJECT", "fleet")
    (tmp_path / "main.yaml").write_bytes(MAIN.read_bytes())
    monkeypatch.setenv("PWD", str(tmp_path))
    monkeypatch.setenv("PULUMI_CONFIG", '{"tenantry:file": "main.yaml"}')
    assert told_of_another_address() == REFUSED


@pytest.mark.usefixtures("anew")
@pytest.mark.parametrize("named", ["", None])
def test_without_a_main_file_rules_about_frames_say_nothing(
    named: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: another\n")
    (tmp_path / "tenants.yaml").write_bytes(MAIN.read_bytes())
    monkeypatch.setenv("PULUMI_PROJECT", "fleet")
    monkeypatch.setenv("PWD", str(tmp_path))
    if named is not None:
        monkeypatch.setenv("TENANTRY_FILE", named)
    assert told_of_another_address() == []


def test_the_pack_runs_in_the_projects_environment() -> None:
    pack = Path(__file__).resolve().parents[3] / "policy"
    options = yaml.safe_load((pack / "PulumiPolicy.yaml").read_text())["runtime"]["options"]
    assert (pack / options["virtualenv"]).resolve() == (pack.parent / ".venv").resolve()


def test_the_engine_learns_the_port_at_once() -> None:
    """The SDK writes it without flushing, and output to a pipe is kept back otherwise."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        [sys.executable, "policy", "127.0.0.1:1"], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    ) as pack:
        try:
            assert pack.stdout is not None
            readable, _, _ = select.select([pack.stdout], [], [], 60)
            assert readable, "the engine would wait for ever"
            assert int(pack.stdout.readline()) > 0
        finally:
            pack.kill()
