"""`--dry-run` shows the change of the files and writes nothing; what it shows hides secrets, and is no patch."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry

FLEET = (Path(__file__).resolve().parents[3] / "tenants.yaml").read_text()
FILE = Path("tenants.yaml")

pytestmark = pytest.mark.usefixtures("plans_once")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)


@table("before", [FLEET, FLEET.replace("\n", "\r\n"), FLEET.removesuffix("\n")])
def test_the_lines_that_change_are_shown_and_nothing_is_written(capsys: Capture, before: str) -> None:
    FILE.write_bytes(before.encode())
    code, out, err = tenantry(capsys, "set", "tenants.rocky.quota.pods", "60", "--dry-run")
    file, *lines = out.partition("\n\n")[0].splitlines()
    assert (code, file, err) == (0, "tenants.yaml:", "dry run: nothing is written\n")
    assert [line for line in lines if line[0] in "+-"] == ["+    quota: {pods: 60}"]
    assert FILE.read_bytes() == before.encode()


@table(
    "value",
    [
        "{password: correcthorse}",
        "{secret: correcthorse}",
        "{a: s7Jq2mXv9LtB4cKd8RwZ1pYn6Hf3GaQe5Uo0}",
    ],
)
def test_a_diff_hides_what_may_be_a_secret_and_no_program_takes_it(capsys: Capture, value: str) -> None:
    FILE.write_text(FLEET)
    code, shown, _ = tenantry(capsys, "set", "tenants.movy.apps.web.helm.values.auth", value, "--dry-run")
    assert (code, "correcthorse" in shown, "s7Jq2mXv9" in shown) == (0, False, False)
    for command in (["git", "apply", "-"], ["patch", "-p0", "--batch"], ["patch", "-p1", "--batch"]):
        assert subprocess.run(command, input=shown.encode(), check=False, capture_output=True).returncode
    assert FILE.read_text() == FLEET
