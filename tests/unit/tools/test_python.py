from __future__ import annotations

import runpy
import sys

import pytest

from tools.store import SOURCES


def test_too_old_a_python_is_told_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 13))
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")

    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(str(SOURCES / "__init__.py"))

    assert capsys.readouterr().err == (
        "error: Python 3.11 or newer is needed, found 3.10 at /usr/bin/python3\n"
        "  fix: use .venv/bin/python, or install a newer one (https://www.python.org/downloads/)\n"
    )


def test_a_newer_one_hears_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(SOURCES / "__init__.py"))

    assert capsys.readouterr().err == ""
