"""Each danger of a difference: its kind and its words; and changes that are none."""

from __future__ import annotations

import pytest

from tests.table import table
from tests.unit.facts.reviews import between, told
from tests.unit.texts import CHART, FROM_GIT, rocky

pytestmark = pytest.mark.usefixtures("plans_once")

WEB = "web: {kustomize: {source: manifests}}"
APPS = f"{WEB}\ncache: {{helm: {{source: charts, chart: valkey, version: 1.0.0}}}}"
ALL = "clusters: {all: true}"
BASE = rocky(APPS, ALL)
HUB, EDGE = "hub", "edge"
ROCKY = "tenant rocky on both clusters"
CACHE = "rocky/cache on both clusters"
DELETES = "apps and rights are deleted, and namespaces stay with their data"


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
        [
            f"rights: {ROCKY}: it may give cluster-admin from now on (clusterAdmin: true)",
            f"rights: {ROCKY}: its apps get cluster-admin instead of edit",
        ],
    ),
    "cluster-admin-allowed": (
        "",
        "clusterAdmin: true",
        [f"rights: {ROCKY}: it may give cluster-admin from now on (clusterAdmin: true)"],
    ),
    "quota-with-a-key-more": (
        "quota: {pods: 10}",
        "quota: {pods: 10, cpu: 1}",
        [f"quota: {ROCKY}: its quota is lowered: cpu none -> 1"],
    ),
    "custom-role": ("", "role: deployer", [f"rights: {ROCKY}: its apps get deployer instead of admin"]),
    "owners": (
        "",
        "owners: [{user: eve, role: edit}, {group: ops, role: edit}]",
        [f"rights: {ROCKY}: user eve, group ops get edit in its namespaces"],
    ),
    "owner-with-more": (
        "owners: [{user: eve, role: view}]",
        "owners: [{user: eve, role: admin}]",
        [f"rights: {ROCKY}: user eve gets admin in its namespaces instead of view"],
    ),
    "binding": (
        "",
        "objects: {ci: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {kind: ClusterRole, name: edit},"
        " subjects: [{kind: ServiceAccount, name: ci, namespace: rocky}]}}",
        [f"rights: {ROCKY}: service account rocky/ci gets edit in its namespaces"],
    ),
    "cluster-roles": (
        "",
        f"clusterRoles: {{pv: {{{READ}}}}}",
        [f"rights: {ROCKY}: its apps get rights on the whole cluster: pv (get, list persistentvolumes)"],
    ),
    "cluster-admin-everywhere": (
        "clusterAdmin: true",
        "clusterAdmin: true\nclusterRoles: {all: {role: cluster-admin}}",
        [f"rights: {ROCKY}: its apps get cluster-admin on the whole cluster"],
    ),
    "role-in-a-namespace": (
        role_with("[get]"),
        role_with("['*']"),
        [f"rights: {ROCKY}: role r allows more: * pods"],
    ),
    "cloud-identity": (
        "",
        "serviceAccount: {annotations: {eks.amazonaws.com/role-arn: 'arn:x'}}",
        [f"rights: {ROCKY}: its apps act as arn:x in the cloud: service account rocky"],
    ),
    "quota": (
        "quota: {pods: 10, memory: 8Gi, cpu: 500m}",
        "quota: {pods: 5, memory: 8000Mi, cpu: 0.5}",
        [f"quota: {ROCKY}: its quota is lowered: pods 10 -> 5, memory 8Gi -> 8000Mi"],
    ),
    "quota-new": ("", "quota: {pods: 10}", [f"quota: {ROCKY}: its quota is new: pods 10"]),
    "quota-removed": (
        "quota: {pods: 10}",
        "",
        [f"quota: {ROCKY}: its quota is removed: nothing limits what its pods use"],
    ),
    "quota-without-a-key": (
        "quota: {pods: 10, cpu: 1}",
        "quota: {pods: 10}",
        [f"quota: {ROCKY}: its quota loses limits: cpu"],
    ),
    "limits": (
        "limits: {max: {cpu: 4}, min: {cpu: 1m}}",
        "limits: {max: {cpu: 2}, min: {cpu: 10m}}",
        [f"limits: {ROCKY}: its limits are tightened: max cpu 4 -> 2, min cpu 1m -> 10m"],
    ),
    "limits-removed": (
        "limits: {default: {cpu: 4}}",
        "",
        [f"limits: {ROCKY}: its limits are removed: containers without limits of their own have none"],
    ),
    "network-open": (
        "",
        "network: open",
        [f"network: {ROCKY}: its network is opened: isolated -> open, pods accept traffic from anywhere"],
    ),
    "network-less-strict": (
        "network: strict",
        "network: isolated",
        [
            f"network: {ROCKY}: its network lets through more: strict -> isolated, pods accept traffic from all"
            " namespaces without a tenant",
            f"network: {ROCKY}: its network is opened: strict -> isolated, pods may send traffic anywhere",
        ],
    ),
    "policy-new": (
        "",
        policy(ALSO),
        [f"network: {ROCKY}: its network lets through more: policy dns is new"],
    ),
    "policy-for-everything": (
        "",
        policy("[{}]"),
        [f"network: {ROCKY}: its network lets through more: policy dns allows everything"],
    ),
    "policy-changed": (
        policy(OWN),
        policy(ALSO),
        [f"network: {ROCKY}: its network lets through more: policy dns changes"],
    ),
    "egress-opened": (
        policy("[]", "Egress"),
        "",
        [f"network: {ROCKY}: its network is opened: without policy dns, pods may send traffic anywhere"],
    ),
    "policy-of-another-program": (
        "objects: {p: {apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, spec: {a: 1}}}",
        "objects: {p: {apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, spec: {a: 2}}}",
        [f"network: {ROCKY}: its network may let through more: CiliumNetworkPolicy p changes, look at it"],
    ),
    "pod-security": (
        "podSecurity: {enforce: restricted}",
        "podSecurity: {enforce: baseline}",
        [f"pod-security: {ROCKY}: its pod security is lowered: restricted -> baseline"],
    ),
    "adopt": ("", "adopt: true", [f"adoption: {ROCKY}: it takes over objects that exist already (adopt: true)"]),
    "namespace-removed": (
        "namespaces: {x: {}}",
        "",
        [f"deletion: {ROCKY}: namespace rocky-x is no longer managed, and stays with its data"],
    ),
    "volume-claim-removed": (
        "objects: {data: {apiVersion: v1, kind: PersistentVolumeClaim, spec: {}}}",
        "",
        [f"deletion: {ROCKY}: PersistentVolumeClaim data is no longer managed, and stays with its data"],
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
    "app-removed": (APPS, WEB, ["deletion: rocky/cache on both clusters: is removed: Flux deletes what it installed"]),
    "another-kind": (
        WEB,
        "web: {helm: {source: charts, chart: web, version: 1.0.0}}",
        [
            "reinstallation: rocky/web on both clusters: becomes a HelmRelease instead of a Kustomization: Flux"
            " deletes what the old one installed, with PersistentVolumeClaims and their data"
        ],
    ),
    "release-name": (
        APPS,
        APPS.replace("1.0.0}", "1.0.0, releaseName: x}"),
        [f"reinstallation: rocky/cache on both clusters: {ANEW}: {CHART_GOES} (releaseName cache -> x)"],
    ),
    "target-namespace": (
        APPS,
        APPS.replace("1.0.0}", "1.0.0, targetNamespace: x}"),
        [f"reinstallation: rocky/cache on both clusters: {ANEW}: {CHART_GOES} (targetNamespace rocky -> rocky-x)"],
    ),
    "another-chart": (
        APPS,
        APPS.replace("chart: valkey", "chart: redis"),
        [f"reinstallation: rocky/cache on both clusters: {ANEW}: {CHART_GOES} (chart valkey -> redis)"],
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
            f"reinstallation: rocky/cache on both clusters: {ANEW}, if that chart has another name: {CHART_GOES}"
            " (chart valkey -> redis)"
        ],
    ),
    "another-prefix": (
        WEB,
        WEB.replace("manifests}", "manifests, namePrefix: x-}"),
        [
            "reinstallation: rocky/web on both clusters: is applied anew: Flux prunes what it applied, with"
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
        ["protection: rocky/web on both clusters: deletes what disappears from its source from now on (prune: false -> true)"],
    ),
    "deletion-policy": (
        WEB.replace("manifests}", "manifests, deletionPolicy: Orphan}"),
        WEB.replace("manifests}", "manifests, deletionPolicy: Delete}"),
        [
            "protection: rocky/web on both clusters: takes what it installed with it when it is removed"
            " (deletionPolicy: Orphan -> Delete)"
        ],
    ),
    "force": (
        WEB,
        WEB.replace("manifests}", "manifests, force: true}"),
        ["reinstallation: rocky/web on both clusters: may replace objects that it cannot change (force: true)"],
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
        f"reinstallation: {CACHE}: {ANEW}, if that chart has another name: {CHART_GOES} (chart valkey -> redis)"
    ]
    assert told(before, before.replace("example.com/charts/", "example.com/mirror/")) == []


CHARTS = "oci://example.com/charts"
ITS_CHART = "rights: cluster edge: the chart that installs baselines changes, and acts with the platform's rights"


def test_a_chart_of_baselines_that_nobody_checks_any_more_is_told() -> None:
    checked = f"oci: {{url: {CHARTS}/tenantry-objects, ref: {{tag: 0.1.0}}, verify: {{provider: cosign}}}}"
    before = BASE.replace(CHART, checked)
    assert told(BASE, before) == [
        f"{ITS_CHART} (chart.oci.url: {CHARTS}/tenantry-objects, chart.oci.ref.tag: 0.1.0, chart.oci.verify.provider: cosign,"
        " chart.helm.url: https://charts.example.com -> unset, chart.helm.version: 0.1.0 -> unset)"
    ]
    assert told(before, before.replace(", verify: {provider: cosign}", "")) == [
        f"{ITS_CHART} (chart.oci.verify.provider: cosign -> unset)"
    ]
    assert told(before, before.replace("tag: 0.1.0", "tag: 0.2.0")) == [
        f"{ITS_CHART} (chart.oci.ref.tag: 0.1.0 -> 0.2.0)"
    ]


def test_another_platform_namespace_reinstalls_baselines_and_says_which_data_goes() -> None:
    assert told(BASE, BASE.replace("platform: {", "platform: {namespace: fleet-system, ")) == [
        f"reinstallation: tenant rocky on edge: the baseline {ANEW}: role bindings, quotas, network policies and all else that it"
        " made are gone meanwhile, and namespaces and claims without 'helm.sh/resource-policy: keep' lose their data"
        " (storageNamespace tenantry-system -> fleet-system, targetNamespace tenantry-system -> fleet-system)"
    ]


@table("case", APP_CHANGES)
def test_what_a_change_of_an_app_does_is_told(case: str) -> None:
    before, after, expected = APP_CHANGES[case]
    namespace = "namespaces: {x: {}}"
    assert told(rocky(before, f"{ALL}\n{namespace}"), rocky(after, f"{ALL}\n{namespace}")) == expected


FLEETS = {
    "another-namespace": (
        ("dev: {management: hub}", "dev: {management: hub, namespace: '{env}-{tenant}'}"),
        [
            f"namespace: {ROCKY}: it gets another namespace: what is in the old one does not come along, and its"
            f" data stays there (namespace: {{tenant}} -> {{env}}-{{tenant}})"
        ],
    ),
    "another-kubeconfig": (
        ("controlPlane: edge,", "controlPlane: edgy,"),
        [
            "kubeconfig: cluster edge: Flux uses another kubeconfig: if it leads to another cluster, everything"
            " on the old one stays there (kubeconfig.kamaji.controlPlane: edge -> edgy)"
        ],
    ),
    "kubeconfigs-elsewhere": (
        ("namespace: kamaji", "namespace: tenants"),
        [
            "reinstallation: rocky/web, rocky/cache on edge: gets another object: Flux deletes what the old one installed, with"
            " PersistentVolumeClaims and their data",
            "kubeconfig: cluster edge: Flux uses another kubeconfig: if it leads to another cluster, everything"
            " on the old one stays there (kubeconfig.kamaji.namespace: kamaji -> tenants)",
        ],
    ),
    "a-cluster-less": ((ALL, "clusters: {names: [hub]}"), [f"deletion: tenant rocky on edge: is removed: {DELETES}"]),
    "chart-of-baselines": (
        ("0.1.0", "0.2.0"),
        [
            "rights: cluster edge: the chart that installs baselines changes, and acts with the platform's"
            " rights (chart.helm.version: 0.1.0 -> 0.2.0)"
        ],
    ),
    "chart-from-elsewhere": (
        ('platform: {chart: {helm: {url: "https://charts.', 'platform: {chart: {helm: {url: "https://other.'),
        [
            "rights: cluster edge: the chart that installs baselines changes, and acts with the platform's"
            " rights (chart.helm.url: https://charts.example.com -> https://other.example.com)"
        ],
    ),
    "chart-from-git": (
        (CHART, FROM_GIT),
        [
            "rights: cluster edge: the chart that installs baselines changes, and acts with the platform's"
            " rights (chart.git.url: https://git.example.com/fleet, chart.git.ref.branch: main, chart.git.path:"
            " ./charts/objects/, chart.helm.url: https://charts.example.com -> unset, chart.helm.version: 0.1.0"
            " -> unset)"
        ],
    ),
    "shared-identity": (
        ("platform: {", "platform: {sharedIdentity: true, "),
        [
            "rights: platform on both clusters: tenants may use the cloud identity of Flux's controllers (sharedIdentity: true)"
        ],
    ),
    "renamed-cluster": (
        ("  edge: {", "  edgy: {"),
        [f"deletion: tenant rocky on edge: is removed: {DELETES}"],
    ),
    "renamed-tenant": (
        ("  rocky:\n", "  rocko:\n"),
        [f"deletion: {ROCKY}: is removed: {DELETES}"],
    ),
}


FRESH = "is new and marked for removal already"


@table(
    "old, new, expected",
    [
        ("      web: {", "      site: {state: removing, ", "rocky/site on both clusters"),
        ("  rocky:\n", "  rocko:\n    state: offboarding\n", "tenant rocko on both clusters"),
        (
            "  edge: {",
            "  more: {state: removing, environments: [dev], kubeconfig: {kamaji: {controlPlane: b, namespace: b}}}\n  edge: {",
            "tenant rocky on more",
        ),
        ("      web: {", "      web: {state: removing, ", ""),
        ("      web: {", "      site: {", ""),
        ("      web: {", "      site: {state: paused, ", ""),
    ],
)
def test_a_mark_of_removal_on_what_is_new_is_told(old: str, new: str, expected: str) -> None:
    assert old in BASE
    marked = [each for each in told(BASE, BASE.replace(old, new, 1)) if FRESH in each]
    assert marked == ([f"protection: {expected}: {FRESH}: no environment protects it"] if expected else [])


@table("case", FLEETS)
def test_what_a_change_of_the_fleet_does_is_told(case: str) -> None:
    (old, new), expected = FLEETS[case]
    assert old in BASE
    assert told(BASE, BASE.replace(old, new)) == expected


def test_an_environment_that_loses_its_protection_is_told() -> None:
    protected = BASE.replace("dev: {management: hub}", "dev: {management: hub, protected: true}")
    assert told(BASE, protected) == []
    assert told(protected, BASE) == [
        "protection: environment: it is no longer protected: `pulumi destroy` can delete it, and runs can remove what was not"
        " marked before (protected: true -> unset)"
    ]


def test_an_environment_that_is_no_longer_declared_is_one_danger() -> None:
    both = BASE.replace("  dev: {management: hub}", "  dev: {management: hub}\n  old: {management: hub}")
    gone = "it is no longer declared: `pulumi up` of its stack is refused, and all of it stays until `pulumi destroy`"
    assert told(both, BASE) == [f"deletion: environment: {gone}"]


def test_a_given_up_cluster_leaves_what_is_on_it() -> None:
    gone = BASE.replace("labels: {tier: edge}", "labels: {tier: edge}, state: decommissioned")
    assert told(gone, BASE.replace(ALL, "clusters: {names: [hub]}")) == []


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("/fleet", "/mine", "chart.git.url: https://git.example.com/fleet -> https://git.example.com/mine"),
        ("/objects/", "/own", "chart.git.path: ./charts/objects/ -> ./charts/own"),
        ("branch: main", "tag: v1", "chart.git.ref.tag: v1, chart.git.ref.branch: main -> unset"),
    ],
)
def test_another_place_of_the_chart_in_git_is_a_danger(one: str, other: str, what: str) -> None:
    before, after = BASE.replace(CHART, FROM_GIT), BASE.replace(CHART, FROM_GIT.replace(one, other))
    assert told(before, after) == [f"{ITS_CHART} ({what})"]


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


