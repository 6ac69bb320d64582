"""The groups of tests that run side by side."""

from __future__ import annotations

from pathlib import Path

from tests.side_by_side import LONGEST, SHARED, group_of, rank

TESTS = Path(__file__).resolve().parents[2]
FILES = {file.stem for place in ("e2e", "faults") for file in (TESTS / place).glob("test_*.py")}


def test_files_that_share_a_sandbox_are_one_group() -> None:
    assert {group_of(f"tests/e2e/test_{file}.py::test_a") for file in SHARED["fleet"]} == {"fleet"}
    assert group_of("tests/e2e/test_conformance.py::test_a[tests/golden/addons]") == "sandbox"
    assert group_of("tests/faults/test_crashes.py::test_a[2-0.55]") == "small"
    assert group_of("tests/faults/test_lifecycle.py::test_a[objects]") == "test_lifecycle"


def test_a_test_without_a_sandbox_is_a_group_of_its_own_and_comes_last() -> None:
    alone = "tests/hostile/test_heavy.py::test_a[b]"
    assert group_of(alone) == alone
    assert rank("tests/e2e/test_fleet.py::test_a") == (0, SHARED["fleet"].index("fleet"))
    assert rank("tests/e2e/test_examples_kamaji.py::test_a") < rank(alone)


def test_every_file_that_is_named_exists() -> None:
    assert {f"test_{file}" for files in SHARED.values() for file in files} <= FILES
    assert {*LONGEST} <= FILES | SHARED.keys()
