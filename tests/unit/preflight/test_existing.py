"""Secrets with `existing: true` beside kubeconfigs: one for all clusters, and told until it exists."""

from __future__ import annotations

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import Severity
from tenantry.preflight.fitness import check_existing, expected_secrets
from tests.unit.texts import planned

CLUSTERS = "".join(
    f"  c{number}: {{environments: [dev], kubeconfig: {{kamaji: {{controlPlane: c{number}, namespace: kamaji}}}}}}\n"
    for number in range(3)
)
TEXT = f"""\
apiVersion: tenantry/v1
environments: {{dev: {{management: hub}}}}
clusters:
  hub: {{environments: [dev]}}
{CLUSTERS}platform: {{chart: {{helm: {{url: "https://charts.example.com", version: 0.1.0}}}}}}
tenants:
  rocky:
    clusters: {{all: true}}
    credentials: {{git: {{existing: true}}, sops: {{keys: [age.agekey]}}}}
    sources: {{app: {{git: {{url: "https://git.example.com/app", ref: {{branch: main}}}}, credentials: git}}}}
    apps: {{web: {{kustomize: {{source: app, decryption: {{provider: sops, secretRef: {{name: sops}}}}}}}}}}
"""
SECRET = ObjectId("v1", "Secret", "kamaji", "rocky.git")


def test_one_secret_is_expected_for_all_clusters_and_not_those_that_a_run_creates() -> None:
    assert list(expected_secrets(planned(TEXT))) == [SECRET]


def test_it_is_told_until_it_exists() -> None:
    asked: list[ObjectId] = []

    def missing(id: ObjectId) -> Manifest | None:
        asked.append(id)
        return None

    (problem,) = check_existing(planned(TEXT), missing)
    assert (problem.severity, problem.code, problem.message, problem.fix, asked) == (
        Severity.WARNING,
        "no-secret",
        "Secret kamaji/rocky.git does not exist (credentials with 'existing: true'): Flux reads it for GitRepository"
        " kamaji/rocky.app.f393bede",
        "create it, once for all clusters, with the label 'reconcile.fluxcd.io/watch: Enabled'",
        [SECRET],
    )
    assert list(check_existing(planned(TEXT), lambda _: {"kind": "Secret"})) == []
