"""The platform team's own manifests in tenants' namespaces."""

from __future__ import annotations

from typing import Any

from tests.table import table
from tests.unit.texts import named, one, planned, problems, rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
BOTH = "clusters: {all: true}"
PULL = """
objects:
  pull:
    apiVersion: external-secrets.io/v1
    kind: ExternalSecret
    metadata: {name: "{tenant}-registry", labels: {a: "{cluster}"}}
    spec: {target: {name: "{namespace}"}, template: "{{ .x }}"}
"""


def installed(text: str) -> list[dict[str, Any]]:
    release = one(planned(text), "HelmRelease", "edge-rocky-baseline")
    return list(release.manifest["spec"]["values"]["objects"])


def test_an_object_is_in_each_namespace_before_the_apps_and_after_the_namespace() -> None:
    plan = planned(rocky(SIMPLE, f"{BOTH}\nnamespaces: {{jobs: {{}}, more: {{objects: {{pull: null}}}}}}{PULL}"))
    found = [each for each in plan.objects if each.id.kind == "ExternalSecret"]
    assert [str(each.id) for each in found] == [
        "ExternalSecret rocky/rocky-registry",
        "ExternalSecret rocky-jobs/rocky-registry",
    ]
    first = found[0]
    assert [str(each) for each in first.depends_on] == ["Namespace rocky"]
    assert first.id in one(plan, "Kustomization", "web").depends_on
    assert first.manifest["spec"] == {"target": {"name": "rocky"}, "template": "{{ .x }}"}
    metadata = first.manifest["metadata"]
    assert metadata["annotations"]["pulumi.com/skipAwait"] == "true"
    assert metadata["labels"] == {
        "a": "hub",
        "app.kubernetes.io/managed-by": "tenantry",
        "toolkit.fluxcd.io/tenant": "rocky",
        "tenantry/environment": "dev",
        "tenantry/cluster": "hub",
    }
    assert plan.origins[first.id] == ("tenants", "rocky", "objects", "pull")


def test_on_a_remote_cluster_the_baseline_installs_it() -> None:
    (pull,) = (each for each in installed(rocky(SIMPLE, BOTH + PULL)) if each["kind"] == "ExternalSecret")
    assert (pull["metadata"]["namespace"], pull["metadata"]["name"]) == ("rocky", "rocky-registry")
    assert pull["metadata"]["labels"]["a"] == "edge"
    assert "app.kubernetes.io/managed-by" not in pull["metadata"]["labels"]
    assert "annotations" not in pull["metadata"]


def test_a_tenant_changes_what_the_defaults_say() -> None:
    text = rocky(SIMPLE, f"{BOTH}\nobjects: {{ca: {{apiVersion: v1, kind: ConfigMap, data: {{b: y}}}}}}")
    defaults = "defaults: {objects: {ca: {apiVersion: v1, kind: ConfigMap, data: {a: x}}}}\ntenants:"
    plan = planned(text.replace("tenants:", defaults, 1))
    assert one(plan, "ConfigMap", "ca").manifest["data"] == {"a": "x", "b": "y"}
    without = rocky(SIMPLE, f"{BOTH}\nobjects: {{ca: null}}").replace("tenants:", defaults, 1)
    assert "ConfigMap rocky/ca" not in named(planned(without))


CONFIG = "apiVersion: v1, kind: ConfigMap"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1, kind: Role"
BINDING = "apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding"
ADMIN = "roleRef: {kind: ClusterRole, name: cluster-admin}"


@table(
    ("entry", "message"),
    [
        (f"a: {{{CONFIG}, metadata: {{namespace: x}}}}", "error[owned-key]: key 'namespace' cannot be set"),
        (f"a: {{{CONFIG}, metadata: {{name: 'A_{{env}}'}}}}", "error[bad-name]: name 'A_dev' must be"),
        (f"a: {{{CONFIG}, data: {{x: '{{nope}}'}}}}", "error[unknown-placeholder]"),
        (f"a: {{{CONFIG}, metadata: {{labels: {{tenantry/x: y}}}}}}", "error[owned-label]"),
        (f"a: {{{CONFIG}, metadata: {{annotations: {{helm.sh/resource-policy: keep}}}}}}", "error[owned-annotation]"),
        ("a: {kind: ConfigMap}", "error[missing-key]"),
        (f"a: {{{CONFIG}}}, b: {{{CONFIG}, metadata: {{name: a}}}}", "error[duplicate-name]: ConfigMap rocky/a would"),
        ("a: {apiVersion: v1, kind: ResourceQuota, metadata: {name: tenantry}}", "error[duplicate-name]"),
        (f"tenantry-owners-x: {{{BINDING}}}", "error[duplicate-name]"),
        (f"kube-root-ca.crt: {{{CONFIG}}}", "error[bad-name]"),
        (f"a: {{{CONFIG}, metadata: {{name: kube-root-ca.crt}}}}", "error[kubernetes-own]"),
        ("default: {apiVersion: v1, kind: ServiceAccount}", "error[kubernetes-own]"),
        (
            f"a: {{{BINDING}, {ADMIN}}}",
            "error[cluster-admin]: tenant 'rocky' would get cluster-admin in its namespaces",
        ),
        (f"a: {{{ROLE}, rules: [{{verbs: ['*'], resources: ['*'], apiGroups: ['*']}}]}}", "error[cluster-admin]"),
        (f"a: {{{ROLE}, rules: [{{verbs: [escalate], resources: [roles]}}]}}", "error[cluster-admin]"),
        (f"a: {{{ROLE}, rules: [{{verbs: [get]}}, {{verbs: [bind], resources: ['*']}}]}}", "error[cluster-admin]"),
        (
            f"a: {{{BINDING}, roleRef: {{name: x}}, subjects: [{{kind: ServiceAccount, name: x, namespace: kamaji}}]}}",
            "error[foreign-account]: 'x' is a service account of the cluster or the platform",
        ),
        (
            f"a: {{{BINDING}, roleRef: {{name: x}}, subjects: [{{kind: Group, name: 'system:masters'}}]}}",
            "error[foreign-account]: 'system:masters' is reserved by Kubernetes",
        ),
    ],
)
@table("where", ["hub", "edge"])
def test_what_cannot_be_there_is_told_once(entry: str, message: str, where: str) -> None:
    found = problems(rocky(SIMPLE, f"clusters: {{names: [{where}]}}\nobjects: {{{entry}}}"))
    assert message in found
    assert "  at tenants.rocky.objects" in found
    assert found.endswith("Found 1 error\n")


def test_cluster_admin_needs_the_word_of_its_own() -> None:
    text = rocky(SIMPLE, f"{BOTH}\nclusterAdmin: true\nobjects: {{a: {{{BINDING}, {ADMIN}}}}}")
    assert "RoleBinding rocky/a" in named(planned(text))


def test_kinds_that_only_share_a_name_with_flux_are_objects_like_others() -> None:
    rest = (
        f"{BOTH}\ndependsOn: [platform/dns]\nobjects: {{a: {{apiVersion: charts.example.com/v1, kind: HelmRelease}}}}"
    )
    addon = "source: {helm: {url: https://charts.example.com}}, helm: {chart: dns, version: 1.x}"
    addons = f"  addons: {{dns: {{clusters: {{all: true}}, {addon}}}}}\ntenants:\n"
    text = rocky(SIMPLE, rest).replace(
        'platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}\n',
        'platform:\n  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}\n',
    )
    plan = planned(text.replace("tenants:\n", addons))
    assert "HelmRelease rocky/a" in named(plan)
