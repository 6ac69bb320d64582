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


PLATFORM = """\
# platform in environment r1
addons:
  crds: [edge]                               # selector: all, f:18:22 (add-on)
  certs: [edge]                              # selector: labels tier=edge, f:20:17 (add-on)

all clusters (hub, edge):
  namespace: ops                             # f:15:14 (platform)
  interval: 1m                               # f:28:45 (defaults)
  retryInterval: 30s                         # default
  timeout: 5m                                # default
hub:
  environments: [dev, r1]                    # f:7:23 (cluster hub)
  labels:
    tier: hub                                # f:7:49 (cluster hub)
  platformServiceAccount: tenantry-platform  # default
edge:
  environments: [r1, dev]                    # f:9:19 (cluster edge)
  labels:
    tier: edge                               # f:10:20 (cluster edge)
  variables:
    charts: https://charts.example.com       # f:11:25 (cluster edge)
  platformServiceAccount: boss-r1            # f:12:29 (cluster edge)
  kubeconfig:
    kamaji:
      controlPlane: edge                     # f:13:41 (cluster edge)
      namespace: kamaji                      # f:13:58 (cluster edge)
      key: admin.conf                        # default
  chart:
    helm:
      url: https://charts.example.com        # f:16:23 (platform), from '{charts}'
      version: 0.1.0                         # f:16:44 (platform)
      type: default                          # default
  placeholders:
    charts: https://charts.example.com       # f:11:25 (cluster edge)
"""


def test_the_platform_is_shown_with_what_all_add_ons_have_and_with_each_cluster(capsys: Capture) -> None:
    assert PLATFORM == explain(capsys, "platform", "-e", "r1")


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


def test_an_add_on_is_shown_with_every_level_that_made_it(capsys: Capture) -> None:
    assert ADDON == explain(capsys, "platform/certs", "-e", "r1")


ELSEWHERE = """\
# add-on crds in environment r1
clusters:          # selector: all, f:18:22 (add-on)
  hub: not placed  # its add-ons belong to environment dev, f:7:24 (cluster hub)
"""


def test_an_add_on_that_another_environment_has_is_told_with_the_reason(capsys: Capture) -> None:
    assert ELSEWHERE == explain(capsys, "platform/crds", "-e", "r1", "--cluster", "hub")


WEB = """\
# app web of tenant rocky in environment dev
clusters:                                   # selector: labels tier=hub, tenants.d/rocky.yaml:8:19 (app)
  hub: placed                               # its labels match, f:7:49 (cluster hub)

hub:                                        # Kustomization rocky/web
  namespace: rocky                          # default, from '{tenant}'
  kustomize:
    source: manifests                       # tenants.d/rocky.yaml:9:29 (app)
    path: ./                                # default
    prune: true                             # default
    wait: true                              # default
    deletionPolicy: WaitForTermination      # default
    interval: 1m                            # f:28:45 (defaults)
    retryInterval: 30s                      # default
    timeout: 4m                             # tenants.d/rocky.yaml:3:14 (tenant)
  dependsOn: [platform/crds]                # tenants.d/rocky.yaml:10:20 (app)
  sources:
    manifests:
      git:
        url: https://git.example.com/rocky  # tenants.d/rocky.yaml:5:30 (source)
        ref:
          branch: main                      # tenants.d/rocky.yaml:5:75 (source)
        interval: 5m                        # default
        timeout: 60s                        # default
  clusters:
    labels:
      tier: hub                             # tenants.d/rocky.yaml:8:35 (app)
"""


def test_values_from_an_included_file_are_traced_to_it_and_dependencies_on_add_ons_are_shown(capsys: Capture) -> None:
    assert WEB == explain(capsys, "rocky/web", "-e", "dev", "--cluster", "hub")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["platform/cert"],
            "error: the platform declares no add-on 'cert' (declared: crds, certs)\n  fix: name 'certs'\n",
        ),
        (["platform", "-c", "egde"], "error: f declares no cluster 'egde' (declared: hub, edge)\n  fix: name 'edge'\n"),
    ],
)
def test_what_is_not_declared_is_refused_with_the_closest(arguments: list[str], expected: str, capsys: Capture) -> None:
    code = run(["-f", "f", "explain", "-e", "dev", *arguments])
    assert (2, ("", expected)) == (code, capsys.readouterr())


def test_the_platforms_alerts_are_shown_as_written(capsys: Capture) -> None:
    written = "alerts: {ops: {provider: {type: generic, address: https://ops.example.com}}}"
    Path("f").write_text(FLEET.replace("  namespace: ops\n", f"  namespace: ops\n  {written}\n"))
    (placed,) = json.loads(explain(capsys, "platform", "-e", "r1", "-c", "edge", "--output", "json"))["placed"]
    alerts = [each for each in placed["values"] if each["path"][0] == "alerts"]
    assert [(each["path"][2:], each["value"], each["origin"]["level"]) for each in alerts] == [
        (["provider", "type"], "generic", "platform"),
        (["provider", "address"], "https://ops.example.com", "platform"),
    ]


def test_an_environment_without_clusters_shows_the_platform_as_it_is_written(capsys: Capture) -> None:
    frame = 'environments: {dev: {management: hub}, empty: {management: hub, namespace: "{env}-{tenant}"}}\n'
    fleet = f"apiVersion: tenantry/v1\n{frame}clusters: {{hub: {{environments: [dev]}}}}\n"
    Path("f").write_text(f'{fleet}platform: {{configs: {{zone: {{data: {{CLUSTER: "{{cluster}}"}}}}}}}}\n')
    shown = explain(capsys, "platform", "--environment", "empty")
    assert "on no cluster:\n  namespace: tenantry-system " in shown
    assert "        CLUSTER: '{cluster}' " in shown
