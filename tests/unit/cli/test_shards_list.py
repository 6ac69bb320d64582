"""`tenantry shards list`: which stacks share an environment, and which of them a change touches."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tenantry.compare.diff import diff
from tenantry.compare.shards import touched
from tests.documents import check
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.guard.fleets import fleet, tenant
from tests.unit.texts import FRAME, planned

ROOT = Path(__file__).resolve().parents[3]
ROCKY, OTTO, ADA = tenant("rocky", "web"), tenant("otto", "web"), tenant("ada", "web")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tenants.yaml").write_text(fleet(ROCKY, OTTO))
    (tmp_path / "Pulumi.yaml").write_text("name: shop\n")
    for stack, shard in (("dev", "1/2"), ("dev-2", "2/2")):
        config = f"config: {{tenantry:environment: dev, tenantry:shard: {shard}}}\n"
        (tmp_path / f"Pulumi.{stack}.yaml").write_text(config)


def test_each_shard_is_listed_with_its_stack_tenants_and_objects(capsys: Capture) -> None:
    assert tenantry(capsys, "shards", "list") == (
        0,
        "ENVIRONMENT  SHARD  STACK  TENANTS  OBJECTS\n"
        "dev          1/2    dev          1       13\n"
        "dev          2/2    dev-2        1       10\n",
        "",
    )
    _, shown, _ = tenantry(capsys, "shards", "list", "--output", "json")
    check(shown)
    assert json.loads(shown)["shards"][1] == {
        "environment": "dev",
        "shard": "2/2",
        "stack": "dev-2",
        "tenants": ["otto"],
        "objects": 10,
    }


def test_a_matrix_holds_the_shards_that_a_change_touches(tmp_path: Path, capsys: Capture) -> None:
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com")
    for command in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run([*git, *command], check=True, cwd=tmp_path)
    command = ("shards", "list", "--changed-since", "HEAD", "--output", "matrix")
    assert tenantry(capsys, *command) == (0, '{"include": []}\n', "")
    (tmp_path / "tenants.yaml").write_text(fleet(ROCKY, OTTO, tenant("zoe", "web")))
    row = '{"environment": "dev", "shard": "2/2", "stack": "dev-2"}'
    assert tenantry(capsys, *command) == (0, f'{{"include": [{row}]}}\n', "")


def test_the_workflow_of_the_documentation_uses_the_matrix_as_it_is() -> None:
    page = (ROOT / "docs" / "pull-requests.md").read_text(encoding="utf-8").partition("### Shards")[2]
    shards, preview = yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])["jobs"].values()
    assert "tenantry shards list --changed-since" in shards["steps"][-1]["run"]
    assert "--output matrix" in shards["steps"][-1]["run"]
    assert preview["steps"][-1]["run"].endswith(
        '--environment "${{ matrix.environment }}" --shard "${{ matrix.shard }}"'
    )


def test_a_difference_names_the_shards_that_it_touches(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "before.yaml").write_text(fleet(ROCKY))
    line = "shards of dev with changes: 2/2 (dev-2)\n"
    assert tenantry(capsys, "diff", "before.yaml")[1].endswith(f"\n\n{line}")
    assert tenantry(capsys, "diff", "before.yaml", "--output", "markdown")[1].endswith(
        "\n\nShards of `dev` with changes: 2/2 (`dev-2`)\n"
    )
    shown = tenantry(capsys, "diff", "before.yaml", "--output", "json")[1]
    check(shown)
    assert json.loads(shown)["environments"][0]["shards"] == [{"shard": "2/2", "stack": "dev-2"}]
    assert "shards of" not in tenantry(capsys, "diff", "tenants.yaml")[1]


def test_explain_names_the_stack_that_runs_a_tenant(tmp_path: Path, capsys: Capture) -> None:
    lines = tenantry(capsys, "explain", "otto", "-e", "dev")[1].splitlines()
    assert re.fullmatch(r"stack: dev-2 +# shard 2/2, decided by the tenant's name", lines[1])
    shown = tenantry(capsys, "explain", "otto", "-e", "dev", "--output", "json")[1]
    check(shown)
    assert json.loads(shown)["shard"] == {"shard": "2/2", "stack": "dev-2"}
    for file in tmp_path.glob("Pulumi.*.yaml"):
        file.unlink()
    assert "stack:" not in tenantry(capsys, "explain", "otto", "-e", "dev")[1]


def test_stacks_that_do_not_fit_together_are_refused(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "Pulumi.dev-2.yaml").unlink()
    code, _, err = tenantry(capsys, "shards", "list")
    assert code == 2
    assert "no stack runs 1 shard of environment 'dev': 2/2" in err


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (fleet(ROCKY, OTTO), fleet(ROCKY, OTTO), []),
        (fleet(ROCKY, OTTO), fleet(ROCKY, OTTO, ADA), ["1/2"]),
        (fleet(ROCKY, OTTO), fleet(ROCKY), ["2/2"]),
        (fleet(ROCKY), fleet(OTTO), ["1/2", "2/2"]),
        (
            fleet(ROCKY, OTTO),
            fleet(ROCKY, OTTO, frame=FRAME.replace("version: 0.1.0", "version: 0.1.1")),
            ["1/2", "2/2"],
        ),
        (
            fleet(ROCKY, OTTO),
            fleet(ROCKY, OTTO, frame=FRAME.replace("{management: hub}", "{management: hub, protected: true}")),
            ["1/2", "2/2"],
        ),
    ],
)
def test_a_change_touches_the_shards_of_its_tenants_and_the_first_one_for_what_they_share(
    before: str, after: str, expected: list[str]
) -> None:
    assert [str(each) for each in touched(diff(planned(before), planned(after)), 2)] == expected
