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


def refused(capsys: Capture, *arguments: str) -> str:
    code = run(["-f", "f", "explain", "-e", "dev", *arguments])
    out, err = capsys.readouterr()
    assert (2, "") == (code, out)
    return err


TENANT = """\
# tenant rocky in environment dev
apps:
  web: [edge]           # selector: labels tier=edge, f:28:19 (app)
  cache: [edge]         # selector: names edge, hub, except hub, f:46:19 (app)
  nowhere: []           # selector: names far, f:49:19 (app)

edge:
  namespace: dev-rocky  # f:3:37 (environment dev), from '{env}-{tenant}'
  role: admin           # default
  interval: 3m          # f:21:15 (tenant)
  retryInterval: 30s    # default
  timeout: 2m           # f:17:12 (defaults)
  network: isolated     # default
  quota:
    cpu: '8'            # f:18:26 (defaults)
    memory: 1Gi         # f:22:33 (tenant)
    pods: null          # removed at f:22:19 (tenant)
  podSecurity:
    enforce: baseline   # default
"""


def test_a_tenant_is_shown_with_its_settings_and_where_its_apps_are(capsys: Capture) -> None:
    assert TENANT == explain(capsys, "rocky")


APP = """\
# app web of tenant rocky in environment dev
clusters:                                   # selector: labels tier=edge, f:28:19 (app)
  hub: not placed                           # label tier is 'hub', f:6:45 (cluster hub)
  edge: placed                              # its labels match, f:9:20 (cluster edge)
  bare: not placed                          # has no label 'tier', f:12:9 (cluster bare)
# in other environments: far

edge:                                       # Kustomization kamaji/edge-dev-rocky-web
  namespace: dev-rocky                      # f:3:37 (environment dev), from '{env}-{tenant}'
  kustomize:
    source: manifests                       # f:30:19 (app)
    path: ./web/dev                         # f:31:17 (app), from ./web/{env}
    prune: true                             # default
    wait: false                             # f:44:31 (cluster edge)
    force: true                             # f:42:47 (environment dev)
    deletionPolicy: WaitForTermination      # default
    components: [../edge]                   # f:38:23 (app), from ['../{cluster}']
    images:
      - name: a                             # f:33:27 (app)
        newTag: '1'                         # f:33:38 (app)
    patches:
      - patch: |                            # f:35:22 (app)
          {apiVersion: apps/v1, kind: Deployment,
            metadata: {name: a}, spec: null}
    postBuild:
      substitute:
        DOMAIN: edge.example.com            # f:39:44 (app), from '{domain}'
        GONE: null                          # removed at f:42:84 (environment dev)
    interval: 3m                            # f:21:15 (tenant)
    retryInterval: 30s                      # default
    timeout: 2m                             # f:17:12 (defaults); null at f:42:34 (environment dev)
  sources:
    manifests:
      git:
        url: https://git.example.com/rocky  # f:24:30 (source), from '{git}/rocky'
        ref:
          branch: main                      # f:24:59 (source)
        interval: 5m                        # default
        timeout: 60s                        # default
  clusters:
    labels:
      tier: edge                            # f:28:35 (app)
  placeholders:
    domain: edge.example.com                # f:10:25 (cluster edge)
    git: https://git.example.com            # f:3:97 (environment dev)
"""


def test_an_app_is_shown_with_every_level_that_made_it(capsys: Capture) -> None:
    assert APP == explain(capsys, "rocky/web")


RELEASE = """\
# app cache of tenant rocky in environment dev
clusters:                                 # selector: names edge, hub, except hub, f:46:19 (app)
  hub: not placed                         # excluded by name, f:46:50 (app)
  edge: placed                            # named, f:46:28 (app)
  bare: not placed                        # not named, f:46:27 (app)
# in other environments: far

edge:                                     # HelmRelease kamaji/edge-dev-rocky-cache
  namespace: dev-rocky                    # f:3:37 (environment dev), from '{env}-{tenant}'
  helm:
    source: charts                        # f:47:24 (app)
    chart: valkey                         # f:47:39 (app)
    version: 1.x                          # f:47:56 (app)
    driftDetection:
      mode: enabled                       # default
      ignore:
        - target:
            kind: Deployment|StatefulSet  # default
          paths: [/spec/replicas]         # default
    install:
      strategy:
        name: RetryOnFailure              # default
    upgrade:
      strategy:
        name: RetryOnFailure              # default
    interval: 3m                          # f:21:15 (tenant)
    timeout: 2m                           # f:17:12 (defaults)
  retryInterval: 30s                      # default
  sources:
    charts:
      helm:
        url: https://charts.example.com   # f:25:28 (source)
        type: default                     # default
        interval: 10m                     # default
        timeout: 60s                      # default
  clusters:
    names: [edge, hub]                    # f:46:27 (app)
    exclude: [hub]                        # f:46:49 (app)
"""


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


def test_a_release_is_shown_with_how_soon_it_is_retried(capsys: Capture) -> None:
    assert RELEASE == explain(capsys, "rocky/cache")


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


IDLE = """\
# tenant idle in environment dev

on no cluster:
  namespace: dev-idle  # f:3:37 (environment dev), from '{env}-{tenant}'
  role: admin          # default
  interval: 1m         # f:16:13 (defaults)
  retryInterval: 30s   # default
  timeout: 2m          # f:17:12 (defaults)
  network: isolated    # default
  quota:
    pods: '40'         # f:18:17 (defaults)
    cpu: '8'           # f:18:26 (defaults)
  podSecurity:
    enforce: baseline  # default
"""


