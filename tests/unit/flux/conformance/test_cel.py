"""What one field means for another: each rule of the definitions, kept and broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tenantry.flux import conformance
from tenantry.flux.conformance import explanations, holds
from tenantry.flux.schemas import kinds, schema_of
from tenantry.messages.errors import Problem
from tests.table import table
from tests.unit.flux.conformance.specs import AT, told

REF = {"name": "x"}
STS = {"provider": "aws", "endpoint": "https://sts.example.com"}
LDAP = STS | {"provider": "ldap"}
OIDC = {
    "issuerURL": "https://issuer.example.com",
    "audience": "x",
    "validations": [{"expression": "true", "message": "x"}],
}
CHART = {"spec": {"chart": "web", "sourceRef": {"kind": "Bucket", "name": "x"}}}
NO_RETRIES = "retryInterval has no effect unless failures are retried"


def misfit(path: str, message: str, fix: str, notes: tuple[str, ...] = ()) -> Problem:
    return Problem((*AT, *path.split(".")), "bad-combination", message, notes, fix, at_key=True)


BROKEN: list[tuple[str, dict[str, Any], Problem]] = [
    (
        "Bucket",
        {"provider": "gcp", "sts": STS},
        misfit("sts", "sts needs provider 'aws' or 'generic'", "remove it, or change the provider"),
    ),
    (
        "Bucket",
        {"provider": "aws", "sts": LDAP},
        misfit("sts", "with provider 'aws', sts.provider must be 'aws'", "write 'provider: aws' in it"),
    ),
    (
        "Bucket",
        {"sts": STS},
        misfit("sts", "with provider 'generic', sts.provider must be 'ldap'", "write 'provider: ldap' in it"),
    ),
    (
        "Bucket",
        {"provider": "aws", "sts": STS | {"secretRef": REF}},
        misfit("sts", "sts of provider 'aws' takes no secretRef", "remove secretRef from it"),
    ),
    (
        "Bucket",
        {"provider": "aws", "sts": STS | {"certSecretRef": REF}},
        misfit("sts", "sts of provider 'aws' takes no certSecretRef", "remove certSecretRef from it"),
    ),
    (
        "Bucket",
        {"serviceAccountName": "x"},
        misfit(
            "serviceAccountName",
            "provider 'generic' takes no serviceAccountName",
            "remove it, or name a cloud's provider",
        ),
    ),
    (
        "Bucket",
        {"provider": "aws", "serviceAccountName": "x", "secretRef": REF},
        misfit("serviceAccountName", "secretRef and serviceAccountName cannot be combined", "remove one of them"),
    ),
    (
        "GitRepository",
        {"serviceAccountName": "x"},
        misfit(
            "serviceAccountName",
            "serviceAccountName needs provider 'aws' or 'azure'",
            "remove it, or change the provider",
        ),
    ),
    (
        "HelmChart",
        {"sourceRef": {"kind": "Bucket", "name": "x"}, "verify": {}},
        misfit("verify", "only charts of a HelmRepository can be verified", "remove it"),
    ),
    ("HelmRelease", {"chartRef": None}, Problem(AT, "choose-one", "a release needs either 'chart:' or 'chartRef:'")),
    (
        "HelmRelease",
        {"chart": CHART},
        Problem((*AT, "chartRef"), "choose-one", "a release needs either 'chart:' or 'chartRef:'", at_key=True),
    ),
    (
        "HelmRelease",
        {"install": {"strategy": {"name": "RemediateOnFailure", "retryInterval": "5m"}}},
        misfit("install.strategy.retryInterval", NO_RETRIES, "remove it, or write 'name: RetryOnFailure' beside it"),
    ),
    (
        "HelmRelease",
        {"upgrade": {"strategy": {"name": "RemediateOnFailure", "retryInterval": "5m"}}},
        misfit("upgrade.strategy.retryInterval", NO_RETRIES, "remove it, or write 'name: RetryOnFailure' beside it"),
    ),
    (
        "Kustomization",
        {"kubeConfig": {}},
        Problem(
            (*AT, "kubeConfig"),
            "choose-one",
            "kubeConfig needs either 'configMapRef:' or 'secretRef:'; it has neither",
        ),
    ),
    (
        "HelmRelease",
        {"kubeConfig": {"configMapRef": REF, "secretRef": REF}},
        Problem(
            (*AT, "kubeConfig"),
            "choose-one",
            "kubeConfig needs either 'configMapRef:' or 'secretRef:'; it has both",
        ),
    ),
    (
        "Provider",
        {"commitStatusExpr": "'x'"},
        misfit(
            "commitStatusExpr",
            "commitStatusExpr needs a provider that sets commit statuses",
            "remove it, or change the type",
            notes=("types: azuredevops, bitbucket, bitbucketserver, gitea, github, gitlab",),
        ),
    ),
    (
        "Receiver",
        {"type": "generic-oidc", "secretRef": None, "oidcProviders": []},
        misfit(
            "oidcProviders", "type 'generic-oidc' needs at least one entry in oidcProviders", "name the issuer to trust"
        ),
    ),
    (
        "Receiver",
        {"oidcProviders": [OIDC]},
        misfit("oidcProviders", "oidcProviders needs type 'generic-oidc'", "remove it, or change the type"),
    ),
    (
        "Receiver",
        {"type": "generic-oidc", "oidcProviders": [OIDC]},
        misfit("secretRef", "type 'generic-oidc' takes no secretRef", "remove it"),
    ),
    (
        "Receiver",
        {"secretRef": None},
        Problem(AT, "bad-combination", "every type but 'generic-oidc' needs a secretRef", fix="add 'secretRef:'"),
    ),
    (
        "Receiver",
        {"type": "generic-oidc", "secretRef": None, "oidcProviders": [OIDC, OIDC]},
        Problem(
            (*AT, "oidcProviders", 1),
            "duplicate",
            "issuerURL must differ between entries, entry 0 has the same",
            fix="remove one of them",
        ),
    ),
]


@table(("kind", "changes", "expected"), BROKEN)
def test_a_broken_rule_is_told_where_it_can_be_mended(kind: str, changes: dict[str, Any], expected: Problem) -> None:
    assert [expected] == told(kind, **changes)


KEPT: list[tuple[str, dict[str, Any]]] = [
    ("Bucket", {"provider": "aws", "sts": STS}),
    ("Bucket", {"sts": LDAP | {"secretRef": REF, "certSecretRef": REF}}),
    ("Bucket", {"provider": "gcp", "serviceAccountName": "x"}),
    ("Bucket", {"provider": "aws", "secretRef": REF}),
    ("GitRepository", {"provider": "azure", "serviceAccountName": "x"}),
    ("HelmChart", {"verify": {}}),
    ("HelmRelease", {"chart": CHART, "chartRef": None}),
    ("HelmRelease", {"install": {"strategy": {"name": "RetryOnFailure", "retryInterval": "5m"}}}),
    ("HelmRelease", {"upgrade": {"strategy": {"name": "RetryOnFailure", "retryInterval": "5m"}}}),
    ("Kustomization", {"kubeConfig": {"configMapRef": REF}}),
    ("HelmRelease", {"kubeConfig": {"secretRef": REF}}),
    ("Provider", {"type": "gitlab", "commitStatusExpr": "'x'"}),
    ("Receiver", {"type": "generic-oidc", "secretRef": None, "oidcProviders": [OIDC]}),
    ("Receiver", {"oidcProviders": []}),
    (
        "Receiver",
        {
            "type": "generic-oidc",
            "secretRef": None,
            "oidcProviders": [OIDC, OIDC | {"issuerURL": "https://other.example.com"}],
        },
    ),
]


@table(("kind", "changes"), KEPT)
def test_a_kept_rule_is_passed_over(kind: str, changes: dict[str, Any]) -> None:
    assert told(kind, **changes) == []


def test_rules_wait_until_the_structure_is_right() -> None:
    assert [finding.code for finding in told("HelmRelease", chartRef=None, interval="x")] == ["bad-duration"]


def rules(schema: dict[str, Any]) -> Iterator[str]:
    yield from schema.get("x-kubernetes-validations", ())
    for part in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(part, dict):
            yield from rules(part)


def test_every_rule_of_the_definitions_is_explained_and_no_other() -> None:
    assert {rule for kind in kinds() for rule in rules(schema_of(kind).spec)} == set(explanations())


def test_every_explanation_is_told_in_a_test() -> None:
    tested = {finding.message for _, _, finding in BROKEN}
    assert {explanation["message"] for explanation in explanations().values()} - tested == set()


def test_every_rule_can_be_evaluated_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is true of one of the specs here, and false of another."""
    results: dict[str, set[bool]] = {}

    def recorded(rule: str, value: Any) -> bool:
        result = holds(rule, value)
        results.setdefault(rule, set()).add(result)
        return result

    monkeypatch.setattr(conformance, "holds", recorded)
    for kind, changes in (*KEPT, *((kind, changes) for kind, changes, _ in BROKEN)):
        told(kind, **changes)
    assert {rule: {True, False} for rule in explanations()} == results


def test_a_rule_about_a_change_of_an_object_is_noticed() -> None:
    """It would have to be left to the API server."""
    with pytest.raises(RuntimeError, match="undeclared reference to 'oldSelf'"):
        holds("self == oldSelf", {})


def test_rules_lie_where_they_are_looked_for() -> None:
    """The walk does not enter mappings with keys of the author's choice."""
    opened = [
        part
        for kind in kinds()
        for node in _all(schema_of(kind).spec)
        if isinstance(part := node.get("additionalProperties"), dict)
    ]
    assert opened
    assert [rule for part in opened for rule in rules(part)] == []
    assert [part for part in opened if any("default" in node for node in _all(part))] == []


def _all(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    for part in [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]:
        if isinstance(part, dict):
            yield from _all(part)


@table(("value", "expected"), [({"a": 1}, True), ({"a": 2}, False), ({}, False)])
def test_a_rule_that_can_not_be_evaluated_does_not_hold(value: dict[str, int], expected: bool) -> None:  # noqa: FBT001
    assert holds("self.a == 1", value) is expected
