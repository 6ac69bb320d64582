"""`tenantry promote`: what it writes, what it leaves, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tenantry.edit import overriding
from tests.unit.cli.test_cli import Capture, tenantry

pytestmark = pytest.mark.usefixtures("plans_once")

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev, variables: {shop: 1.4.0, shared: 2.0.0, ref: main}}
  prod: {management: hub-prod, variables: {shop: 1.3.2, shared: 1.0.0, ref: v1}}
clusters:
  hub-dev: {environments: [dev]}
  hub-prod: {environments: [prod]}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    sources:
      main: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}
      stable: {git: {url: https://git.example.com/rocky, ref: {tag: v1}}}
      by-name: {git: {url: https://git.example.com/rocky, ref: {branch: "{env}"}}}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      web:
        helm: {source: charts, chart: web, version: 2.1.0, values: {replicas: 1, image: {tag: "7"}}}
        overrides:
          - when: {environments: [prod]}
            helm: {version: 2.0.3, values: {replicas: 3, image: {tag: "6"}}} # pinned
      shop: {helm: {source: charts, chart: shop, version: "{shop}"}}
      site:
        kustomize: {source: main, path: ./site}
        overrides: [{when: {environments: [prod]}, kustomize: {source: stable}}]
      lone: {kustomize: {source: by-name}}
      tools:
        helm: {source: charts, chart: tools, version: 3.0.0}
        overrides: [{when: {clusters: {names: [hub-prod]}}, helm: {version: 2.9.0}}]
      one: {helm: {source: charts, chart: one, version: "{shared}"}}
      two: {helm: {source: charts, chart: two, version: "{shared}"}}
"""


FILE = Path("tenants.yaml")


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    FILE.write_text(FLEET)


def promote(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    return tenantry(capsys, "promote", "dev", "prod", *arguments)


@pytest.mark.parametrize(("subject", "key"), [("rocky/web", "helm.version"), ("rocky/site", "source.git.ref")])
def test_an_edit_that_leaves_a_difference_is_not_written(
    subject: str, key: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def without_effect(self: Any, app: Any, path: Any, *_: Any, **__: Any) -> None:
        self.done[f"{overriding.name_of_app(app)}: set {'.'.join(path)}"] = None

    monkeypatch.setattr(overriding.Promotion, "_set", without_effect)
    code, _, err = promote(capsys, subject)
    said = f"error: after the edit, this is left to do: {subject}: set {key}\n  fix: edit the file by hand\n"
    assert (code, err, FILE.read_text()) == (2, said, FLEET)