def test_a_tenant_that_says_nothing_has_the_defaults(capsys: Capture) -> None:
    assert IDLE == explain(capsys, "idle")


ONE = """\
# app cache of tenant rocky in environment dev
clusters:          # selector: names edge, hub, except hub, f:46:19 (app)
  hub: not placed  # excluded by name, f:46:50 (app)
"""


def test_one_cluster_that_is_not_taken_is_told_with_the_reason(capsys: Capture) -> None:
    assert ONE == explain(capsys, "rocky/cache", "--cluster", "hub")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["rock"], "error: f declares no tenant 'rock' (declared: rocky, idle)\n  fix: name 'rocky'\n"),
        (
            ["rocky/wep"],
            "error: tenant 'rocky' declares no app 'wep' (declared: web, cache, nowhere)\n  fix: name 'web'\n",
        ),
        (["idle/web"], "error: tenant 'idle' declares no app 'web' (declared: none)\n"),
        (
            ["rocky/web", "-c", "egde"],
            "error: f declares no cluster 'egde' (declared: hub, edge, bare, far)\n  fix: name 'edge'\n",
        ),
        (
            ["rocky/web", "-c", "far"],
            "error: cluster 'far' is in environment 'prod', not 'dev'\n  fix: name one of: hub, edge, bare\n",
        ),
        (
            ["rocky", "-c", "far"],
            "error: cluster 'far' is in environment 'prod', not 'dev'\n  fix: name one of: hub, edge, bare\n",
        ),
        (
            ["rocky", "-c", "x"],
            "error: f declares no cluster 'x' (declared: hub, edge, bare, far)\n  fix: name one of these\n",
        ),
        (["rocky", "-e", "dve"], "error: f declares no environment 'dve' (declared: dev, prod)\n  fix: name 'dev'\n"),
    ],
)
def test_what_is_not_declared_is_refused_with_the_closest(arguments: list[str], expected: str, capsys: Capture) -> None:
    assert expected == refused(capsys, *arguments)


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


ALERTS = """\
  alerts:
    chat:
      provider:
        type: slack       # f:54:26 (tenant)
        channel: dev      # f:54:42 (tenant), from '{env}'
      credentials: slack  # f:55:22 (tenant)
      apps: [web]         # f:56:15 (tenant)
"""


def test_a_tenants_alerts_are_shown(capsys: Capture) -> None:
    chat = "provider: {type: slack, channel: '{env}'}\n        credentials: slack\n        apps: [web]"
    written = f"    credentials: {{slack: {{existing: true}}}}\n    alerts:\n      chat:\n        {chat}\n"
    Path("f").write_text(FLEET.replace("  idle: {}\n", f"{written}  idle: {{}}\n"))
    assert ALERTS in explain(capsys, "rocky")


RIGHTS = """\
  serviceAccount:
    name: deployer      # f:51:28 (tenant)
  clusterRoles:
    pv:
      role: volumes     # f:52:31 (tenant)
"""


def test_what_only_the_tenants_entry_sets_is_among_its_settings(capsys: Capture) -> None:
    written = "    serviceAccount: {name: deployer}\n    clusterRoles: {pv: {role: volumes}}\n"
    Path("f").write_text(FLEET.replace("  idle: {}\n", f"{written}  idle: {{}}\n"))
    assert RIGHTS in explain(capsys, "rocky")


RECEIVERS = """\
  receivers:
    push:
      type: github          # f:52:20 (tenant)
      sources: [manifests]  # f:52:37 (tenant)
      credentials: there    # f:52:63 (tenant)
"""


def test_a_tenants_receivers_are_shown(capsys: Capture) -> None:
    written = "    receivers:\n      push: {type: github, sources: [manifests], credentials: there}\n"
    written += "    credentials: {there: {existing: true}}\n"
    Path("f").write_text(FLEET.replace("  idle: {}\n", f"{written}  idle: {{}}\n"))
    assert RECEIVERS in explain(capsys, "rocky")


def test_each_wave_of_an_app_has_its_clusters_and_conditions(capsys: Capture) -> None:
    last = "{all: true, tolerate: {failed: 1, unreachable: 20%}}"
    text = waves(f"waves: [{{name: canary, labels: {{ring: canary}}, soak: 1h}}, {last}]", clusters=2)
    Path("tenants.yaml").write_text(text)
    _, out, _ = tenantry(capsys, "explain", "rocky/web", "-e", "dev")
    lines = [" ".join(each.split()) for each in out.splitlines()]
    first = lines.index("canary: [edge-1] # soaks for 1h")
    assert lines[first + 1] == "wave 2: [edge-2, hub] # tolerates failed 1, unreachable 20%"


def test_a_range_that_bypasses_waves_is_named_with_the_way_to_pin_it(capsys: Capture) -> None:
    text = waves("waves: [{labels: {ring: canary}}, {all: true}]").replace("version: 1.2.3", "version: 1.x")
    Path("tenants.yaml").write_text(text)
    _, out, _ = tenantry(capsys, "explain", "rocky/db", "-e", "dev")
    lines = [" ".join(each.split()) for each in out.splitlines()]
    told = lines.index("bypassed by: versions 1.x of its chart # what is new there reaches all clusters at once")
    assert lines[told + 1] == "# to pin it, write a version in place of the range"
    _, out, _ = tenantry(capsys, "explain", "rocky/web", "-e", "dev")
    assert "bypassed by: branch main" in out
    assert "pin it" not in out
