"""Blocks for all apps: what each level adds, what an app takes away, and whose apps an included file's block is for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet, plan_all
from tests.table import table
from tests.unit.fleet.authored import Data, at, problems, write
from tests.unit.texts import planned

LEVELS = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
platform:
  kustomize: {timeout: 15m, force: true}
  helm: {install: {crds: Skip}}
  addons:
    dns: {clusters: {all: true}, source: {git: {url: https://git.example.com/dns, ref: {tag: v1}}}, kustomize: {force: false}}
    log: {clusters: {all: true}, source: {helm: {url: https://charts.example.com}}, helm: {chart: log, version: 1.0.0}}
defaults:
  clusters: {all: true}
  kustomize: {wait: false, commonMetadata: {labels: {cluster: "{cluster}"}}}
  helm: {values: {region: eu, replicas: 1}, maxHistory: 3}
tenants:
  rocky:
    kustomize: {commonMetadata: {labels: {team: rocky}}, prune: false}
    helm: {values: {region: us}}
    sources: {main: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}, charts: {helm: {url: https://charts.example.com}}}
    apps:
      web: {kustomize: {source: main, prune: true}}
      api: {kustomize: {source: main, wait: null}, overrides: [{when: {environments: [dev]}, kustomize: {commonMetadata: null}}]}
      db: {helm: {source: charts, chart: db, version: 1.0.0, values: {replicas: 2}}}
"""


@table(
    "app, path, value",
    [
        ("web", ("commonMetadata", "labels"), {"cluster": "hub", "team": "rocky"}),
        ("web", ("wait",), False),
        ("web", ("prune",), True),
        ("api", ("wait",), True),
        ("api", ("prune",), False),
        ("api", ("commonMetadata",), None),
        ("db", ("values",), {"region": "us", "replicas": 2}),
        ("db", ("maxHistory",), 3),
        ("dns", ("timeout",), "15m"),
        ("dns", ("force",), False),
        ("dns", ("wait",), True),
        ("log", ("install", "crds"), "Skip"),
        ("log", ("maxHistory",), None),
    ],
)
def test_an_app_has_what_its_levels_say_of_its_kind(app: str, path: tuple[str, ...], value: object) -> None:
    (found,) = (
        each
        for each in planned(LEVELS).objects
        if each.id.name == app
        and "interval" in each.manifest["spec"]
        and each.id.kind in ("Kustomization", "HelmRelease")
    )
    spec = found.manifest["spec"]
    for key in path:
        spec = spec.get(key) if spec else None
    assert spec == value


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def forced(said: Data, main: Data) -> set[str]:
    (plan,) = plan_all(load_fleet(write(said, main))).values()
    return {
        each.id.name
        for each in plan.objects
        if each.manifest.get("spec", {}).get("force") and each.owner.tenant == "rocky"
    }


@pytest.mark.usefixtures("_here")
def test_the_block_of_an_included_file_is_for_the_apps_of_the_file() -> None:
    ours = {name for name in forced({}, at("tenants.rocky.kustomize", {"force": True})) if not name.startswith("edge")}
    theirs = {name for name in forced(at("kustomize", {"force": True}), {}) if not name.startswith("edge")}
    assert {"web", "base"} <= ours
    assert "web" in theirs
    assert "base" not in theirs


@pytest.mark.usefixtures("_here")
def test_an_included_file_does_not_replace_the_block_of_the_main_file() -> None:
    (found,) = problems(at("kustomize", {"force": True}), at("tenants.rocky.kustomize", {"wait": False}))
    assert (found.code, found.path) == ("platforms-setting", ("tenants", "rocky", "kustomize"))


@pytest.mark.usefixtures("_here")
@table(
    "said, main, code",
    [
        # Their own block names what is not theirs.
        (at("kustomize.postBuild.substituteFrom", [{"kind": "Secret", "name": "deploy"}]), {}, "platforms-entry"),
        (
            at("kustomize.decryption", {"provider": "sops", "secretRef": {"name": "deploy"}}),
            {},
            "platforms-entry",
        ),
        # The main file's block names it, and their apps would have it.
        (
            {},
            at("tenants.rocky.kustomize.postBuild.substituteFrom", [{"kind": "Secret", "name": "deploy"}]),
            "platforms-entry",
        ),
        (at("helm.uninstall", {"timeout": "90h"}), {}, "over-limit"),
        (
            {},
            at("defaults.kustomize.postBuild.substituteFrom", [{"kind": "ConfigMap", "name": "no"}]),
            "unknown-configs",
        ),
        ({}, at("defaults.kustomize.decryption.provider", "sops"), "shared-identity"),
    ],
)
def test_what_an_app_may_not_say_no_block_says_for_it(said: Data, main: Data, code: str) -> None:
    assert code in {each.code for each in problems(said, main)}
