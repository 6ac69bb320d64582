from __future__ import annotations

import base64
import json
from datetime import datetime, timedelta

import yaml

from tenantry.cluster.inventory import FoundSecret
from tenantry.messages.errors import Problem, Severity, error
from tenantry.model import SecretKey
from tenantry.preflight.kubeconfig import check_secret
from tests.unit.issued import NOW
from tests.unit.preflight.clusters import kubeconfig

REFERENCE = SecretKey(namespace="kamaji", name="edge-admin-kubeconfig", key="admin.conf")
WATCHED = {"reconcile.fluxcd.io/watch": "Enabled"}


def check(secret: FoundSecret | None) -> tuple[Problem, ...]:
    return check_secret(REFERENCE, secret, now=NOW, local=False)


def test_a_secret_that_is_not_there_is_named() -> None:
    expected = error(
        "no-secret",
        "there is no Secret kamaji/edge-admin-kubeconfig",
        "wait until it is created, or correct the cluster's 'kubeconfig' in tenants.yaml",
    )
    assert (expected,) == check(None)


def test_a_key_that_is_not_there_is_named_with_those_there_are() -> None:
    (problem,) = check(FoundSecret({"value": b"marker", "super-admin.conf": b"marker"}, WATCHED))
    assert (
        Severity.ERROR,
        "Secret kamaji/edge-admin-kubeconfig has no key 'admin.conf' (keys: super-admin.conf, value)",
    ) == (problem.severity, problem.message)
    assert "(keys: none)" in check(FoundSecret({}, WATCHED))[0].message


def test_a_secret_that_flux_does_not_watch_is_a_warning_with_the_command_that_helps() -> None:
    errors_first = check(FoundSecret({"admin.conf": b""}, {"app": "kamaji"}))
    assert ["bad-kubeconfig", "not-watched"] == [problem.code for problem in errors_first]
    assert (
        Severity.WARNING,
        "kubectl label --namespace kamaji secret edge-admin-kubeconfig reconcile.fluxcd.io/watch=Enabled",
    ) == (errors_first[1].severity, errors_first[1].fix)


def test_the_kubeconfig_under_the_key_is_checked_and_no_other() -> None:
    assert ["bad-kubeconfig"] == [problem.code for problem in check(FoundSecret({"admin.conf": b"x"}, WATCHED))]


def _token(begin: datetime, end: datetime) -> bytes:
    claims = base64.urlsafe_b64encode(json.dumps({"iat": begin.timestamp(), "exp": end.timestamp()}).encode())
    content = yaml.safe_load(kubeconfig())
    content["users"][0]["user"]["token"] = f"marker.{claims.decode().rstrip('=')}.marker"
    return yaml.safe_dump(content).encode()


def test_a_token_of_a_week_or_longer_that_nobody_renews_is_a_warning() -> None:
    for days, left, codes in ((30, 5, ["expires-soon"]), (30, 7, []), (7, 1, ["expires-soon"]), (6, 1, [])):
        data = _token(NOW - timedelta(days=days - left), NOW + timedelta(days=left))
        found = check(FoundSecret({"admin.conf": data}, WATCHED))
        assert [problem.code for problem in found] == codes
        assert [each.fix for each in found if each.code in codes] == ["have the kubeconfig's writer renew it"] * len(
            codes
        )


def test_what_a_secret_holds_is_in_no_repr() -> None:
    assert "marker" not in repr(FoundSecret({"admin.conf": b"marker"}, {}))
