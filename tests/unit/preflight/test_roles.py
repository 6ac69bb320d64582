"""The roles that `tenantry bootstrap --roles` prints, asked as an API server would ask them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tenantry.cluster.reading import APP_KINDS
from tenantry.cluster.requests import plural
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import ObjectId, group_of
from tenantry.load import load_fleet, plan_all
from tenantry.model import SecretKey
from tenantry.plan.plan import Plan
from tenantry.preflight.remotes import remotes
from tenantry.preflight.roles import ROLES, RoleName, Roles, roles
from tests.table import table
from tests.unit.texts import fleet, planned, rocky

ROOT = Path(__file__).resolve().parents[3]
FLEETS = sorted(
    [
        ROOT / "tenants.yaml",
        *ROOT.glob("examples/*/tenants.yaml"),
        *ROOT.glob("tests/e2e/fleets/*/tenants.yaml"),
        *ROOT.glob("tests/golden/*/tenants.yaml"),
    ]
)
GROUP = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "deployers"}
RBAC = "rbac.authorization.k8s.io"
SIMPLE = "web: {kustomize: {source: manifests}}"
PRIVATE = rocky(SIMPLE, "clusters: {all: true}\ncredentials: {token: {keys: [username, password]}}").replace(
    "ref: {branch: main}}}", "ref: {branch: main}}, credentials: token}"
)
"""A fleet with Secrets, in the tenant's namespace and beside a kubeconfig."""


def made(fleet: Fleet, plan: Plan, role: RoleName, *, kubeconfigs: bool = False, secrets: bool = False) -> Roles:
    return roles(fleet, plan, role, GROUP, kubeconfigs=kubeconfigs, secrets=secrets)


def of(text: str, role: RoleName, *, kubeconfigs: bool = False, secrets: bool = False) -> Roles:
    return made(fleet(text), planned(text), role, kubeconfigs=kubeconfigs, secrets=secrets)


class Authorizer:
    """What an API server allows who has the printed roles."""

    def __init__(self, roles: Roles) -> None:
        self.rules: dict[str, list[dict[str, Any]]] = {}
        for manifest in roles.manifests:
            if manifest["kind"] in ("Role", "ClusterRole"):
                self.rules[manifest["metadata"].get("namespace", "")] = manifest["rules"]

    def allows(self, verb: str, group: str, resource: str, namespace: str, name: str = "") -> bool:
        return any(
            verb in rule["verbs"]
            and group in rule["apiGroups"]
            and resource in rule["resources"]
            and ("resourceNames" not in rule or name in rule["resourceNames"])
            for where in {"", namespace}
            for rule in self.rules.get(where, ())
        )

    def writes(self, id: ObjectId, verb: str) -> bool:
        return self.allows(verb, group_of(id.api_version), plural(id.kind), id.namespace, id.name)

    def gives(self, namespace: str, role: Mapping[str, Any]) -> bool:
        """Whether it may bind a role: by name, or because it has what the role gives."""
        resource = plural(role["kind"])
        return self.allows("bind", RBAC, resource, namespace, role["name"])

    def all(self) -> Iterator[dict[str, Any]]:
        return (rule for rules in self.rules.values() for rule in rules)


def plans(file: Path) -> Iterator[tuple[Fleet, Plan]]:
    loaded = load_fleet(file)
    for plan in plan_all(loaded).values():
        yield loaded, plan


@table("file", FLEETS, ids=lambda file: file.parent.name)
def test_who_deploys_may_write_every_planned_object_and_give_every_planned_right(file: Path) -> None:
    for loaded, plan in plans(file):
        deployer = Authorizer(made(loaded, plan, "deploy"))
        own = {each.id.name for each in plan.objects if each.id.kind in ("Role", "ClusterRole")}
        for each in plan.objects:
            # The roles come with the Namespaces.
            verbs = ("patch", "delete", "watch", *(() if each.id.kind == "Namespace" else ("create",)))
            assert [verb for verb in verbs if not deployer.writes(each.id, verb)] == [], each.id
            if each.id.kind in ("RoleBinding", "ClusterRoleBinding"):
                role = each.manifest["roleRef"]
                assert role["name"] in own or deployer.gives(each.id.namespace, role), each.id
            if each.id.kind in ("Role", "ClusterRole"):
                rules = deployer.rules[each.id.namespace]
                assert all(rule in rules for rule in each.manifest["rules"])


@table("file", FLEETS, ids=lambda file: file.parent.name)
def test_nothing_is_wide_and_no_secret_is_read_but_by_its_name(file: Path) -> None:
    for loaded, plan in plans(file):
        owned = {(each.id.namespace, each.id.name) for each in plan.objects if each.id.kind == "Secret"}
        for role in ROLES:
            found = made(loaded, plan, role)
            rules = list(Authorizer(found).all())
            wide = [rule for rule in rules if {"*", "escalate", "impersonate"} & {*rule["verbs"], *rule["resources"]}]
            assert bool(wide) == bool(found.wide) or any("bind" in line for line in found.wide)
            assert all(rule.get("resourceNames") for rule in rules if "bind" in rule["verbs"])
            for namespace, inside in Authorizer(found).rules.items():
                for rule in inside:
                    if "secrets" in rule["resources"] and {*rule["verbs"]} - {"create"}:
                        assert {(namespace, name) for name in rule["resourceNames"]} <= owned


