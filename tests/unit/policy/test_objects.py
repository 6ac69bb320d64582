"""Which of a stack's resources the rules are about."""

from __future__ import annotations

from typing import Any

from tenantry.policy.resource import Resource
from tenantry.policy.rule import check_object
from tenantry.policy.rules.objects import objects_are_whole, objects_stay_out_of_the_default_namespace
from tests.table import table

FLUX = "kustomize.toolkit.fluxcd.io/v1"


def resource(type: str, **props: Any) -> Resource:
    return Resource(f"urn:pulumi:dev::tenantry::{type}::own", type, props)


@table(
    "type",
    [
        "kubernetes:helm.sh/v4:Chart",
        "kubernetes:kustomize/v2:Directory",
        "kubernetes:kustomize:Directory",
        "kubernetes:yaml/v2:ConfigGroup",
        "kubernetes:yaml:ConfigFile",
        "pulumi:providers:kubernetes",
        "pulumi:pulumi:Stack",
        "tenantry:index:Tenant",
    ],
)
def test_what_only_groups_objects_is_none(type: str) -> None:
    assert not resource(type).is_object
    assert list(check_object(objects_are_whole, resource(type))) == []


@table(
    "type", [f"kubernetes:{FLUX}:Kustomization", "kubernetes:core/v1:Namespace", "kubernetes:yaml.example.com/v1:Thing"]
)
def test_an_object_of_any_group_is_one(type: str) -> None:
    assert resource(type).is_object


@table(
    ("type", "props"),
    [
        ("kubernetes:helm.sh/v3:Release", {"chart": "podinfo"}),
        ("kubernetes:core/v1:ConfigMapPatch", {"apiVersion": "v1", "kind": "ConfigMap"}),
        ("kubernetes:core/v1:ConfigMapList", {"apiVersion": "v1", "kind": "List", "items": []}),
    ],
)
def test_what_becomes_something_else_on_the_cluster_is_not_whole(type: str, props: dict[str, Any]) -> None:
    (violation,) = check_object(objects_are_whole, resource(type, **props))
    assert violation.what == f"{type} 'own' is no whole object"


def test_a_kind_of_which_only_the_cluster_knows_whether_it_has_a_namespace_may_name_none() -> None:
    issuer = resource(
        "kubernetes:cert-manager.io/v1:ClusterIssuer", apiVersion="cert-manager.io/v1", kind="ClusterIssuer"
    )
    assert list(check_object(objects_stay_out_of_the_default_namespace, issuer)) == []
