"""Each danger of a difference: its kind and its words; and changes that are none."""

from __future__ import annotations

import pytest

from tenantry.compare.diff import diff, diff_all
from tenantry.compare.review.dangers import dangers
from tenantry.compare.review.model import Danger, DangerKind
from tests.table import table
from tests.unit.texts import CHART, FROM_GIT, planned, rocky

pytestmark = pytest.mark.usefixtures("plans_once")

WEB = "web: {kustomize: {source: manifests}}"
APPS = f"{WEB}\ncache: {{helm: {{source: charts, chart: valkey, version: 1.0.0}}}}"
ALL = "clusters: {all: true}"
BASE = rocky(APPS, ALL)
HUB, EDGE = "hub", "edge"
ROCKY = "tenant 'rocky'"
DELETES = "apps and rights are deleted, and namespaces stay with their data"


def between(before: str, after: str) -> tuple[Danger, ...]:
    one, other = planned(before), planned(after)
    return dangers(diff(one, other), one, other)


def told(before: str, after: str) -> list[str]:
    return [f"{each.kind}: {each.text}" for each in between(before, after)]


def with_settings(*settings: str) -> str:
    return rocky(APPS, "\n".join([ALL, *settings]))


def policy(rules: str, direction: str = "Ingress", name: str = "dns") -> str:
    spec = f"podSelector: {{}}, policyTypes: [{direction}], {direction.lower()}: {rules}"
    return f"objects: {{{name}: {{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {{{spec}}}}}}}"


def role_with(verbs: str) -> str:
    role = f"kind: Role, rules: [{{apiGroups: [''], resources: [pods], verbs: {verbs}}}]"
    return f"objects: {{r: {{apiVersion: rbac.authorization.k8s.io/v1, {role}}}}}"


OWN, ALSO = "[{from: [{podSelector: {}}]}]", "[{from: [{podSelector: {}}, {namespaceSelector: {}}]}]"
READ = "rules: [{apiGroups: [''], resources: [persistentvolumes], verbs: [get, list]}]"

