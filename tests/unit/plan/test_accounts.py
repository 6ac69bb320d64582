"""The service account of a tenant: its name, what it carries, and where it is."""

from __future__ import annotations

from typing import Any

from tenantry.plan.bootstrap import management_policies
from tests.unit.texts import named, one, planned, rocky

SIMPLE = "web: {kustomize: {source: manifests}}"
BOTH = "clusters: {all: true}"
OWN = "serviceAccount: {name: deployer, annotations: {example.com/role: a}, imagePullSecrets: [pull]}"


def installed(text: str) -> list[dict[str, Any]]:
    release = one(planned(text), "HelmRelease", "edge-rocky-baseline")
    return list(release.manifest["spec"]["values"]["objects"])


def test_the_account_has_the_name_that_the_file_gives_and_flux_acts_as_it() -> None:
    plan = planned(rocky(SIMPLE, f"{BOTH}\n{OWN}"))
    account = one(plan, "ServiceAccount", "deployer").manifest
    assert account["imagePullSecrets"] == [{"name": "pull"}]
    assert account["metadata"]["annotations"]["example.com/role"] == "a"
    assert one(plan, "Kustomization", "web").manifest["spec"]["serviceAccountName"] == "deployer"
    (subject,) = one(plan, "RoleBinding", "tenantry-reconciler-admin").manifest["subjects"]
    assert subject["name"] == "system:serviceaccount:rocky:deployer"
    assert one(plan, "Namespace", "rocky").manifest["metadata"]["labels"]["tenantry/account"] == "deployer"
    policy = str(next(each for each in management_policies(["p"], shared_identity=False)))
    assert "variables.labels[?'tenantry/account']" in policy


def test_on_a_remote_cluster_flux_acts_as_before_and_the_account_is_for_the_pods() -> None:
    text = rocky(SIMPLE, f"{BOTH}\n{OWN}\nnamespaces: {{jobs: {{}}}}")
    web = one(planned(text), "Kustomization", "edge-rocky-web").manifest["spec"]
    assert web["serviceAccountName"] == "rocky"
    accounts = [each["metadata"] for each in installed(text) if each["kind"] == "ServiceAccount"]
    assert [(each["namespace"], each["name"]) for each in accounts] == [
        ("rocky", "deployer"),
        ("rocky-jobs", "deployer"),
    ]
    subjects = [subject for each in installed(text) for subject in each.get("subjects", ())]
    assert {each["name"] for each in subjects} == {"system:serviceaccount:kamaji:rocky"}
    assert "tenantry/account" not in str(installed(text))
    plain = rocky(SIMPLE, f"{BOTH}\nnamespaces: {{jobs: {{serviceAccount: true}}}}")
    assert "ServiceAccount" not in [each["kind"] for each in installed(plain)]


def test_each_namespace_can_have_an_account_with_the_rights_of_the_tenant() -> None:
    text = rocky(SIMPLE, "clusters: {names: [hub]}\nnamespaces: {jobs: {serviceAccount: true}, more: {}}")
    plan = planned(text)
    assert {each for each in named(plan) if "ServiceAccount" in each} == {
        "ServiceAccount rocky/rocky",
        "ServiceAccount rocky-jobs/rocky",
    }
    bindings = [each.manifest for each in plan.objects if each.id.kind == "RoleBinding"]
    assert [len(each["subjects"]) for each in bindings] == [2, 2, 2]
    assert bindings[0]["subjects"][1]["name"] == "system:serviceaccount:rocky-jobs:rocky"
    account = next(each for each in plan.objects if str(each.id) == "ServiceAccount rocky-jobs/rocky")
    assert [str(each) for each in account.depends_on] == ["Namespace rocky-jobs"]
    assert account.id in one(plan, "Kustomization", "web").depends_on


RBAC = "apiVersion: rbac.authorization.k8s.io/v1"
OF_RBAC = "apiGroup: rbac.authorization.k8s.io"


def test_objects_give_the_tenants_account_a_role_of_its_own_in_each_of_its_namespaces() -> None:
    rules = "rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]"
    binding = f"roleRef: {{{OF_RBAC}, kind: Role, name: deployer}}, subjects: [{{{OF_RBAC}, kind: User, name: '{{account}}'}}]"
    objects = (
        f"objects: {{deployer: {{{RBAC}, kind: Role, {rules}}}, deployers: {{{RBAC}, kind: RoleBinding, {binding}}}}}"
    )
    text = rocky(
        "web: {kustomize: {source: manifests}}", f"{objects}\nnamespaces: {{jobs: {{}}}}\nclusters: {{all: true}}"
    )
    made = [each.manifest for each in planned(text).objects]
    made += [each for release in made for each in release.get("spec", {}).get("values", {}).get("objects", ())]
    bindings = [each for each in made if each["metadata"]["name"] == "deployers"]
    assert [(each["metadata"]["namespace"], each["subjects"][0]["name"]) for each in bindings] == [
        ("rocky", "system:serviceaccount:rocky:rocky"),
        ("rocky-jobs", "system:serviceaccount:rocky:rocky"),
        ("rocky", "system:serviceaccount:kamaji:rocky"),
        ("rocky-jobs", "system:serviceaccount:kamaji:rocky"),
    ]
    users = [each["subjects"][0]["name"] for each in made if each["metadata"]["name"] == "tenantry-reconciler-admin"]
    assert [each["subjects"][0]["name"] for each in bindings] == users
