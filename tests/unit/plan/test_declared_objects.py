"""The platform team's own manifests in tenants' namespaces."""

from __future__ import annotations

from typing import Any

import yaml

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
ADMIN, VIEW = (f"roleRef: {{kind: ClusterRole, name: {name}}}" for name in ("cluster-admin", "view"))
RBAC = "apiGroups: [rbac.authorization.k8s.io]"
READ = "{verbs: [get], apiGroups: [''], resources: [pods]}"


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
        (f"tenantry-owners-x: {{{BINDING}, {VIEW}}}", "error[duplicate-name]"),
        (f"kube-root-ca.crt: {{{CONFIG}}}", "error[bad-name]"),
        (f"a: {{{CONFIG}, metadata: {{name: kube-root-ca.crt}}}}", "error[kubernetes-own]"),
        ("default: {apiVersion: v1, kind: ServiceAccount}", "error[kubernetes-own]"),
        (
            f"a: {{{BINDING}, {ADMIN}}}",
            "error[cluster-admin]: tenant 'rocky' would get cluster-admin in its namespaces",
        ),
        (f"a: {{{ROLE}, rules: [{{verbs: ['*'], resources: ['*'], apiGroups: ['*']}}]}}", "error[cluster-admin]"),
        (f"a: {{{ROLE}, rules: [{{verbs: [escalate], {RBAC}, resources: [roles]}}]}}", "error[cluster-admin]"),
        (f"a: {{{ROLE}, rules: [{READ}, {{verbs: [bind], {RBAC}, resources: ['*']}}]}}", "error[cluster-admin]"),
        (
            f"a: {{{BINDING}, {VIEW}, subjects: [{{kind: ServiceAccount, name: x, namespace: kamaji}}]}}",
            "error[foreign-account]: 'x' is a service account of the cluster or the platform",
        ),
        (
            f"a: {{{BINDING}, {VIEW}, subjects: [{{kind: Group, name: 'system:masters'}}]}}",
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


POLICY = "apiVersion: networking.k8s.io/v1, kind: NetworkPolicy"


@table(
    ("entry", "message"),
    [
        (f"{CONFIG}, data: {{x: 1}}", "error[wrong-type]: expected a string, found the number 1"),
        (f"{CONFIG}, dta: {{x: y}}", "error[unknown-key]: key 'dta' is not known here"),
        (f"{CONFIG}, data: {{'a b': y}}", "error[bad-key]: "),
        (f"{ROLE}, rules: [{{verbs: [get], resources: [pods]}}]", "error[missing-key]: key 'apiGroups' is missing"),
        (f"{BINDING}, subjects: []", "error[missing-key]: key 'roleRef' is missing"),
        (f"{BINDING}, {VIEW}, subjects: [{{kind: Users, name: x}}]", "error[bad-value]: 'Users' is not allowed"),
        (
            f"{POLICY}, spec: {{egress: [{{to: [{{ipBlock: {{cidr: 10.0.0.0}}}}]}}]}}",
            "error[bad-cidr]: '10.0.0.0' has no",
        ),
        (
            f"{POLICY}, spec: {{egress: [{{to: [{{ipBlock: {{cidr: 10/x}}}}]}}]}}",
            "error[bad-cidr]: '10/x' is no network",
        ),
        (f"{POLICY}, spec: {{ingress: [{{ports: [{{port: '80'}}]}}]}}", "error[bad-value]: '80' is no port"),
        (
            f"{POLICY}, spec: {{ingress: [{{ports: [{{port: 70000}}]}}]}}",
            "error[bad-value]: the number 70000 is no port",
        ),
        ("apiVersion: v1, kind: ResourceQuota, spec: {hard: {pods: many}}", "error[bad-quantity]: 'many' is not"),
        ("apiVersion: v1, kind: Service, spec: {ports: [{port: '80'}]}", "error[wrong-type]: expected a whole number"),
        ("apiVersion: v1, kind: Service, spec: {ports: [{protocol: tcp, port: 1}]}", "fix: write 'TCP'"),
        ("apiVersion: batch/v1, kind: Job, sepc: {}", "error[unknown-key]: key 'sepc' is not known here"),
        (
            "apiVersion: apps/v1, kind: Deployment, spec: {template: {}}",
            "error[missing-key]: key 'selector' is missing",
        ),
    ],
)
def test_what_an_api_server_would_refuse_of_one_of_its_own_kinds(entry: str, message: str) -> None:
    found = problems(rocky(SIMPLE, f"clusters: {{names: [edge]}}\nobjects: {{a: {{{entry}}}}}"))
    assert message in found
    assert found.endswith("Found 1 error\n")


def test_what_it_takes_is_planned_as_it_is_written() -> None:
    pods = "{namespaceSelector: {}, podSelector: {matchExpressions: [{key: a, operator: Exists}]}}"
    peers, ports = (
        f"{pods}, {{ipBlock: {{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}}}",
        "{port: 80}, {port: http, protocol: UDP}",
    )
    spec = f"podSelector: {{}}, policyTypes: [Ingress], ingress: [{{from: [{peers}], ports: [{ports}]}}]"
    subjects = "[{kind: User, name: '{account}'}, {kind: ServiceAccount, name: x, namespace: '{namespace}'}]"
    objects = f"n: {{{POLICY}, spec: {{{spec}}}}}, b: {{{BINDING}, {VIEW}, subjects: {subjects}}}, r: {{{ROLE}, rules: [{READ}]}}"
    plan = planned(rocky(SIMPLE, f"clusters: {{all: true}}\nobjects: {{{objects}}}"))
    assert one(plan, "NetworkPolicy", "n").manifest["spec"] == yaml.safe_load(f"{{{spec}}}")
    assert one(plan, "RoleBinding", "b").manifest["subjects"][1] == {
        "kind": "ServiceAccount",
        "name": "x",
        "namespace": "rocky",
    }
    assert one(plan, "Role", "r").manifest["rules"] == [yaml.safe_load(READ)]


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
