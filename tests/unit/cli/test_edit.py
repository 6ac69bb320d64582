"""`tenantry set`: what it writes, prints and refuses."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry

ROOT = Path(__file__).resolve().parents[3]
FLEET = (ROOT / "tenants.yaml").read_text()
FILE = Path("tenants.yaml")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(FLEET)


def test_values_come_from_stdin_and_as_texts(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("replicas: 3\nhost: a\n"))
    assert tenantry(capsys, "set", "tenants.movy.apps.web.helm.values", "-")[0] == 0
    assert 'values: {host: "a", replicas: 3}\n' in FILE.read_text()
    assert tenantry(capsys, "set", "tenants.movy.apps.web.helm.values.host", "--string", "1.10")[0] == 0
    assert 'values: {host: "1.10", replicas: 3}\n' in FILE.read_text()
