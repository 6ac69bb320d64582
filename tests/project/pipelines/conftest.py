"""One start of Python for all pipelines; tests/e2e/test_examples_teams.py runs them with the installed `tenantry`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forge import Forge, forge
from tests.resident import resident


@pytest.fixture(scope="session")
def binaries() -> Iterator[Path]:
    with resident() as home:
        yield home


@pytest.fixture
def server() -> Iterator[Forge]:
    with forge() as made:
        yield made
