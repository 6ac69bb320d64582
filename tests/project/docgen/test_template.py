"""The template for `pulumi new` is what `init` writes now."""

from __future__ import annotations

from pathlib import Path

import pytest

from docgen.template.__main__ import main


def test_it_is_up_to_date() -> None:
    assert main(["--check"]) == 0, "run `make template`"


def test_a_stale_template_is_told_and_written_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], tmp_path) == 0
    (tmp_path / "old.txt").write_text("old\n")
    (tmp_path / ".ci" / "review").chmod(0o644)
    (tmp_path / "README.md").unlink()
    capsys.readouterr()
    assert main(["--check"], tmp_path) == 1
    assert [line.rpartition("/")[2] for line in capsys.readouterr().err.splitlines()[::2]] == [
        "review",
        "README.md",
        "old.txt",
    ]
    assert (main([], tmp_path), main(["--check"], tmp_path)) == (0, 0)
