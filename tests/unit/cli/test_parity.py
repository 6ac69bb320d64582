"""`tenantry parity`: what differs between two environments, and why, in each format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev:
    management: hub-dev
    namespace: "{env}-{tenant}"
    variables: {shop: 1.4.0, stage: dev}
  prod: {management: hub-prod, namespace: "{tenant}", protected: true, variables: {shop: 1.3.2, stage: prod}}
clusterGroups:
  edge: {environments: [prod], labels: {tier: edge}, variables: {domain: eu}}
clusters:
  hub-dev: {environments: [dev], variables: {domain: local}}
  hub-prod: {environments: [prod], variables: {domain: local}}
  edge-1: {group: edge, kubeconfig: {kamaji: {controlPlane: edge-1, namespace: kamaji}}}
platform:
  chart: {helm: {url: https://charts.example.com, version: 0.1.0}}
  addons:
    dns:
      clusters: {all: true}
      source: {git: {url: https://git.example.com/dns, ref: {branch: "{stage}"}}}
      kustomize: {}
defaults:
  clusters: {all: true}
  overrides: {environments: {prod: {interval: 1h}}}
tenants:
  rocky:
    sources:
      main: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}
      stable: {git: {url: https://git.example.com/rocky, ref: {tag: v1}}}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      web:
        helm: {source: charts, chart: web, version: 2.1.0, values: {replicas: 1, where: "{cluster}"}}
        overrides: {environments: {prod: {helm: {version: 2.0.3, values: {replicas: 3, dbPassword: x9-Hq2lmW0}}}}}
      shop: {helm: {source: charts, chart: shop, version: "{shop}", values: {domain: "{domain}"}}}
      site:
        kustomize: {source: main, path: ./site}
        overrides:
          environments: {prod: {kustomize: {source: stable}}}
          where: [{clusters: {labels: {tier: edge}}, kustomize: {prune: false}}]
      debug: {environments: [dev], kustomize: {source: main, path: ./debug}}
      sensor: {clusters: {labels: {tier: edge}}, kustomize: {source: main, path: ./sensor}}
  movy:
    quota: {pods: 10}
    overrides: {environments: {prod: {quota: {pods: 40}}}}
    sources: {main: {git: {url: https://git.example.com/movy, ref: {branch: main}}}}
    apps: {api: {kustomize: {source: main, path: "./{env}"}}}
"""
TEXT = """\
dev and prod: 5 of 5 apps that both have differ, 1 app only in dev, 1 app only in prod

only in dev
  rocky/debug
    meant: environment prod: not in 'environments' (tenants.yaml:40:29)

only in prod
  rocky/sensor
    follows: clusters of dev: has no label 'tier' (tenants.yaml:11:12)

platform/dns
  source.git.ref.branch: dev -> prod
    meant: placeholder {stage}, set for environment dev, prod
        (tenants.yaml:6:37, tenants.yaml:7:104)

rocky/web, rocky/shop, rocky/site and 1 more (4 apps)
  namespace: dev-{tenant} -> {tenant}
    meant: set for environment dev, prod (tenants.yaml:5:16, tenants.yaml:7:43)
  interval: 10m -> 1h
    meant: set for environment prod (tenants.yaml:23:47)

rocky/web
  helm.version: 2.1.0 -> 2.0.3
    meant: set for environment prod (tenants.yaml:33:59)
  helm.values.replicas: 1 -> 3
    meant: set for environment prod (tenants.yaml:33:85)
  helm.values.dbPassword: not set -> (hidden)
    meant: set for environment prod (tenants.yaml:33:100)

rocky/shop
  helm.version: 1.4.0 -> 1.3.2
    meant: placeholder {shop}, set for environment dev, prod
        (tenants.yaml:6:23, tenants.yaml:7:90)
  helm.values.domain: local -> local, eu on edge-1
    follows: placeholder {domain}, a variable of clusters or groups
        (tenants.yaml:11:54, tenants.yaml:9:74)

rocky/site
  kustomize.source: main -> stable
    meant: set for environment prod (tenants.yaml:38:53)
  kustomize.prune: true -> true, false on edge-1
    follows: set for clusters with tier=edge (tenants.yaml:39:73)
  source.git.ref.branch: main -> not set
    follows: another source (tenants.yaml:27:70)
  source.git.ref.tag: not set -> v1
    follows: another source (tenants.yaml:28:69)

movy/api
  kustomize.path: ./dev -> ./prod
    follows: placeholder {env} (tenants.yaml:46:50)

tenant movy
  quota.pods: '10' -> '40'
    meant: set for environment prod (tenants.yaml:44:53)

the environments
  protected: false -> true
    meant: set for environment prod (tenants.yaml:7:66)

meant: written for an environment; follows: from something else, as {env} does
"""
MARKDOWN_OF_SHOP = """\
dev and prod: 1 of 1 app that both have differs

**`rocky/shop`**

- `namespace: dev-{tenant} -> {tenant}`: meant: set for environment dev, prod `(tenants.yaml:5:16, tenants.yaml:7:43)`
- `helm.version: 1.4.0 -> 1.3.2`: meant: placeholder `{shop},` set for environment dev, prod `(tenants.yaml:6:23, tenants.yaml:7:90)`
- `helm.values.domain: local -> local, eu on edge-1`: follows: placeholder `{domain},` a variable of clusters or groups `(tenants.yaml:11:54, tenants.yaml:9:74)`
- `interval: 10m -> 1h`: meant: set for environment prod `(tenants.yaml:23:47)`
"""  # noqa: E501


