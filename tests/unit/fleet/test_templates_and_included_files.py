"""What an included file may say of a tenant that is from a template: nothing of what the template says, which is the platform's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.fleet.fleet import Fleet
from tenantry.grants.grants import is_filled
from tenantry.load import load_fleet, plan_all

MAIN = """\
apiVersion: tenantry/v1
include: [rocky.yaml]
environments: {dev: {management: hub, variables: {team: platform}}}
clusters:
  hub: {environments: [dev], labels: {tier: hub}}
  edge: {environments: [dev], labels: {tier: edge}, kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
templates:
  tenants:
    base:
      credentials: {deploy: {keys: [username, password]}}
      sources:
        given: {git: {url: "https://git.example.com/platform/given", ref: {branch: main}}, credentials: deploy}
        lent: {git: {url: "https://git.example.com/platform/lent", ref: {branch: main}}}
      apps: {base: {kustomize: {source: given, path: ./base}}, more: {kustomize: {source: lent}}}
    small:
      from: base
      clusters: {labels: {tier: edge}}
      quota: {pods: 10}
      labels: {cost: low}
      grants: {sources: ["https://git.example.com/rocky/*"], settings: [timeout]}
tenants: {rocky: {from: small}}
"""
OWN = (
    "sources: {m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}}}}\n"
    "    apps: {web: {kustomize: {source: m}}}"
)


def load(own: str) -> Fleet:
    Path("rocky.yaml").write_text(f"tenants:\n  rocky:\n    {own}\n")
    Path("tenants.yaml").write_text(MAIN)
    return load_fleet(Path("tenants.yaml"))


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_tenant_with_a_file_has_what_its_templates_say() -> None:
    fleet = load(f"{OWN}\n    timeout: 2m")
    rocky = fleet.document.tenants["rocky"]
    assert (rocky.apps.keys(), rocky.quota, rocky.timeout) == ({"base", "more", "web"}, {"pods": "10"}, "2m")
    at = ("tenants", "rocky")
    filled = [
        path
        for path in (("apps", "base"), ("quota",), ("quota", "pods"), ("sources", "given"))
        if is_filled(fleet, (*at, *path))
    ]
    assert filled == []
    assert is_filled(fleet, (*at, "apps", "web"))
    assert is_filled(fleet, (*at, "timeout"))
    assert str(fleet.source.locate((*at, "quota", "pods"))).startswith("tenants.yaml:19:")
    assert str(fleet.source.locate((*at, "timeout"))).startswith("rocky.yaml:5:")
    (plan,) = plan_all(fleet).values()
    assert {app.id.name for app in plan.apps} == {"edge-rocky-base", "edge-rocky-more", "edge-rocky-web"}
