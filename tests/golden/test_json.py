"""The shapes of JSON documents: json/<command>.json is what each command of `COMMANDS` prints of json/fleet.yaml.

`pytest --update-golden` writes them; a key that is missing afterwards breaks the scripts that read it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.app import run

HERE = Path(__file__).with_name("json")
COMMANDS = {
    "validate": ("validate",),
    "tenants": ("list", "tenants"),
    "apps": ("list", "apps"),
    "clusters": ("list", "clusters"),
    "placements": ("list", "placements"),
    "set": ("set", "tenants.rocky.quota.pods", "5", "--dry-run"),
    "add": (
        "add",
        "source",
        "rocky/tools",
        "git.url=https://git.example.com/tools",
        "git.ref.branch=main",
        "--dry-run",
    ),
    "remove": ("remove", "app", "rocky/web", "--dry-run"),
    "promote": ("promote", "dev", "prod", "--dry-run"),
    "render": ("render", "dev"),
    "explain-app": ("explain", "rocky/web", "-e", "prod"),
    "explain-tenant": ("explain", "rocky", "-e", "prod"),
    "explain-platform": ("explain", "platform", "-e", "prod"),
    "diff-between": ("diff", "--between", "dev", "prod"),
}
"""What needs a cluster, and `import`, is held by the tests of the command."""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_document_has_this_shape(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    update_golden: bool,
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_bytes((HERE / "fleet.yaml").read_bytes())
    run([*COMMANDS[name], "--output", "json"])
    document, expected = capsys.readouterr().out, HERE / f"{name}.json"
    if update_golden:
        expected.write_text(document)
    assert expected.read_text() == document
