"""Whole outputs of `tenantry diff`: diff/<case>/before.yaml and tenants.yaml, and what is said about them in every form.

`pytest --update-golden` writes the outputs; read the difference before committing it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.app import run

pytestmark = pytest.mark.usefixtures("plans_once")

HERE = Path(__file__).with_name("diff")
CASES = sorted(path.name for path in HERE.iterdir())
FORMS = {
    "text.txt": (),
    "prod.txt": ("--environment", "prod"),
    "comment.md": ("--output", "markdown"),
    "data.json": ("--output", "json"),
}

each_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture(autouse=True)
def _in_the_case(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE / case)


def outcome(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, int]:
    """Everything that is said, and the exit code."""
    code = run(["diff", "./before.yaml", *arguments])
    out, err = capsys.readouterr()
    return out + err, code


@each_case
def test_a_change_is_told_in_exactly_these_words(
    case: str, capsys: pytest.CaptureFixture[str], *, update_golden: bool
) -> None:
    found, expected = {}, {}
    for form, options in FORMS.items():
        said, code = outcome(capsys, *options)
        found[form] = f"{said}exit code: {code}\n" if form.endswith((".txt", ".md")) else said
        if update_golden:
            (HERE / case / form).write_text(found[form])
        expected[form] = (HERE / case / form).read_text()
    assert expected == found
