"""What tests of components leave behind ends with their module."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _forgotten_futures() -> Iterator[None]:
    """Collects the futures of runs that failed on purpose: asyncio reports them when they go, into the output of any later test."""
    yield
    asyncio = logging.getLogger("asyncio")
    asyncio.disabled = True
    gc.collect()
    asyncio.disabled = False
