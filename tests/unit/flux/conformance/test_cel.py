"""What one field means for another: each rule of the definitions, kept and broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tenantry.flux.conformance import check
from tenantry.flux.conformance.check import explanations, holds
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

BROKEN: list[tuple[str, dict[str, Any], Problem]] = [
    (
        "Bucket",
        {"provider": "gcp", "sts": STS},
        Problem(
            (*AT, "sts"),
            "bad-combination",
            "sts needs provider 'aws' or 'generic'",
            fix="remove it, or change the provider",
            at_key=True,
        ),
    ),
    (
        "Bucket",
        {"provider": "aws", "sts": LDAP},
        Problem(
            (*AT, "sts"),
            "bad-combination",
            "with provider 'aws', sts.provider must be 'aws'",
            fix="write 'provider: aws' in it",
            at_key=True,
        ),
    ),
    (
        "Bucket",
        {"sts": STS},
        Problem(
            (*AT, "sts"),
            "bad-combination",
            "with provider 'generic', sts.provider must be 'ldap'",
            fix="write 'provider: ldap' in it",
            at_key=True,
        ),
    ),
    (
        "Bucket",
        {"provider": "aws", "sts": STS | {"secretRef": REF}},
        Problem(
            (*AT, "sts"),
            "bad-combination",
            "sts of provider 'aws' takes no secretRef",
            fix="remove secretRef from it",
            at_key=True,
        ),
    ),
    (
        "Bucket",
        {"provider": "aws", "sts": STS | {"certSecretRef": REF}},
        Problem(
            (*AT, "sts"),
            "bad-combination",
            "sts of provider 'aws' takes no certSecretRef",
            fix="remove certSecretRef from it",
            at_key=True,
        ),
    ),
    (
        "Bucket",
        {"serviceAccountName": "x"},
        Problem(
            (*AT, "serviceAccountName"),
            "bad-combination",
            "provider 'generic' takes no serviceAccountName",
            fix="remove it, or name a cloud's provider",
            at_key=True,
        ),
    ),
    (
        "Bucket",
        {"provider": "aws", "serviceAccountName": "x", "secretRef": REF},
        Problem(
            (*AT, "serviceAccountName"),
            "bad-combination",
            "secretRef and serviceAccountName cannot be combined",
            fix="remove one of them",
            at_key=True,
        ),
    ),
    (
        "GitRepository",
        {"serviceAccountName": "x"},
        Problem(
            (*AT, "serviceAccountName"),
            "bad-combination",
            "serviceAccountName needs provider 'aws' or 'azure'",
            fix="remove it, or change the provider",
            at_key=True,
        ),
    ),
    (
        "HelmChart",
        {"sourceRef": {"kind": "Bucket", "name": "x"}, "verify": {}},
        Problem(
            (*AT, "verify"),
            "bad-combination",
            "only charts of a HelmRepository can be verified",
            fix="remove it",
            at_key=True,
        ),
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
        Problem(
            (*AT, "install", "strategy", "retryInterval"),
            "bad-combination",
            NO_RETRIES,
            fix="remove it, or write 'name: RetryOnFailure' beside it",
            at_key=True,
        ),
    ),
    (
        "HelmRelease",
        {"upgrade": {"strategy": {"name": "RemediateOnFailure", "retryInterval": "5m"}}},
        Problem(
            (*AT, "upgrade", "strategy", "retryInterval"),
            "bad-combination",
            NO_RETRIES,
            fix="remove it, or write 'name: RetryOnFailure' beside it",
            at_key=True,
        ),
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
        Problem(
            (*AT, "commitStatusExpr"),
            "bad-combination",
            "commitStatusExpr needs a provider that sets commit statuses",
            ("types: azuredevops, bitbucket, bitbucketserver, gitea, github, gitlab",),
            "remove it, or change the type",
            at_key=True,
        ),
    ),
    (
        "Receiver",
        {"type": "generic-oidc", "secretRef": None, "oidcProviders": []},
        Problem(
            (*AT, "oidcProviders"),
            "bad-combination",
            "type 'generic-oidc' needs at least one entry in oidcProviders",
            fix="name the issuer to trust",
            at_key=True,
        ),
    ),
    (
        "Receiver",
        {"oidcProviders": [OIDC]},
        Problem(
            (*AT, "oidcProviders"),
            "bad-combination",
            "oidcProviders needs type 'generic-oidc'",
            fix="remove it, or change the type",
            at_key=True,
        ),
    ),
    (
        "Receiver",
        {"type": "generic-oidc", "oidcProviders": [OIDC]},
        Problem(
            (*AT, "secretRef"),
            "bad-combination",
            "type 'generic-oidc' takes no secretRef",
            fix="remove it",
            at_key=True,
        ),
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
    assert {explanation.message for explanation in explanations().values()} - tested == set()


def test_every_rule_can_be_evaluated_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is true of one of the specs here, and false of another."""
    results: dict[str, set[bool]] = {}

    def recorded(rule: str, value: Any, schema: dict[str, Any]) -> bool:
        result = holds(rule, value, schema)
        results.setdefault(rule, set()).add(result)
        return result

    monkeypatch.setattr(check, "holds", recorded)
    for kind, changes in (*KEPT, *((kind, changes) for kind, changes, _ in BROKEN)):
        told(kind, **changes)
    assert {rule: {True, False} for rule in explanations()} == results


def test_a_rule_about_a_change_of_an_object_is_noticed() -> None:
    """It would have to be left to the API server."""
    with pytest.raises(RuntimeError, match="undeclared reference to 'oldSelf'"):
        holds("self == oldSelf", {}, {"type": "object"})


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
    assert holds("self.a == 1", value, {"type": "object", "properties": {"a": {"type": "integer"}}}) is expected
