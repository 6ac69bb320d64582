"""What the examples say of the setups that they follow is so: objects, keys, files and tests are there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from docgen.comparisons.document import ROOT, Capability, Planned, comparison, directories
from docgen.comparisons.page import linker, page
from tenantry.load import load_fleet, plan_all
from tenantry.plan.plan import Plan

ROWS = [
    pytest.param(each, row, id=f"{each.name}: {row.capability}")
    for each in directories()
    for document in comparison(each).documents
    for row in document.capabilities
]
every_row = pytest.mark.parametrize(("example", "row"), ROWS)


@cache
def plans(file: Path) -> Mapping[str, Plan]:
    return plan_all(load_fleet(file))


@every_row
def test_the_plan_holds_the_objects_with_these_fields(example: Path, row: Capability) -> None:
    assert [each for planned in row.planned for each in _wrong(example, planned)] == []


@every_row
def test_a_capability_has_a_place_here_and_was_tried(example: Path, row: Capability) -> None:
    link = linker(example)
    assert row.here
    assert row.tried
    assert all(map(link, row.here))
    assert [each for each in row.tried if "::" in each and each.partition("::")[2] not in _tests(each)] == []
    assert "partly" not in row.differs.lower()


@pytest.mark.parametrize("example", directories(), ids=lambda example: example.name)
def test_the_published_page_is_what_the_generator_writes(example: Path) -> None:
    assert (example / "comparison.md").read_text(encoding="utf-8") == page(example), "stale: run `make comparisons`"
    assert "(comparison.md" in (example / "README.md").read_text(encoding="utf-8")


def _wrong(example: Path, planned: Planned) -> Iterator[str]:
    plan = plans(example / planned.file)[planned.environment]
    found = [each for each in plan.objects if fnmatchcase(str(each.id), planned.objects)]
    if bool(found) == planned.absent:
        yield f"{planned.objects}: {len(found)} objects"
    for each in found:
        yield from (f"{each.id}: {path}" for path in _differing(planned.fields, each.manifest))


def _differing(wanted: Any, found: Any, path: str = "") -> Iterator[str]:
    """The paths of wanted values that are other ones, or missing."""
    if isinstance(wanted, dict) and isinstance(found, dict) and (wanted or not path):
        for key, value in wanted.items():
            yield from _differing(value, found.get(key), f"{path}.{key}")
    elif wanted != found:
        yield f"{path} is {found!r}, not {wanted!r}"


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef))


def _tests(tried: str) -> frozenset[str]:
    return _functions(tried.partition("::")[0])


def test_a_field_that_is_not_as_stated_is_found() -> None:
    [kamaji] = [each for each in directories() if each.name == "kamaji"]
    wanted = Planned(environment="admin", objects="HelmRelease tenants/tenant1-*", fields={"spec": {"interval": "7m"}})
    assert list(_wrong(kamaji, wanted)) == [
        "HelmRelease tenants/tenant1-cert-manager: .spec.interval is '5m', not '7m'"
    ]
    missing = Planned(environment="admin", objects="HelmRelease tenants/tenant9-*")
    assert list(_wrong(kamaji, missing)) == ["HelmRelease tenants/tenant9-*: 0 objects"]


def test_a_key_that_is_not_in_the_file_is_found() -> None:
    [kamaji] = [each for each in directories() if each.name == "kamaji"]
    with pytest.raises(LookupError, match=r"platform\.addons\.cert-manger"):
        linker(kamaji)("platform.addons.cert-manger")