def test_who_previews_reads_no_secret_and_writes_nothing() -> None:
    rules = list(Authorizer(of(PRIVATE, "preview")).all())
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list"}
    assert not any("secrets" in rule["resources"] for rule in rules)


def test_who_deploys_reads_and_writes_the_planned_secrets_by_their_names_alone() -> None:
    deployer = Authorizer(of(PRIVATE, "deploy"))
    secrets = [each.id for each in planned(PRIVATE).objects if each.id.kind == "Secret"]
    assert {id.namespace for id in secrets} == {"rocky", "kamaji"}
    for id in secrets:
        assert all(deployer.writes(id, verb) for verb in ("create", "get", "patch", "delete"))
        assert not deployer.writes(id._replace(name="another"), "get")
        assert not deployer.writes(id, "list")


def test_who_operates_changes_flux_objects_alone_where_the_fleet_has_them() -> None:
    text = rocky(SIMPLE, "clusters: {all: true}")
    operator = Authorizer(of(text, "operate"))
    plan = planned(text)
    patched = {each.id for each in plan.objects if operator.writes(each.id, "patch")}
    assert patched == {
        each.id for each in plan.objects if each.id.kind in (*APP_KINDS, "GitRepository", "HelmRepository", "HelmChart")
    }
    assert not any(operator.writes(each.id, "delete") or operator.writes(each.id, "create") for each in plan.objects)
    assert not operator.allows("patch", "helm.toolkit.fluxcd.io", "helmreleases", "kube-system")
    assert operator.allows("list", "", "pods", "rocky")
    assert not operator.allows("list", "", "pods", "flux-system")


@table("role", ROLES)
def test_kubeconfigs_are_read_on_request_alone_each_by_its_name(role: RoleName) -> None:
    text = rocky(SIMPLE, "clusters: {all: true}")
    (remote,) = remotes(fleet(text), planned(text))
    at = remote.reference
    assert isinstance(at, SecretKey)
    asked = ("get", "", "secrets", at.namespace, at.name)
    assert not Authorizer(of(text, role)).allows(*asked)
    allowed = Authorizer(of(text, role, kubeconfigs=True))
    assert allowed.allows(*asked)
    assert not allowed.allows("get", "", "secrets", at.namespace, "another")
    assert not allowed.allows("list", "", "secrets", at.namespace)


def test_who_deploys_writes_nothing_where_the_fleet_has_nothing() -> None:
    deployer = Authorizer(of(rocky(SIMPLE), "deploy"))
    for resource in ("secrets", "configmaps", "serviceaccounts"):
        assert not deployer.allows("patch", "", resource, "kube-system", "any")
    assert not deployer.allows("create", RBAC, "rolebindings", "kube-system")
    assert not deployer.allows("bind", RBAC, "clusterroles", "kube-system", "admin")
    assert not deployer.allows("bind", RBAC, "clusterroles", "rocky", "cluster-admin")
    assert deployer.allows("bind", RBAC, "clusterroles", "rocky", "admin")
    assert deployer.allows("deploy", "tenantry", "fleets", "")
    assert deployer.allows("create", "", "configmaps", "tenantry-system")


def test_a_role_of_the_fleet_with_wide_rights_is_told_because_who_deploys_it_has_them_too() -> None:
    rules = "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]"
    wide = f"objects: {{all: {{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, {rules}}}}}"
    text = rocky(SIMPLE, f"clusters: {{names: [hub]}}\nclusterAdmin: true\n{wide}")
    (line,) = of(text, "deploy").wide
    assert line.startswith("Role rocky/all of the fleet has wide rights")
    assert of(text, "preview").wide == ()


def test_a_namespace_is_in_the_printed_manifests_because_a_role_cannot_be_in_one_that_does_not_exist() -> None:
    found = of(rocky(SIMPLE), "deploy").manifests
    assert (found[0]["kind"], found[0]["metadata"]["name"]) == ("Namespace", "rocky")
    assert all(each["metadata"]["name"] == "tenantry-deploy-dev" for each in found[1:])
    assert {each["subjects"][0]["name"] for each in found if each["kind"].endswith("Binding")} == {"deployers"}


def test_secrets_are_listed_by_nobody_but_who_deploys_with_the_option_and_only_where_the_fleet_has_some() -> None:
    def lists(role: RoleName, *, secrets: bool) -> set[str]:
        authorizer = Authorizer(of(PRIVATE, role, secrets=secrets))
        namespaces = {each.id.namespace for each in planned(PRIVATE).objects} | {""}
        verbs = ("list", "watch")
        return {each for each in namespaces if all(authorizer.allows(verb, "", "secrets", each) for verb in verbs)}

    assert lists("deploy", secrets=True) == {
        each.id.namespace for each in planned(PRIVATE).objects if each.id.kind == "Secret"
    }
    assert lists("deploy", secrets=False) == lists("operate", secrets=True) == lists("preview", secrets=True) == set()
