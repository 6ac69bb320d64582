"""What keeps a controller busy has two ends, whoever thinks of a new field for it; and so has what a placeholder becomes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docgen.document.whole import json_schema
from tenantry.fleet.settings import TIMES
from tenantry.flux.schemas import kinds, schema_of
from tenantry.grants import rules as limits
from tenantry.grants.frames import PARTS
from tenantry.grants.grants import MOST
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet
from tests.table import table
from tests.unit.fleet.authored import at, problems


def full(schema: dict[str, Any]) -> Any:
    """A value of a schema of Flux that has every field."""
    if properties := schema.get("properties"):
        return {key: full(part) for key, part in properties.items()}
    if isinstance(inner := schema.get("items") or schema.get("additionalProperties"), dict):
        return [full(inner)] if "items" in schema else {"*": full(inner)}
    return 1 if schema.get("type") == "integer" else "1m"


def of_kind(schema: dict[str, Any], at: tuple[str, ...] = ()) -> Iterator[str]:
    """Every duration and number in a schema of Flux."""
    if schema.get("type") == "integer" or "(ms|s|m" in schema.get("pattern", ""):
        yield ".".join(at)
    for key, part in schema.get("properties", {}).items():
        yield from of_kind(part, (*at, key))
    for each in (schema.get("items"), schema.get("additionalProperties")):
        yield from of_kind(each, (*at, "*")) if isinstance(each, dict) else ()


@table("kind", kinds())
def test_every_duration_and_number_of_flux_has_a_limit(kind: str) -> None:
    spec = schema_of(kind).spec
    limited = limits.limited_in_spec(kind, full(spec))
    assert set(of_kind(spec)) == {".".join("*" if key == 0 else str(key) for key in value.path) for value in limited}


def in_document(node: Any, defs: dict[str, Any], at: tuple[str, ...], seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Every duration that the JSON Schema of the file lets somebody write below a node."""
    if not isinstance(node, dict):
        return
    if reference := node.get("$ref"):
        name = reference.rpartition("/")[2]
        if name not in seen:
            yield from in_document(defs[name], defs, at, (*seen, name))
        return
    if "(ms|s|m" in node.get("pattern", ""):
        yield ".".join(at)
    for key, inner in node.get("properties", {}).items():
        yield from in_document(inner, defs, (*at, key), seen)
    for key in ("anyOf", "allOf", "oneOf"):
        for each in node.get(key, ()):
            yield from in_document(each, defs, at, seen)
    yield from in_document(node.get("items"), defs, (*at, "[]"), seen)
    yield from in_document(node.get("additionalProperties"), defs, (*at, "*"), seen)


BLOCKS = {"alerts", "bucket", "git", "helm", "kustomize", "oci", "receivers"}
"""Where keys of Flux stand, whose limits the plan checks."""


def test_every_duration_of_the_model_has_a_limit() -> None:
    """The schema is made by pydantic's generator from the types, apart from the rule that is tested."""
    schema = json_schema()
    found = set(in_document(schema["$defs"]["Tenant"], schema["$defs"], ()))
    assert {"timeout", "apps.*.helm.test.timeout", "sources.*.git.interval"} <= found
    assert {path.removeprefix("overrides.[].") for path in found if BLOCKS.isdisjoint(path.split("."))} == {*TIMES}


def test_every_part_has_a_limit() -> None:
    assert MOST.keys() == {*PARTS, "namespaces"}


MAIN = """\
apiVersion: tenantry/v1
include: [rocky.yaml]
environments: {dev: {management: hub, variables: {long: 8700h, none: 0s}}}
clusters: {hub: {environments: [dev]}}
defaults: {clusters: {names: [hub]}, grants: {sources: ["https://git.example.com/{tenant}/*"]}}
tenants: {rocky: {}}
"""
OWN = """\
tenants:
  rocky:
    sources: {m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}%s}}}
    apps: {web: {kustomize: {source: m%s}}}
"""


@pytest.mark.parametrize(
    ("source", "app", "expected"),
    [
        ("", ', timeout: "{long}"', "timeout '8700h' is not from 1s to 1h, the bounds of tenant 'rocky'"),
        ("", ', retryInterval: "{long}"', "retryInterval '8700h' is not from 30s to 24h, the bounds of tenant 'rocky'"),
        ("", ', timeout: "{none}"', "timeout '0s' is not from 1s to 1h, the bounds of tenant 'rocky'"),
        (', interval: "{long}"', "", "interval '8700h' is not from 30s to 24h, the bounds of tenant 'rocky'"),
    ],
)
def test_what_placeholders_become_has_a_limit(
    source: str, app: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(MAIN)
    Path("rocky.yaml").write_text(OWN % (source, app))
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load_fleet(Path("tenants.yaml")))
    assert [each.message for each in caught.value.diagnostics] == [expected]
    assert "on cluster 'hub'" in caught.value.diagnostics[0].notes[0]


WHEN = {"environments": ["dev"]}


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("install.remediation.retries", -1.0, "retries '-1' is not from 0 to 20, the bounds of tenant 'rocky'"),
        ("upgrade.remediation.retries", 1e3, "retries '1000' is not from 0 to 20, the bounds of tenant 'rocky'"),
        ("maxHistory", 0.0, "maxHistory '0' is not from 1 to 20, the bounds of tenant 'rocky'"),
        ("maxHistory", 21.0, "maxHistory '21' is not from 1 to 20, the bounds of tenant 'rocky'"),
    ],
)
@pytest.mark.parametrize("place", ["apps.cache.helm", "apps.cache.overrides", "overrides", "overrides of all apps"])
def test_a_number_with_a_decimal_point_has_the_same_limit(
    place: str, key: str, value: float, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An API server takes `-1.0` for a whole number."""
    monkeypatch.chdir(tmp_path)
    own = at(f"helm.{key}", value)
    said = {
        "apps.cache.helm": at("apps.cache", own),
        "apps.cache.overrides": at("apps.cache.overrides", [{"when": WHEN, **own}]),
        "overrides": at("overrides", [{"when": WHEN, "apps": {"cache": own}}]),
        "overrides of all apps": at("overrides", [{"when": WHEN, **own}]),
    }[place]
    assert [each.message for each in problems(said)] == [expected]
