"""Every field of every Flux kind that the plan makes: the author can set it, or is refused with the reason why not.

The walk goes through all levels of the schemas, so a field that a new version of Flux brings is covered or shows up here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.fleet.blocks import check_blocks
from tenantry.fleet.shape import check_shape
from tenantry.flux.schemas import schema_of
from tenantry.messages.errors import Problem
from tenantry.model import (
    SOURCE_KINDS,
    Alert,
    FluxBlock,
    HelmPatch,
    KustomizePatch,
    Provider,
    Receiver,
)
from tests.table import table

BLOCKS: dict[tuple[str, ...], type[FluxBlock]] = {
    ("tenants", "t", "apps", "a", "kustomize"): KustomizePatch,
    ("tenants", "t", "apps", "a", "helm"): HelmPatch,
    **{("tenants", "t", "sources", "s", key): block for key, block in SOURCE_KINDS.items()},
    ("tenants", "t", "alerts", "a"): Alert,
    ("tenants", "t", "alerts", "a", "provider"): Provider,
    ("tenants", "t", "receivers", "r"): Receiver,
}
"""Where each block may stand."""

OTHER_NAMES = {
    ("HelmRelease", "chart"): "made of 'source', 'chart' and 'version' (a HelmChart that the plan owns)",
    ("HelmChart", "chart"): "'chart' of the app",
    ("HelmChart", "interval"): "'interval' of the tenant's settings",
    ("HelmChart", "sourceRef"): "'source' of the app",
    ("HelmChart", "suspend"): "a chart is shared by releases; each of them can be suspended",
    ("HelmChart", "valuesFiles"): "'valuesFiles' of the app",
    ("HelmChart", "version"): "'version' of the app",
}
"""Fields that are set under another name, or by the fleet."""


def sample(schema: dict[str, Any]) -> Any:
    """A value that a schema takes."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object" if "properties" in schema:
            return {key: sample(schema["properties"][key]) for key in schema.get("required", ())}
        case "object":
            return {"key": "value"}
        case "array":
            return [sample(schema["items"])]
        case "boolean":
            return True
        case "integer":
            return 1
        case _:
            return _TEXTS.get(schema.get("pattern", ""), "text")


_TEXTS = {
    r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$": "1m",
    r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$": "1m",
    r"^(http|https)://.*$": "https://example.com",
    r"^https?://": "https://example.com",
}


def fields(schema: dict[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field below a schema, those of lists' entries included."""
    for key, part in schema.get("properties", {}).items():
        yield (*at, key)
        yield from fields(part, (*at, key))
        yield from fields(part.get("items", {}), (*at, key, "[]"))


def written(schema: dict[str, Any], path: tuple[str, ...]) -> Any:
    """The smallest value that sets the field at a path."""
    if not path:
        return sample(schema)
    first, *rest = path
    if first == "[]":
        return [{**sample(schema["items"]), **written(schema["items"], tuple(rest))}]
    properties = schema["properties"]
    inner = written(properties[first], tuple(rest))
    needed = {key: sample(properties[key]) for key in schema.get("required", ()) if key != first}
    return {**needed, first: inner}


def whole_of(at: tuple[str, ...], block: Any) -> Any:
    """A document that holds a block and nothing else."""
    for key in reversed(at):
        block = {key: block}
    return block


def findings(at: tuple[str, ...], block: Any) -> list[Problem]:
    return list(check_blocks(whole_of(at, block)))


@table(("at", "block"), BLOCKS.items(), ids=[each.__name__ for each in BLOCKS.values()])
def test_each_field_can_be_set_or_is_refused_with_a_reason(at: tuple[str, ...], block: type[FluxBlock]) -> None:
    spec = schema_of(block.flux_kind).spec
    paths = [path for path in fields(spec) if (block.flux_kind, path[0]) not in OTHER_NAMES]
    assert paths
    for path in paths:
        told = findings(at, {path[0]: written(spec, path)[path[0]]})
        owned = {".".join(path[:depth]) for depth in (1, 2)} & block.owned.keys()
        assert {finding.code for finding in told} == ({"owned-key"} if owned else set()), path
        for name in owned:
            assert any(finding.message.endswith(f": {block.owned[name]}") for finding in told), path


def test_the_chart_of_a_release_is_not_written_as_flux_has_it() -> None:
    at = ("tenants", "t", "apps", "a", "helm")
    whole = written(schema_of("HelmRelease").spec, ("chart", "spec", "chart"))
    found = check_shape(whole_of(at, whole)).findings
    assert [finding.code for finding in found if finding.path == (*at, "chart")] == ["wrong-type"]


@table("key", schema_of("HelmChart").spec["properties"])
def test_a_charts_field_can_be_set_with_the_release_or_has_a_reason(key: str) -> None:
    assert (key in HelmPatch.parts["HelmChart"]) != (("HelmChart", key) in OTHER_NAMES)
