"""A change that no API server makes in place is named, alike for a management cluster and a remote one."""

from __future__ import annotations

import pytest

from tests.table import table
from tests.unit.facts.reviews import told
from tests.unit.texts import rocky

pytestmark = pytest.mark.usefixtures("plans_once")

WEB = "web: {kustomize: {source: manifests}}"
ALL = "clusters: {all: true}"
RBAC = "rbac.authorization.k8s.io/v1"
POD = "spec: {{restartPolicy: Never, containers: [{{name: a, image: 'a:{}'}}]}}"
TEMPLATE = "template: {}"
SET = f"selector: {{}}, {TEMPLATE}"
ANEW = "on a management cluster it is deleted and created anew, on a remote one its baseline fails"
HELD = "the API server refuses it, and what belongs to it stays as it is; give it another name"


def with_object(api: str, kind: str, body: str, key: str = "objects") -> str:
    return rocky(WEB, f"{ALL}\n{key}: {{x: {{apiVersion: {api}, kind: {kind}, {body}}}}}")


def dangers(before: str, after: str) -> list[str]:
    return [line.removeprefix("reinstallation: tenant rocky on both clusters: ") for line in told(before, after)]


@table(
    ("api", "kind", "bodies", "fields"),
    [
        (
            "batch/v1",
            "Job",
            [f"spec: {{template: {{{POD.format(n)}}}}}" for n in (1, 2)],
            "spec.template",
        ),
        (
            "apps/v1",
            "Deployment",
            [f"spec: {{selector: {{matchLabels: {{a: '{n}'}}}}, {TEMPLATE}}}" for n in (1, 2)],
            "spec.selector",
        ),
        (
            "apps/v1",
            "StatefulSet",
            [
                f"spec: {{{of}, {SET}}}"
                for of in ("serviceName: a, podManagementPolicy: Parallel", "serviceName: b, replicas: 2")
            ],
            "spec.podManagementPolicy, spec.serviceName",
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            ["spec: {storageClassName: a, resources: {requests: {storage: 1Gi}}}", "spec: {storageClassName: b}"],
            "spec.storageClassName",
        ),
        (
            "v1",
            "Service",
            ["spec: {clusterIP: None}", "spec: {clusterIP: 10.0.0.9}"],
            "spec.clusterIP",
        ),
        ("v1", "ConfigMap", ["data: {a: b}, immutable: true", "data: {a: c}, immutable: true"], "data"),
        ("v1", "ConfigMap", ["data: {a: b}, immutable: true", "data: {a: b}"], "immutable"),
        ("v1", "Secret", ["type: Opaque", "type: kubernetes.io/tls"], "type"),
    ],
)
def test_it_is_told_of_objects_of_tenants(api: str, kind: str, bodies: list[str], fields: str) -> None:
    before, after = (with_object(api, kind, body) for body in bodies)
    assert dangers(before, after) == [f"{kind} x cannot change in {fields}: {ANEW if kind == 'Secret' else HELD}"]


def test_it_is_told_of_the_role_of_a_binding_beside_what_the_rights_are() -> None:
    subjects = "subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: ci}]"
    sides = [
        f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}, {subjects}"
        for role in ("edit", "view")
    ]
    before, after = (with_object(RBAC, "RoleBinding", body) for body in sides)
    expected = f"RoleBinding x cannot change in roleRef: {HELD}"
    assert expected in dangers(before, after)


def test_it_is_told_of_objects_without_a_namespace() -> None:
    bodies = [f"provisioner: a, reclaimPolicy: {policy}" for policy in ("Retain", "Delete")]
    before, after = (with_object("storage.k8s.io/v1", "StorageClass", body, "clusterObjects") for body in bodies)
    assert dangers(before, after) == [f"StorageClass x cannot change in reclaimPolicy: {HELD}"]


def test_it_is_told_of_credentials_that_become_those_of_a_registry() -> None:
    values = "valuesFrom: [{kind: Secret, name: c, valuesKey: .dockerconfigjson}]"
    web = f"web: {{helm: {{source: charts, chart: a, version: 1.x, {values}}}}}"
    before, after = (
        rocky(web, f"clusters: {{names: [hub]}}\ncredentials: {{c: {{{of}}}}}")
        for of in ("keys: ['.dockerconfigjson']", "registry: r.example.com")
    )
    assert [line for line in told(before, after) if "Secret" in line] == [
        f"reinstallation: tenant rocky on hub: Secret c cannot change in type: {ANEW}"
    ]


@table(
    ("api", "kind", "before", "after"),
    [
        ("batch/v1", "Job", f"spec: {{backoffLimit: 1, {TEMPLATE}}}", f"spec: {{backoffLimit: 2, {TEMPLATE}}}"),
        ("apps/v1", "StatefulSet", f"spec: {{replicas: 1, {SET}}}", f"spec: {{replicas: 2, {SET}}}"),
        (
            "v1",
            "PersistentVolumeClaim",
            "spec: {resources: {requests: {storage: 1Gi}}}",
            "spec: {resources: {requests: {storage: 2Gi}}}",
        ),
        ("v1", "ConfigMap", "data: {a: b}", "data: {a: c}, immutable: true"),
        ("v1", "Service", "spec: {clusterIP: None}", "spec: {}"),
        ("example.com/v1", "Job", "spec: {template: {a: 1}}", "spec: {template: {a: 2}}"),
    ],
)
def test_other_changes_are_none(api: str, kind: str, before: str, after: str) -> None:
    assert dangers(with_object(api, kind, before), with_object(api, kind, after)) == []
