"""Who gains rights between two plans: `cluster-admin`, and rights on whole clusters."""

from __future__ import annotations

from tests.table import table
from tests.unit.facts.reviews import reviewed, told
from tests.unit.texts import rocky

APP = "web: {kustomize: {source: manifests}}"
PLAIN = "clusters: {all: true}"
ALLOWED = f"{PLAIN}\nclusterAdmin: true"
ROCKY = "rights: tenant rocky on both clusters"
WIDE = f"{ROCKY}: its apps get rights on the whole cluster"
READ = 'rules: [{apiGroups: [""], resources: [persistentvolumes], verbs: [get, list]}]'


def gains(before: str, after: str) -> list[str]:
    """The dangers of other settings."""
    return told(rocky(APP, before), rocky(APP, after))


@table(
    ("setting", "expected"),
    [
        ("role: cluster-admin", "its apps get cluster-admin instead of admin"),
        (
            "owners: [{user: eve, role: cluster-admin}, {group: bobs, role: cluster-admin}]",
            "user eve, group bobs get cluster-admin in its namespaces",
        ),
        (
            "objects: {ci: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding,"
            " roleRef: {kind: ClusterRole, name: cluster-admin},"
            " subjects: [{kind: Group, name: ci}, {kind: ServiceAccount, name: ci, namespace: rocky}]}}",
            "group ci, service account rocky/ci get cluster-admin in its namespaces",
        ),
    ],
)
def test_a_tenant_that_gives_it_is_named_on_every_cluster_with_those_who_get_it(setting: str, expected: str) -> None:
    assert gains(ALLOWED, f"{ALLOWED}\n{setting}") == [f"{ROCKY}: {expected}"]


def test_one_more_person_is_a_gain_and_losing_it_is_none() -> None:
    before = f"{ALLOWED}\nowners: [{{user: eve, role: cluster-admin}}]"
    after = f"{ALLOWED}\nowners: [{{user: eve, role: cluster-admin}}, {{user: bob, role: cluster-admin}}]"
    assert gains(before, after) == [f"{ROCKY}: user bob gets cluster-admin in its namespaces"]
    assert gains(after, before) == []


def test_being_allowed_to_give_it_is_a_difference_although_no_object_changes() -> None:
    assert gains(PLAIN, ALLOWED) == [f"{ROCKY}: it may give cluster-admin from now on (clusterAdmin: true)"]
    (found,) = reviewed(rocky(APP, PLAIN), rocky(APP, ALLOWED))
    assert (bool(found), found.objects) == (True, ())
    assert gains(ALLOWED, PLAIN) == []


def test_an_app_that_installs_bindings_is_no_gain() -> None:
    binding = "{kind: RoleBinding, roleRef: {name: cluster-admin}, subjects: []}"
    chart = f"chart: valkey, version: 1.0.0, values: {{objects: [{binding}]}}"
    assert told(rocky(APP, PLAIN), rocky(f"{APP}\ncache: {{helm: {{source: charts, {chart}}}}}", PLAIN)) == []


def test_the_danger_is_there_when_the_management_cluster_is_another_one_too() -> None:
    after = rocky(APP, f"{ALLOWED}\nrole: cluster-admin").replace("management: hub", "management: far")
    after = after.replace("clusters:\n  hub:", "clusters:\n  far: {environments: [dev]}\n  hub:", 1)
    after = after.replace(
        "labels: {tier: hub}}", "labels: {tier: hub}, kubeconfig: {capi: {cluster: a, namespace: b}}}"
    )
    found = told(rocky(APP, PLAIN), after)
    assert any(line.startswith("deletion: environment: every object is deleted on the former") for line in found)
    assert "rights: tenant rocky on hub, edge: its apps get cluster-admin instead of admin" in found
    assert "rights: tenant rocky on far: its apps get cluster-admin" in found


def with_roles(roles: str) -> str:
    return f"{PLAIN}\nclusterRoles: {{{roles}}}"


def test_rights_on_whole_clusters_are_told_in_words_on_management_and_remote_clusters() -> None:
    roles = f"pv-access: {{{READ}}}, nodes: {{role: node-reader}}"
    which = "nodes (role node-reader); pv-access (get, list persistentvolumes)"
    assert gains(PLAIN, with_roles(roles)) == [f"{WIDE}: {which}"]
    edge = "clusters: {names: [edge]}"
    assert gains(edge, with_roles(roles).replace(PLAIN, edge)) == [f"{WIDE.replace('both clusters', 'edge')}: {which}"]


def test_only_the_new_ones_are_told_and_another_key_gives_none() -> None:
    before, after = with_roles(f"a: {{{READ}}}"), with_roles(f"a: {{{READ.replace('list', 'create')}}}")
    assert gains(before, after) == [f"{WIDE}: a (create persistentvolumes)"]
    assert gains(before, with_roles(f"b: {{{READ}}}")) == []
    assert gains(before, PLAIN) == []


def test_groups_and_names_of_objects_are_told_too() -> None:
    rule = "{apiGroups: [storage.k8s.io], resources: [storageclasses, csinodes], verbs: [get], resourceNames: [fast]}"
    assert gains(PLAIN, with_roles(f"a: {{rules: [{rule}]}}")) == [
        f"{WIDE}: a (get storageclasses.storage.k8s.io fast, csinodes.storage.k8s.io fast)"
    ]


def test_cluster_admin_on_whole_clusters_counts_as_cluster_admin() -> None:
    after = f"{with_roles('all: {role: cluster-admin}')}\nclusterAdmin: true"
    assert gains(ALLOWED, after) == [f"{ROCKY}: its apps get cluster-admin on the whole cluster"]
