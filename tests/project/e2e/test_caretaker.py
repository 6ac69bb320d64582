"""What ends the sandboxes of tests that did not end them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry_sandbox.layout import Layout
from tests.e2e.caretaker import Caretaker


def made(root: Path) -> Path:
    assert Layout(root).claim()
    return root


TOLD = {
    "told to": Caretaker.take_down,
    "group ended": lambda caretaker, _: caretaker.take_all_down(),
    "tests ended": lambda *_: None,
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
def test_a_sandbox_is_taken_down_when_told_to_or_when_the_tests_end(tmp_path: Path, told: object) -> None:
    assert callable(told)
    root, caretaker = made(tmp_path / "sandbox"), Caretaker()
    caretaker.expect(root)
    caretaker.expect(tmp_path / "never made")
    told(caretaker, root)
    caretaker.close()
    assert not root.exists()


def test_a_sandbox_that_is_being_taken_down_is_gone_before_another_one_comes_there(tmp_path: Path) -> None:
    root, caretaker = made(tmp_path / "sandbox"), Caretaker()
    caretaker.expect(root)
    assert caretaker.has(root)
    caretaker.take_all_down()
    assert not caretaker.has(root)
    caretaker.expect(root)
    assert not root.exists()
    caretaker.close()
