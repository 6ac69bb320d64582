"""The published JSON Schema says what the model says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from docgen.document.whole import NOTHING, json_schema
from tenantry.cli.app import run
from tenantry.model import durations, scalars
from tenantry.source.include import read_all
from tenantry.source.parse import parse
from tests.table import table
from tests.unit.texts import rocky

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json_schema()
FILES = [ROOT / "tenants.yaml", *sorted(ROOT.glob("examples/*/tenants.yaml"))]
SOUND = [
    *FILES,
    *sorted(ROOT.glob("tests/golden/*/tenants.yaml")),
    *sorted(ROOT.glob("tests/unit/fleet/rules/cases/*/good.yaml")),
]
BROKEN = ROOT / "tests/golden/diagnostics"


def test_the_published_schema_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    published = (ROOT / "tenants.schema.json").read_text(encoding="utf-8")
    assert capsys.readouterr().out == published, "stale: run `make document-schema`, and read the difference"


def test_the_published_schema_is_small_enough_for_editors_to_read_while_people_type() -> None:
    assert (ROOT / "tenants.schema.json").stat().st_size <= 130_000


@table("file", FILES, ids=lambda file: file.parent.name)
def test_every_file_names_the_schema_in_its_first_line(file: Path) -> None:
    with file.open(encoding="utf-8") as opened:
        found = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)\n", opened.readline())
    assert found
    assert (file.parent / found[1]).resolve() == ROOT / "tenants.schema.json"


@pytest.fixture(scope="session")
def misfits() -> Callable[[Any], set[str]]:
    """Where data does not fit the published schema, by a validator that none of our own code uses."""
    from jsonschema import Draft202012Validator

    schema = json.loads((ROOT / "tenants.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    return lambda data: {".".join(map(str, error.absolute_path)) for error in validator.iter_errors(data)}


@table("file", SOUND, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_sound_file_fits_the_published_schema(file: Path, misfits: Callable[[Any], set[str]]) -> None:
    assert misfits(read_all(file).data) == set()


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("bad-durations", {"tenants.rocky.interval", "tenants.rocky.timeout"}),
        ("bad-labels", {"tenants.rocky.labels"}),
        ("empty-frame", {"environments", "clusters"}),
        ("missing-frame", {""}),
        ("owned-keys", {"tenants.rocky.apps.web", "tenants.rocky.apps.cache"}),
        ("unknown-keys", {"", "tenants.rocky"}),
        ("version-as-number", {"tenants.rocky.apps.web"}),
        ("wrong-version", {"apiVersion"}),
    ],
)
def test_a_broken_file_does_not_fit_the_published_schema(
    case: str, expected: set[str], misfits: Callable[[Any], set[str]]
) -> None:
    assert expected == misfits(parse((BROKEN / case / "tenants.yaml").read_bytes(), "f").data)


@pytest.mark.parametrize(
    ("environment", "fits"),
    [
        ({}, True),
        ({"management": ""}, False),
        ({"management": "hub"}, True),
        ({"extends": "dev"}, True),
        ({"extends": "dev", "namespace": None, "variables": {"a": None, "b": 1}}, True),
        ({"extends": "dev", "variables": {"a": []}}, False),
        ({"extends": "dev", "management": None}, False),
    ],
)
def test_an_environment_may_leave_the_rest_to_others(
    environment: dict[str, Any], misfits: Callable[[Any], set[str]], *, fits: bool
) -> None:
    data = {
        "apiVersion": "tenantry/v1",
        "environments": {"r1": environment},
        "clusters": {"hub": {"environments": ["dev"]}},
    }
    assert fits == (misfits(data) == set())


@table(
    ("block", "fits"),
    [
        ("{upgrade: null}", True),
        ("{upgrade: {remediation: null}}", True),
        ("{upgrade: {remediation: {retries: null}}}", True),
        ("{upgrade: {remediation: [null]}}", False),
        ("{postRenderers: [null]}", False),
    ],
)
def test_null_removes_a_value_of_flux_s_at_any_depth_but_not_in_a_list(
    block: str, misfits: Callable[[Any], set[str]], *, fits: bool
) -> None:
    app = f"cache: {{helm: {{source: charts}}, overrides: [{{when: {{clusters: {{names: [hub]}}}}, helm: {block}}}]}}"
    assert fits == (misfits(yaml.safe_load(rocky(app))) == set())


@pytest.mark.parametrize(
    ("dependency", "fits"), [("db", True), ("platform/dns", True), ("platform/", False), ("movy/web", False)]
)
def test_dependencies_are_names_of_apps_or_of_add_ons(
    dependency: str, misfits: Callable[[Any], set[str]], *, fits: bool
) -> None:
    data = read_all(ROOT / "tenants.yaml").data
    data["tenants"]["rocky"]["apps"]["web"]["dependsOn"] = [dependency]
    assert fits == (misfits(data) == set())


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of the schema that is about a mapping."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_models_are_closed() -> None:
    with_fields = [each for each in objects(SCHEMA) if "properties" in each]
    assert len(with_fields) > len(SCHEMA["$defs"])
    # Only a manifest holds keys that are somebody else's.
    is_open = [each for each in with_fields if each["additionalProperties"] is not False]
    assert is_open == [SCHEMA["$defs"][each] for each in ("ObjectManifest",)]


def test_every_reference_leads_somewhere() -> None:
    named = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(SCHEMA)))
    assert named == set(SCHEMA["$defs"])


def test_the_texts_below_fields_are_their_descriptions() -> None:
    properties = SCHEMA["$defs"]["Environment"]["properties"]
    assert properties["namespace"] == {
        "title": "namespace",
        "oneOf": [{"type": "string"}, NOTHING],
        "default": "{tenant}",
        "description": "Template for a tenant's namespace on every cluster of the environment.\n\nDefault: {tenant}.",
        "markdownDescription": "Template for a tenant's namespace on every cluster of the environment.\n\nDefault: `{tenant}`.",
    }
    assert "description" in SCHEMA["$defs"]["App"]["properties"]["clusters"]


@table(
    ("scalar", "values"),
    [
        (scalars.Name, ["a", "a-1", "A", "-a", "", "a.b", "a" * 63, "a" * 64]),
        (scalars.ObjectName, ["a", "a.b-c", "a..b", "A", "", "a" * 253, "a" * 254]),
        (durations.Duration, ["5m", "1h30m", "1.5s", "5", "m", "", "5 m"]),
        (scalars.Quantity, ["4", "1e99", "1e999", "1" * 21, 4, 1.5, "500m", "8Gi", "1e3", "8GiB", "", True, None]),
        (
            scalars.QuotaName,
            ["pods", "requests.cpu", "count/deployments.apps", "", "a b", "foo", "limits.storage", "a..b/c"],
        ),
        (scalars.LimitName, ["cpu", "nvidia.com/gpu", "hugepages-2Mi", "pods", "", "foo"]),
        (scalars.RoleName, ["admin", "a:b", "", ".", "..", "a/b", "a%b", "..."]),
        (scalars.LabelKey, ["a", "a.b/c", "a/b/c", "", "-a"]),
        (scalars.LabelValue, ["", "a", "A_b.c", "-a", "a b", "a" * 63, "a" * 64]),
        (scalars.SourcePath, ["./", "", "a/b", "..a", "/a", "../a", "a/../b", "a/.."]),
        (scalars.VariableName, ["a", "A_1", "1a", "a-b", ""]),
        (scalars.SubstituteValue, ["", "x", 80, 1.5, True, None]),
        (scalars.VariableValue, ["", "x", 80, 1.5, True, None]),
        (scalars.Text, ["", "x", 1]),
    ],
)
def test_what_the_pattern_of_a_type_takes_is_what_its_check_takes(scalar: Any, values: list[Any]) -> None:
    adapter = TypeAdapter(scalar, config={"strict": True})
    values += adapter.json_schema().get("examples", [])
    assert [passes(adapter, value) for value in values] == [fits(adapter.json_schema(), value) for value in values]


def passes(adapter: TypeAdapter[Any], value: Any) -> bool:
    try:
        adapter.validate_python(value)
    except ValidationError:
        return False
    return True


def fits(schema: dict[str, Any], value: Any) -> bool:
    """Whether a schema of one value takes it, by the few keywords that such schemas use."""
    assert set(schema) <= {"type", "pattern", "minLength", "maxLength", "examples"}
    allowed = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if isinstance(value, bool):
        return "boolean" in allowed
    if not isinstance(value, str):
        number = isinstance(value, int | float)
        return number and ("number" in allowed or ("integer" in allowed and isinstance(value, int)))
    inside = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    return inside and bool(re.search(schema.get("pattern", ""), value))


# --- what editors offer and show --------------------------------------------------------------------------------------


def schemas(schema: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every part of a schema that is a mapping, with its path."""
    if isinstance(schema, dict):
        yield at, schema
        for key, part in schema.items():
            yield from schemas(part, (*at, key))
    elif isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from schemas(part, (*at, str(index)))


def test_no_null_is_offered() -> None:
    offering = [
        at
        for at, schema in schemas(SCHEMA)
        if "not" not in at and (schema.get("type") == "null" or None in schema.get("enum", ()))
    ]
    assert offering == []
    assert "not" in SCHEMA["$defs"]["Nothing"]


def test_every_alternative_without_a_type_has_a_name() -> None:
    unnamed = [
        at
        for at, schema in schemas(SCHEMA)
        for key in ("anyOf", "oneOf")
        for option in schema.get(key, ())
        if "not" not in at and option and not option.keys() & {"title", "$ref", "type", "enum", "const"}
    ]
    assert unnamed == []


def test_texts_are_whole_sentences_and_keep_their_marks_for_markdown_alone() -> None:
    texts = [schema for _, schema in schemas(SCHEMA) if isinstance(schema.get("description"), str)]
    assert len(texts) > 250
    assert [] == [each["description"] for each in texts if "`" in each["description"] or "](" in each["description"]]
    broken = (each.get("markdownDescription", each["description"]) for each in texts)
    assert [] == [text for text in broken if "\n" in text.replace("\n\n", "")]
