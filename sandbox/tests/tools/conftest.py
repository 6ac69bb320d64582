from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import Machine, new_machine

from tenantry_sandbox.tools import store


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with Go and an empty store, which `tools` takes for the one it runs on."""
    machine = new_machine(tmp_path)
    monkeypatch.setenv("PATH", str(machine.programs))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(store, "default", lambda: machine.store)
    return machine


@pytest.fixture(autouse=True)
def _own_signal_handlers() -> Iterator[None]:
    """The commands set handlers of their own; and ^C has to work in the tests even where pytest runs in the background."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
