"""What of an app that is not ready everywhere the rollout of its environment tolerates, for gates of other environments."""

from __future__ import annotations

from dataclasses import replace

from tenantry.cluster.evidence import Evidence, tolerated
from tests.table import table
from tests.unit.texts import planned

TEXT = """\
apiVersion: tenantry/v1
environments:
  dev:
    management: hub
    waves: [{name: canary, names: [a]}, {names: [b, c]}, {all: true}]
    timeout: 1s
clusters:
  hub: {environments: [dev]}
  a: {environments: [dev], kubeconfig: {secret: {name: a, namespace: clusters, key: value}}}
  b: {environments: [dev], kubeconfig: {secret: {name: b, namespace: clusters, key: value}}}
  c: {environments: [dev], kubeconfig: {secret: {name: c, namespace: clusters, key: value}}}
  d: {environments: [dev], kubeconfig: {secret: {name: d, namespace: clusters, key: value}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {names: [a, b, c, d]}
    sources: {manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: manifests}}
      db: {kustomize: {source: manifests}}
"""
PLAN = planned(TEXT.replace("timeout: 1s", "timeout: 1s\n    tolerate: {failed: 0, unreachable: 1}"))
"""In wave 2 the clusters b and c, and then d."""
WEB = [app for app in PLAN.apps if app.name == "web"]


def _evidence(said: dict[str, str]) -> list[Evidence]:
    """said: by cluster; others are ready."""
    found = []
    for app in WEB:
        how = said.get(app.cluster, "")
        planned = Evidence(app, how, is_planned=how != "other path", is_unreachable=how == "dial")
        found.append(planned)
    return found


@table(
    ("said", "passed_over"),
    [
        ({}, ""),
        ({"b": "dial"}, "b"),
        ({"b": "dial", "d": "dial"}, "bd"),
        # One of a wave is tolerated, not two, and nothing that fails.
        ({"b": "dial", "c": "dial"}, ""),
        ({"b": "failed"}, ""),
        ({"b": "dial", "c": "failed"}, ""),
        # What the rollout has not reached yet proves nothing.
        ({"b": "other path"}, ""),
    ],
)
def test_as_many_clusters_as_a_wave_tolerates_are_passed_over(said: dict[str, str], passed_over: str) -> None:
    found = tolerated(PLAN, _evidence(said))
    assert {app.cluster for app in WEB if app.id in found} == {*passed_over}


def test_an_app_that_runs_nowhere_is_proven_by_nothing() -> None:
    plan = planned(TEXT.replace("timeout: 1s", "timeout: 1s\n    tolerate: 100%"))
    gone = [replace(each, problem="dial", is_unreachable=True, is_planned=True) for each in _evidence({})]
    assert tolerated(plan, gone) == frozenset()
    assert len(tolerated(plan, [replace(gone[0], problem=""), *gone[1:]])) == len(WEB) - 1