SETTINGS = {
    "role": (
        "role: edit",
        "role: cluster-admin\nclusterAdmin: true",
        [f"rights: the apps of {ROCKY} get cluster-admin instead of edit on hub, edge"],
    ),
    "cluster-admin-allowed": (
        "",
        "clusterAdmin: true",
        [f"rights: {ROCKY} may give cluster-admin from now on (clusterAdmin: true)"],
    ),
    "quota-with-a-key-more": (
        "quota: {pods: 10}",
        "quota: {pods: 10, cpu: 1}",
        [f"quota: the quota of {ROCKY} is lowered on hub, edge: cpu none -> 1"],
    ),
    "custom-role": ("", "role: deployer", [f"rights: the apps of {ROCKY} get deployer instead of admin on hub, edge"]),
    "owners": (
        "",
        "owners: [{user: eve, role: edit}, {group: ops, role: edit}]",
        [f"rights: user 'eve', group 'ops' get edit in the namespaces of {ROCKY} on hub, edge"],
    ),
    "owner-with-more": (
        "owners: [{user: eve, role: view}]",
        "owners: [{user: eve, role: admin}]",
        [f"rights: user 'eve' gets admin instead of view in the namespaces of {ROCKY} on hub, edge"],
    ),
    "binding": (
        "",
        "objects: {ci: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: ClusterRole, name: edit},"
        " subjects: [{kind: ServiceAccount, name: ci, namespace: rocky}]}}",
        [f"rights: service account rocky/ci gets edit in the namespaces of {ROCKY} on hub, edge"],
    ),
    "cluster-roles": (
        "",
        f"clusterRoles: {{pv: {{{READ}}}}}",
        [f"rights: the apps of {ROCKY} get rights on the whole cluster on hub, edge: pv (get, list persistentvolumes)"],
    ),
    "cluster-admin-everywhere": (
        "clusterAdmin: true",
        "clusterAdmin: true\nclusterRoles: {all: {role: cluster-admin}}",
        [f"rights: the apps of {ROCKY} get cluster-admin on the whole cluster on hub, edge"],
    ),
    "role-in-a-namespace": (
        role_with("[get]"),
        role_with("['*']"),
        [f"rights: {ROCKY} allows more in role 'r' on hub, edge: * pods"],
    ),
    "cloud-identity": (
        "",
        "serviceAccount: {annotations: {eks.amazonaws.com/role-arn: 'arn:x'}}",
        [f"rights: the apps of {ROCKY} act as arn:x in the cloud on hub, edge: service account 'rocky'"],
    ),
    "quota": (
        "quota: {pods: 10, memory: 8Gi, cpu: 500m}",
        "quota: {pods: 5, memory: 8000Mi, cpu: 0.5}",
        [f"quota: the quota of {ROCKY} is lowered on hub, edge: pods 10 -> 5, memory 8Gi -> 8000Mi"],
    ),
    "quota-new": ("", "quota: {pods: 10}", [f"quota: the quota of {ROCKY} is new on hub, edge: pods 10"]),
    "quota-removed": (
        "quota: {pods: 10}",
        "",
        [f"quota: the quota of {ROCKY} is removed on hub, edge: nothing limits what its pods use"],
    ),
    "quota-without-a-key": (
        "quota: {pods: 10, cpu: 1}",
        "quota: {pods: 10}",
        [f"quota: the quota of {ROCKY} loses limits on hub, edge: cpu"],
    ),
    "limits": (
        "limits: {max: {cpu: 4}, min: {cpu: 1m}}",
        "limits: {max: {cpu: 2}, min: {cpu: 10m}}",
        [f"limits: the limits of {ROCKY} are tightened on hub, edge: max cpu 4 -> 2, min cpu 1m -> 10m"],
    ),
    "limits-removed": (
        "limits: {default: {cpu: 4}}",
        "",
        [f"limits: the limits of {ROCKY} are removed on hub, edge: containers without limits of their own have none"],
    ),
    "network-open": (
        "",
        "network: open",
        [
            f"network: the network of {ROCKY} is opened on hub, edge: isolated -> open, pods accept traffic from anywhere"
        ],
    ),
    "network-less-strict": (
        "network: strict",
        "network: isolated",
        [
            f"network: the network of {ROCKY} lets through more on hub, edge: strict -> isolated, pods accept traffic from all"
            " namespaces without a tenant",
            f"network: the network of {ROCKY} is opened on hub, edge: strict -> isolated, pods may send traffic anywhere",
        ],
    ),
    "policy-new": (
        "",
        policy(ALSO),
        [f"network: the network of {ROCKY} lets through more on hub, edge: policy 'dns' is new"],
    ),
    "policy-for-everything": (
        "",
        policy("[{}]"),
        [f"network: the network of {ROCKY} lets through more on hub, edge: policy 'dns' allows everything"],
    ),
    "policy-changed": (
        policy(OWN),
        policy(ALSO),
        [f"network: the network of {ROCKY} lets through more on hub, edge: policy 'dns' changes"],
    ),
    "egress-opened": (
        policy("[]", "Egress"),
        "",
        [
            f"network: the network of {ROCKY} is opened on hub, edge: without policy 'dns',"
            " pods may send traffic anywhere"
        ],
    ),
    "policy-of-another-program": (
        "objects: {p: {apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, spec: {a: 1}}}",
        "objects: {p: {apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, spec: {a: 2}}}",
        [
            f"network: the network of {ROCKY} may let through more on hub, edge: CiliumNetworkPolicy 'p' changes, look"
            " at it"
        ],
    ),
    "pod-security": (
        "podSecurity: {enforce: restricted}",
        "podSecurity: {enforce: baseline}",
        [f"pod-security: the pod security of {ROCKY} is lowered on hub, edge: restricted -> baseline"],
    ),
    "adopt": ("", "adopt: true", [f"adoption: {ROCKY} takes over objects that exist already (adopt: true)"]),
    "namespace-removed": (
        "namespaces: {x: {}}",
        "",
        [f"deletion: namespace 'rocky-x' ({ROCKY}) is no longer managed, and stays with its data on hub, edge"],
    ),
    "volume-claim-removed": (
        "objects: {data: {apiVersion: v1, kind: PersistentVolumeClaim, spec: {}}}",
        "",
        [
            f"deletion: PersistentVolumeClaim 'data' ({ROCKY}) is no longer managed, and stays with its data on hub, edge"
        ],
    ),
}


