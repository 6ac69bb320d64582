"""Cluster-scoped objects of a tenant."""

from __future__ import annotations

from tests.table import table
from tests.unit.texts import named, one, planned, problems, rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
BOTH = "clusters: {all: true}"
CLASS = "apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 10"
HIGH = f"high: {{{CLASS}, metadata: {{name: '{{namespace}}-high', labels: {{a: '{{cluster}}'}}}}}}"


def test_it_is_on_the_management_cluster_before_the_apps() -> None:
    plan = planned(rocky(SIMPLE, f"{BOTH}\nclusterObjects: {{{HIGH}}}"))
    made = one(plan, "PriorityClass", "rocky-high")
    assert made.manifest["value"] == 10
    assert "namespace" not in made.manifest["metadata"]
    assert made.manifest["metadata"]["labels"]["a"] == "hub"
    assert made.id in one(plan, "Kustomization", "web").depends_on


def test_on_a_remote_cluster_it_is_part_of_the_baseline() -> None:
    release = one(planned(rocky(SIMPLE, f"{BOTH}\nclusterObjects: {{{HIGH}}}")), "HelmRelease", "edge-rocky-baseline")
    (made,) = (each for each in release.manifest["spec"]["values"]["objects"] if each["kind"] == "PriorityClass")
    assert made["metadata"]["name"] == "rocky-high"
    assert made["metadata"]["labels"]["a"] == "edge"


@table("where", ["hub", "edge"])
@table(
    ("entry", "code"),
    [
        (f"a: {{{CLASS}, metadata: {{namespace: x}}}}", "owned-key"),
        (f"a: {{{CLASS}, metadata: {{name: 'A_{{env}}'}}}}", "bad-name"),
        (f"a: {{{CLASS}, metadata: {{labels: {{tenantry/x: y}}}}}}", "owned-label"),
        (f"a: {{{CLASS}, x: '{{nope}}'}}", "unknown-placeholder"),
        (f"a: {{{CLASS}}}, b: {{{CLASS}, metadata: {{name: a}}}}", "duplicate-name"),
        ("a: {apiVersion: v1, kind: ConfigMap}", "namespaced"),
        ("a: {apiVersion: v1, kind: Namespace}", "owned-kind"),
        ("a: {apiVersion: v1, kind: Node}", "of-the-cluster"),
        ("a: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole}", "owned-kind"),
        ("a: {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}", "of-the-cluster"),
        ("a: {apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy}", "of-the-cluster"),
        ("a: {apiVersion: apiregistration.k8s.io/v1, kind: APIService}", "of-the-cluster"),
        ("a: {apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization}", "flux-object"),
    ],
)
def test_what_cannot_be_there_is_told_once(entry: str, code: str, where: str) -> None:
    found = problems(rocky(SIMPLE, f"clusters: {{names: [{where}]}}\nclusterObjects: {{{entry}}}"))
    assert f"error[{code}]" in found
    assert found.endswith("Found 1 error\n")


@table("where", ["hub", "edge"])
def test_two_tenants_cannot_have_the_same(where: str) -> None:
    own = f"clusters: {{names: [{where}]}}\nclusterObjects: {{a: {{{CLASS}}}}}"
    text = rocky(SIMPLE, own)
    text += f"  movy:\n    clusters: {{names: [{where}]}}\n    clusterObjects: {{a: {{{CLASS}}}}}\n"
    source = "sources: {s: {git: {url: https://a.example.com, ref: {branch: b}}}}"
    text += f"    {source}\n    apps: {{web: {{kustomize: {{source: s}}}}}}\n"
    found = problems(text)
    assert f"error[duplicate-name]: PriorityClass a on cluster '{where}' would be created twice" in found
    assert found.endswith("Found 1 error\n")


@table("where", ["hub", "edge"])
def test_two_environments_of_a_cluster_cannot_have_the_same(where: str) -> None:
    text = rocky(SIMPLE, f"clusters: {{names: [{where}]}}\nclusterObjects: {{a: {{{CLASS}}}}}")
    text = text.replace("environments:\n", "environments:\n  qa: {management: hub, namespace: 'qa-{tenant}'}\n", 1)
    text = text.replace("environments: [dev]", "environments: [qa, dev]")
    found = problems(text)
    assert (
        f"error[planned-twice]: environments 'qa' and 'dev' would both create PriorityClass a on cluster '{where}'"
        in found
    )
    assert "fix: set a 'metadata.name' with '{namespace}'" in found
    assert found.endswith("Found 1 error\n")
    both = text.replace(f"{CLASS}", f"{CLASS}, metadata: {{name: '{{namespace}}-a'}}")
    assert where != "hub" or "PriorityClass rocky-a" in named(planned(both))
