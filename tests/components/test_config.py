from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.config import StackConfig, management_provider, read_config
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.stacks.file import Reach
from tests.components.recording import record
from tests.table import table

PROJECT = Path(__file__).parents[2] / "Pulumi.yaml"


def read(config: dict[str, str], stack: str = "dev") -> StackConfig:
    found: list[StackConfig] = []
    record(
        lambda: found.append(read_config()),
        stack=stack,
        config={f"tenantry:{key}": each for key, each in config.items()},
    )
    return found[0]


def test_without_settings_the_stack_is_the_environment_of_its_name_on_the_usual_cluster() -> None:
    assert read({}, "prod") == StackConfig(Claim("prod", "tenantry/prod"), Path("tenants.yaml"), Reach())


def test_settings_that_are_empty_count_as_not_set() -> None:
    assert read(dict.fromkeys(("environment", "fleet", "kubeconfig", "context"), "")) == read({})


def test_the_cluster_is_the_one_of_a_kubeconfig_and_a_context() -> None:
    assert read({"kubeconfig": "hub/config", "context": "admin"}).target == Reach(Path("hub/config"), "admin")


def test_every_key_is_declared_for_the_command_line_with_a_description_and_a_default() -> None:
    declared = {key: each for key, each in yaml.safe_load(PROJECT.read_text())["config"].items() if ":" not in key}
    settings = {
        "environment",
        "fleet",
        "kubeconfig",
        "context",
        "maxDeletions",
        "allowDeletions",
    }
    assert set(declared) == settings
    assert all({"type", "description", "default"} <= set(each) for each in declared.values())


def test_what_may_be_removed_is_a_list_of_names() -> None:
    assert read({"allowDeletions": '["tenant/rocky", "addon/edge/dns"]'}).allowed_deletions == (
        "tenant/rocky",
        "addon/edge/dns",
    )
    assert read({"allowDeletions": "[]"}) == read({})


@table("value", ["tenant/rocky", '{"tenant": "rocky"}', "5", '"tenant/rocky"'])
def test_what_may_be_removed_is_refused_if_it_is_not_a_list(value: str) -> None:
    with pytest.raises(Refused) as refused:
        read({"allowDeletions": value})
    assert str(refused.value) == (
        "tenantry:allowDeletions is not a list\n"
        "  fix: pulumi config rm tenantry:allowDeletions, then pulumi config set --path 'tenantry:allowDeletions[0]' tenant/TENANT"
    )


def test_a_number_above_the_ceiling_is_refused() -> None:
    assert read({"maxDeletions": "10"}).max_deletions == 10
    with pytest.raises(Refused) as refused:
        read({"maxDeletions": "11"})
    assert str(refused.value) == (
        "tenantry:maxDeletions is 11, but a stack may set at most 10: it applies to every later run too\n"
        "  fix: name what may be removed: pulumi config set --path 'tenantry:allowDeletions[0]' tenant/TENANT; then pulumi config"
        " rm tenantry:maxDeletions"
    )


def inputs(way: Reach) -> Mapping[str, Any]:
    return record(lambda: management_provider(way, "hub-dev")).provider.inputs


def test_a_cluster_is_known_by_its_name_and_reached_through_a_path() -> None:
    assert inputs(Reach(Path("hub/kubeconfig"), "admin")) == {
        "kubeconfig": "hub/kubeconfig",
        "context": "admin",
        "clusterIdentifier": "hub-dev",
        "kubeClientSettings": '{"qps": 500, "burst": 1000}',
        "enableSecretMutable": "true",
        "enableConfigMapMutable": "true",
    }


def test_the_users_kubeconfig_stays_out_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/someone/.kube/config")
    assert inputs(Reach())["kubeconfig"] == ""