@table("case", SETTINGS)
def test_a_dangerous_setting_is_told_on_management_and_remote_clusters_alike(case: str) -> None:
    before, after, expected = SETTINGS[case]
    assert told(with_settings(before), with_settings(after)) == expected


@table(
    ("before", "after"),
    [
        ("role: admin", "role: edit"),
        ("owners: [{user: eve}]", ""),
        ("owners: [{user: eve, role: admin}]", "owners: [{user: eve, role: view}]"),
        ("clusterAdmin: true", ""),
        (f"clusterRoles: {{a: {{{READ}}}}}", f"clusterRoles: {{b: {{{READ}}}}}"),
        ("quota: {pods: 10, memory: 8Gi}", "quota: {pods: 20, memory: 8192Mi}"),
        ("limits: {max: {cpu: 2}}", "limits: {max: {cpu: 4}}"),
        ("network: open", "network: isolated"),
        ("network: isolated", "network: strict"),
        ("network: open", policy(OWN)),
        (policy(ALSO), policy(OWN)),
        (policy(ALSO), ""),
        ("", policy("[]", "Egress")),
        (policy(OWN), policy(OWN, name="renamed")),
        ("podSecurity: {enforce: baseline}", "podSecurity: {enforce: restricted}"),
        ("podSecurity: {warn: restricted}", "podSecurity: {warn: baseline}"),
        ("adopt: true", ""),
        ("", "labels: {a: b}"),
        ("", "annotations: {a: b}"),
        ("", "state: paused"),
        ("", "state: offboarding"),
        ("interval: 10m", "interval: 5m"),
        ("", "namespaces: {x: {}}"),
        ("", "objects: {c: {apiVersion: v1, kind: ConfigMap, data: {a: b}}}"),
    ],
)
def test_a_harmless_setting_is_no_danger(before: str, after: str) -> None:
    assert told(with_settings(before), with_settings(after)) == []


