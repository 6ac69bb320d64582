"""The objects for Pulumi's operator: what they say, and that the operator's own definitions accept them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs

from tenantry.guard.claims import Claim
from tenantry.stacks.file import Stack, StackTarget
from tenantry.stacks.operator import Delivery, Repository, object_name, objects
from tests.blocks import ROOT
from tests.table import table

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "pulumi.com_v1_Stack.json").read_text())
DELIVERY = Delivery(
    project="fleet",
    repository=Repository("https://git.example.com/platform/fleet", "main"),
    namespace="pulumi",
    service_account="tenantry",
    secret="pulumi",
    kubeconfig_secret="{environment}-kubeconfig",
    after={"dev": None, "prod": "dev"},
)
FULL = replace(
    DELIVERY,
    repository=Repository("git@git.example.com:fleet.git", "", "0a1b2c", "fleets/eu", "deploy-key"),
    organization="acme",
    backend="s3://state",
    secrets_provider="awskms://alias/pulumi",
    image="registry.example.com/fleet:1",
    variables={"PULUMI_PARALLEL": "64"},
    environment_secrets=("aws",),
)


def stack(name: str, environment: str, *, files: bool = False) -> Stack:
    claim = Claim(environment, f"fleet/{name}")
    return Stack(name, environment, StackTarget(files=files, claim=claim))


STACKS = [
    stack("dev", "dev"),
    stack("prod", "prod"),
    stack("files", "prod", files=True),
]


def specs(delivery: Delivery) -> dict[str, dict[str, Any]]:
    made = objects(STACKS, delivery)
    return {each["metadata"]["name"]: each["spec"] for each in made if each["kind"] == "Stack"}


@table("delivery", [DELIVERY, FULL, replace(DELIVERY, backend="https://api.pulumi.com")])
def test_the_operator_s_definition_accepts_each_stack(delivery: Delivery) -> None:
    validator = jsonschema_rs.Draft202012Validator(SCHEMA["spec"])
    for spec in specs(delivery).values():
        assert [each.message for each in validator.iter_errors(spec)] == []


def test_the_page_names_the_version_whose_definitions_these_are() -> None:
    version = SCHEMA["source"]["version"].removeprefix("v")
    assert f"Pulumi Kubernetes operator {version}:" in (ROOT / "docs" / "pulumi-operator.md").read_text()


def test_the_definition_refuses_what_it_does_not_know() -> None:
    validator = jsonschema_rs.Draft202012Validator(SCHEMA["spec"])
    spec = specs(DELIVERY)["fleet-dev"]
    assert not validator.is_valid(spec | {"destroyOnFinalise": False})
    assert not validator.is_valid(spec | {"prerequisites": ["fleet-dev"]})


def test_a_stack_waits_for_the_environment_before() -> None:
    assert {
        "fleet-dev": None,
        "fleet-prod": [{"name": "fleet-dev"}],
    } == {name: spec.get("prerequisites") for name, spec in specs(DELIVERY).items()}


def test_without_stacks_on_clusters_there_are_no_objects() -> None:
    assert objects([STACKS[-1]], DELIVERY) == []


def secrets_of(delivery: Delivery) -> list[str]:
    references = specs(delivery)["fleet-dev"]["envRefs"]
    return [name for name, each in references.items() if each["type"] == "Secret"]


def test_what_the_secret_has_to_hold_depends_on_the_backend() -> None:
    assert secrets_of(DELIVERY) == ["PULUMI_BACKEND_URL", "PULUMI_CONFIG_PASSPHRASE"]
    assert secrets_of(replace(DELIVERY, backend="postgres://db/state")) == ["PULUMI_CONFIG_PASSPHRASE"]
    assert secrets_of(replace(DELIVERY, backend="https://api.pulumi.com")) == ["PULUMI_ACCESS_TOKEN"]
    assert secrets_of(FULL) == []


def test_everything_that_can_be_set_is_in_the_stack() -> None:
    spec = specs(FULL)["fleet-prod"]
    workspace = spec.pop("workspaceTemplate")["spec"]
    assert spec == {
        "stack": "acme/fleet/prod",
        "projectRepo": "git@git.example.com:fleet.git",
        "shallow": True,
        "commit": "0a1b2c",
        "repoDir": "fleets/eu",
        "gitAuth": {
            "sshAuth": {"sshPrivateKey": {"type": "Secret", "secret": {"name": "deploy-key", "key": "sshPrivateKey"}}}
        },
        "backend": "s3://state",
        "secretsProvider": "awskms://alias/pulumi",
        "serviceAccountName": "tenantry",
        "envRefs": {"PULUMI_PARALLEL": {"type": "Literal", "literal": {"value": "64"}}},
        "config": {"tenantry:kubeconfig": "/etc/tenantry/kubeconfig/value"},
        "prerequisites": [{"name": "fleet-dev"}],
        "destroyOnFinalize": False,
        "useLocalStackOnly": True,
        "retryOnUpdateConflict": True,
        "retryMaxBackoffDurationSeconds": 900,
        "resyncFrequencySeconds": 60,
    }
    assert workspace == {
        "image": "registry.example.com/fleet:1",
        "securityProfile": "restricted",
        "envFrom": [{"secretRef": {"name": "aws"}}],
        "podTemplate": {
            "spec": {
                "containers": [
                    {
                        "name": "pulumi",
                        "volumeMounts": [
                            {"name": "kubeconfig", "mountPath": "/etc/tenantry/kubeconfig", "readOnly": True}
                        ],
                    }
                ],
                "volumes": [{"name": "kubeconfig", "secret": {"secretName": "prod-kubeconfig"}}],
            }
        },
    }


@table(
    ("stack", "name"),
    [
        ("prod-1", "fleet-prod-1"),
        ("Prod_1", "fleet-prod-1-65474f20"),
        ("a" * 60, f"fleet-{'a' * 27}-1e97f37a"),
    ],
)
def test_names_that_kubernetes_refuses_get_a_hash(stack: str, name: str) -> None:
    made = object_name("fleet", stack)
    assert len(made) <= 42
    assert made == name
