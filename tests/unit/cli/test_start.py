"""What commands load. Each library here takes as long as a short command; `make bench` times them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]
PROGRAM = """
import sys
from tenantry.cli.app import run
code = run(sys.argv[1:])
ours = [name for name in sys.modules if name.startswith("tenantry.")]
print(code, *sorted({name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names), file=sys.stderr)
print(*sorted(ours), file=sys.stderr)
"""
AT_START = [
    "annotations",
    "app",
    "asked",
    "commands",
    "failures",
    "fleet_file",
    "options",
    "output",
    "progress",
]


def loaded(*words: str) -> tuple[set[str], list[str]]:
    """The libraries and the modules of Tenantry that a command loads in a process of its own."""
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    libraries, ours = done.stderr.splitlines()[-2:]
    code, *names = libraries.split()
    assert code == "0", done.stderr
    return {name for name in names if not name.startswith(("_", "cython"))} - {"tenantry"}, ours.split()


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_question_about_the_command_itself_loads_no_other_command(option: str) -> None:
    libraries, ours = loaded(option)

    assert libraries == {"click"}
    assert [name.removeprefix("tenantry.cli.") for name in ours if name.startswith("tenantry.cli.")] == AT_START
    assert {name.split(".")[1] for name in ours} == {"cli", "kube", "messages"}


@pytest.mark.parametrize("file", ["tenants.yaml", "examples/minimal/tenants.yaml"])
def test_a_check_does_not_load_the_cel_engine(file: str) -> None:
    libraries, ours = loaded("--file", file, "validate")

    of_pydantic = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
    assert libraries <= {"click", "jsonschema_rs", "yaml", *of_pydantic}
    assert {name.split(".")[1] for name in ours} == {
        "addresses",
        "cli",
        "fleet",
        "flux",
        "kube",
        "load",
        "messages",
        "model",
        "plan",
        "source",
    }


@pytest.mark.parametrize(("words", "code", "shown"), [(["--version"], 0, "tenantry, version"), (["no-command"], 2, "")])
def test_the_process_ends_at_once_but_not_before_what_is_due(words: list[str], code: int, shown: str) -> None:
    program = "import atexit, sys; from tenantry.cli.app import start; atexit.register(print, 'end'); start()"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout.startswith(shown), done.stdout.endswith("end\n")) == (code, True, True)


def test_a_thread_that_runs_is_waited_for() -> None:
    program = """
import threading, time
from tenantry.cli import app
app.run = lambda _: threading.Thread(target=lambda: (time.sleep(0.1), print("done"))).start() or 3
app.start()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, "done\n", "")
