"""`tenantry explain`, whole: what it prints about a fleet in which every level says something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tests.unit.cli.test_cli import tenantry
from tests.unit.rollout.test_waves import fleet as waves

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "{env}-{tenant}", variables: {domain: dev.example.com, git: https://git.example.com}}
  prod: {management: far}
clusters:
  hub: {environments: [dev], labels: {tier: hub}}
  edge:
    environments: [dev]
    labels: {tier: edge}
    variables: {domain: edge.example.com}
    kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}
  bare: {environments: [dev], kubeconfig: {capi: {cluster: bare, namespace: capi}}}
  far: {environments: [prod]}
platform: {chart: {helm: {url: https://charts.example.com, version: 0.1.0}}}
defaults:
  interval: 1m
  timeout: 2m
  quota: {pods: 40, cpu: 8}
tenants:
  rocky:
    interval: 3m
    quota: {pods: null, memory: 1Gi}
    sources:
      manifests: {git: {url: "{git}/rocky", ref: {branch: main}}}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      web:
        clusters: {labels: {tier: edge}}
        kustomize:
          source: manifests
          path: ./web/{env}
          timeout: 4m
          images: [{name: a, newTag: "1"}]
          patches:
            - patch: |
                {apiVersion: apps/v1, kind: Deployment,
                  metadata: {name: a}, spec: null}
          components: ["../{cluster}"]
          postBuild: {substitute: {DOMAIN: "{domain}", GONE: x}}
        overrides:
          - when: {environments: [dev]}
            kustomize: {timeout: null, force: true, postBuild: {substitute: {GONE: null}}}
          - when: {clusters: {names: [edge]}}
            kustomize: {wait: false}
      cache:
        clusters: {names: [edge, hub], exclude: [hub]}
        helm: {source: charts, chart: valkey, version: 1.x}
      nowhere:
        clusters: {names: [far]}
        kustomize: {source: manifests}
  idle: {}
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f").write_text(FLEET)


def explain(capsys: Capture, *arguments: str) -> str:
    code = run(["-f", "f", "explain", "-e", "dev", *arguments])
    out, err = capsys.readouterr()
    assert (0, "") == (code, err)
    return out


def test_the_shard_of_fluxs_controllers_is_shown_with_what_decides_it(capsys: Capture, tmp_path: Path) -> None:
    labels = "    labels: {tier: edge}\n"
    (tmp_path / "tenants.yaml").write_text(FLEET.replace(labels, f"{labels}    shard: b\n", 1))
    lines: dict[str, list[str]] = {}
    for names in (["rocky"], ["rocky/web"], ["platform"]):
        run(["explain", *names, "-e", "dev", "-f", str(tmp_path / "tenants.yaml")])
        told = capsys.readouterr().out.replace(f"{tmp_path}/tenants.yaml", "f").splitlines()
        lines[names[-1].rpartition("/")[2]] = [" ".join(each.split()) for each in told if "shard:" in each]
    shown = "shard: b # f:10:12 (cluster edge)"
    assert lines == {"rocky": [], "web": [shown], "platform": [shown]}


RETRIES = {
    "": True,
    ", install: {remediation: {retries: 3}}": True,
    ", install: {remediation: {retries: 3}}, upgrade: {remediation: {retries: 3}}": False,
    ", install: {remediation: {retries: 3}}, upgrade: {strategy: {name: RetryOnFailure}}": False,
    ", install: {strategy: {name: RetryOnFailure, retryInterval: 9s}}, upgrade: {remediation: {retries: 3}}": False,
}


@pytest.mark.parametrize(("more", "shown"), RETRIES.items())
def test_a_release_is_shown_with_the_tenants_retry_interval_where_it_uses_it(
    capsys: Capture, more: str, *, shown: bool
) -> None:
    Path("f").write_text(FLEET.replace("version: 1.x}", f"version: 1.x{more}}}"))
    assert ("\n  retryInterval: 30s" in explain(capsys, "rocky/cache")) is shown


def test_colours_are_for_those_who_ask(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    hub = explain(capsys, "rocky/cache", "--cluster", "hub").splitlines()[2]
    assert hub == "\x1b[33m  hub: not placed\x1b[0m  \x1b[2m# excluded by name, f:46:50 (app)\x1b[0m"


def test_what_an_environment_has_from_another_is_traced_to_it(capsys: Capture) -> None:
    extended = FLEET.replace("prod: {management: far}", "prod: {extends: dev, management: far}")
    Path("f").write_text(
        extended.replace("path: ./web/{env}", 'path: "./{domain}"')
        .replace("{tier: edge}}\n        k", "{tier: far}}\n        k")
        .replace("far: {environments: [prod]", "far: {labels: {tier: far}, environments: [prod]")
    )
    (placed,) = json.loads(explain(capsys, "rocky/web", "-e", "prod", "-o", "json"))["placed"]
    domain = next(value for value in placed["values"] if value["path"] == ["placeholders", "domain"])
    assert [("dev.example.com", "environment dev"), ("prod-rocky", "environment dev")] == [
        (value["value"], value["origin"]["level"]) for value in (domain, placed["values"][0])
    ]


def test_each_wave_of_an_app_has_its_clusters_and_conditions(capsys: Capture) -> None:
    last = "{all: true, tolerate: {failed: 1, unreachable: 20%}}"
    text = waves(f"waves: [{{name: canary, labels: {{ring: canary}}, soak: 1h}}, {last}]", clusters=2)
    Path("tenants.yaml").write_text(text)
    _, out, _ = tenantry(capsys, "explain", "rocky/web", "-e", "dev")
    lines = [" ".join(each.split()) for each in out.splitlines()]
    first = lines.index("canary: [edge-1] # soaks for 1h")
    assert lines[first + 1] == "wave 2: [edge-2, hub] # tolerates failed 1, unreachable 20%"


def test_what_bypasses_waves_is_named(capsys: Capture) -> None:
    text = waves("waves: [{labels: {ring: canary}}, {all: true}]").replace("version: 1.2.3", "version: 1.x")
    Path("tenants.yaml").write_text(text)
    _, out, _ = tenantry(capsys, "explain", "rocky/db", "-e", "dev")
    lines = [" ".join(each.split()) for each in out.splitlines()]
    assert "bypassed by: versions 1.x of its chart # what is new there reaches all clusters at once" in lines
    _, out, _ = tenantry(capsys, "explain", "rocky/web", "-e", "dev")
    assert "bypassed by: branch main" in out
