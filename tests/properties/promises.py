"""Promises about one fleet, one function each; a test draws the fleet and calls all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from tenantry.facts.changes import Effect
from tenantry.facts.explain import explain
from tenantry.facts.facts import THE_PLATFORM, Kind, Subject, subject_of
from tenantry.facts.objects import differences
from tenantry.facts.review import Review, review
from tenantry.fleet.fleet import Fleet
from tenantry.kube import names
from tenantry.kube.objects import ObjectId
from tenantry.load import fleet_of
from tenantry.load import plan_all as plan_all_of
from tenantry.plan.plan import Plan
from tenantry.render import files, to_yaml
from tenantry.source.parse import parse
from tests.strategies import Data, text_of

Plans = Mapping[str, Plan]


def load(fleet: Data) -> Fleet:
    return fleet_of(parse(text_of(fleet), "tenants.yaml"))


def plans(fleet: Data) -> dict[str, Plan]:
    return plan_all_of(load(fleet))


class Planned(NamedTuple):
    """A fleet with its plans by environment."""

    fleet: Fleet
    plans: Plans


def planned(fleet: Data) -> Planned:
    there = load(fleet)
    return Planned(there, plan_all_of(there))


def reviewed(before: Planned, after: Planned) -> tuple[Review, ...]:
    return review(before.fleet, after.fleet, before.plans, after.plans)


def by_id(plan: Plan) -> dict[Any, Any]:
    return {object.id: (object.manifest, object.owner, frozenset(object.depends_on)) for object in plan.objects}


# --- a plan -----------------------------------------------------------------------------------------------------


def identities_logical_names_and_file_names_are_unique(plan: Plan) -> None:
    count = len(plan.objects)
    assert count == len({object.id for object in plan.objects})
    assert count == len({(object.id.api_version, object.id.kind, object.logical_name) for object in plan.objects})
    assert count == len(dict(files(plan.objects)))


def dependencies_are_in_the_plan_and_come_first(plan: Plan) -> None:
    seen: set[ObjectId] = set()
    for object in plan.objects:
        assert seen.issuperset(object.depends_on)
        seen.add(object.id)


def all_names_namespaces_and_labels_are_valid(plan: Plan) -> None:
    for object in plan.objects:
        metadata = object.manifest["metadata"]
        assert _name_problem(object.id) is None
        cluster_wide = object.id.kind in ("ClusterRole", "ClusterRoleBinding", "Namespace", "PriorityClass")
        assert cluster_wide or names.dns_label_problem(object.id.namespace) is None
        for key, value in metadata["labels"].items():
            assert (names.label_key_problem(key), names.label_value_problem(value)) == (None, None)
        assert len(object.manifest.get("spec", {}).get("releaseName", "")) <= names.MAX_RELEASE


def what_reaches_a_remote_lies_where_no_tenant_has_rights_and_names_its_account(plan: Plan) -> None:
    granted = {object.id.namespace for object in plan.objects if object.id.kind == "RoleBinding"}
    accounts = {(object.id.namespace, object.id.name) for object in plan.objects if object.id.kind == "ServiceAccount"}
    for object in plan.objects:
        spec = object.manifest.get("spec", {})
        if "kubeConfig" in spec:
            assert object.id.namespace not in granted
            assert (object.id.namespace, spec["serviceAccountName"]) in accounts
        if object.id.kind in ("Kustomization", "HelmRelease") and object.owner.tenant and "kubeConfig" not in spec:
            assert (object.id.namespace, spec["serviceAccountName"]) in accounts


def rendered_text_reads_back_as_the_manifests_in_yaml_1_1_and_in_1_2(plan: Plan) -> None:
    manifests = [dict(object.manifest) for object in plan.objects]
    assert manifests == list(yaml.load_all(to_yaml(manifests), Loader=yaml.CSafeLoader))
    assert {"all": manifests} == parse(to_yaml([{"all": manifests}]).encode(), "t").data


def no_value_is_one_that_the_provider_would_drop_or_round(plan: Plan) -> None:
    for object in plan.objects:
        for value, listed in _values(dict(object.manifest)):
            assert not (value is None and listed)
            assert not isinstance(value, int) or int(float(value)) == value


OF_A_PLAN = (
    identities_logical_names_and_file_names_are_unique,
    dependencies_are_in_the_plan_and_come_first,
    all_names_namespaces_and_labels_are_valid,
    what_reaches_a_remote_lies_where_no_tenant_has_rights_and_names_its_account,
    rendered_text_reads_back_as_the_manifests_in_yaml_1_1_and_in_1_2,
    no_value_is_one_that_the_provider_would_drop_or_round,
)


def manifests_of_tenants_go_to_their_namespaces_and_those_of_add_ons_where_they_say(fleet: Data, plan: Plan) -> None:
    namespaces = {(each.tenant, each.cluster): each.namespace for each in plan.placements}
    specs = {object.id: object.manifest.get("spec", {}) for object in plan.objects}
    for app in plan.apps:
        if app.id.kind == "Kustomization":
            addon = fleet["platform"]["addons"].get(app.name, {}).get("kustomize", {})
            expected = namespaces[app.tenant, app.cluster] if app.tenant else addon.get("targetNamespace")
            assert specs[app.id].get("targetNamespace") == expected


# --- a plan and what is explained of it -------------------------------------------------------------------------


def subjects_are_explained_where_the_plan_puts_them(fleet: Fleet, plan: Plan) -> None:
    tenants = fleet.document.tenants
    subjects = [Subject(Kind.ADDON, name=addon) for addon in fleet.document.platform.addons]
    subjects += [Subject(Kind.APP, tenant, app) for tenant, declared in tenants.items() for app in declared.apps]
    explained = {subject: explain(fleet, plan, subject) for subject in subjects}
    assert {(subject_of(app), app.cluster, str(app.id)) for app in plan.apps} == {
        (subject, placed.cluster, placed.object) for subject, found in explained.items() for placed in found.placed
    }
    platform = explain(fleet, plan, THE_PLATFORM)
    assert {app.name for app in plan.apps if not app.tenant} == {
        addon for addon, choice in platform.choices.items() if choice.clusters
    }
    for tenant in tenants:
        found = explain(fleet, plan, Subject(Kind.TENANT, tenant))
        assert {each.cluster for each in plan.placements if each.tenant == tenant} == {
            placed.cluster for placed in found.placed
        }


def times_that_are_shown_are_those_of_the_object(fleet: Fleet, plan: Plan) -> None:
    specs = {str(each.id): each.manifest["spec"] for each in plan.objects if "spec" in each.manifest}
    for subject in {subject_of(app) for app in plan.apps if app.tenant}:
        found = explain(fleet, plan, subject)
        for placed in found.placed:
            values = (*found.shared, *placed.values)
            shown = {each.path[1:]: each.value for each in values if each.path[0] in ("kustomize", "helm")}
            spec = specs[placed.object]
            assert (spec["interval"], spec["timeout"]) == (shown["interval",], shown["timeout",])


# --- the same fleet in another order of keys ---------------------------------------------------------------------


def the_order_of_keys_changes_no_object_and_makes_no_difference(before: Planned, after: Planned) -> None:
    assert before.plans.keys() == after.plans.keys()
    for environment, plan in before.plans.items():
        assert by_id(plan) == by_id(after.plans[environment])
    assert not any(reviewed(before, after))


# --- the fleet without one of its tenants ------------------------------------------------------------------------


def removing_a_tenant_removes_what_is_its_own_and_touches_nothing_else(
    tenant: str, before: Plans, after: Plans
) -> None:
    for environment, plan in before.items():
        kept = by_id(after[environment])
        assert {id: each for id, each in by_id(plan).items() if id in kept} == kept
        in_use = {placement.cluster for placement in after[environment].placements}
        for object in plan.objects:
            if object.id not in kept and object.owner.tenant != tenant:
                # What a remote needs for baselines goes with its last placement.
                assert (object.owner.tenant, object.owner.cluster in in_use) == ("", False)
            if object.id in kept:
                assert object.manifest["metadata"]["labels"].get("toolkit.fluxcd.io/tenant") != tenant
                assert object.owner.tenant != tenant


def removing_a_tenant_is_told_of_that_tenant_alone(tenant: str, before: Planned, after: Planned) -> None:
    for difference in differences(before.plans, after.plans):
        assert difference.added == ()
        assert difference.changed == ()
        assert {each.owner.tenant for each in difference.removed} <= {tenant, ""}
    for found in reviewed(before, after):
        placed = {each.cluster for each in before.plans[found.environment].placements if each.tenant == tenant}
        changes = [
            (each.effect, subject, each.where.clusters) for each in found.changes for subject in each.where.subjects
        ]
        gone = {
            cluster
            for effect, subject, clusters in changes
            if effect is Effect.REMOVED
            for cluster in clusters
            if subject.tenant
        }
        assert gone == placed
        assert {subject.tenant for _, subject, _ in changes} <= {tenant, ""}
        assert {subject.tenant for each in found.dangers for subject in each.where.subjects} <= {tenant}


_OBJECT_NAMES = (
    "GitRepository",
    "HelmRepository",
    "HelmChart",
    "OCIRepository",
    "Bucket",
    "Secret",
    "ConfigMap",
    "Provider",
    "Alert",
    "Receiver",
)


def _name_problem(id: ObjectId) -> str | None:
    if id.kind in ("ClusterRole", "ClusterRoleBinding", "RoleBinding"):
        return names.role_name_problem(id.name)
    return names.object_name_problem(id.name) if id.kind in _OBJECT_NAMES else names.dns_label_problem(id.name)


def _values(data: Any, *, listed: bool = False) -> Iterator[tuple[Any, bool]]:
    """Every value in plain data, each with whether it is below a list."""
    yield data, listed
    below_list = listed or isinstance(data, list)
    for item in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _values(item, listed=below_list)
