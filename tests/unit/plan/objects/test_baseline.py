"""What a tenant's namespaces are given: whole manifests, on the management cluster and on a remote."""

from __future__ import annotations

from typing import Any

from tenantry.plan.placements import PlannedPlacement
from tests.table import table
from tests.unit.texts import named, one, planned, problems, rocky, told

BOTH = "clusters: {all: true}"
SIMPLE = "web: {kustomize: {source: manifests}}"
MOVY = (
    "  movy:\n"
    "    clusters: {names: [edge]}\n"
    "    sources: {s: {git: {url: https://git.example.com/movy, ref: {tag: v1}}}}\n"
    "    namespaces: {jobs: {}}\n"
    "    apps: {web: {kustomize: {source: s}}}\n"
)
LABELS = {
    "app.kubernetes.io/managed-by": "tenantry",
    "toolkit.fluxcd.io/tenant": "rocky",
    "tenantry/environment": "dev",
    "tenantry/cluster": "hub",
}
PROVIDER = {
    "pulumi.com/deletionPropagationPolicy": "background",
    "pulumi.com/patchFieldManager": "tenantry",
    "pulumi.com/patchForce": "true",
}


def binding(name: str, role: str, subjects: list[dict[str, str]], namespace: str = "rocky") -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name, "namespace": namespace, "labels": LABELS, "annotations": PROVIDER},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": subjects,
    }


def person(kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}


def remote(rest: str) -> list[dict[str, Any]]:
    """What the baseline release of the remote holds."""
    release = one(planned(rocky(SIMPLE, f"{BOTH}\n{rest}")), "HelmRelease", "edge-rocky-baseline")
    objects: list[dict[str, Any]] = release.manifest["spec"]["values"]["objects"]
    return objects


def identities(objects: list[dict[str, Any]]) -> list[str]:
    return [
        f"{each['kind']} {each['metadata'].get('namespace', '')}/{each['metadata']['name']}".replace(" /", " ")
        for each in objects
    ]


# --- people and their roles -------------------------------------------------------------------------------------


def test_owners_are_bound_by_role_and_see_the_namespace_unless_told_otherwise() -> None:
    plan = planned(
        rocky(
            SIMPLE,
            "clusters: {names: [hub]}\n"
            "owners: [{group: team-rocky}, {user: a@b.example, role: admin}, {serviceAccount: {name: ci}}]",
        )
    )
    account = {"kind": "ServiceAccount", "name": "ci", "namespace": "rocky"}
    view = binding("tenantry-owners-view", "view", [person("Group", "team-rocky"), account])
    assert view == one(plan, "RoleBinding", "tenantry-owners-view").manifest
    admin = binding("tenantry-owners-admin", "admin", [person("User", "a@b.example")])
    assert admin == one(plan, "RoleBinding", "tenantry-owners-admin").manifest


def test_a_tenant_s_owners_replace_those_of_the_defaults() -> None:
    text = rocky(SIMPLE, "clusters: {names: [hub]}\nowners: [{group: a}]") + "defaults: {owners: [{group: b}]}\n"
    assert [person("Group", "a")] == one(planned(text), "RoleBinding", "tenantry-owners-view").manifest["subjects"]


def test_a_remote_has_the_same_bindings_in_its_baseline() -> None:
    rest = "owners: [{group: a}, {serviceAccount: {name: ci}, role: edit}]"
    assert identities(remote(rest)) == [
        "Namespace rocky",
        "RoleBinding rocky/tenantry-reconciler-admin",
        "RoleBinding rocky/tenantry-owners-view",
        "RoleBinding rocky/tenantry-owners-edit",
        "NetworkPolicy rocky/tenantry-isolated",
    ]


