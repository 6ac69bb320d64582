"""What commands load. Each library here takes as long as a short command; `make bench` times them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PROGRAM = """
import sys
from tenantry.cli.app import run
code = run(sys.argv[1:])
ours = [name for name in sys.modules if name.startswith("tenantry.")]
print(code, *sorted({name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names), file=sys.stderr)
print(*sorted(ours), file=sys.stderr)
"""
AT_START = ["app", "commands", "options", "output"]


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
    assert {name.split(".")[1] for name in ours} == {"cli", "messages"}


@pytest.mark.parametrize("file", ["tenants.yaml", "examples/minimal/tenants.yaml"])
def test_a_check_loads_no_library_that_it_does_not_need(file: str) -> None:
    libraries, ours = loaded("--file", file, "validate")

    of_pydantic = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
    assert libraries <= {"cel_expr_python", "click", "google", "jsonschema_rs", "yaml", *of_pydantic}
    assert {name.split(".")[1] for name in ours} == {
        "addresses",
        "cli",
        "fleet",
        "flux",
        "kube",
        "grants",
        "load",
        "rollout",
        "messages",
        "model",
        "plan",
        "source",
    }
