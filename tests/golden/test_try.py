"""What `tenantry try` prints: try.txt. `pytest --update-golden` writes it."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.cli.trial import command

GOLDEN = Path(__file__).with_name("try.txt")


def test_the_example_is_shown_step_by_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, update_golden: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TENANTRY_FILE", "of-the-user.yaml")
    code = run(["try", "--directory", "demo"])

    out, err = capsys.readouterr()
    shown = out.replace(str(tmp_path), "/here")
    if update_golden:
        GOLDEN.write_text(shown)
    assert (code, shown) == (0, GOLDEN.read_text())
    assert err.startswith("rendered/dev: 32 objects, 32 files written, 0 removed\n")
    kept = sorted(each.name for each in (tmp_path / "demo").iterdir())
    assert kept == ["before.yaml", "change.html", "rendered", "tenants.schema.json", "tenants.yaml"]
    assert (tmp_path / "demo/change.html").read_text().startswith("<!doctype html>")


def test_a_directory_with_files_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tenants.yaml").write_text("mine")

    assert run(["try", "--directory", str(tmp_path)]) == 2

    error = f"error: {tmp_path} is not empty\n  fix: name a new directory, or omit --directory\n"
    assert capsys.readouterr() == ("", error)
    assert (tmp_path / "tenants.yaml").read_text() == "mine"


@pytest.mark.parametrize("opened", [True, False])
def test_the_page_is_opened_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, opened: bool
) -> None:
    seen: list[str] = []

    def browse(address: str) -> bool:
        seen.append(address)
        return opened

    monkeypatch.setattr(webbrowser, "open", browse)
    monkeypatch.setattr(command, "STEPS", ())
    page = tmp_path / "demo" / "change.html"

    assert run(["try", "--open", "--directory", str(page.parent)]) == 0

    assert seen == [page.as_uri()]
    assert (f"no browser was found; open {page}\n" in capsys.readouterr().err) is not opened
