"""Who gains `cluster-admin` between two plans."""

from __future__ import annotations

import pytest

from tests.unit.compare.test_diff import between, told
from tests.unit.texts import rocky

APP = "web: {kustomize: {source: manifests}}"
PLAIN = "clusters: {all: true}"
ALLOWED = f"{PLAIN}\nclusterAdmin: true"


@pytest.mark.parametrize(
    ("setting", "who"),
    [
        ("role: cluster-admin", "its apps"),
        ("owners: [{user: eve, role: cluster-admin}, {user: bob}]", "user 'eve'"),
        (
            "roleBindings: {ci: {role: cluster-admin, subjects: [{group: ci}, {serviceAccount: {name: ci}}]}}",
            "group 'ci', service account rocky/ci",
        ),
    ],
)
def test_a_tenant_that_gives_it_is_named_on_every_cluster_with_those_who_get_it(setting: str, who: str) -> None:
    expected = f"! tenant 'rocky' gives cluster-admin in its namespaces on hub, edge to {who}"
    assert told(rocky(APP, PLAIN), rocky(APP, f"{ALLOWED}\n{setting}"))[0] == expected


def test_one_more_person_is_a_gain_and_losing_it_is_none() -> None:
    before = rocky(APP, f"{ALLOWED}\nowners: [{{user: eve, role: cluster-admin}}]")
    after = rocky(APP, f"{ALLOWED}\nowners: [{{user: eve, role: cluster-admin}}, {{user: bob, role: cluster-admin}}]")
    gain = "! tenant 'rocky' gives cluster-admin in its namespaces on hub, edge to user 'bob'"
    assert [line for line in told(before, after) if line.startswith("!")] == [gain]
    assert [line for line in told(after, before) if line.startswith("!")] == []


def test_being_allowed_to_give_it_is_a_difference_although_no_object_changes() -> None:
    before, after = rocky(APP, PLAIN), rocky(APP, ALLOWED)
    assert told(before, after) == ["! tenant 'rocky' may give cluster-admin from now on (clusterAdmin: true)"]
    assert bool(between(before, after))
    assert told(after, before) == []


def test_another_role_of_any_name_is_none_and_neither_is_an_app_that_installs_bindings() -> None:
    assert not between(rocky(APP, PLAIN), rocky(APP, f"{PLAIN}\nrole: owner")).admins
    binding = "{kind: RoleBinding, roleRef: {name: cluster-admin}, subjects: []}"
    chart = f"chart: valkey, version: 1.0.0, values: {{objects: [{binding}]}}"
    assert not between(rocky(APP, PLAIN), rocky(f"{APP}\ncache: {{helm: {{source: charts, {chart}}}}}", PLAIN)).admins


def test_the_warning_is_there_when_the_management_cluster_is_another_one_too() -> None:
    after = rocky(APP, f"{ALLOWED}\nrole: cluster-admin").replace("management: hub", "management: far")
    after = after.replace("clusters:\n  hub:", "clusters:\n  far: {environments: [dev]}\n  hub:", 1)
    after = after.replace(
        "labels: {tier: hub}}", "labels: {tier: hub}, kubeconfig: {capi: {cluster: a, namespace: b}}}"
    )
    assert told(rocky(APP, PLAIN), after)[0] == (
        "! tenant 'rocky' gives cluster-admin in its namespaces on far, hub, edge to its apps"
    )


READ = 'rules: [{apiGroups: [""], resources: [persistentvolumes], verbs: [get, list]}]'


def rights(roles: str) -> str:
    return f"{PLAIN}\nclusterRoles: {{{roles}}}"


def gains(before: str, after: str) -> list[str]:
    return [line for line in told(rocky(APP, before), rocky(APP, after)) if line.startswith("!")]


def test_rights_on_whole_clusters_are_told_in_words_on_management_and_remote_clusters() -> None:
    roles = f"pv-access: {{{READ}}}, nodes: {{role: node-reader}}"
    words = "nodes (role node-reader); pv-access (get, list persistentvolumes)"
    assert gains(PLAIN, rights(roles)) == [f"! tenant 'rocky' gets rights on whole clusters 'hub', 'edge': {words}"]
    only = rights(roles).replace(PLAIN, "clusters: {names: [edge]}")
    assert f"! tenant 'rocky' gets rights on whole cluster 'edge': {words}" in gains("clusters: {names: [edge]}", only)


def test_only_the_new_ones_are_told_and_another_key_gives_none() -> None:
    before, after = rights(f"a: {{{READ}}}"), rights(f"a: {{{READ.replace('list', 'create')}}}")
    assert gains(before, after) == [
        "! tenant 'rocky' gets rights on whole clusters 'hub', 'edge': a (create persistentvolumes)"
    ]
    assert gains(before, rights(f"b: {{{READ}}}")) == []
    assert gains(before, PLAIN) == []


def test_groups_and_names_of_objects_are_told_too() -> None:
    rule = "{apiGroups: [storage.k8s.io], resources: [storageclasses, csinodes], verbs: [get], resourceNames: [fast]}"
    assert gains(PLAIN, rights(f"a: {{rules: [{rule}]}}")) == [
        "! tenant 'rocky' gets rights on whole clusters 'hub', 'edge': "
        "a (get storageclasses.storage.k8s.io fast, csinodes.storage.k8s.io fast)"
    ]


def test_cluster_admin_on_whole_clusters_counts_as_cluster_admin() -> None:
    after = f"{rights('all: {role: cluster-admin}')}\nclusterAdmin: true"
    assert gains(PLAIN, after) == [
        "! tenant 'rocky' gives cluster-admin on whole clusters 'hub', 'edge' to its apps",
    ]
