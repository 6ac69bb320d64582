"""Edits of sources that add-ons share, and what is listed of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: dev}, prod: {management: prod, after: dev}}
clusters: {dev: {environments: [dev]}, prod: {environments: [prod]}}
platform:
  sources:
    base:
      git: {url: https://git.example.com/base, ref: {tag: v1.0.0}}
  addons:
    dns: {clusters: {all: true}, kustomize: {source: base, path: ./dns}}
    logs: {clusters: {all: true}, kustomize: {source: base, path: ./logs}}
"""
FILE = Path("tenants.yaml")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(FLEET)


def test_a_source_that_add_ons_take_is_not_removed(capsys: Capture) -> None:
    code, _, err = tenantry(capsys, "remove", "source", "platform/base")
    assert (code, FILE.read_text()) == (2, FLEET)
    assert "platform.addons.dns.kustomize.source" in err


def test_a_source_and_an_add_on_that_takes_it_are_added(capsys: Capture) -> None:
    tenantry(capsys, "add", "source", "platform/charts", "helm.url=https://charts.example.com")
    added = ("add", "addon", "certs", "clusters.all=true", "helm.chart=certs", "helm.version=1.x")
    assert tenantry(capsys, *added, "helm.source=chart")[0] == 2
    assert tenantry(capsys, *added, "helm.source=charts")[0] == 0
    assert (
        "    certs: {clusters: {all: true}, helm: {chart: certs, version: 1.x, source: charts}}\n" in FILE.read_text()
    )
