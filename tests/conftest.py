"""Options and fixtures of all tiers."""

from __future__ import annotations

import gc

import pytest
from hypothesis import HealthCheck, settings

# A machine that is busy with other things is no reason to fail.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write what the tests find as what they expect.")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the developer's shell says about colours and files must not change a result."""
    for variable in ("NO_COLOR", "FORCE_COLOR", "TENANTRY_FILE", "TENANTRY_DEBUG"):
        monkeypatch.delenv(variable, raising=False)


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay until the end: the garbage collector need not look through them again and again."""
    gc.freeze()
