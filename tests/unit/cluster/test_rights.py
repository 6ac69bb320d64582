"""Role bindings in tenants' namespaces that the fleet did not make."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.cluster.leftovers import foreign_bindings, format_bindings, rights_by_cluster
from tenantry.load import plan_one
from tests.table import table
from tests.unit.memory import Memory
from tests.unit.texts import fleet, rocky

BINDINGS = "/apis/rbac.authorization.k8s.io/v1/rolebindings"
JANE = {"kind": "User", "name": "jane"}
ROBOT = {"kind": "ServiceAccount", "name": "robot", "namespace": "rocky"}


def binding(
    name: str, role: str, *subjects: dict[str, str], namespace: str = "rocky", kind: str = "ClusterRole"
) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"metadata": metadata, "roleRef": {"kind": kind, "name": role}, "subjects": list(subjects)}


def messages(role: str, *bindings: dict[str, Any], cluster: str = "hub") -> list[tuple[str, str]]:
    declared = fleet(rocky("web: {kustomize: {source: manifests}}", f"clusters: {{names: [{cluster}]}}\n{role}"))
    memory = Memory()
    memory.objects[BINDINGS] = {"metadata": {}, "items": list(bindings)}
    with memory.client() as client:
        rights = rights_by_cluster(declared, plan_one(declared, "dev"))[cluster]
        return list(format_bindings(foreign_bindings(client, rights)))


def test_what_a_tenant_bound_while_it_was_admin_is_reported() -> None:
    (told,) = messages(
        "role: edit", binding("own", "deployer", JANE, ROBOT, kind="Role"), binding("former", "cluster-admin")
    )
    assert told == (
        "2 role bindings in namespaces of tenant 'rocky' are not Tenantry's and stay in effect, whatever the tenant's role is\n"
        "    rocky/own: Role deployer for User jane, ServiceAccount rocky/robot\n"
        "    rocky/former: ClusterRole cluster-admin for nobody",
        "if nobody needs it, and once Tenantry's own bindings exist: kubectl delete rolebinding own --namespace rocky",
    )


@table(
    ("role", "reported"),
    [
        ("role: view", ["own", "former"]),
        ("role: admin", ["former"]),
        ("role: edit\nowners: [{user: jane, role: admin}]", ["former"]),
        ("role: cluster-admin\nclusterAdmin: true", []),
    ],
)
def test_who_may_bind_is_not_reported_for_it(role: str, reported: list[str]) -> None:
    bindings = [
        binding("own", "edit", JANE),
        binding("former", "cluster-admin", JANE),
        binding("tenantry-reconciler-edit", "edit", JANE),
        binding("other", "cluster-admin", JANE, namespace="kube-system"),
    ]
    (message, _), *_ = messages(role, *bindings) or [("", "")]
    assert [name for name in ("own", "former", "tenantry", "other") if f"/{name}" in message] == reported


@pytest.mark.parametrize("cluster", ["hub", "edge"])
def test_a_binding_among_the_declared_objects_is_the_fleets(cluster: str) -> None:
    role = "{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}"
    subject = "{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}"
    declared = (
        f"{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {role}, subjects: [{subject}]}}"
    )
    bindings = [binding("readers", "view", JANE), binding("own", "view", JANE)]
    ((message, _),) = messages(f"role: edit\nobjects: {{readers: {declared}}}", *bindings, cluster=cluster)
    assert ("/own: " in message, "/readers: " in message) == (True, False)
