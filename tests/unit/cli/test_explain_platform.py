"""`tenantry explain platform[/ADDON]`, whole; and places in files that the fleet includes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.cli.app import run

FLEET = """\
apiVersion: tenantry/v1
include: [tenants.d/*.yaml]
environments:
  dev: {management: hub}
  r1: {extends: dev, namespace: "{env}-{tenant}"}
clusters:
  hub: {environments: [dev, r1], labels: {tier: hub}}
  edge:
    environments: [r1, dev]
    labels: {tier: edge}
    variables: {charts: https://charts.example.com}
    platformServiceAccount: boss
    kubeconfig: {kamaji: {controlPlane: edge, namespace: kamaji}}
platform:
  namespace: ops
  chart: {helm: {url: "{charts}", version: 0.1.0}}
  addons:
    crds: {clusters: {all: true}, source: {git: {url: https://git.example.com/crds, ref: {tag: v1}}}, kustomize: {}}
    certs:
      clusters: {labels: {tier: edge}}
      source: {helm: {url: "{charts}"}}
      helm: {chart: certs, version: 1.0.0, values: {replicas: 2, gone: x}}
      overrides:
        - when: {environments: [dev]}
          helm: {values: {gone: null}}
        - when: {clusters: {names: [edge]}}
          helm: {timeout: 9m}
defaults: {clusters: {all: true}, interval: 1m}
tenants: {rocky: {grants: {clusters: {names: [hub, edge]}, sources: ["*"], settings: [timeout]}}}
"""
INCLUDED = """\
tenants:
  rocky:
    timeout: 4m
    sources:
      manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}
    apps:
      web:
        clusters: {labels: {tier: hub}}
        kustomize: {source: manifests}
        dependsOn: [platform/crds]
      db: {kustomize: {source: manifests}}
"""
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.d").mkdir()
    Path("f").write_text(FLEET)
    Path("tenants.d/rocky.yaml").write_text(INCLUDED)


def explain(capsys: Capture, *arguments: str) -> str:
    code = run(["-f", "f", "explain", *arguments])
    out, err = capsys.readouterr()
    assert (0, "") == (code, err)
    return out


ADDON = """\
# add-on certs in environment r1
clusters:                                 # selector: labels tier=edge, f:20:17 (add-on)
  hub: not placed                         # label tier is 'hub', f:7:49 (cluster hub)
  edge: placed                            # its labels match, f:10:20 (cluster edge)

edge:                                     # HelmRelease kamaji/edge-certs
  namespace: ops                          # f:15:14 (platform)
  helm:
    chart: certs                          # f:22:21 (add-on)
    version: 1.0.0                        # f:22:37 (add-on)
    values:
      replicas: 2                         # f:22:63 (add-on)
      gone: null                          # removed at f:25:33 (environment dev)
    timeout: 9m                           # f:27:27 (cluster edge)
    driftDetection:
      mode: enabled                       # default
      ignore:
        - target:
            kind: Deployment|StatefulSet  # default
          paths: [/spec/replicas]         # default
        - target:
            kind: APIService|CustomResourceDefinition|.*WebhookConfiguration  # default
          paths: [/spec/caBundle]         # default, and 11 more
    install:
      strategy:
        name: RetryOnFailure              # default
    upgrade:
      crds: CreateReplace                 # default
      strategy:
        name: RetryOnFailure              # default
    interval: 1m                          # f:28:45 (defaults)
  retryInterval: 30s                      # default
  source:
    helm:
      url: https://charts.example.com     # f:21:28 (add-on), from '{charts}'
      type: default                       # default
      interval: 10m                       # default
      timeout: 60s                        # default
  clusters:
    labels:
      tier: edge                          # f:20:33 (add-on)
  placeholders:
    charts: https://charts.example.com    # f:11:25 (cluster edge)
"""


def test_the_platforms_alerts_are_shown_as_written(capsys: Capture) -> None:
    written = "alerts: {ops: {provider: {type: generic, address: https://ops.example.com}}}"
    Path("f").write_text(FLEET.replace("  namespace: ops\n", f"  namespace: ops\n  {written}\n"))
    (placed,) = json.loads(explain(capsys, "platform", "-e", "r1", "-c", "edge", "--output", "json"))["placed"]
    alerts = [each for each in placed["values"] if each["path"][0] == "alerts"]
    assert [(each["path"][2:], each["value"], each["origin"]["level"]) for each in alerts] == [
        (["provider", "type"], "generic", "platform"),
        (["provider", "address"], "https://ops.example.com", "platform"),
    ]
