"""Each class of constraint: what passes, and the whole of what is told about what does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenantry.flux import schemas
from tenantry.flux.conformance import check_spec
from tenantry.flux.schemas import kinds, schema_of
from tenantry.messages.errors import Problem
from tenantry.messages.problems import empty_list
from tests.table import table
from tests.unit.flux.conformance.specs import AT, RIGHT, told


@table("kind", kinds())
def test_the_least_that_a_kind_needs_is_enough(kind: str) -> None:
    assert list(check_spec(kind, RIGHT[kind], ())) == []


@table(("kind", "key"), [(kind, key) for kind in kinds() for key in RIGHT[kind]])
def test_no_less_is_enough(kind: str, key: str) -> None:
    needed = key in schema_of(kind).spec.get("required", ()) or (kind, key) in {
        ("HelmRelease", "chartRef"),
        ("Receiver", "secretRef"),
    }

    assert bool(told(kind, **{key: None})) is needed


def test_a_missing_key_is_told_at_the_block_that_lacks_it() -> None:
    at = (*AT, "sourceRef")
    expected = [Problem(at, "missing-key", "key 'kind' is missing", fix="add 'kind:'", meant=(*at, "kind"))]
    assert expected == told("Kustomization", sourceRef={"name": "manifests"})


def test_a_missing_key_with_a_default_is_none() -> None:
    assert told("OCIRepository", verify={"secretRef": {"name": "keys"}}) == []


def test_an_unknown_key_is_told_with_the_closest_known_one() -> None:
    expected = [
        Problem(
            (*AT, "test", "ignoreFailure"),
            "unknown-key",
            "key 'ignoreFailure' is not known here",
            fix="write 'ignoreFailures'",
            at_key=True,
            meant=(*AT, "test", "ignoreFailures"),
        )
    ]
    assert expected == told("HelmRelease", test={"ignoreFailure": True})


def test_every_unknown_key_of_a_list_entry_has_its_own_place() -> None:
    findings = told(
        "Alert", eventSources=[{"kind": "Bucket", "name": "a"}, {"kind": "Bucket", "name": "b", "x": 1, "y": 2}]
    )
    assert [finding.path for finding in findings] == [(*AT, "eventSources", 1, "x"), (*AT, "eventSources", 1, "y")]


@table(
    ("changes", "path", "message", "fix"),
    [
        ({"path": 1}, ("path",), "expected a string, found the number 1", "put it in quotes"),
        (
            {"prune": "yes"},
            ("prune",),
            "expected true or false, found a string",
            "write true or false, without quotes",
        ),
        ({"components": "a"}, ("components",), "expected a list, found a string", "put it in brackets, as in [a, b]"),
        ({"patches": "a"}, ("patches",), "expected a list, found a string", "put it in brackets, as in [a, b]"),
        (
            {"components": [["a"]]},
            ("components", 0),
            "expected a string, found a list",
            "write one text, such as a name",
        ),
        (
            {"sourceRef": "a"},
            ("sourceRef",),
            "expected a mapping, found a string",
            "write a mapping, with keys such as kind, name",
        ),
        (
            {"postBuild": {"substitute": {"a": True}}},
            ("postBuild", "substitute", "a"),
            "expected a string, found true",
            "put it in quotes",
        ),
        (
            {"commonMetadata": {"labels": {"a": None}}},
            ("commonMetadata", "labels", "a"),
            "expected a string, found nothing",
            "remove the key, or give it a value",
        ),
    ],
)
def test_a_value_of_the_wrong_type_is_told_once(
    changes: dict[str, Any], path: tuple[str | int, ...], message: str, fix: str
) -> None:
    assert [Problem((*AT, *path), "wrong-type", message, fix=fix)] == told("Kustomization", **changes)


@table("number", [2**63, -(2**63) - 1])
def test_a_whole_number_has_64_bits(number: int) -> None:
    remediation = {"remediation": {"retries": number}}
    assert [finding.code for finding in told("HelmRelease", install=remediation)] == ["bad-value"]


@table(
    ("kind", "changes", "code", "message", "fix"),
    [
        # One of the words to choose from, and no more than that.
        (
            "Kustomization",
            {"deletionPolicy": 3},
            "wrong-type",
            "expected a string, found the number 3",
            "put it in quotes",
        ),
        ("GitRepository", {"provider": "y"}, "bad-value", "'y' is not allowed here", "write one of these"),
        ("GitRepository", {"interval": "8784h"}, "bad-duration", "'8784h' is too long: a year is the most", ""),
        (
            "GitRepository",
            {"timeout": "1h"},
            "bad-duration",
            "'1h' is not a valid duration here",
            "write it as '30s' or '90m': hours are not allowed here",
        ),
        # It may hold a password.
        (
            "OCIRepository",
            {"url": "https://rocky:secret@a.com/x"},
            "bad-value",
            "a string does not match ^oci://.*$",
            "",
        ),
        ("HelmRelease", {"targetNamespace": ""}, "empty", "an empty string is not allowed here", ""),
        ("HelmRelease", {"releaseName": "a" * 54}, "bad-value", "at most 53 characters are allowed, found 54", ""),
    ],
)
def test_each_constraint_has_a_message_of_its_own(
    kind: str, changes: dict[str, Any], code: str, message: str, fix: str
) -> None:
    (key,), (problem,) = changes, told(kind, **changes)
    assert (problem.path, problem.code, problem.message, problem.fix) == ((*AT, key), code, message, fix)


def test_an_allowed_value_is_one_of_those_that_are_named() -> None:
    (problem,) = told("HelmRelease", driftDetection={"mode": "on"})
    assert (problem.path[-2:], problem.notes) == (("driftDetection", "mode"), ("allowed: enabled, warn, disabled",))


@table(
    ("kind", "changes"),
    [
        *(("GitRepository", {"interval": duration}) for duration in ("1.5h", "1h30m", "10ms", "8783h")),
        ("HelmRelease", {"releaseName": "a" * 53}),
    ],
)
def test_what_keeps_to_the_constraints_passes(kind: str, changes: dict[str, Any]) -> None:
    assert told(kind, **changes) == []


@table(
    ("duration", "fix"),
    [
        ("5", "add a unit, such as '5s' or '5m'"),
        ("5d", "write it as '30s', '5m' or '1h30m'"),
        ("-5m", "write it as '30s', '5m' or '1h30m'"),
        ("5m\n", "write it as '30s', '5m' or '1h30m'"),
    ],
)
def test_a_value_of_the_wrong_form_gets_the_name_of_the_form_and_what_to_write(duration: str, fix: str) -> None:
    shown = "a string" if "\n" in duration else f"'{duration}'"
    expected = [Problem((*AT, "interval"), "bad-duration", f"{shown} is not a valid duration", fix=fix)]
    assert expected == told("GitRepository", interval=duration)


def test_an_empty_list_is_told() -> None:
    provider = {"issuerURL": "https://issuer.example.com", "audience": "rocky", "validations": []}
    expected = [empty_list((*AT, "oidcProviders", 0, "validations"))]
    assert expected == told("Receiver", type="generic-oidc", secretRef=None, oidcProviders=[provider])


@table("values", [{"a": [1, {"b": None}]}, {"a": 10**40}, [], "text"])
def test_the_values_of_a_chart_may_be_anything(values: Any) -> None:
    assert told("HelmRelease", values=values) == []


def test_all_problems_are_told_in_one_run() -> None:
    findings = told("GitRepository", url=None, interval="x", provider="y", z=1)
    assert sorted(finding.code for finding in findings) == ["bad-duration", "bad-value", "missing-key", "unknown-key"]


def test_other_kinds_are_none_of_its_business() -> None:
    with pytest.raises(KeyError):
        list(check_spec("Deployment", {}, ()))


Tell = Callable[[dict[str, Any], Any], list[Problem]]


@pytest.fixture
def tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Tell:
    """What is told about a value of a kind whose only key has a schema of the test's own."""

    def about(part: dict[str, Any], value: Any) -> list[Problem]:
        kind = request.node.name
        record = {"group": "g", "version": "v1", "kind": kind, "plural": "p", "scope": "Namespaced"}
        origin = {"module": "m", "version": "v1"}
        path = tmp_path / "invented.json"
        path.write_text(json.dumps({**record, "source": origin, "spec": {"type": "object", "properties": {"a": part}}}))
        monkeypatch.setattr(schemas, "_files", lambda: {kind: path})
        return list(check_spec(kind, {"a": value}, AT))

    return about


