"""The command line as a program: streams that end, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.case import FLEET, Case
from tests.unit.cli.test_cli import SOUND
from tests.unit.texts import FRAME


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(SOUND)


def process(*arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from tenantry.cli.app import start; start()", *arguments]
    repository = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": repository}
    return subprocess.Popen(  # type: ignore[call-overload,no-any-return]
        command,
        text=True,
        env=environment,
        # A shell starts what runs in its background with SIGINT ignored, and so would this be.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
    )


def test_a_reader_that_goes_away_is_no_error() -> None:
    tenants = "".join(f"  t{i}:\n" + SOUND.split("  rocky:\n")[1] for i in range(20))  # more than a pipe holds
    Path("tenants.yaml").write_text(FRAME + "tenants:\n" + tenants)
    with process("render", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "---\n"
        running.stdout.close()
        assert running.stderr is not None
        assert (running.stderr.read(), running.wait(timeout=30)) == ("", 0)


def test_a_full_disk_under_the_output_is_a_refusal() -> None:
    with Path("/dev/full").open("w") as full, process("validate", stdout=full, stderr=subprocess.PIPE) as running:
        _, err = running.communicate(timeout=30)
    assert (2, "error: cannot write the result: No space left on device\n") == (running.returncode, err)


def test_a_closed_output_is_no_bug() -> None:
    shell = f'exec "{sys.executable}" -c "from tenantry.cli.app import start; start()" validate >&-'
    repository = str(Path(__file__).parents[2])
    done = subprocess.run(
        ["sh", "-c", shell],
        env={**os.environ, "PYTHONPATH": repository},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)


def test_control_c_is_exit_code_130() -> None:
    os.mkfifo("pipe.yaml")
    with (
        process("--file", "pipe.yaml", "validate", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running,
        Path("pipe.yaml").open("w"),  # opens when the command reads
    ):
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert (130, "", "error: interrupted") == (running.returncode, out, err.strip())


def test_letters_that_a_terminal_lacks_are_escaped(tmp_path: Path) -> None:
    file = Case("", FLEET.replace("./web", "./wéb").encode()).write(tmp_path)
    command = [sys.executable, "-c", "from tenantry.cli.app import start; start()", "--file", str(file)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(
        [*command, "explain", "rocky/web", "--environment", "dev"], env=environment, capture_output=True, check=True
    )
    assert b"./w\\xe9b" in ended.stdout
