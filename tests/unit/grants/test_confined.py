"""Whether a plan is confined: a sound plan is, and each change of one of its objects is found, in these words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tenantry import load
from tenantry.fleet.fleet import Fleet
from tenantry.grants import confined
from tenantry.grants.confined.escapes import escapes
from tenantry.kube.objects import KubeObject
from tenantry.messages.data import scalars
from tenantry.messages.errors import Path
from tests.table import table

Data = dict[str, Any]
_GIT: Data = {"git": {"url": "https://git.example.com/rocky/m", "ref": {"branch": "main"}}}
_OWNERS: list[Data] = [{"group": "team"}, {"serviceAccount": {"name": "ci", "namespace": "tools"}}]
_RULES: list[Data] = [{"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["get"]}]
MAIN: Data = {
    "apiVersion": "tenantry/v1",
    "include": ["rocky.yaml"],
    "environments": {"dev": {"management": "hub"}},
    "clusters": {
        "hub": {"environments": ["dev"]},
        "edge": {
            "environments": ["dev"],
            "kubeconfig": {"secret": {"name": "edge", "namespace": "clusters", "key": "value"}},
        },
        "far": {"environments": ["dev"], "kubeconfig": {"configMap": {"name": "far", "namespace": "clusters"}}},
        "gone": {
            "environments": ["dev"],
            "state": "decommissioned",
            "kubeconfig": {"secret": {"name": "gone", "namespace": "clusters", "key": "value"}},
        },
    },
    "platform": {"chart": {"helm": {"url": "https://charts.example.com", "version": "0.1.0"}}},
    "tenants": {
        "rocky": {
            "clusters": {"names": ["hub", "edge", "far", "gone"]},
            "grants": {"sources": ["https://git.example.com/rocky/*"]},
            "quota": {"pods": 10},
            "limits": {"default": {"cpu": "1"}},
            "owners": _OWNERS,
            "namespaces": {"jobs": {}},
            "clusterRoles": {"volumes": {"rules": _RULES}},
            "objects": {"ca": {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}}},
        },
        "movy": {
            "clusters": {"names": ["hub"]},
            "sources": {"m": _GIT},
            "apps": {"web": {"kustomize": {"source": "m"}}},
        },
    },
}
TEAMS: Data = {
    "sources": {"m": _GIT},
    "credentials": {"chat": {"existing": True}},
    "apps": {"web": {"kustomize": {"source": "m"}}},
    "alerts": {"all": {"provider": {"type": "slack", "channel": "x"}, "credentials": "chat"}},
}


Asked = tuple[Fleet, str, tuple[KubeObject, ...]]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Asked:
    """What a load hands to the check: the frame, the environment and the planned objects."""
    home = tmp_path_factory.mktemp("fleet")
    given: list[tuple[Any, ...]] = []

    def record(*all_of_it: Any) -> tuple[str, ...]:
        given.append(all_of_it)
        return ()

    (home / "tenants.yaml").write_text(json.dumps(MAIN))
    (home / "rocky.yaml").write_text(json.dumps({"tenants": {"rocky": TEAMS}}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confined.escapes, "escapes", record)
        load.plan_all(load.load_fleet(home / "tenants.yaml"))
    ((frame, environment, objects, *_),) = given
    return frame, environment, tuple(objects)


def changed(value: Any, path: Path, leaf: Any) -> Any:
    """A copy with another value at a path; None: without it."""
    key, *rest = path
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    if rest:
        copy[key] = changed(copy[key], tuple(rest), leaf)
    elif leaf is None:
        del copy[key]
    else:
        copy[key] = leaf
    return copy


def test_a_sound_plan_is_confined(asked: Asked) -> None:
    assert list(escapes(*asked, (), ())) == []


_TENANT, _STATE = ("metadata", "labels", "toolkit.fluxcd.io/tenant"), ("metadata", "labels", "tenantry/state")
_OWNER = {"kind": "ServiceAccount", "name": "ci"}
_BASELINE = ("spec", "values", "objects")
ROWS: dict[str, tuple[str, Path, Any, str]] = {
    "a field of a newer Flux": (
        "Kustomization rocky/web",
        ("spec", "impersonate"),
        "admin",
        "fills spec.impersonate, a field that no tenant may fill",
    ),
    "a text for a mapping": (
        "Kustomization rocky/web",
        ("spec", "sourceRef"),
        "m",
        "has a value of another shape in spec.sourceRef",
    ),
    "a mapping for a text": (
        "Kustomization rocky/web",
        ("spec", "path"),
        {"a": "b"},
        "has a value of another shape in spec.path",
    ),
    "another namespace": (
        "Kustomization rocky/web",
        ("metadata", "namespace"),
        "movy",
        "is not in the namespace of the tenant",
    ),
    "another name beside a kubeconfig": (
        "Kustomization clusters/edge-rocky-web",
        ("metadata", "name"),
        "edge-movy-web",
        "is not beside the kubeconfig of its cluster under a name of the tenant",
    ),
    "the account of another tenant": (
        "Kustomization rocky/web",
        ("spec", "serviceAccountName"),
        "movy",
        "has another spec.serviceAccountName than the main file gives",
    ),
    "another kubeconfig": (
        "Kustomization clusters/far-rocky-web",
        ("spec", "kubeConfig"),
        {"configMapRef": {"name": "edge"}},
        "has another spec.kubeConfig than the main file gives",
    ),
    "another target": (
        "Kustomization rocky/web",
        ("spec", "targetNamespace"),
        "movy",
        "names namespace 'movy' in spec.targetNamespace",
    ),
    "another environment": (
        "Kustomization rocky/web",
        ("metadata", "labels", "tenantry/environment"),
        "prod",
        "is of an environment or a tenant that the main file does not have here",
    ),
    "an unknown cluster": (
        "Kustomization rocky/web",
        ("metadata", "labels", "tenantry/cluster"),
        "other",
        "is for no cluster of the environment",
    ),
    "a mark of removal": (
        "Namespace rocky",
        _STATE,
        "offboarding",
        "has 'tenantry/state', which is not granted to it in metadata.labels",
    ),
    "another mark than the cluster's": (
        "HelmRelease clusters/gone-rocky-baseline",
        _STATE,
        "removing",
        "has 'tenantry/state', which is not granted to it in metadata.labels",
    ),
    "a source of another tenant": (
        "Kustomization rocky/web",
        ("spec", "sourceRef", "namespace"),
        "movy",
        "fills spec.sourceRef.namespace, a field that no tenant may fill",
    ),
    "an address that is not granted": (
        "GitRepository rocky/m",
        ("spec", "url"),
        "https://git.example.com/movy/m",
        "has an address in url that is not granted to it in spec",
    ),
    "an identity of the controllers": (
        "GitRepository rocky/m",
        ("spec", "provider"),
        "aws",
        "provider 'aws' uses the cloud identity of Flux's controllers, which all tenants would share in provider in spec",
    ),
    "an interval without a pause": (
        "GitRepository rocky/m",
        ("spec", "interval"),
        "1s",
        "has '1s', which is not from 30s to 24h, in spec.interval",
    ),
    "an alert of everything": (
        "Alert rocky/all",
        ("spec", "eventSources", 0, "matchLabels"),
        {},
        "selects objects that are not the tenant's in spec.eventSources",
    ),
    "an alert of a source by its name, which is another tenant's": (
        "Alert clusters/edge-rocky-all",
        ("spec", "eventSources", 0),
        {"kind": "GitRepository", "name": "movy.m.0"},
        "names GitRepository 'clusters/movy.m.0', which is not the tenant's, in spec.eventSources",
    ),
    "a message of another tenant": (
        "Alert rocky/all",
        ("spec", "eventMetadata", "tenant"),
        "movy",
        "speaks for tenant 'movy' in spec.eventMetadata",
    ),
    "a namespace of another tenant": (
        "Namespace rocky-jobs",
        ("metadata", "name"),
        "movy",
        "is none of the tenant's namespaces",
    ),
    "a reserved namespace": ("Namespace rocky-jobs", ("metadata", "name"), "kube-system", "is reserved"),
    "other pod security": (
        "Namespace rocky",
        ("metadata", "labels", "pod-security.kubernetes.io/enforce"),
        "privileged",
        "has another metadata.labels.pod-security.kubernetes.io/enforce than the main file gives",
    ),
    "a larger quota": (
        "ResourceQuota rocky/tenantry",
        ("spec", "hard", "pods"),
        "1000",
        "has another spec.hard than the main file gives",
    ),
    "other limits": (
        "LimitRange rocky/tenantry",
        ("spec", "limits", 0, "default", "cpu"),
        "64",
        "has another spec.limits than the main file gives",
    ),
    "an open network": (
        "NetworkPolicy rocky/tenantry-isolated",
        ("spec", "ingress"),
        [{}],
        "has another spec than the main file gives",
    ),
    "a role above the main file's": (
        "RoleBinding rocky/tenantry-owners-view",
        ("roleRef", "name"),
        "cluster-admin",
        "has another roleRef.name than the main file gives",
    ),
    "a role for an account of another tenant": (
        "RoleBinding rocky/tenantry-owners-view",
        ("subjects", 1),
        {**_OWNER, "namespace": "movy"},
        "gives a role to 'ci', which is not the tenant's, in subjects",
    ),
    "a role for the platform's users": (
        "RoleBinding rocky/tenantry-owners-view",
        ("subjects", 0, "name"),
        "system:masters",
        "gives a role to 'system:masters', which is not the tenant's, in subjects",
    ),
    "more rights on the cluster": (
        "ClusterRole tenantry.rocky.volumes",
        ("rules", 0, "verbs"),
        ["*"],
        "has another rules than the main file gives",
    ),
    "rights on the cluster for others": (
        "ClusterRoleBinding tenantry.rocky.volumes",
        ("subjects", 0, "name"),
        "system:serviceaccount:movy:movy",
        "gives a role to 'system:serviceaccount:movy:movy', which is not the tenant's, in subjects",
    ),
    "a declared object with other content": (
        "ConfigMap rocky/ca",
        ("data", "a"),
        "c",
        "is not as the main file declares it",
    ),
    "a declared object in another namespace": (
        "ConfigMap rocky/ca",
        ("metadata", "namespace"),
        "movy",
        "is in no namespace of the tenant",
    ),
    "an object of another kind": (
        "ConfigMap rocky/ca",
        ("kind",),
        "PersistentVolumeClaim",
        "is of a kind of which no tenant has any",
    ),
    "a token for pods": (
        "ServiceAccount clusters/rocky",
        ("automountServiceAccountToken",),
        True,
        "has another automountServiceAccountToken than the main file gives",
    ),
    "a baseline of another chart": (
        "HelmRelease clusters/edge-rocky-baseline",
        ("spec", "chartRef", "name"),
        "other",
        "takes a chart that is not the platform's in spec.chartRef",
    ),
    "a baseline that stands still": (
        "HelmRelease clusters/edge-rocky-baseline",
        ("spec", "suspend"),
        True,
        "has another spec.suspend than the main file gives",
    ),
    "a baseline that takes over": (
        "HelmRelease clusters/edge-rocky-baseline",
        ("spec", "upgrade", "disableTakeOwnership"),
        False,
        "has another spec.upgrade.disableTakeOwnership than the main file gives",
    ),
    "a baseline that installs more": (
        "HelmRelease clusters/edge-rocky-baseline",
        (*_BASELINE, 0, "metadata", "name"),
        "movy",
        "installs Namespace movy, which is none of the tenant's namespaces, in spec",
    ),
    "a baseline without the namespace": (
        "HelmRelease clusters/edge-rocky-baseline",
        _BASELINE,
        None,
        "lacks namespace 'rocky' in spec",
    ),
    "a label without a value": (
        "Kustomization rocky/web",
        ("metadata", "labels", "app.kubernetes.io/managed-by"),
        [None],
        "has 'app.kubernetes.io/managed-by', which is not granted to it in metadata.labels",
    ),
    "no label of the tenant": (
        "Kustomization rocky/web",
        _TENANT,
        None,
        "is of an environment or a tenant that the main file does not have here",
    ),
    "a baseline without a quota": (
        "HelmRelease clusters/edge-rocky-baseline",
        (*_BASELINE, 3),
        None,
        "lacks the ResourceQuota 'tenantry' of namespace 'rocky' in spec",
    ),
}


@table(("name", "path", "leaf", "found"), list(ROWS.values()), ids=list(ROWS))
def test_a_change_of_an_object_is_found(asked: Asked, name: str, path: Path, leaf: Any, found: str) -> None:
    frame, environment, objects = asked
    (before,) = (each for each in objects if str(each.id) == name)
    after = replace(before, manifest=changed(before.manifest, path, leaf))
    planned = [after if each is before else each for each in objects]
    # Also if it comes after those of other clusters that are equal but for the change.
    for order in (planned, planned[::-1]):
        assert f"{after.id} of tenant 'rocky' {found}" in list(escapes(frame, environment, order, (), ()))


@table(("cluster", "other"), [("edge", "far"), ("far", "edge")])
def test_every_single_change_of_an_object_is_found_behind_those_of_other_clusters_too(
    asked: Asked, cluster: str, other: str
) -> None:
    frame, environment, objects = asked
    tried = 0
    for before in objects:
        if before.owner.cluster == cluster and before.id.kind in ("Kustomization", "HelmRelease"):
            rest = [each for each in objects if each is not before]
            for path, _ in scalars(before.manifest):
                after = replace(before, manifest=changed(before.manifest, path, other))
                found = [list(escapes(frame, environment, order, (), ())) for order in ([after, *rest], [*rest, after])]
                assert set(found[0]) == set(found[1]), path
                tried += bool(found[0])
    assert tried > 50


def test_only_the_main_file_lets_a_tenant_take_over_objects_and_keep_out_of_the_waves(asked: Asked) -> None:
    assert list(escapes(*asked, ["rocky", "movy"], ["rocky/web", "movy/web"])) == [
        "tenant 'rocky' takes over objects that exist already",
        "app 'rocky/web' does not keep to the waves of its environment",
    ]
