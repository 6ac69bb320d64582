"""The scripts for completion, in the shells that they are for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tenantry.cli.app import app


def test_commands_are_offered_without_importing_them() -> None:
    code = "import sys; from tenantry.cli.app import start\ntry: start()\nfinally: print('pydantic' in sys.modules)"
    variables = {"_TENANTRY_COMPLETE": "bash_complete", "COMP_WORDS": "tenantry di", "COMP_CWORD": "1"}
    environment = {**os.environ, **variables, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "plain,diff\nFalse\n"


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_script_is_one_for_the_shell(shell: str, check: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not shutil.which(shell):
        pytest.skip(f"no {shell} on this machine")
    app.main(["completion", shell], prog_name="tenantry", standalone_mode=False)
    script = capsys.readouterr().out
    assert subprocess.run([shell, check], input=script, text=True, check=False).returncode == 0


def test_bash_completes_with_the_script() -> None:
    """As after `eval "$(tenantry completion bash)"` and TAB behind `tenantry list cl`."""
    session = """
        eval "$(tenantry completion bash)"
        COMP_WORDS=(tenantry list cl); COMP_CWORD=2
        _tenantry_completion tenantry cl list
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", session], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("clusters\n", "")
