"""The policy pack in the real engine: as `pulumi preview --policy-pack policy` runs it in a pull request's check."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from policy.rule import name_of
from policy.rules import OBJECT_RULES, STACK_RULES
from tests.e2e.project import REPOSITORY, Project, Result

pytestmark = pytest.mark.e2e

PACK = str(REPOSITORY / "policy")
NAMES = sorted(map(name_of, (*OBJECT_RULES, *STACK_RULES)))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program that registers the objects of the cases."""
    root = tmp_path_factory.mktemp("policy") / "program"
    shutil.copytree(REPOSITORY / "tests" / "policy" / "program", root, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".venv").symlink_to(REPOSITORY / ".venv")
    return root


def preview(sandbox: Project, program: Path, stack: str, *options: str) -> Result:
    directory = ("--cwd", str(program))
    sandbox.pulumi(*directory, "stack", "select", "--create", stack).ok()
    return sandbox.pulumi(*directory, "preview", "--stack", stack, "--policy-pack", PACK, *options)


def broken(text: str, level: str) -> list[str]:
    """The rules that a preview says are broken."""
    return sorted({line.split()[2] for line in text.splitlines() if line.strip().startswith(f"- [{level}]")})


def test_what_the_program_makes_of_the_fleet_keeps_all_rules(fleet: Project) -> None:
    text = fleet.pulumi("preview", "--stack", "dev", "--policy-pack", PACK).ok().text
    assert "✅ tenantry@v" in text
    assert "can't run policy" not in text


def test_a_program_that_keeps_all_rules_passes(sandbox: Project, program: Path) -> None:
    assert "✅ tenantry@v" in preview(sandbox, program, "good").ok().text


def test_a_program_that_breaks_all_rules_is_refused_by_each_as_the_configuration_says(
    sandbox: Project, program: Path
) -> None:
    advisory = "names-are-short-enough"
    config = program / "policy.json"
    config.write_text(json.dumps({advisory: "advisory"}))
    result = preview(sandbox, program, "bad", "--policy-pack-config", str(config))
    assert result.code != 0
    assert broken(result.text, "mandatory") == [name for name in NAMES if name != advisory]
    assert broken(result.text, "advisory") == [advisory]
    assert "Kustomization rocky/web names no service account" in result.text
    assert "fix: set spec.serviceAccountName" in result.text
    assert "hush" not in result.text