@pytest.mark.parametrize(
    ("part", "value", "code", "message"),
    [
        ({"minimum": 2}, 1, "bad-value", "at least 2 is needed, found 1"),
        ({"maximum": 2}, 3, "bad-value", "at most 2 is allowed, found 3"),
        ({"minLength": 2}, "a", "bad-value", "at least 2 characters are needed, found 1"),
        ({"minItems": 2}, ["a"], "bad-value", "at least 2 entries are needed, found 1"),
        ({"maxItems": 1}, ["a", "b"], "bad-value", "at most 1 entry is allowed, found 2"),
        ({"maxProperties": 1}, {"a": 1, "b": 1}, "bad-value", "at most 1 entry is allowed, found 2"),
        (
            {"type": ["integer", "string"]},
            1.5,
            "wrong-type",
            "expected a whole number or a string, found the number 1.5",
        ),
        ({"type": ["integer", "null"]}, "a", "wrong-type", "expected a whole number or nothing, found a string"),
    ],
)
def test_constraints_that_no_kind_uses_yet_are_told_too(
    tell: Tell, part: dict[str, Any], value: Any, code: str, message: str
) -> None:
    assert [Problem((*AT, "a"), code, message)] == tell(part, value)


def test_an_empty_mapping_is_told(tell: Tell) -> None:
    assert [empty_list((*AT, "a"))] == tell({"minProperties": 1}, {})


@pytest.mark.parametrize("value", [8080, "http"])
def test_a_number_or_a_string_may_be_either(tell: Tell, value: Any) -> None:
    assert tell({"type": ["integer", "string"]}, value) == []


def test_the_entries_of_a_set_differ(tell: Tell) -> None:
    expected = [Problem((*AT, "a"), "duplicate", "no two entries may be equal", fix="remove one of them")]
    assert expected == tell({"uniqueItems": True}, ["x", "y", "x"])