def test_the_same_danger_of_many_is_one_and_names_them_in_full_beside_it() -> None:
    before, after = many(20, 12), many(20, 12, ", network: open")
    assert told(before, after) == [
        "network: 12 tenants (tenant-0, tenant-1, tenant-2 and 9 more) on all 20 clusters: its network is opened: isolated ->"
        " open, pods accept traffic from anywhere"
    ]
    (found,) = between(before, after)
    assert (len(found.where.subjects), len(found.where.clusters)) == (12, 20)


def test_a_part_of_the_clusters_is_counted_and_the_worst_danger_is_first() -> None:
    before = many(20, 1)
    after = before.replace("apps:", "network: open, clusterAdmin: true, role: cluster-admin, apps:")
    after = after.replace("network: open, ", "network: open, clusters: {all: true, exclude: [hub, edge-0]}, ")
    tenant = "tenant tenant-0 on 18 of 20 clusters"
    assert told(before, after) == [
        f"rights: {tenant}: it may give cluster-admin from now on (clusterAdmin: true)",
        f"rights: {tenant}: its apps get cluster-admin instead of admin",
        f"deletion: tenant tenant-0 on hub, edge-0: is removed: {DELETES}",
        f"network: {tenant}: its network is opened: isolated -> open, pods accept traffic from anywhere",
    ]


def test_tenants_that_are_hit_wherever_they_are_are_one_danger_although_their_clusters_differ() -> None:
    tina = "  tina: {clusters: {names: [hub]}, quota: {pods: 40}, apps: {web: {kustomize: {source: m}}},"
    tina += " sources: {m: {git: {url: https://git.example.com/t, ref: {branch: main}}}}}\n"
    before = rocky(APPS, f"{ALL}\nquota: {{pods: 40}}") + tina
    after = before.replace("pods: 40", "pods: 20")
    assert told(before, after) == [
        "quota: 2 tenants (rocky, tina) on each of their clusters (both clusters): its quota is lowered: pods 40 -> 20"
    ]
