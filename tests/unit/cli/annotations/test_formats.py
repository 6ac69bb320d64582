"""`validate --output github|sarif|gitlab`: whole outputs, places from the root of the repository, hostile values."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tenantry.cli.annotations import command_of_problem
from tenantry.messages.errors import error
from tests.golden.test_diagnostics import CASES
from tests.golden.test_diagnostics import HERE as DIAGNOSTICS
from tests.unit.cli.test_cli import BROKEN, DOUBTLESS, SOUND, VALID, Capture, tenantry

LEVELS = {"none", "note", "warning", "error"}


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


def sarif(capsys: Capture, *options: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(validate(capsys, "sarif", *options)[1])
    assert_is_sarif(log)
    return log


def assert_is_sarif(log: Any) -> None:
    """What SARIF 2.1.0 and GitHub's code scanning require of a log with one run."""
    assert (log["version"], log["$schema"].endswith("sarif-2.1.0.json")) == ("2.1.0", True)
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "tenantry"
    assert re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    rules = driver["rules"]
    ids = [rule["id"] for rule in rules]
    assert len(ids) == len(set(ids))
    for rule in rules:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}
    for result in run["results"]:
        assert_is_result(result, ids)
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(prints) == len(set(prints))


def assert_is_result(result: Any, rules: list[str]) -> None:
    assert rules[result["ruleIndex"]] == result["ruleId"]
    assert result["level"] in LEVELS
    assert result["message"]["text"]
    (location,) = result["locations"]
    uri = location["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[\w.~/%-]+", uri, re.ASCII)
    assert not uri.startswith(("/", "..", "file:"))
    region = location["physicalLocation"]["region"]
    assert region["startLine"] >= 1
    assert region["startColumn"] >= 1
    assert region.get("endColumn", region["startColumn"] + 1) > region["startColumn"]


def test_github_gets_a_command_at_the_line_of_each_problem(capsys: Capture) -> None:
    write(BROKEN)
    assert validate(capsys, "github") == (
        2,
        "::error file=fleets/edge/tenants.yaml,line=15,col=33,title=unknown-source::app 'web' of tenant 'rocky' uses source"
        " 'manifest', which the tenant does not declare%0Aat tenants.rocky.apps.web.kustomize.source"
        "%0Adeclared: charts, manifests (closest: manifests)"
        "%0Afix: write 'manifests', or declare it under 'tenants.rocky.sources:'\n",
        "Found 1 error\n",
    )


def test_github_gets_warnings_which_are_errors_if_they_count_as_errors(capsys: Capture) -> None:
    place = "file=fleets/edge/tenants.yaml,line=12,col=7,title=unused::source 'charts' is declared, but never used"
    code, out, err = validate(capsys, "github")
    warning, summary = out.splitlines()
    assert (code, err, summary) == (0, "Found 1 warning\n", f"edge/{VALID}".strip())
    assert warning.startswith(f"::warning {place}")
    code, out, _ = validate(capsys, "github", "--strict")
    assert (code, out.startswith(f"::error {place}")) == (2, True)


def test_github_gets_notices_of_rights_beyond_a_namespace(capsys: Capture) -> None:
    write(DOUBTLESS.replace("  rocky:\n", "  rocky:\n    clusterAdmin: true\n"))
    assert validate(capsys, "github") == (
        0,
        f"edge/{VALID}::notice file=fleets/edge/tenants.yaml::1 tenant may give cluster-admin: rocky\n",
        "",
    )


def test_a_value_cannot_end_a_command_or_begin_another(capsys: Capture) -> None:
    write(BROKEN.replace("source: manifest", 'source: "a\\n::warning::b %0A ##[add-mask]c"'))
    _, out, _ = validate(capsys, "github")
    (line,) = out.splitlines()
    assert line.startswith("::error ")
    assert "%0A ##" not in line
    assert "%250A" in line
    problem = command_of_problem(error("code", "line\nof a cluster", "100%"), "prod")
    assert problem == "::error title=prod%3A code::line\\nof a cluster%0Afix: 100%25"


def test_a_place_in_an_included_file_is_named_from_the_root(capsys: Capture) -> None:
    head, _, tenants = BROKEN.partition("tenants:\n")
    Path("edge/tenants.d").mkdir()
    Path("edge/tenants.d/a,b:c.yaml").write_text(
        "tenants:\n  rocky:\n    apps: {web: {kustomize: {source: manifest}}}\n"
    )
    main = tenants.partition("    sources:")[0] + "    clusters: {all: true}\n"
    write(f'{head}include: [{{tenants: "tenants.d/*.yaml", of: [rocky]}}]\ntenants:\n{main}')
    _, out, _ = validate(capsys, "github")
    assert "::error file=fleets/edge/tenants.d/a%2Cb%3Ac.yaml,line=" in out, out
    places = [each["locations"][0]["physicalLocation"] for each in sarif(capsys)["runs"][0]["results"]]
    assert "fleets/edge/tenants.d/a%2Cb%3Ac.yaml" in [each["artifactLocation"]["uri"] for each in places]


