"""What people see in an editor while they write tenants.yaml: names to choose from, texts to read, and their mistakes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.editors.server import PROGRAM, LanguageServer, language_server

ROOT = Path(__file__).resolve().parents[2]
TENANT = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
tenants:
  rocky:
"""
CLUSTER = "apiVersion: tenantry/v1\nclusters:\n  edge:\n"
APP = f"{TENANT}    apps:\n      web:\n"


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageServer]:
    if not PROGRAM.exists() and not os.environ.get("CI"):
        pytest.skip("the server is missing; `make test-editors` installs it")
    with language_server(ROOT / "tenants.schema.json") as started:
        started.problems(TENANT)  # it answers without the schema until it has read it
        yield started


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        (f"{TENANT}    role: |\n", ["view", "edit", "admin"]),
        (f"{TENANT}    interval: |\n", ["30s", "5m", "1h"]),
        (f"{TENANT}    state: |\n", ["active", "paused", "removing", "offboarding"]),
        (f"{TENANT}    network: |\n", ["isolated", "strict", "open"]),
        (f"{TENANT}    podSecurity: |\n", ["privileged", "baseline", "restricted"]),
        (f"{APP}        kustomize:\n          prune: |\n", ["true", "false"]),
        (f"{APP}        helm:\n          driftDetection:\n            mode: |\n", ["enabled", "warn", "disabled"]),
    ],
)
def test_values_are_offered_without_null(text: str, offered: list[str], server: LanguageServer) -> None:
    assert offered == server.labels(text)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (f"{APP}        |\n", {"kustomize", "helm"}),
        (f"{TENANT}    sources:\n      manifests:\n        |\n", {"git", "oci", "helm", "bucket"}),
        (f"{CLUSTER}    kubeconfig:\n      |\n", {"kamaji", "capi", "vcluster", "secret", "configMap"}),
        (f"{TENANT}    clusters:\n      |\n", {"names", "labels", "all"}),
    ],
)
def test_the_keys_of_a_choice_are_offered_by_their_names(text: str, keys: set[str], server: LanguageServer) -> None:
    offered = set(server.labels(text))
    assert keys <= offered
    assert not any("tenants.yaml" in label or "object" in label for label in offered)


def test_a_new_file_is_offered_its_keys(server: LanguageServer) -> None:
    offered = server.labels("|\n")
    assert {"apiVersion", "environments", "clusters", "tenants"} <= set(offered)
    assert "tenants.yaml of Tenantry" not in offered


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            f"{TENANT}    |state: active\n",
            "#### state\n\n`paused`: Flux stops reconciling the tenant's apps. `removing`: a later run may remove the tenant,"
            " even if the environment is protected; its namespaces stay with their data. `offboarding`: its namespaces go with"
            " their data. In an override of `clusters` alone, the last two take it off these clusters; until that run its apps"
            " keep running.\n\nDefault: `active`.\n\nAllowed Values:\n\n"
            "* `active`\n* `paused`\n* `removing`\n* `offboarding`\n",
        ),
        (
            f"{APP}        |kustomize: {{}}\n",
            "#### kustomize patch\n\nThe Kustomization of an app. It takes all fields of Flux's spec; in an override `null`"
            " removes a value.\n\n`interval`, `retryInterval` and `timeout` are those of the tenant, unless the block says"
            " otherwise. `wait` is false with `healthChecks`, which Flux would ignore.\n",
        ),
        (f"{APP}        kustomize:\n          |path: ./x\n", "#### path\n\nThe directory in the source to build.\n"),
    ],
)
def test_a_hover_is_a_title_and_whole_sentences_with_code(text: str, shown: str, server: LanguageServer) -> None:
    assert shown == server.hover(text).partition("\nSource: ")[0]


def test_mistakes_are_marked_at_their_lines(server: LanguageServer) -> None:
    text = f"{TENANT}    role: 5\n    appz: {{}}\n    state: gone\n"
    assert [
        '6: Incorrect type. Expected "string".',
        "7: Property appz is not allowed.",
        '8: Value is not accepted. Valid values: "active", "paused", "removing", "offboarding".',
    ] == sorted(server.problems(text))


def test_the_fleet_of_the_repository_and_null_are_right(server: LanguageServer) -> None:
    fleet = (ROOT / "tenants.yaml").read_text(encoding="utf-8")
    assert [] == server.problems(fleet.partition("\n")[2])  # without the line that names the schema
    assert [] == server.problems(f"{APP}        kustomize: {{source: m, interval: null}}\n        dependsOn: null\n")