ANEW = "is uninstalled and installed anew"
CHART_GOES = "Helm deletes what its chart made, with PersistentVolumeClaims and their data; claims from volumeClaimTemplates stay"
APP_CHANGES = {
    "app-removed": (APPS, WEB, [f"deletion: app 'cache' ({ROCKY}) is removed from hub, edge: Flux deletes what it installed"]),
    "another-kind": (
        WEB,
        "web: {helm: {source: charts, chart: web, version: 1.0.0}}",
        [
            f"reinstallation: app 'web' ({ROCKY}) becomes a HelmRelease instead of a Kustomization on hub, edge: Flux deletes"
            " what the old one installed, with PersistentVolumeClaims and their data"
        ],
    ),
    "release-name": (
        APPS,
        APPS.replace("1.0.0}", "1.0.0, releaseName: x}"),
        [f"reinstallation: app 'cache' ({ROCKY}) {ANEW} on hub, edge: {CHART_GOES} (releaseName cache -> x)"],
    ),
    "target-namespace": (
        APPS,
        APPS.replace("1.0.0}", "1.0.0, targetNamespace: x}"),
        [f"reinstallation: app 'cache' ({ROCKY}) {ANEW} on hub, edge: {CHART_GOES} (targetNamespace rocky -> rocky-x)"],
    ),
    "another-chart": (
        APPS,
        APPS.replace("chart: valkey", "chart: redis"),
        [f"reinstallation: app 'cache' ({ROCKY}) {ANEW} on hub, edge: {CHART_GOES} (chart valkey -> redis)"],
    ),
    "another-chart-in-place": (
        APPS.replace("1.0.0}", "1.0.0, upgrade: {chartNameChangeStrategy: InPlaceUpdate}}"),
        APPS.replace("valkey, version: 1.0.0}", "redis, version: 1.0.0, upgrade: {chartNameChangeStrategy: InPlaceUpdate}}"),
        [],
    ),
    "another-directory": (
        "cache: {helm: {source: manifests, chart: ./charts/valkey}}",
        "cache: {helm: {source: manifests, chart: ./charts/redis}}",
        [
            f"reinstallation: app 'cache' ({ROCKY}) {ANEW} on hub, edge, if that chart has another name: {CHART_GOES}"
            " (chart valkey -> redis)"
        ],
    ),
    "another-prefix": (
        WEB,
        WEB.replace("manifests}", "manifests, namePrefix: x-}"),
        [
            f"reinstallation: app 'web' ({ROCKY}) is applied anew on hub, edge: Flux prunes what it applied, with"
            " PersistentVolumeClaims and their data (namePrefix unset -> x-)"
        ],
    ),
    "another-prefix-without-prune": (
        WEB.replace("manifests}", "manifests, prune: false}"),
        WEB.replace("manifests}", "manifests, prune: false, namePrefix: x-}"),
        [],
    ),
    "prune": (
        WEB.replace("manifests}", "manifests, prune: false}"),
        WEB,
        [
            f"protection: app 'web' ({ROCKY}) deletes what disappears from its source on hub, edge from now on"
            " (prune: false -> true)"
        ],
    ),
    "deletion-policy": (
        WEB.replace("manifests}", "manifests, deletionPolicy: Orphan}"),
        WEB.replace("manifests}", "manifests, deletionPolicy: Delete}"),
        [
            f"protection: app 'web' ({ROCKY}) takes what it installed with it when it is removed on hub, edge from now on"
            " (deletionPolicy: Orphan -> Delete)"
        ],
    ),
    "force": (
        WEB,
        WEB.replace("manifests}", "manifests, force: true}"),
        [f"reinstallation: app 'web' ({ROCKY}) may replace objects that it cannot change on hub, edge (force: true)"],
    ),
    "version": (APPS, APPS.replace("1.0.0", "1.1.0"), []),
    "new-app": (WEB, APPS, []),
    "prune-off": (WEB, WEB.replace("manifests}", "manifests, prune: false}"), []),
    "suspended-app-removed": (APPS.replace("1.0.0}", "1.0.0, suspend: true}"), WEB, []),
    "kept-on-removal": (WEB.replace("manifests}", "manifests, deletionPolicy: Orphan}") + f"\n{APPS.splitlines()[1]}",
                        APPS.splitlines()[1], []),
}  # fmt: skip


def test_another_address_of_a_chart_may_reinstall_what_comes_from_there() -> None:
    source = "      whole: {oci: {url: oci://example.com/charts/valkey, ref: {tag: 1.0.0}}}\n"
    before = rocky("cache: {helm: {source: whole}}", ALL).replace("    sources:\n", f"    sources:\n{source}")
    assert told(before, before.replace("charts/valkey", "charts/redis")) == [
        f"reinstallation: app 'cache' ({ROCKY}) {ANEW} on edge, hub, if that chart has another name: {CHART_GOES}"
        " (chart valkey -> redis)"
    ]
    assert told(before, before.replace("example.com/charts/", "example.com/mirror/")) == []


def test_a_chart_that_becomes_a_source_of_its_own_upgrades_its_release_once() -> None:
    whole = "      whole: {oci: {url: oci://example.com/charts/valkey, ref: {tag: 1.0.0}}}\n"
    before = BASE.replace("    sources:\n", f"    sources:\n{whole}")
    after = before.replace("{source: charts, chart: valkey, version: 1.0.0}", "{source: whole}")
    assert told(before, after) == [
        f"restart: app 'cache' ({ROCKY}) is upgraded once on hub, edge: the digest becomes a part of the chart's version, and"
        " pods with the label helm.sh/chart restart"
    ]
    assert told(after, before) == []


CHARTS = "oci://example.com/charts"


