"""Whether a management cluster knows the kinds and the fields of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from tenantry.flux.schemas import schema_of
from tenantry.messages.errors import Problem
from tenantry.plan.plan import Plan
from tenantry.preflight.fitness import check_fitness, definitions
from tests.table import table
from tests.unit.texts import planned, rocky

APPS = """
web: {kustomize: {source: manifests, wait: true, deletionPolicy: Delete, commonMetadata: {labels: {team: a}}}}
db: {kustomize: {source: manifests, wait: true}}
"""
PLAN = planned(rocky(APPS, "clusters: {all: true}"))
FOUND = "Kustomization rocky/web (app 'web' of tenant 'rocky')"


def definition(kind: str) -> dict[str, Any]:
    """As a cluster has it that runs the Flux whose schemas are known here."""
    schema = schema_of(kind)
    structure = {"openAPIV3Schema": {"properties": {"spec": deepcopy(schema.spec)}}}
    versions = [{"name": schema.version, "served": True, "schema": structure}]
    return {
        "spec": {"versions": versions},
        "status": {"conditions": [{"type": "Established", "status": "True"}]},
    }


def live(plan: Plan = PLAN) -> dict[str, dict[str, Any] | None]:
    return {kind: definition(kind) for kind in definitions(plan)}


def fields(definition: dict[str, Any] | None) -> dict[str, Any]:
    """The fields of a spec."""
    assert definition is not None
    spec = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    found: dict[str, Any] = spec["properties"]
    return found


def told(found: Mapping[str, Any]) -> list[Problem]:
    return list(check_fitness(PLAN, found))


def test_the_definitions_of_the_plan_s_kinds_of_flux_are_asked_for() -> None:
    assert {kind: each.name for kind, each in definitions(PLAN).items()} == {
        "GitRepository": "gitrepositories.source.toolkit.fluxcd.io",
        "HelmChart": "helmcharts.source.toolkit.fluxcd.io",
        "HelmRelease": "helmreleases.helm.toolkit.fluxcd.io",
        "HelmRepository": "helmrepositories.source.toolkit.fluxcd.io",
        "Kustomization": "kustomizations.kustomize.toolkit.fluxcd.io",
    }


def test_the_flux_whose_schemas_are_known_here_knows_every_field_that_is_planned() -> None:
    assert told(live()) == []


def test_a_kind_that_is_not_there_is_told() -> None:
    (problem,) = told(live() | {"GitRepository": None})
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "error",
        "no-kind",
        "the cluster does not serve GitRepository (gitrepositories.source.toolkit.fluxcd.io), and the plan has 2",
        "install Flux's source-controller and its CRDs, v1.9.3 supports everything that the plan uses",
    )


def test_a_field_that_the_cluster_would_drop_is_told_with_one_that_uses_it() -> None:
    found = live()
    del fields(found["Kustomization"])["deletionPolicy"]
    del fields(found["Kustomization"])["wait"]
    problems = told(found)
    fix = (
        "upgrade Flux's kustomize-controller: v1.9.5 supports everything that the plan uses;"
        " or remove the field from tenants.yaml"
    )
    assert [(each.severity, each.code, each.message, each.fix) for each in problems] == [
        (
            "error",
            "unknown-field",
            f"Kustomization has no field 'spec.wait' on the cluster, which would drop it; {FOUND} and 3 more use it",
            fix,
        ),
        (
            "error",
            "unknown-field",
            "Kustomization has no field 'spec.deletionPolicy' on the cluster, which would drop it;"
            f" {FOUND} and 3 more use it",
            fix,
        ),
    ]


def test_a_field_within_a_field_and_a_value_can_be_too_new() -> None:
    found = live()
    del fields(found["Kustomization"])["commonMetadata"]["properties"]["labels"]
    fields(found["Kustomization"])["deletionPolicy"]["enum"] = ["MirrorPrune", "WaitForTermination", "Orphan"]
    messages = [each.message for each in told(found)]
    assert messages == [
        f"Kustomization does not allow 'Delete' for 'spec.deletionPolicy' on the cluster, which would reject it; {FOUND} and 1 more"
        " use it",
        "Kustomization has no field 'spec.commonMetadata.labels' on the cluster, which would drop it;"
        f" {FOUND} and 1 more use it",
    ]


def test_values_of_charts_and_of_maps_are_anything() -> None:
    found = live()
    fields(found["HelmRelease"])["values"] |= {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    assert told(found) == []
    fields(found["HelmRelease"])["values"] = {"type": "object", "additionalProperties": True}
    assert told(found) == []


def test_a_version_that_is_not_served_is_told() -> None:
    found = live()
    release = found["HelmRelease"]
    assert release is not None
    release["spec"]["versions"] = [{"name": "v2beta2", "served": True}, {"name": "v2", "served": False}]
    (problem,) = told(found)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "error",
        "old-version",
        "the cluster serves HelmRelease as v2beta2, and the plan needs helm.toolkit.fluxcd.io/v2",
        "upgrade Flux's helm-controller: v1.6.4 supports everything that the plan uses",
    )


@table("conditions", [[], [{"type": "Established", "status": "False"}]])
def test_a_kind_that_is_not_established_is_told(conditions: list[dict[str, str]]) -> None:
    found = live()
    chart = found["HelmChart"]
    assert chart is not None
    chart["status"]["conditions"] = [*conditions, {"type": "NamesAccepted", "message": "the name is taken"}]
    (problem,) = told(found)
    assert (problem.severity, problem.code, problem.message, problem.fix) == (
        "error",
        "not-established",
        "the cluster has a definition of HelmChart, but does not serve it: the name is taken",
        "wait a moment; otherwise install Flux's CRDs again",
    )
