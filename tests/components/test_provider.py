from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pulumi_kubernetes import ProviderArgs

from components.config import ClusterTarget, DirectoryTarget, Target
from components.provider import management_providers
from tests.components.recording import Registration, record

ADOPTING = {"upsertExistingObjects": "true"} if hasattr(ProviderArgs, "upsert_existing_objects") else {}
"""Newer providers are told to take over what exists, as older ones do."""


def provider(target: Target) -> Registration:
    return record(lambda: management_providers(target, "dev", ("hub-dev",))).provider


def inputs(target: Target) -> Mapping[str, Any]:
    return provider(target).inputs


def test_a_cluster_is_known_by_its_name_and_reached_through_a_path() -> None:
    assert inputs(ClusterTarget(Path("hub/kubeconfig"), "admin")) == {
        "kubeconfig": "hub/kubeconfig",
        "context": "admin",
        "clusterIdentifier": "hub-dev",
        "kubeClientSettings": '{"qps": 500, "burst": 1000}',
        "enableSecretMutable": "true",
        "enableConfigMapMutable": "true",
        **ADOPTING,
    }


def test_the_users_kubeconfig_stays_out_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/someone/.kube/config")
    assert inputs(ClusterTarget())["kubeconfig"] == ""
    assert inputs(DirectoryTarget(Path("out"))) == {"kubeconfig": "", "renderYamlToDirectory": "out"}


def test_the_users_kubeconfig_is_hidden_from_a_provider_that_writes_files() -> None:
    assert provider(DirectoryTarget(Path("out"))).environment == {"PATH": "KUBECONFIG"}
    assert provider(ClusterTarget()).environment == {}