def test_a_chart_of_baselines_that_nobody_checks_any_more_is_told() -> None:
    checked = f"oci: {{url: {CHARTS}/tenantry-objects, ref: {{tag: 0.1.0}}, verify: {{provider: cosign}}}}"
    before, chart = BASE.replace(CHART, checked), "rights: the chart that installs baselines"
    rights = "on edge: it acts with the platform's rights"
    assert told(BASE, before) == [
        f"{chart} comes from {CHARTS}/tenantry-objects instead of https://charts.example.com {rights}"
    ]
    assert told(before, before.replace(", verify: {provider: cosign}", "")) == [
        f"{chart} is taken without the signature that 'cosign' checked {rights}"
    ]
    assert told(before, before.replace("tag: 0.1.0", "tag: 0.2.0")) == [
        f"{chart} is taken at tag 0.2.0 instead of tag 0.1.0 {rights}"
    ]


def test_another_platform_namespace_reinstalls_baselines_and_says_which_data_goes() -> None:
    assert told(BASE, BASE.replace("platform: {", "platform: {namespace: fleet-system, ")) == [
        f"reinstallation: the baseline ({ROCKY}) {ANEW} on edge: role bindings, quotas, network policies and all else that it"
        " made are gone meanwhile, and namespaces and claims without 'helm.sh/resource-policy: keep' lose their data"
        " (storageNamespace tenantry-system -> fleet-system, targetNamespace tenantry-system -> fleet-system)"
    ]


def test_a_renamed_tenant_with_the_same_namespace_and_account_keeps_what_it_has() -> None:
    before = rocky(APPS, f"{ALL}\nnamespace: shop\nserviceAccount: {{name: shop}}")
    (danger, *_) = between(before, before.replace("  rocky:", "  rocco:"))
    assert (danger.kind, danger.text) == (
        DangerKind.RENAME,
        f"{ROCKY} looks renamed to 'rocco' (both have the same sources and apps): its namespaces and Flux objects keep their names,"
        " so they stay with their data; deleted, and created under other names: RoleBinding shop/rocky-reconciler-admin,"
        " GitRepository kamaji/shop.manifests.62305212, HelmRepository kamaji/shop.charts.e5533713,"
        " HelmChart kamaji/shop.charts.valkey.91719e05, RoleBinding shop/rocky-reconciler-admin on edge",
    )


def test_a_renamed_tenant_that_loses_a_part_is_told_which() -> None:
    before = rocky(
        APPS,
        f"{ALL}\nnamespace: shop\nserviceAccount: {{name: shop}}\nnamespaces: {{jobs: {{name: '{{namespace}}-{{key}}'}}}}",
    )
    after = before.replace("  rocky:", "  rocco:").replace("{namespace}-{key}", "rocco-{namespace}-{key}")
    (danger, *_) = between(before, after)
    assert (
        "namespaces and Flux objects with the same names stay, with their data; deleted with their data, and created again:"
        " Namespace shop-jobs, Namespace shop-jobs on edge; deleted, and created under other names: "
    ) in danger.text


@table("case", APP_CHANGES)
def test_what_a_change_of_an_app_does_is_told(case: str) -> None:
    before, after, expected = APP_CHANGES[case]
    namespace = "namespaces: {x: {}}"
    assert told(rocky(before, f"{ALL}\n{namespace}"), rocky(after, f"{ALL}\n{namespace}")) == expected


