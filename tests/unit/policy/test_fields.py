"""The tables of fields: complete, closed, and each check refuses something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.flux.schemas import schema_of
from tenantry.load import plan_all
from tenantry.policy.confined import escapes
from tenantry.policy.fields import flux, kubernetes
from tenantry.policy.fields.table import Each, Field, JudgedBy, Keys
from tenantry.policy.main_file import MainFile
from tenantry.policy.resource import Resource
from tenantry.policy.rules import FRAME_RULES
from tenantry.policy.rules.fields import tenants_fill_known_fields
from tenantry.policy.stack import Stack
from tenantry.policy.tenants import Tenants
from tests.hostile.confinement import registered
from tests.table import table
from tests.unit.texts import fleet, rocky

KINDS = {kind: table for (_, kind), table in flux.SPECS.items()}
each_kind = table("kind", KINDS)

NOT_FOR_TENANTS = {
    "Alert": {"eventSources.apiVersion", "eventSources.namespace"},
    "Bucket": {"serviceAccountName"},
    "ExternalArtifact": {"sourceRef.namespace"},
    "GitRepository": {"serviceAccountName"},
    "HelmChart": {"sourceRef.apiVersion"},
    "HelmRelease": {
        *("chart", "chartRef.apiVersion", "chartRef.namespace", "dependsOn.readyExpr", "install.createNamespace"),
    },
    "HelmRepository": {"accessFrom"},
    "ImagePolicy": {"imageRepositoryRef.namespace"},
    "ImageRepository": {"accessFrom", "serviceAccountName"},
    "ImageUpdateAutomation": {"policySelector.matchExpressions", "sourceRef.apiVersion", "sourceRef.namespace"},
    "Kustomization": {
        "decryption.serviceAccountName",
        *("dependsOn.readyExpr", "sourceRef.apiVersion", "sourceRef.namespace"),
    },
    "OCIRepository": {"serviceAccountName"},
    "Provider": {"serviceAccountName"},
    "Receiver": {f"resources.{key}" for key in ("apiVersion", "filter", "matchLabels", "namespace")},
}
"""The fields of the pinned Flux that no table has. If `make schemas` brings another field, decide: a table, or this list."""


def fields_of(schema: Mapping[str, Any], table: Field, at: str = "") -> Iterator[tuple[str, bool]]:
    """The fields of a schema, as deep as the table goes, each with whether it has it."""
    if isinstance(table, Each):
        yield from fields_of(schema["items"], table.form, at)
    for key, part in schema.get("properties", {}).items() if isinstance(table, Mapping) else ():
        path = f"{at}.{key}" if at else key
        known = isinstance(table, Mapping) and key in table
        yield path, known
        if known and isinstance(table, Mapping):
            yield from fields_of(part, table[key], path)


def leaves(form: Field) -> Iterator[Any]:
    if isinstance(form, Each | Keys):
        yield from leaves(form.form)
    elif isinstance(form, Mapping):
        for inner in form.values():
            yield from leaves(inner)
    else:
        yield form


def unknown_to(schema: Mapping[str, Any], table: Field, at: str = "") -> Iterator[str]:
    """What a table has, and the schema has not."""
    if isinstance(table, Each):
        yield from unknown_to(schema.get("items", {}), table.form, at)
    for key, inner in table.items() if isinstance(table, Mapping) else ():
        part = schema.get("properties", {}).get(key)
        path = f"{at}.{key}" if at else key
        yield from [path] if part is None else unknown_to(part, inner, path)


@each_kind
def test_each_field_of_flux_is_in_the_table_or_is_not_for_tenants(kind: str) -> None:
    found = {path for path, known in fields_of(schema_of(kind).spec, KINDS[kind]) if not known}
    assert found == NOT_FOR_TENANTS.get(kind, set())


@each_kind
def test_a_table_has_no_field_that_flux_has_not(kind: str) -> None:
    # One table serves for both actions of a release, and one for a source's TLS.
    extra = {"install.remediation.strategy"} if kind == "HelmRelease" else set()
    assert set(unknown_to(schema_of(kind).spec, KINDS[kind])) <= extra


def test_a_field_that_another_rule_judges_names_a_rule() -> None:
    every = [*KINDS.values(), *kubernetes.OBJECTS.values(), kubernetes.SPEC]
    named = {leaf.rule for table in every for leaf in leaves(table) if isinstance(leaf, JudgedBy)}
    assert named <= {rule.__name__ for rule in FRAME_RULES}


LOADED = fleet(rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}"))
MAIN = MainFile(LOADED.source.data)
OBJECTS = [each for plan in plan_all(LOADED).values() for each in registered(plan)]


def told(resource: Resource) -> list[str]:
    return [each.what.partition("' ")[2] for each in tenants_fill_known_fields(Tenants(Stack([resource]), MAIN))]


def of_kind(kind: str, **more: Any) -> Resource:
    """An object of rocky's, with more in its spec."""
    given = next(each for each in OBJECTS if each.kind == kind and each.tenant == "rocky")
    spec = {"spec": {**given.spec, **more}} if more else {}
    return Resource(given.urn, given.type, {**given.props, **spec}, given.provider)


def test_what_a_fleet_plans_is_in_the_tables() -> None:
    assert list(escapes(OBJECTS, MAIN)) == []


