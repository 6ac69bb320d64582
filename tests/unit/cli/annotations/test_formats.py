"""`validate --output github`: whole outputs, places from the root of the repository, hostile values."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.golden.test_diagnostics import CASES
from tests.golden.test_diagnostics import HERE as DIAGNOSTICS
from tests.unit.cli.test_cli import BROKEN, DOUBTFUL, SOUND, VALID, Capture, tenantry


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet below the root of a repository."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "fleets" / "edge").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "fleets")
    write(SOUND)


def write(text: str) -> None:
    Path("edge/tenants.yaml").write_text(text)


def validate(capsys: Capture, output: str, *options: str) -> tuple[int, str, str]:
    return tenantry(capsys, "validate", "--file", "edge/tenants.yaml", "--output", output, *options)


def test_github_gets_a_command_at_the_line_of_each_problem(capsys: Capture) -> None:
    write(BROKEN)
    assert validate(capsys, "github") == (
        2,
        "::error file=fleets/edge/tenants.yaml,line=15,col=33,title=unknown-source::app 'web' of tenant 'rocky' names source"
        " 'manifest', which is not declared%0Aat tenants.rocky.apps.web.kustomize.source"
        "%0Adeclared: charts, manifests (closest: manifests)"
        "%0Afix: write 'manifests', or declare it under 'tenants.rocky.sources:'\n",
        "Found 1 error\n",
    )


def test_github_gets_warnings_which_are_errors_if_they_count_as_errors(capsys: Capture) -> None:
    write(DOUBTFUL)
    place = "file=fleets/edge/tenants.yaml,line=10,col=22,title=number-as-text::'1.10' is a number in YAML"
    code, out, err = validate(capsys, "github")
    warning, summary = out.splitlines()
    assert (code, err, summary) == (0, "Found 1 warning\n", f"edge/{VALID}".strip())
    assert warning.startswith(f"::warning {place}")
    code, out, _ = validate(capsys, "github", "--strict")
    assert (code, out.startswith(f"::error {place}")) == (2, True)


def test_a_value_cannot_end_a_command_or_begin_another(capsys: Capture) -> None:
    write(BROKEN.replace("source: manifest", 'source: "a\\n::warning::b %0A ##[add-mask]c"'))
    _, out, _ = validate(capsys, "github")
    (line,) = out.splitlines()
    assert line.startswith("::error ")
    assert "%0A ##" not in line
    assert "%250A" in line


def test_a_place_in_an_included_file_is_named_from_the_root(capsys: Capture) -> None:
    head, _, tenants = BROKEN.partition("tenants:\n")
    Path("edge/tenants.d/a,b:c").mkdir(parents=True)
    Path("edge/tenants.d/a,b:c/rocky.yaml").write_text(
        "tenants:\n  rocky:\n    apps: {web: {kustomize: {source: manifest}}}\n"
    )
    main = tenants.partition("    sources:")[0] + "    clusters: {all: true}\n"
    write(f'{head}include: ["tenants.d/a,b:c/rocky.yaml"]\ntenants:\n{main}')
    _, out, _ = validate(capsys, "github")
    assert "::error file=fleets/edge/tenants.d/a%2Cb%3Ac/rocky.yaml,line=" in out, out


@pytest.mark.parametrize(
    "text",
    ["tenants: [", "a: 1\na: 2\n", "", "\x00", "include: [{tenants: 'nowhere/*.yaml'}]\napiVersion: tenantry/v1\n"],
    ids=["syntax", "duplicate", "empty", "binary", "include"],
)
def test_every_kind_of_invalid_file_is_annotated(capsys: Capture, text: str) -> None:
    write(text)
    code, out, _ = validate(capsys, "github")
    assert code == 2
    assert out
    assert all(line.startswith("::error file=fleets/edge/tenants.yaml,line=") for line in out.splitlines())


@pytest.mark.parametrize("part", range(4))
def test_the_broken_files_of_the_golden_tests_are_annotated(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    for case in CASES[part::4]:
        monkeypatch.chdir(DIAGNOSTICS / case)
        code, out, _ = tenantry(capsys, "validate", "--output", "github")
        assert code == 2
        assert len(out.splitlines()) == len(
            json.loads(tenantry(capsys, "validate", "--output", "json")[1])["errors"]
        ), case
        place = re.compile(rf"::error file=tests/golden/diagnostics/{case}/[\w./-]+,line=\d+,col=\d+,title=[\w-]+::\S")
        assert [line for line in out.splitlines() if not place.match(line)] == []


def test_a_secret_is_in_no_annotation(capsys: Capture) -> None:
    token = "ghp_" + "a1B2" * 9
    write(SOUND.replace("https://git.example.com/rocky", f"https://me:{token}@git.example.com/rocky"))
    code, out, err = validate(capsys, "github")
    assert (code, token in out + err) == (2, False)


def test_wrong_usage_stays_text(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "validate", "--file", "nowhere.yaml", "--output", "github")
    assert (code, out, "nowhere.yaml" in err) == (2, "", True)


def test_without_a_repository_paths_start_here(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").rmdir()
    write(BROKEN)
    assert "file=edge/tenants.yaml" in validate(capsys, "github")[1]
    monkeypatch.chdir("edge")
    assert "file=tenants.yaml" in tenantry(capsys, "validate", "--output", "github")[1]
