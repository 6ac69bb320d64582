"""Whole outputs of `tenantry diff`: diff/<case>/before.yaml and tenants.yaml, and what is said about them in every form.

`pytest --update-golden` writes the outputs; read the difference before committing it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.cli.app import run

pytestmark = pytest.mark.usefixtures("plans_once")

HERE = Path(__file__).with_name("diff")
CASES = sorted(path.name for path in HERE.iterdir())
FORMS = {
    "text.txt": (),
    "all.txt": ("--all",),
    "limited.txt": ("--max-deletions", "1", "--environment", "prod"),
    "comment.md": ("--output", "markdown", "--max-deletions", "1"),
    "data.json": ("--output", "json", "--max-deletions", "1"),
}

ANY = ("--max-deletions", "1000")
EXIT_CODES = {"nothing": 0, "moved": 4, "emptied": 4, "renames": 4}
"""With any number of deletions; `tenantry up` refuses another kubeconfig and an empty environment whatever the limit."""

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


@each_case
def test_the_forms_agree_about_what_goes_and_comes(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["diff", "./before.yaml", "--output", "json", *ANY])
    environments = json.loads(capsys.readouterr().out)["environments"]
    run(["diff", "./before.yaml", "--all", *ANY])
    lines = capsys.readouterr().out.partition("\nobjects\n")[2].splitlines()
    for effect, sign in SIGNS.items():
        shown = sum(line.startswith(f"      {sign} ") for line in lines)
        assert shown == sum(each["effect"] == effect for one in environments for each in one["objects"])
    assert code == EXIT_CODES.get(case, 1)


SIGNS = {"added": "+", "removed": "-", "changed": "~"}