FLEETS = {
    "another-namespace": (
        ("dev: {management: hub}", "dev: {management: hub, namespace: '{env}-{tenant}'}"),
        [
            f"namespace: {ROCKY} gets namespace 'dev-rocky' instead of 'rocky' on hub, edge: what is in the old one does"
            " not come along, and its data stays there"
        ],
    ),
    "another-kubeconfig": (
        ("controlPlane: edge,", "controlPlane: edgy,"),
        [
            "kubeconfig: Flux uses another kubeconfig on edge: if it leads to another cluster, everything on the old one"
            " stays there"
        ],
    ),
    "kubeconfigs-elsewhere": (
        ("namespace: kamaji", "namespace: tenants"),
        [
            "kubeconfig: the kubeconfig is in namespace 'tenants' instead of 'kamaji' on edge: all Flux objects are"
            " replaced, and Flux deletes what they installed; namespaces stay with their data"
        ],
    ),
    "a-cluster-less": ((ALL, "clusters: {names: [hub]}"), [f"deletion: {ROCKY} is removed from edge: {DELETES}"]),
    "chart-of-baselines": (
        ("0.1.0", "0.2.0"),
        [
            "rights: the chart that installs baselines has version 0.2.0 instead of 0.1.0 on edge: it acts with the"
            " platform's rights"
        ],
    ),
    "chart-from-elsewhere": (
        ('platform: {chart: {helm: {url: "https://charts.', 'platform: {chart: {helm: {url: "https://other.'),
        [
            "rights: the chart that installs baselines comes from https://other.example.com instead of"
            " https://charts.example.com on edge: it acts with the platform's rights"
        ],
    ),
    "chart-from-git": (
        (CHART, FROM_GIT),
        [
            "rights: the chart that installs baselines comes from https://git.example.com/fleet instead of"
            " https://charts.example.com on edge: it acts with the platform's rights"
        ],
    ),
    "shared-identity": (
        ("platform: {", "platform: {sharedIdentity: true, "),
        ["rights: tenants may use the cloud identity of Flux's controllers (sharedIdentity: true)"],
    ),
    "renamed-cluster": (
        ("  edge: {", "  edgy: {"),
        [
            "rename: cluster 'edge' looks renamed to 'edgy' (both have the kubeconfig kamaji/edge-admin-kubeconfig): what Flux"
            " installed for 'edge' is deleted with its data, and 'edgy' is installed new"
        ],
    ),
    "renamed-tenant": (
        ("  rocky:\n", "  rocko:\n"),
        [
            f"rename: {ROCKY} looks renamed to 'rocko' (both have the same sources and apps): what Flux installed for 'rocky'"
            " is deleted with its data, and 'rocko' is installed new"
        ],
    ),
}


FRESH = "is new and marked for removal already"


@table(
    "old, new, expected",
    [
        ("      web: {", "      site: {state: removing, ", f"app 'site' ({ROCKY}) {FRESH} on hub, edge"),
        ("  rocky:\n", "  rocko:\n    state: offboarding\n", f"tenant 'rocko' {FRESH} on hub, edge"),
        (
            "  edge: {",
            "  more: {state: removing, environments: [dev], kubeconfig: {kamaji: {controlPlane: b, namespace: b}}}\n  edge: {",
            f"{ROCKY} {FRESH} on more",
        ),
        ("      web: {", "      web: {state: removing, ", ""),
        ("      web: {", "      site: {", ""),
        ("      web: {", "      site: {state: paused, ", ""),
    ],
)
def test_a_mark_of_removal_on_what_is_new_is_told(old: str, new: str, expected: str) -> None:
    assert old in BASE
    marked = [each for each in told(BASE, BASE.replace(old, new, 1)) if FRESH in each]
    assert marked == ([f"protection: {expected}: no environment protects it"] if expected else [])


@table("case", FLEETS)
def test_what_a_change_of_the_fleet_does_is_told(case: str) -> None:
    (old, new), expected = FLEETS[case]
    assert old in BASE
    assert told(BASE, BASE.replace(old, new)) == expected


def test_an_environment_that_loses_its_protection_is_told() -> None:
    protected = BASE.replace("dev: {management: hub}", "dev: {management: hub, protected: true}")
    assert told(BASE, protected) == []
    assert told(protected, BASE) == [
        "protection: environment 'dev' is no longer protected: `pulumi destroy` can delete it, and runs can remove what was"
        " not marked for removal before"
    ]


def test_an_environment_that_is_no_longer_declared_is_one_danger() -> None:
    before = {"dev": planned(BASE)}
    (gone,) = diff_all(before, {})
    (found,) = dangers(gone, before["dev"], before["dev"])
    assert (found.kind, found.text) == (
        DangerKind.DELETION,
        "environment 'dev' is no longer declared (1 tenant, 2 apps): `pulumi up` of its stack is refused, and all"
        " of it stays on hub until `pulumi destroy`",
    )


