"""Whole rendered directories: <case>/tenants.yaml, or the repository's own, against <case>/expected, byte by byte.

`pytest --update-golden` writes <case>/expected; read the difference before committing it.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tenantry.cli.app import run

pytestmark = pytest.mark.usefixtures("plans_once")

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
CASES = sorted(("repository", *(file.parent.name for file in HERE.glob("*/tenants.yaml"))))

each_case = pytest.mark.parametrize("case", CASES)


def fleet_of(case: str) -> Path:
    own = HERE / case / "tenants.yaml"
    return own if own.exists() else REPOSITORY / "tenants.yaml"


def contents(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@each_case
def test_a_fleet_renders_to_exactly_these_files(case: str, tmp_path: Path, *, update_golden: bool) -> None:
    assert run(["--file", str(fleet_of(case)), "render", "--directory", str(tmp_path)]) == 0
    expected = HERE / case / "expected"
    if update_golden:
        shutil.rmtree(expected, ignore_errors=True)
        shutil.copytree(tmp_path, expected)
    assert contents(expected) == contents(tmp_path)


@each_case
def test_the_stream_holds_the_documents_of_the_files(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--file", str(fleet_of(case)), "render"]) == 0
    streamed = sorted(yaml.load_all(capsys.readouterr().out, Loader=yaml.CSafeLoader), key=repr)
    filed = sorted(
        (yaml.load(content, Loader=yaml.CSafeLoader) for content in contents(HERE / case / "expected").values()),
        key=repr,
    )
    assert filed == streamed


@each_case
def test_no_manifest_needs_more_than_json(case: str) -> None:
    def check(value: object) -> None:
        assert isinstance(value, dict | list | str | int | float | None)
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(item)

    for content in contents(HERE / case / "expected").values():
        check(yaml.load(content, Loader=yaml.CSafeLoader))