@table(
    ("namespace", "holder"),
    [
        ("movy", "tenant 'movy'"),
        ("movy-jobs", "tenant 'movy'"),
        ("kamaji", "the cluster or the platform"),
        ("kube-system", "the cluster or the platform"),
        ("tenantry-system", "the cluster or the platform"),
    ],
)
def test_a_service_account_of_somebody_else_is_refused(namespace: str, holder: str) -> None:
    rest = f"{BOTH}\nowners: [{{serviceAccount: {{name: x, namespace: {namespace}}}}}]"
    assert problems(rocky(SIMPLE, rest) + MOVY) == told(
        "tenants.yaml:14:31: error[foreign-account]:"
        f" service account '{namespace}/x' belongs to {holder}, not to tenant 'rocky'",
        "  at tenants.rocky.owners[0].serviceAccount",
        "  fix: name one in the tenant's own namespaces, or in a namespace that Tenantry does not manage",
        "Found 1 error",
    )


# --- annotations and pod security -------------------------------------------------------------------------------


def test_annotations_and_pod_security_stand_on_the_namespace() -> None:
    rest = "clusters: {names: [hub]}\nannotations: {example.com/contact: rocky}\npodSecurity: restricted"
    expected = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "rocky",
            "labels": {
                "pod-security.kubernetes.io/enforce": "restricted",
                "pod-security.kubernetes.io/audit": "restricted",
                "pod-security.kubernetes.io/warn": "restricted",
                **LABELS,
                "toolkit.fluxcd.io/role": "tenant",
                "kustomize.toolkit.fluxcd.io/prune": "disabled",
            },
            "annotations": {"example.com/contact": "rocky", **PROVIDER},
        },
    }
    assert expected == one(planned(rocky(SIMPLE, rest)), "Namespace", "rocky").manifest


def test_pod_security_by_mode_and_version() -> None:
    (namespace, *_) = remote("podSecurity: {enforce: baseline, warn: restricted, version: v1.33}")
    labels = {key: value for key, value in namespace["metadata"]["labels"].items() if key.startswith("pod-security")}
    assert labels == {
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/enforce-version": "v1.33",
        "pod-security.kubernetes.io/warn": "restricted",
        "pod-security.kubernetes.io/warn-version": "v1.33",
    }


@table(
    ("value", "message"),
    [
        ("strict", "error[bad-value]: 'strict' is not a valid pod security level"),
        ("{enforce: strict}", "error[bad-value]: 'strict' is not allowed here"),
        ("{enforce: baseline, version: '1.33'}", "error[bad-value]: '1.33' does not match ^(latest|v1"),
        ("[baseline]", "error[wrong-type]: expected a mapping, found a list"),
    ],
)
def test_what_is_no_pod_security_is_refused(value: str, message: str) -> None:
    assert message in problems(rocky(SIMPLE, f"{BOTH}\npodSecurity: {value}"))


# --- several namespaces -----------------------------------------------------------------------------------------


NAMESPACES = """\
quota: {pods: 10}
owners: [{group: a}]
namespaces:
  jobs: {quota: {pods: 5, cpu: 1}, labels: {team: jobs}}
  builds: {name: "{env}-{key}-of-{namespace}", quota: {pods: null}}
"""


def test_each_namespace_has_the_whole_baseline_and_the_service_account_stays_one() -> None:
    plan = planned(rocky(SIMPLE, f"clusters: {{names: [hub]}}\n{NAMESPACES}"))
    assert named(plan) == [
        "Namespace rocky",
        "ServiceAccount rocky/rocky",
        "RoleBinding rocky/tenantry-reconciler-admin",
        "RoleBinding rocky/tenantry-owners-view",
        "ResourceQuota rocky/tenantry",
        "NetworkPolicy rocky/tenantry-isolated",
        "Namespace dev-builds-of-rocky",
        "RoleBinding dev-builds-of-rocky/tenantry-reconciler-admin",
        "RoleBinding dev-builds-of-rocky/tenantry-owners-view",
        "NetworkPolicy dev-builds-of-rocky/tenantry-isolated",
        "Namespace rocky-jobs",
        "RoleBinding rocky-jobs/tenantry-reconciler-admin",
        "RoleBinding rocky-jobs/tenantry-owners-view",
        "ResourceQuota rocky-jobs/tenantry",
        "NetworkPolicy rocky-jobs/tenantry-isolated",
        "GitRepository rocky/manifests",
        "Kustomization rocky/web",
    ]
    manifests = {str(object.id): object.manifest for object in plan.objects}
    assert manifests["ResourceQuota rocky-jobs/tenantry"]["spec"] == {"hard": {"pods": "5", "cpu": "1"}}
    assert manifests["Namespace rocky-jobs"]["metadata"]["labels"]["team"] == "jobs"
    user = person("User", "system:serviceaccount:rocky:rocky")
    expected = binding("tenantry-reconciler-admin", "admin", [user], "rocky-jobs")
    assert expected == manifests["RoleBinding rocky-jobs/tenantry-reconciler-admin"]
    assert (PlannedPlacement("rocky", "hub", "rocky", ("dev-builds-of-rocky", "rocky-jobs")),) == plan.placements
    assert plan.placements[0].namespaces == ("rocky", "dev-builds-of-rocky", "rocky-jobs")


