"""A test run that is asked to end leaves no server behind."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _ended_like_interrupted() -> Iterator[None]:
    """SIGTERM ends a test run as ^C does: with all fixtures torn down."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    yield
    signal.signal(signal.SIGTERM, before)
