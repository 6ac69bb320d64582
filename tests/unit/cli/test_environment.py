"""Which environment, tenant and app a command takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.test_cli import SOUND, Capture, tenantry

TWO = SOUND.replace(
    "  dev: {management: hub}\n", '  dev: {management: hub}\n  prod: {management: hub, namespace: "{env}-{tenant}"}\n'
).replace("environments: [dev]", "environments: [dev, prod]")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(SOUND)
    Path("two.yaml").write_text(TWO)
    assert "prod" in TWO


def test_an_argument_is_the_same_as_the_option(capsys: Capture) -> None:
    narrow = tenantry(capsys, "-f", "two.yaml", "render", "dev")
    assert narrow == tenantry(capsys, "-f", "two.yaml", "render", "-e", "dev")
    assert narrow != tenantry(capsys, "-f", "two.yaml", "render")