def test_what_lies_in_a_namespace_waits_for_it_and_apps_for_all() -> None:
    plan = planned(rocky(SIMPLE, f"clusters: {{names: [hub]}}\n{NAMESPACES}"))
    for object in plan.objects:
        if object.id.namespace == "rocky-jobs":
            assert [str(id) for id in object.depends_on] == ["Namespace rocky-jobs"]
    assert len(one(plan, "Kustomization", "web").depends_on) == len(plan.objects) - 1


def test_all_namespaces_of_a_remote_are_in_the_same_release() -> None:
    spaces = [each for each in identities(remote(NAMESPACES)) if each.startswith("Namespace")]
    assert spaces == ["Namespace rocky", "Namespace dev-builds-of-rocky", "Namespace rocky-jobs"]


def test_isolation_lets_the_tenant_s_other_namespaces_in() -> None:
    policy = one(planned(rocky(SIMPLE, BOTH + "\nnamespaces: {jobs: {}}")), "Namespace", "rocky-jobs")
    (isolation,) = (
        each
        for each in remote("namespaces: {jobs: {}}")
        if each["metadata"].get("namespace") == "rocky-jobs" and each["kind"] == "NetworkPolicy"
    )
    own = {"toolkit.fluxcd.io/tenant": "rocky", "tenantry/environment": "dev"}
    assert own.items() <= policy.manifest["metadata"]["labels"].items()
    assert isolation["spec"]["ingress"] == [
        {
            "from": [
                {"podSelector": {}},
                {
                    "namespaceSelector": {
                        "matchExpressions": [{"key": "toolkit.fluxcd.io/tenant", "operator": "DoesNotExist"}]
                    }
                },
                {"namespaceSelector": {"matchLabels": own}},
            ]
        }
    ]


@table("target", ["jobs", "rocky-jobs", "rocky"])
@table("app", ["kustomize: {source: manifests, TARGET}", "helm: {source: charts, chart: c, version: 1.x, TARGET}"])
def test_an_app_may_go_to_any_of_the_tenant_s_namespaces_by_key_or_name(app: str, target: str) -> None:
    text = rocky(f"web: {{{app.replace('TARGET', f'targetNamespace: {target}')}}}", BOTH + "\nnamespaces: {jobs: {}}")
    kind = "Kustomization" if "kustomize" in app else "HelmRelease"
    for name in ("web", "edge-rocky-web"):
        spec = one(planned(text), kind, name).manifest["spec"]
        assert spec["targetNamespace"] == ("rocky" if target == "rocky" else "rocky-jobs")
        assert spec.get("storageNamespace", "rocky") == "rocky"


@table("first", [True, False])
def test_another_tenant_s_namespace_is_refused_at_the_entry_whoever_comes_first(*, first: bool) -> None:
    extra = MOVY.replace("{jobs: {}}", "{x: {}}")
    other = MOVY.replace("  movy:", "  movy-x:").replace("    namespaces: {jobs: {}}\n", "")
    tenants = extra + other if first else other + extra
    found = problems(rocky(SIMPLE, BOTH) + tenants)
    assert "error[shared-namespace]: tenants " in found
    assert "would share namespace 'movy-x'\n  at tenants.movy.namespaces.x\n" in found
