"""The pages that tell newcomers where things are name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["AGENTS.md", "docs/development.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    named = re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?)`", (ROOT / page).read_text(encoding="utf-8"))
    # Architecture speaks of the core, whose packages it names without `tenantry/`.
    paths = {each for each in named if each.endswith((".py", "/"))}
    assert len(paths) > 10
    assert {each for each in paths if not ((ROOT / each).exists() or (ROOT / "tenantry" / each).exists())} == set()
