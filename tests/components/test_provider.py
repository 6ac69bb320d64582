from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from components.provider import management_provider
from tenantry.stacks.file import Reach
from tests.components.recording import record


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
