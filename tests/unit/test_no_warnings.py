"""Nothing that is right is ever warned of: examples, whole fleets of tests, and the fleets that the documentation shows."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.load import fleet_of, load_fleet, warnings_of
from tenantry.source.parse import parse
from tests.table import table

REPOSITORY = Path(__file__).resolve().parents[2]
PURPOSE = {
    "tests/golden/namespaces/tenants.yaml": ["removes-nothing"],
    "tests/golden/overrides/tenants.yaml": ["removes-nothing"],
}
"""Fleets with a warning on purpose, with its codes: a `null` that removes nothing renders as nothing."""
FILES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in (
        "tenants.yaml",
        "examples/**/tenants.yaml",
        "tests/golden/*/tenants.yaml",
        "tests/e2e/fleets/*/tenants.yaml",
    )
    for path in REPOSITORY.glob(pattern)
)
BLOCK = re.compile(r"^```yaml\n((?:#.*\n)*apiVersion: tenantry/v1\n.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = {
    f"{page.name}-{number}": block
    for page in (REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md")))
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
    if "\ninclude:" not in block and "..." not in block
}


@table("file", FILES)
def test_a_fleet_that_is_right_gets_no_warning(file: str) -> None:
    codes = [each.code for each in warnings_of(load_fleet(REPOSITORY / file))]
    assert codes == PURPOSE.get(file, [])


@table("shown", SHOWN)
def test_a_fleet_that_the_documentation_shows_gets_no_warning(shown: str) -> None:
    assert warnings_of(fleet_of(parse(SHOWN[shown].encode(), shown))) == ()
