"""Who asks for JSON gets it on stdout, also of a file that is invalid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.test_cli import BROKEN, Capture, tenantry


@pytest.mark.parametrize(
    "command",
    [
        ["validate"],
        ["render"],
        ["diff"],
        ["explain", "rocky", "-e", "dev"],
        ["status", "-e", "dev"],
        ["preflight", "-e", "dev"],
        ["cluster", "check", "edge"],
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_an_invalid_file_is_json_with_its_errors(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(BROKEN)
    code, out, err = tenantry(capsys, *command, "--output", "json")
    said = json.loads(out)
    assert (code, err, said["valid"], [each["code"] for each in said["errors"]]) == (2, "", False, ["unknown-source"])
    assert said["errors"][0].keys() == {"file", "line", "column", "severity", "code", "message", "path", "notes", "fix"}
