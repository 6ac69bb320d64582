"""Every problem of a kubeconfig, one at a time; and that nothing of a kubeconfig gets into what is said about it."""

from __future__ import annotations

import base64
import re
from copy import deepcopy
from datetime import timedelta
from typing import Any
from unittest import mock

import yaml

from tenantry.messages.errors import Problem, Severity, error
from tenantry.preflight import remotes as checking
from tenantry.preflight.remotes import contact, remotes
from tests.table import table
from tests.unit.issued import NOW, certificate, private_key
from tests.unit.preflight.clusters import FLEET, PLAN, SECRET, Edge, hub, secret


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def valid() -> str:
    return encoded(certificate(NOW, NOW + timedelta(days=365)))


SOUND: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "clusters": [
        {
            "name": "marker-cluster",
            "cluster": {"server": "https://marker.example.com:6443", "certificate-authority-data": valid()},
        }
    ],
    "users": [
        {
            "name": "marker-user",
            "user": {"client-certificate-data": valid(), "client-key-data": encoded(private_key())},
        }
    ],
    "contexts": [{"name": "marker-context", "context": {"cluster": "marker-cluster", "user": "marker-user"}}],
    "current-context": "marker-context",
}


def kubeconfig(cluster: dict[str, Any] | None = None, user: dict[str, Any] | None = None, **top: Any) -> dict[str, Any]:
    """The sound one with some keys replaced; None removes one. A user replaces the user."""
    content = deepcopy(SOUND)
    content.update(top)
    if user is not None:
        content["users"][0]["user"] = user
    entry = {**content["clusters"][0]["cluster"], **(cluster or {})}
    content["clusters"][0]["cluster"] = {key: value for key, value in entry.items() if value is not None}
    return content


def problems(content: dict[str, Any] | bytes | None) -> list[Problem]:
    data = content if isinstance(content, bytes) else yaml.safe_dump(content).encode() if content else b""
    management = hub()
    management.objects[SECRET] = secret(data)
    if content is None:
        del management.objects[SECRET]
    (remote,) = remotes(FLEET, PLAN)
    with management.client() as client, mock.patch.object(checking, "connect_remote", Edge().connect):
        found = contact(client, remote)
    assert all(problem.fix for problem in found)
    _assert_nothing_leaks(data, found)
    return found


def codes(content: dict[str, Any] | bytes | None) -> list[tuple[str, str]]:
    return [(str(problem.severity), problem.code) for problem in problems(content)]


def _assert_nothing_leaks(data: bytes, found: list[Problem]) -> None:
    """No marker and no longer run of base64 of the kubeconfig stands in what is told."""
    told = repr(found)
    assert "marker" not in told
    for run in re.findall(rb"[A-Za-z0-9+/=]{24,}", data):
        assert run.decode() not in told


def test_a_sound_kubeconfig_has_no_problems() -> None:
    assert [] == codes(SOUND)


def test_json_is_yaml() -> None:
    assert [] == codes(yaml.safe_dump(SOUND, default_flow_style=True).encode())


@table("user", [{"token": "marker-token"}, {"username": "marker", "password": "marker"}])
def test_tokens_and_passwords_survive(user: dict[str, Any]) -> None:
    assert [] == codes(kubeconfig(user=user))


INCOMPLETE = {
    "no context": kubeconfig(**{"current-context": "marker-other"}),
    "no current context": kubeconfig(**{"current-context": None}),
    "no cluster": kubeconfig(clusters=[{"name": "marker-other", "cluster": {"server": "https://marker"}}]),
    "no user": kubeconfig(users=[]),
}


@table("lacking", INCOMPLETE)
def test_what_keeps_flux_from_the_cluster_is_an_error(lacking: str) -> None:
    assert [("error", "bad-kubeconfig")] == codes(INCOMPLETE[lacking])


@table("key", ["client-certificate", "client-key", "tokenFile"])
def test_a_user_s_file_is_refused_be_the_user_in_use_or_not(key: str) -> None:
    other = {"name": "marker-other", "user": {key: "/marker"}}
    (problem,) = problems(kubeconfig(users=[*SOUND["users"], other]))
    assert (problem.severity, problem.code) == (Severity.ERROR, "not-taken")
    assert problem.message == f"Flux refuses or ignores '{key}' of the kubeconfig"


@table(
    ("cluster", "user", "keys"),
    [
        ({}, {"exec": {"command": "marker", "env": [{"name": "A", "value": "marker"}]}}, "'exec'"),
        ({}, {"auth-provider": {"name": "marker", "config": {"id-token": "marker"}}}, "'auth-provider'"),
        ({"insecure-skip-tls-verify": True}, None, "'insecure-skip-tls-verify'"),
        ({"certificate-authority": "/marker"}, None, "'certificate-authority'"),
        (
            {},
            {"client-certificate": "/marker.crt", "client-key": "/marker.key"},
            "'client-certificate', 'client-key'",
        ),
    ],
)
def test_what_flux_refuses_or_ignores_is_named_at_once(
    cluster: dict[str, Any], user: dict[str, Any] | None, keys: str
) -> None:
    (problem,) = problems(kubeconfig(cluster, user))
    assert (problem.code, problem.message) == ("not-taken", f"Flux refuses or ignores {keys} of the kubeconfig")


@table("server", ["", "marker://host", "https://", "https://marker:port", "https://[marker"])
def test_a_server_that_can_not_be_one_is_an_error(server: str | None) -> None:
    assert [("error", "bad-kubeconfig")] == codes(kubeconfig({"server": server}))


@table(
    "data",
    [
        b"",
        b"marker",
        b"[marker]",
        b"\xff\xfe",
        b"a: [marker",
        b"!!python/object:marker {}",
        b"kind: Secret\ndata: {marker: marker}",
        b"clusters: marker",
        b"clusters: [marker]",
        b"clusters: [{name: 1}]",
        b"clusters: [{name: a, cluster: marker}]",
        b"users: [{name: a}, {name: a}]",
        b"current-context: [marker]",
        b"current-context: 2026-99-99",
        b"[" * 10_000,
    ],
)
def test_what_is_no_kubeconfig_is_told_as_such(data: bytes) -> None:
    assert [("error", "bad-kubeconfig")] == codes(data)


def test_a_secret_and_a_key_that_are_not_there_are_named() -> None:
    fix = "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml"
    name = "Secret kamaji/edge-admin-kubeconfig"
    assert problems(None) == [error("no-secret", f"there is no {name}", fix)]
    management = hub()
    management.objects[SECRET] = {"metadata": {}, "data": {"value": encoded(b"marker")}}
    (remote,) = remotes(FLEET, PLAN)
    with management.client() as client:
        found = contact(client, remote)
    assert found == [error("no-secret", f"there is no key 'admin.conf' in {name}", fix)]