def test_sarif_has_a_rule_with_help_and_the_columns_of_the_value(capsys: Capture) -> None:
    write(BROKEN)
    (run,) = sarif(capsys)["runs"]
    assert run["tool"]["driver"]["rules"] == [
        {
            "id": "unknown-source",
            "shortDescription": {"text": "Unknown source"},
            "help": {
                "text": "Unknown source: `tenantry validate` shows each place with a fix.\n"
                "Fix: write 'manifests', or declare it under 'tenants.rocky.sources:'"
            },
            "defaultConfiguration": {"level": "error"},
        }
    ]
    (result,) = run["results"]
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "fleets/edge/tenants.yaml"},
                "region": {"startLine": 15, "startColumn": 33, "endColumn": 41},
            }
        }
    ]
    assert BROKEN.splitlines()[14][32:40] == "manifest"


def test_the_text_report_is_on_stderr_if_stdout_is_a_file_for_the_forge(capsys: Capture) -> None:
    write(BROKEN)
    for output in ("sarif", "gitlab"):
        _, _, err = validate(capsys, output)
        assert err == validate(capsys, "text")[2]


def test_fingerprints_stay_when_lines_are_added_above(capsys: Capture) -> None:
    write(BROKEN)
    before = json.loads(validate(capsys, "gitlab")[1])
    write(f"# one\n# two\n{BROKEN}")
    after = json.loads(validate(capsys, "gitlab")[1])
    assert [each["location"]["lines"]["begin"] for each in (*before, *after)] == [15, 17]
    assert before[0]["fingerprint"] == after[0]["fingerprint"]
    results = sarif(capsys)["runs"][0]["results"]
    assert results[0]["partialFingerprints"]["primaryLocationLineHash"] == before[0]["fingerprint"]


def test_gitlab_gets_a_report_of_code_quality(capsys: Capture) -> None:
    code, out, err = validate(capsys, "gitlab")
    (problem,) = json.loads(out)
    assert (code, "warning[unused]" in err) == (0, True)
    assert re.fullmatch(r"[0-9a-f]{16}:1", problem.pop("fingerprint"))
    assert problem == {
        "description": "source 'charts' is declared, but never used: no app of tenant 'rocky' names it\n"
        "at tenants.rocky.sources.charts\nfix: use it, or remove it",
        "check_name": "unused",
        "severity": "minor",
        "location": {"path": "fleets/edge/tenants.yaml", "lines": {"begin": 12}},
    }
    assert json.loads(validate(capsys, "gitlab", "--strict")[1])[0]["severity"] == "major"


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
    assert len(sarif(capsys)["runs"][0]["results"]) == len(json.loads(validate(capsys, "gitlab")[1])) >= 1


@pytest.mark.parametrize("part", range(4))
def test_the_broken_files_of_the_golden_tests_are_annotated(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    for case in CASES[part::4]:
        monkeypatch.chdir(DIAGNOSTICS / case)
        code, out, _ = tenantry(capsys, "validate", "--output", "github")
        assert code == 2
        results = json.loads(tenantry(capsys, "validate", "--output", "sarif")[1])
        assert_is_sarif(results)
        assert len(out.splitlines()) == len(results["runs"][0]["results"]), case
        place = re.compile(rf"::error file=tests/golden/diagnostics/{case}/[\w./-]+,line=\d+,col=\d+,title=[\w-]+::\S")
        assert [line for line in out.splitlines() if not place.match(line)] == []


def test_a_secret_is_in_no_format_and_its_length_neither(capsys: Capture) -> None:
    token = "ghp_" + "a1B2" * 9
    write(SOUND.replace("https://git.example.com/rocky", f"https://me:{token}@git.example.com/rocky"))
    for output in ("github", "sarif", "gitlab"):
        code, out, err = validate(capsys, output)
        assert (code, token in out + err) == (2, False)
    (result,) = sarif(capsys)["runs"][0]["results"]
    assert "endColumn" not in result["locations"][0]["physicalLocation"]["region"]


def test_wrong_usage_stays_text(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "validate", "--file", "nowhere.yaml", "--output", "sarif")
    assert (code, out, "nowhere.yaml" in err) == (2, "", True)


def test_without_a_repository_paths_start_here(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").rmdir()
    write(BROKEN)
    assert "file=edge/tenants.yaml" in validate(capsys, "github")[1]
    monkeypatch.chdir("edge")
    assert "file=tenants.yaml" in tenantry(capsys, "validate", "--output", "github")[1]