@table(
    ("kind", "more", "expected"),
    [
        ("Kustomization", {"asUser": "admin"}, "fills a field that no tenant may fill in spec.asUser"),
        ("Kustomization", {"path": "/etc"}, "leaves its source in spec.path"),
        ("Kustomization", {"path": "./a/../../b"}, "leaves its source in spec.path"),
        ("Kustomization", {"path": 3}, "holds no path in spec.path"),
        ("Kustomization", {"path": "web", "components": ["../../b"]}, "leaves its source in spec.components[0]"),
        ("Kustomization", {"path": "web", "components": ["../b", "/b"]}, "leaves its source in spec.components[1]"),
        (
            "Kustomization",
            {"components": ["github.com/evil/repo"]},
            "names a repository of its own in spec.components[0]",
        ),
        ("Kustomization", {"components": ["../x.git"]}, "names a repository of its own in spec.components[0]"),
        ("Kustomization", {"components": ["git@a:b"]}, "names a repository of its own in spec.components[0]"),
        (
            "Kustomization",
            {"timeout": 60},
            "holds no duration in spec.timeout",
        ),
        ("Kustomization", {"timeout": "-1s"}, "holds no duration in spec.timeout"),
        ("Kustomization", {"prune": "yes"}, "holds neither true nor false in spec.prune"),
        ("Kustomization", {"patches": {"a": "b"}}, "holds no list in spec.patches"),
        ("Kustomization", {"postBuild": []}, "holds no mapping in spec.postBuild"),
        ("Kustomization", {"deletionPolicy": "Never"}, "holds none of MirrorPrune, Delete, WaitForTermination, Orphan"),
        (
            "Kustomization",
            {"dependsOn": [{"name": "web", "readyExpr": "true"}]},
            "fills a field that no tenant may fill in spec.dependsOn[0].readyExpr",
        ),
        ("GitRepository", {"sparseCheckout": ["../x"]}, "leaves its source in spec.sparseCheckout[0]"),
        (
            "GitRepository",
            {"include": [{"repository": {"name": "m"}, "toPath": "../x"}]},
            "leaves its source in spec.include[0].toPath",
        ),
        (
            "GitRepository",
            {"serviceAccountName": "platform"},
            "fills a field that no tenant may fill in spec.serviceAccountName",
        ),
        ("NetworkPolicy", {"egress": [{}]}, "admits others in spec"),
        ("NetworkPolicy", {"ingress": [{}]}, "admits others in spec"),
        ("NetworkPolicy", {"podSelector": {"matchLabels": {"a": "b"}}}, "admits others in spec"),
    ],
    ids=str,
)
def test_a_value_that_a_tenant_may_not_have_is_refused(kind: str, more: dict[str, Any], expected: str) -> None:
    (problem,) = told(of_kind(kind, **more))
    assert problem.startswith(expected)


@table("kind", ["Role", "Job", "Pod", "ValidatingAdmissionPolicy", "Ingress"])
def test_an_object_of_another_kind_is_refused(kind: str) -> None:
    given = of_kind("Kustomization")
    other = Resource(given.urn, given.type, {**given.props, "apiVersion": "example.com/v1", "kind": kind})
    assert told(other) == [f"is of the kind {kind}, of which no tenant has any"]


@table(
    ("key", "value"),
    [
        ("finalizers", ["foregroundDeletion"]),
        ("ownerReferences", [{"kind": "Namespace", "name": "movy"}]),
        ("generateName", "x"),
    ],
)
def test_metadata_beside_names_labels_and_annotations_is_refused(key: str, value: Any) -> None:
    given = of_kind("Kustomization")
    metadata = {**given.props["metadata"], key: value}
    assert told(Resource(given.urn, given.type, {**given.props, "metadata": metadata})) == [
        f"fills a field that no tenant may fill in metadata.{key}"
    ]


@table(
    ("kind", "label", "value"),
    [
        ("Kustomization", "tenantry/state", "decommissioned"),
        ("Kustomization", "tenantry/other", "x"),
        ("GitRepository", "tenantry/state", "offboarding"),
        ("Namespace", "tenantry/state", "offboarding"),
        ("Namespace", "tenantry/account", "movy"),
        ("Namespace", "toolkit.fluxcd.io/role", "platform"),
        ("Namespace", "pod-security.kubernetes.io/audit", "privileged"),
        ("ServiceAccount", "azure.workload.identity/use", "true"),
        ("RoleBinding", "rbac.authorization.k8s.io/aggregate-to-admin", "true"),
    ],
)
def test_a_label_with_a_value_that_is_not_the_fleets_is_refused(kind: str, label: str, value: str) -> None:
    given = of_kind(kind)
    labels = {**given.labels, label: value}
    props = {**given.props, "metadata": {**given.props["metadata"], "labels": labels}}
    (problem,) = told(Resource(given.urn, given.type, props))
    assert problem.endswith(f"in metadata.labels.{label}")


def test_an_app_may_leave_as_its_team_likes() -> None:
    given = of_kind("Kustomization")
    labels = {**given.labels, "tenantry/state": "offboarding"}
    assert (
        told(
            Resource(given.urn, given.type, {**given.props, "metadata": {**given.props["metadata"], "labels": labels}})
        )
        == []
    )
