"""Keys that earlier drafts had: the error says what to write."""

from __future__ import annotations

from docgen.document.whole import models
from tenantry.fleet.shape import fix_for_former, former_keys, unknown_key_of
from tests.table import table
from tests.unit.texts import problems, rocky

KAMAJI = "kamaji: {controlPlane: edge, namespace: kamaji}"
HUB = "management: hub"


def test_no_model_has_a_key_that_is_gone() -> None:
    known = [(name, key) for name, rows in former_keys().items() for key in rows if key in models()[name].model_fields]
    assert not known


def test_the_error_for_each_key_is_that_of_its_model_and_of_those_that_extend_it() -> None:
    for name, rows in former_keys().items():
        extended = type("Extended", (models()[name],), {})
        assert all(fix_for_former(extended, key) == fix for key, fix in rows.items())
        assert all(unknown_key_of((key,), models()[name]).fix == fix for key, fix in rows.items())


@table(
    ("before", "after", "key", "fix"),
    [
        ("web: {", "web: {rollout: false, ", "rollout", "write 'waves: false'"),
        (
            "manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}",
            "manifests: {externalArtifact: {}}",
            "externalArtifact",
            "Flux's own kinds of sources are left: write 'git:', 'oci:', 'helm:' or 'bucket:'",
        ),
        (
            KAMAJI,
            "configMap: {name: a, namespace: a, provider: aws}",
            "provider",
            "remove it: who makes the cluster writes the ConfigMap with the keys of Flux's 'kubeConfig.configMapRef'",
        ),
        (
            HUB,
            f"{HUB}, waves: [{{all: true, approval: {{groups: [release]}}}}]",
            "approval",
            "remove it: an environment of the pipeline, with reviewers, approves a run",
        ),
    ],
)
def test_the_author_is_told_in_tenants_the_platform_and_environments(
    before: str, after: str, key: str, fix: str
) -> None:
    text = rocky("web: {kustomize: {source: manifests}}", "clusters: {names: [hub]}")
    assert before in text
    told = problems(text.replace(before, after, 1))
    assert f"error[unknown-key]: key '{key}' is not known here\n" in told, told
    assert f"\n  fix: {fix}\n" in told, told


def test_a_list_of_management_clusters_becomes_an_environment_for_each() -> None:
    text = rocky("web: {kustomize: {source: manifests}}", "clusters: {names: [hub]}")
    told = problems(text.replace(HUB, "management: [hub, edge]", 1))
    assert "fix: declare an environment for each management cluster" in told
