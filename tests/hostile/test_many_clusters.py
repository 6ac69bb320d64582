"""One change on very many clusters is a few lines, whoever reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.app import run

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub-dev}, prod: {management: hub}}
templates: {clusters: {edge: {environments: [prod], kubeconfig: {capi: {cluster: "{cluster}", namespace: capi}}}}}
clusters:
  hub-dev: {environments: [dev]}
  hub: {environments: [prod]}
CLUSTERS
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {all: true, exclude: [hub-dev]}
    sources: {charts: {helm: {url: "https://charts.example.com"}}}
    apps:
      web: {helm: {source: charts, chart: web, version: 1.2.0}}
"""


@pytest.fixture(autouse=True)
def _in_a_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    clusters = "\n".join(f"  edge-{number}: {{from: edge}}" for number in range(500))
    Path("before.yaml").write_text(FLEET.replace("CLUSTERS", clusters))
    Path("tenants.yaml").write_text(FLEET.replace("CLUSTERS", clusters).replace("1.2.0", "1.3.0"))


def test_the_same_version_on_501_clusters_is_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", "./before.yaml"]) == 1
    assert capsys.readouterr().out == (
        "against before.yaml\n"
        "\n"
        "prod: 1 tenant, 1 app on all 501 clusters\n"
        "  ~ rocky/web on all 501 clusters\n"
        "      ~ helm.version: 1.2.0 -> 1.3.0  # tenants.yaml:513:57 (app)\n"
        "\n"
        "objects\n"
        "  prod: 2 added, 501 changed, 2 removed\n"
        "\n"
        "no difference: dev\n"
    )
    assert run(["diff", "./before.yaml", "--output", "markdown"]) == 1
    assert len(capsys.readouterr().out.splitlines()) <= 20