@pytest.fixture(autouse=True)
def _fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(FLEET)


def test_it_says_what_differs_why_and_what_is_meant(capsys: Capture) -> None:
    ended = tenantry(capsys, "parity", "dev", "prod")
    assert ended[:2] == (1, TEXT)


def test_markdown_for_one_app(capsys: Capture) -> None:
    ended = tenantry(capsys, "parity", "dev", "prod", "--tenant", "rocky", "--app", "shop", "-o", "markdown")
    assert ended[:2] == (1, MARKDOWN_OF_SHOP)


def test_the_document_hides_secrets(capsys: Capture) -> None:
    ended = tenantry(capsys, "parity", "dev", "prod", "-o", "json")
    found = json.loads(ended[1])
    assert "x9-Hq2lmW0" not in ended[1]
    assert (found["apps"], found["equal"]) == (5, 0)
    (secret,) = (each for each in found["differences"] if each["path"][-1] == "dbPassword")
    location = {"file": "tenants.yaml", "line": 33, "column": 100}
    origins = [{"level": "environment prod", "location": location}]
    assert secret == {
        "path": ["helm", "values", "dbPassword"],
        "subjects": [{"tenant": "rocky", "app": "web"}],
        "first": [{"clusters": ["hub-dev"]}],
        "second": [{"value": "(hidden)", "clusters": ["hub-prod", "edge-1"]}],
        "reason": {"isMeant": True, "text": "set for environment prod", "origins": origins},
    }


def test_many_apps_that_differ_in_what_they_inherit_are_one_line(capsys: Capture) -> None:
    apps = "".join(f"      a{each}: {{kustomize: {{source: main}}}}\n" for each in range(300))
    head, _, _ = FLEET.partition("    apps:")
    Path("tenants.yaml").write_text(f"{head}    apps:\n{apps}")
    ended = tenantry(capsys, "parity", "dev", "prod", "--tenant", "rocky")
    assert ended[1] == (
        "dev and prod: 300 of 300 apps that both have differ\n"
        "\n"
        "rocky/a0, rocky/a1, rocky/a2 and 297 more (300 apps)\n"
        "  namespace: dev-{tenant} -> {tenant}\n"
        "    meant: set for environment dev, prod (tenants.yaml:5:16, tenants.yaml:7:43)\n"
        "  interval: 10m -> 1h\n"
        "    meant: set for environment prod (tenants.yaml:23:47)\n"
        "\n"
        "meant: written for an environment; follows: from something else, as {env} does\n"
    )


def test_environments_that_differ_in_their_clusters_alone_are_equal(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(
        "apiVersion: tenantry/v1\n"
        "environments: {dev: {management: hub-dev}, prod: {management: hub-prod, after: dev}}\n"
        "clusters: {hub-dev: {environments: [dev]}, hub-prod: {environments: [prod]}}\n"
        "tenants:\n"
        "  rocky:\n"
        "    clusters: {all: true}\n"
        "    sources: {main: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}\n"
        '    apps: {web: {kustomize: {source: main, path: "./{cluster}"}}}\n'
    )
    ended = tenantry(capsys, "parity", "dev", "prod")
    assert ended[:2] == (0, "dev and prod are equal: 1 app compared\n")


def test_long_values_and_their_places_fit_into_a_terminal(capsys: Capture) -> None:
    path = "./" + "a" * 40
    Path("tenants.yaml").write_text(FLEET.replace('path: "./{env}"', f'path: "{path}/{{env}}"'))
    ended = tenantry(capsys, "parity", "dev", "prod")
    assert f"  kustomize.path: {path}/dev\n      -> {path}/prod\n    follows: placeholder" in ended[1]
    assert max(map(len, ended[1].splitlines()[1:])) <= 80


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dev", "dev"), "FIRST and SECOND are the same environment\n  fix: name two environments"),
        (("dev", "prdo"), "declares no environment 'prdo' (declared: dev, prod)\n  fix: name 'prod'"),
        (("dev", "prod", "--tenant", "rock"), "declares no tenant 'rock'"),
        (("dev", "prod", "--tenant", "rocky", "--app", "dns"), "declares no app 'dns'"),
    ],
)
def test_names_that_cannot_be_compared_are_refused(arguments: tuple[str, ...], said: str, capsys: Capture) -> None:
    ended = tenantry(capsys, "parity", *arguments)
    assert ended[:2] == (2, "")
    assert said in ended[2]