def test_a_given_up_cluster_leaves_what_is_on_it() -> None:
    gone = BASE.replace("labels: {tier: edge}", "labels: {tier: edge}, state: decommissioned")
    assert told(gone, BASE.replace(ALL, "clusters: {names: [hub]}")) == []


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("/fleet", "/mine", "comes from https://git.example.com/mine instead of https://git.example.com/fleet"),
        ("/objects/", "/own", "is directory charts/own instead of charts/objects"),
        ("branch: main", "tag: v1", "is taken at tag v1 instead of branch main"),
    ],
)
def test_another_place_of_the_chart_in_git_is_a_danger(one: str, other: str, what: str) -> None:
    before, after = BASE.replace(CHART, FROM_GIT), BASE.replace(CHART, FROM_GIT.replace(one, other))
    assert told(before, after) == [
        f"rights: the chart that installs baselines {what} on edge: it acts with the platform's rights"
    ]


def many(clusters: int, tenants: int, settings: str = "") -> str:
    frame = (
        "apiVersion: tenantry/v1\nenvironments: {prod: {management: hub}}\nclusters:\n  hub: {environments: [prod]}\n"
    )
    kubeconfig = "kubeconfig: {{kamaji: {{controlPlane: {cluster}, namespace: kamaji}}}}"
    frame += "".join(
        f"  edge-{n}: {{environments: [prod], {kubeconfig.format(cluster=f'edge-{n}')}}}\n" for n in range(clusters - 1)
    )
    frame += 'platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}\n'
    frame += f"defaults: {{clusters: {{all: true}}{settings}}}\ntenants:\n"
    source = "sources: {m: {git: {url: https://git.example.com/a, ref: {branch: main}}}}"
    return frame + "".join(
        f"  tenant-{n}: {{{source}, apps: {{web: {{kustomize: {{source: m}}}}}}}}\n" for n in range(tenants)
    )


def test_the_same_danger_of_many_is_one_sentence_and_names_them_in_full_beside_it() -> None:
    one, other = planned(many(20, 12), "prod"), planned(many(20, 12, ", network: open"), "prod")
    (found,) = dangers(diff(one, other), one, other)
    assert found.text == (
        "the network of 12 tenants ('tenant-0', 'tenant-1', 'tenant-2' and 9 more) is opened on all 20 clusters:"
        " isolated -> open, pods accept traffic from anywhere"
    )
    assert (len(found.tenants), len(found.clusters)) == (12, 20)


def test_a_part_of_the_clusters_is_counted_and_the_worst_danger_is_first() -> None:
    before = many(20, 1)
    after = before.replace("apps:", "network: open, clusterAdmin: true, role: cluster-admin, apps:")
    after = after.replace("network: open, ", "network: open, clusters: {all: true, exclude: [hub, edge-0]}, ")
    one, other = planned(before, "prod"), planned(after, "prod")
    assert [each.text for each in dangers(diff(one, other), one, other)] == [
        "the apps of tenant 'tenant-0' get cluster-admin instead of admin on 18 of 20 clusters",
        f"tenant 'tenant-0' is removed from hub, edge-0: {DELETES}",
        "the network of tenant 'tenant-0' is opened on 18 of 20 clusters: isolated -> open, pods accept traffic from"
        " anywhere",
    ]


def test_tenants_that_are_hit_wherever_they_are_share_a_sentence_although_their_clusters_differ() -> None:
    tina = "  tina: {clusters: {names: [hub]}, quota: {pods: 40}, apps: {web: {kustomize: {source: m}}},"
    tina += " sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}}\n"
    before = rocky(APPS, f"{ALL}\nquota: {{pods: 40}}") + tina
    after = before.replace("pods: 40", "pods: 20")
    assert told(before, after) == [
        "quota: the quota of tenants 'rocky', 'tina' is lowered on all of their clusters: pods 40 -> 20"
    ]
