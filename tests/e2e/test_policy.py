"""The policy pack in the real engine: as `pulumi preview --policy-pack policy` runs it in a pull request's check.

That the repository's own fleet keeps all rules, docs/policy.md shows, whose commands test_documentation.py runs.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tenantry.policy.rule import name_of
from tenantry.policy.rules import FRAME_RULES, OBJECT_RULES, STACK_RULES
from tests.e2e.project import REPOSITORY, Project, Result
from tests.policy.cases import MAIN

pytestmark = pytest.mark.e2e

PACK = str(REPOSITORY / "policy")
NAMES = sorted(map(name_of, (*OBJECT_RULES, *STACK_RULES)))
NAMES_OF_FRAMES = sorted(map(name_of, FRAME_RULES))


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


def test_a_program_that_keeps_all_rules_passes(sandbox: Project, program: Path) -> None:
    assert "✅ tenantry@v" in preview(sandbox, program, "good").ok().text


def test_a_tenant_whose_main_file_grants_less_than_its_objects_use_is_refused(
    fleet: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = yaml.safe_load((fleet.root / "tenants.yaml").read_text())
    data["environments"]["dev"]["namespace"] = "other-{tenant}"
    (tmp_path / "main.yaml").write_text(yaml.safe_dump(data))
    monkeypatch.setenv("TENANTRY_FILE", str(tmp_path / "main.yaml"))
    result = fleet.pulumi("preview", "--stack", "dev", "--policy-pack", PACK)
    assert result.code != 0
    assert "tenants-objects-are-in-their-namespaces" in broken(result.text, "mandatory")


def test_rules_about_frames_ask_the_main_file(sandbox: Project, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENANTRY_FILE", str(MAIN))
    assert "✅ tenantry@v" in preview(sandbox, program, "framed-good").ok().text
    result = preview(sandbox, program, "framed-bad")
    assert result.code != 0
    assert broken(result.text, "mandatory") == NAMES_OF_FRAMES


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
