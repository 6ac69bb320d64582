"""What holds for every fleet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, given, reject, settings
from hypothesis import strategies as st

from tenantry.kube import names
from tenantry.kube.objects import ObjectId
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import Diagnostic, InvalidFleet, Refused
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.plan import Plan
from tenantry.render import files, to_yaml
from tenantry.source.parse import parse
from tests.strategies import Data, fleets, mutated, shared_hubs, shuffled, text_of

YAMLISH = "ab1: -[]{}&*!|>'\"%@`#,?~<=.\n\t\r\\\x00\x85\u2028\ufeffé😀"

_common: Any = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}
quickly = settings(max_examples=12, **_common)
often = settings(max_examples=60, **_common)
"""For broken fleets, most of which are refused early."""


def plans(fleet: Data) -> dict[str, Plan]:
    return plan_all(fleet_of(parse(text_of(fleet), "tenants.yaml")))


@quickly
@given(fleets())
def test_identities_logical_names_and_file_names_are_unique(fleet: Data) -> None:
    for plan in plans(fleet).values():
        count = len(plan.objects)
        assert count == len({object.id for object in plan.objects})
        assert count == len({(object.id.api_version, object.id.kind, object.logical_name) for object in plan.objects})
        assert count == len(dict(files(plan.objects)))


@quickly
@given(fleets())
def test_dependencies_are_in_the_plan_and_come_first(fleet: Data) -> None:
    for plan in plans(fleet).values():
        seen: set[ObjectId] = set()
        for object in plan.objects:
            assert seen.issuperset(object.depends_on)
            seen.add(object.id)


@quickly
@given(fleets())
def test_all_names_namespaces_and_labels_are_valid(fleet: Data) -> None:
    for plan in plans(fleet).values():
        for object in plan.objects:
            metadata = object.manifest["metadata"]
            assert _name_problem(object.id) is None
            assert object.id.kind == "Namespace" or names.dns_label_problem(object.id.namespace) is None
            for key, value in metadata["labels"].items():
                assert (names.label_key_problem(key), names.label_value_problem(value)) == (None, None)
            assert len(object.manifest.get("spec", {}).get("releaseName", "")) <= names.MAX_RELEASE


@quickly
@given(fleets())
def test_what_reaches_a_remote_lies_where_no_tenant_has_rights_and_names_its_account(fleet: Data) -> None:
    for plan in plans(fleet).values():
        granted = {object.id.namespace for object in plan.objects if object.id.kind == "RoleBinding"}
        accounts = {
            (object.id.namespace, object.id.name) for object in plan.objects if object.id.kind == "ServiceAccount"
        }
        for object in plan.objects:
            spec = object.manifest.get("spec", {})
            if "kubeConfig" in spec:
                assert object.id.namespace not in granted
                assert (object.id.namespace, spec["serviceAccountName"]) in accounts
            if object.id.kind in ("Kustomization", "HelmRelease") and object.owner.tenant and "kubeConfig" not in spec:
                assert (object.id.namespace, spec["serviceAccountName"]) in accounts


@quickly
@given(st.data())
def test_the_order_of_keys_in_the_file_does_not_change_the_objects(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    other = data.draw(shuffled(fleet))
    before, after = plans(fleet), plans(other)
    assert before.keys() == after.keys()
    for environment, plan in before.items():
        assert _by_id(plan) == _by_id(after[environment])


@quickly
@given(st.data())
def test_removing_a_tenant_removes_what_is_its_own_and_touches_nothing_else(data: st.DataObject) -> None:
    fleet = data.draw(fleets())
    assume(fleet["tenants"])
    tenant = data.draw(st.sampled_from(sorted(fleet["tenants"])))
    smaller = {**fleet, "tenants": {name: each for name, each in fleet["tenants"].items() if name != tenant}}
    after = plans(smaller)
    for environment, plan in plans(fleet).items():
        kept = _by_id(after[environment])
        assert {id: each for id, each in _by_id(plan).items() if id in kept} == kept
        in_use = {placement.cluster for placement in after[environment].placements}
        for object in plan.objects:
            if object.id not in kept and object.owner.tenant != tenant:
                # What a remote needs for baselines goes with its last placement.
                assert (object.owner.tenant, object.owner.cluster in in_use) == ("", False)
            if object.id in kept:
                assert object.manifest["metadata"]["labels"].get("toolkit.fluxcd.io/tenant") != tenant
                assert object.owner.tenant != tenant


@quickly
@given(shared_hubs())
def test_environments_of_one_management_cluster_have_no_object_no_release_and_no_namespace_in_common(
    fleet: Data,
) -> None:
    objects: set[ObjectId] = set()
    elsewhere: set[tuple[str, ...]] = set()
    for plan in plans(fleet).values():
        own = {object.id for object in plan.objects}
        assert objects.isdisjoint(own)
        objects |= own
        claimed = {app.release for app in plan.apps if app.release}
        placed = {(placement.cluster, placement.namespace) for placement in plan.placements}
        assert elsewhere.isdisjoint(claimed | placed)
        elsewhere |= claimed | placed


@quickly
@given(shared_hubs())
def test_every_account_that_acts_on_a_remote_for_the_platform_is_bound_there_whoever_prepares_it(fleet: Data) -> None:
    loaded = fleet_of(parse(text_of(fleet), "tenants.yaml"))
    for cluster, declared in loaded.clusters.items():
        prepared = [bootstrap(loaded, environment, cluster) for environment in declared.environments]
        assert all(prepared[0] == each for each in prepared)
        users = {subject["name"] for each in prepared[0] for subject in each.get("subjects", ())}
        for plan in plan_all(loaded).values():
            for object in plan.objects:
                labels = object.manifest["metadata"]["labels"]
                spec = object.manifest.get("spec", {})
                if labels.get("tenantry/cluster") == cluster and "chartRef" in spec and "kubeConfig" in spec:
                    by_platform = object.id.name.endswith("-baseline") or not object.owner.tenant
                    user = f"system:serviceaccount:{object.id.namespace}:{spec['serviceAccountName']}"
                    assert (user in users) == by_platform


@quickly
@given(shared_hubs())
def test_an_environment_that_is_not_named_in_its_namespaces_keeps_all_names_whoever_joins_its_hub(fleet: Data) -> None:
    fleet["environments"]["dev"]["namespace"] = "{tenant}"
    for cluster in fleet["clusters"].values():
        cluster["environments"].sort()  # or the add-ons might be another's
    alone = {**fleet, "environments": {"dev": fleet["environments"]["dev"]}}
    alone["clusters"] = {
        name: {**cluster, "environments": ["dev"]}
        for name, cluster in fleet["clusters"].items()
        if "dev" in cluster["environments"]
    }
    try:
        before = plans(alone)["dev"]
    except InvalidFleet:  # selectors and overrides that name the clusters of others
        reject()
    assert _by_id(before) == _by_id(plans(fleet)["dev"])


@quickly
@given(fleets())
def test_rendered_text_reads_back_as_the_manifests_in_yaml_1_1_and_in_1_2(fleet: Data) -> None:
    for plan in plans(fleet).values():
        manifests = [dict(object.manifest) for object in plan.objects]
        assert manifests == list(yaml.load_all(to_yaml(manifests), Loader=yaml.CSafeLoader))
        assert {"all": manifests} == parse(to_yaml([{"all": manifests}]).encode(), "t").data


@quickly
@given(fleets())
def test_no_value_is_one_that_the_provider_would_drop_or_round(fleet: Data) -> None:
    for plan in plans(fleet).values():
        for object in plan.objects:
            for value, listed in _values(dict(object.manifest)):
                assert not (value is None and listed)
                assert not isinstance(value, int) or int(float(value)) == value


@quickly
@given(fleets())
def test_manifests_of_tenants_go_to_their_namespaces_and_those_of_add_ons_where_they_say(fleet: Data) -> None:
    for plan in plans(fleet).values():
        namespaces = {(each.tenant, each.cluster): each.namespace for each in plan.placements}
        specs = {object.id: object.manifest.get("spec", {}) for object in plan.objects}
        for app in plan.apps:
            if app.id.kind == "Kustomization":
                addon = fleet["platform"]["addons"].get(app.name, {}).get("kustomize", {})
                expected = namespaces[app.tenant, app.cluster] if app.tenant else addon.get("targetNamespace")
                assert specs[app.id].get("targetNamespace") == expected


@often
@given(st.data())
def test_whatever_is_done_to_a_fleet_it_is_planned_or_refused_with_places_inside_the_file(data: st.DataObject) -> None:
    raw = text_of(data.draw(mutated(data.draw(fleets()))))
    _planned_or_refused(raw)


@often
@given(st.data())
def test_whatever_is_done_to_the_text_it_is_planned_or_refused_with_places_inside_the_file(data: st.DataObject) -> None:
    raw = text_of(data.draw(fleets()))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 40)))
        junk = data.draw(
            st.sampled_from(
                [
                    b"",
                    b"\t",
                    b"\n",
                    b"\r",
                    b": ",
                    b"- ",
                    b"&a ",
                    b"*a",
                    b"{",
                    "é\u2028".encode(),
                    b"\xff",
                    b"\x00",
                    b"<<: ",
                    b"!x ",
                ]
            )
        )
        raw = raw[:start] + junk + raw[end:]
    _planned_or_refused(raw)


@often
@given(st.binary(max_size=40) | st.text(alphabet=YAMLISH, max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused_with_places_inside_the_file(raw: bytes) -> None:
    _planned_or_refused(raw)


def _planned_or_refused(raw: bytes) -> None:
    text = raw.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", text)
    for diagnostic in _problems(raw):
        place = diagnostic.location
        assert 1 <= place.line <= len(lines), diagnostic
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1, diagnostic


def _problems(raw: bytes) -> tuple[Diagnostic, ...]:
    try:
        plan_all(fleet_of(parse(raw, "tenants.yaml")))
    except Refused:
        return ()
    except InvalidFleet as invalid:
        return invalid.diagnostics
    return ()


def _name_problem(id: ObjectId) -> str | None:
    match id.kind:
        case "RoleBinding":
            return names.role_name_problem(id.name)
        case (
            "GitRepository"
            | "HelmRepository"
            | "HelmChart"
            | "OCIRepository"
            | "Bucket"
            | "ExternalArtifact"
            | "Secret"
            | "ConfigMap"
            | "Provider"
            | "Alert"
        ):
            return names.object_name_problem(id.name)
        case _:
            return names.dns_label_problem(id.name)


def _values(data: Any, *, listed: bool = False) -> Iterator[tuple[Any, bool]]:
    """Every value in plain data, each with whether it is below a list."""
    yield data, listed
    below_list = listed or isinstance(data, list)
    for item in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _values(item, listed=below_list)


def _by_id(plan: Plan) -> dict[Any, Any]:
    return {object.id: (object.manifest, object.owner, frozenset(object.depends_on)) for object in plan.objects}
