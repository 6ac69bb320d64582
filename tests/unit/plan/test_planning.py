"""The plan of one environment: which objects, in which order, called what, and what is refused."""

from __future__ import annotations

import re

import pytest

from tenantry.kube.objects import Owner
from tenantry.load import plan_all
from tenantry.messages.errors import Refused
from tenantry.plan.placements import PlannedPlacement
from tests.table import table
from tests.unit.texts import CHART, FRAME, FROM_GIT, fleet, named, one, planned, problems, rocky, told

BOTH = "clusters: {all: true}"
ON_HUB = "clusters: {names: [hub]}"
ON_EDGE = "clusters: {names: [edge]}"
SIMPLE = "web: {kustomize: {source: manifests}}"

ADDONS = FRAME.replace(
    'platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}',
    """platform:
  addons:
    dns: {clusters: {all: true}, source: {git: {url: https://git.example.com/dns, ref: {tag: v1}}}, kustomize: {path: ./dns}}
    certs:
      clusters: {names: [edge]}
      source: {helm: {url: https://charts.example.com}}
      helm: {chart: certs, version: 1.0.0, targetNamespace: certs}
  chart: {helm: {url: https://charts.example.com, version: 0.1.0}}""",
)


# --- which objects ----------------------------------------------------------------------------------------------


def test_a_tenant_on_the_management_cluster_gets_its_baseline_its_sources_and_its_apps() -> None:
    rest = "clusters: {names: [hub]}\nquota: {pods: 1}\nlimits: {default: {cpu: 1}}"
    apps = "web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: cache, version: 1.x}}"
    expected = [
        "Namespace rocky",
        "ServiceAccount rocky/rocky",
        "RoleBinding rocky/tenantry-reconciler-admin",
        "ResourceQuota rocky/tenantry",
        "LimitRange rocky/tenantry",
        "NetworkPolicy rocky/tenantry-isolated",
        "GitRepository rocky/manifests",
        "Kustomization rocky/web",
        "HelmRepository rocky/charts",
        "HelmChart rocky/charts-cache-764fda38",
        "HelmRelease rocky/cache",
    ]
    assert expected == named(planned(rocky(apps, rest)))


def test_a_remote_cluster_with_tenants_gets_the_objects_chart_and_each_placement_an_account_and_a_release() -> None:
    movy = (
        "  movy:\n"
        "    clusters: {names: [edge]}\n"
        "    sources: {s: {git: {url: https://git.example.com/movy, ref: {tag: v1}}}}\n"
        "    apps: {web: {kustomize: {source: s}}}\n"
    )
    expected = [
        "ServiceAccount kamaji/tenantry-platform",
        "HelmRepository kamaji/tenantry-system.charts-example-com.b8bf61a0",
        "HelmChart kamaji/tenantry-system.charts-example-com.tenantry-objects.bf65949c",
        "ServiceAccount kamaji/rocky",
        "HelmRelease kamaji/edge-rocky-baseline",
        "GitRepository kamaji/rocky.manifests.62305212",
        "Kustomization kamaji/edge-rocky-web",
        "ServiceAccount kamaji/movy",
        "HelmRelease kamaji/edge-movy-baseline",
        "GitRepository kamaji/movy.s.70566f15",
        "Kustomization kamaji/edge-movy-web",
    ]
    assert expected == named(planned(rocky(SIMPLE, ON_EDGE) + movy))


def test_the_objects_chart_can_be_a_directory_of_a_git_repository() -> None:
    login = ", credentials: fleet}, credentials: {fleet: {keys: [username, password]}}"
    plan = planned(rocky(SIMPLE, ON_EDGE).replace(f"{CHART}}}", f"{FROM_GIT}{login}"))
    source = next(each.id.name for each in plan.objects if each.id.name.startswith("tenantry-system.fleet."))
    assert {"Secret kamaji/tenantry-system.fleet", f"GitRepository kamaji/{source}"} < set(named(plan))
    assert one(plan, "GitRepository", source).manifest["spec"] == {
        "url": "https://git.example.com/fleet",
        "ref": {"branch": "main"},
        "interval": "10m",
        "timeout": "60s",
        "sparseCheckout": ["charts/objects"],
        "secretRef": {"name": "tenantry-system.fleet"},
    }
    (chart,) = (each for each in plan.objects if each.id.kind == "HelmChart")
    assert chart.manifest["spec"] == {
        "chart": "charts/objects",
        "reconcileStrategy": "ChartVersion",
        "interval": "10m",
        "sourceRef": {"kind": "GitRepository", "name": source},
    }
    baseline = one(plan, "HelmRelease", "edge-rocky-baseline")
    assert chart.id in baseline.depends_on
    assert baseline.manifest["spec"]["chartRef"] == {"kind": "HelmChart", "name": chart.id.name}


@table("path", [".", "./", '""'])
def test_the_objects_chart_can_be_a_repository_of_its_own(path: str) -> None:
    plan = planned(rocky(SIMPLE, ON_EDGE).replace(CHART, FROM_GIT.replace("./charts/objects/", path)))
    assert not any("sparseCheckout" in each.manifest.get("spec", {}) for each in plan.objects)
    (chart,) = (each.manifest["spec"]["chart"] for each in plan.objects if each.id.kind == "HelmChart")
    assert chart == "."


def test_clusters_whose_kubeconfigs_lie_in_one_namespace_share_service_accounts() -> None:
    text = rocky(SIMPLE, BOTH).replace(
        "platform:",
        "  edge-2: {environments: [dev], kubeconfig: {vcluster: {name: two, namespace: kamaji}}}\nplatform:",
        1,
    )
    accounts = [name for name in named(planned(text)) if name.startswith("ServiceAccount")]
    assert accounts == [
        "ServiceAccount rocky/rocky",
        "ServiceAccount kamaji/tenantry-platform",
        "ServiceAccount kamaji/rocky",
    ]


def test_sources_that_no_app_on_the_cluster_takes_are_not_planned() -> None:
    assert [name for name in named(planned(rocky(SIMPLE))) if "Repository" in name] == ["GitRepository rocky/manifests"]


def test_releases_of_the_same_chart_share_it_and_other_versions_do_not() -> None:
    apps = "\n".join(
        f"{name}: {{helm: {{source: charts, chart: c, version: {version}}}}}"
        for name, version in (("a", "1.x"), ("b", "1.x"), ("c", "2.x"))
    )
    plan = planned(rocky(apps))
    charts = [one(plan, "HelmRelease", app).manifest["spec"]["chartRef"]["name"] for app in "abc"]
    assert (charts[0] == charts[1], charts[0] == charts[2]) == (True, False)
    assert sum(name.startswith("HelmChart") for name in named(plan)) == 2


def test_a_release_with_a_chart_interval_of_its_own_has_a_chart_of_its_own() -> None:
    apps = "\n".join(
        f"{name}: {{helm: {{source: charts, chart: c, version: 1.x{more}}}}}"
        for name, more in (("a", ""), ("b", ", chartInterval: 1h"), ("c", ", chartInterval: 1h, interval: 5m"))
    )
    before, plan = planned(rocky(apps.splitlines()[0])), planned(rocky(apps))
    a, b, c = (one(plan, "HelmRelease", app).manifest["spec"]["chartRef"]["name"] for app in "abc")
    assert a == one(before, "HelmRelease", "a").manifest["spec"]["chartRef"]["name"]
    assert (a == b, b == c) == (False, True)
    assert [one(plan, "HelmChart", name).manifest["spec"]["interval"] for name in (a, b)] == ["10m", "1h"]
    assert "chartInterval" not in one(plan, "HelmRelease", "b").manifest["spec"]


@table(
    ("written", "install", "upgrade"),
    [
        (
            "install: {remediation: {retries: 3, remediateLastFailure: true}}",
            {"remediation": {"retries": 3, "remediateLastFailure": True}},
            {},
        ),
        (
            "upgrade: {remediation: {retries: -1, strategy: uninstall}}",
            {},
            {"remediation": {"retries": -1, "strategy": "uninstall"}},
        ),
        (
            "upgrade: {strategy: {name: RetryOnFailure, retryInterval: 2m}}",
            {},
            {"strategy": {"name": "RetryOnFailure", "retryInterval": "2m"}},
        ),
        (
            "install: {strategy: {name: RemediateOnFailure}, crds: Skip}",
            {"strategy": {"name": "RemediateOnFailure"}, "crds": "Skip"},
            {},
        ),
    ],
)
def test_remediation_is_as_the_author_wrote_it(
    written: str, install: dict[str, object], upgrade: dict[str, object]
) -> None:
    plan = planned(rocky(f"web: {{helm: {{source: charts, chart: c, version: 1.x, {written}}}}}"))
    spec = one(plan, "HelmRelease", "web").manifest["spec"]
    retried = {"strategy": {"name": "RetryOnFailure", "retryInterval": "30s"}}
    for action, wanted in (("install", install), ("upgrade", upgrade)):
        remediated = {"strategy": {"name": "RemediateOnFailure"}}
        assert spec[action] == {**(remediated if "remediation" in wanted else retried), **wanted}


SCALED = {"target": {"kind": "Deployment|StatefulSet"}, "paths": ["/spec/replicas"]}
IGNORED = {"paths": ["/data"]}


@table(
    ("written", "drift"),
    [
        ("", {"mode": "enabled", "ignore": [SCALED]}),
        (", driftDetection: {mode: warn}", {"mode": "warn", "ignore": [SCALED]}),
        (", driftDetection: {mode: disabled}", {"mode": "disabled"}),
        (", driftDetection: {ignore: []}", {"mode": "enabled"}),
        (", driftDetection: {ignore: [{paths: [/data]}]}", {"mode": "enabled", "ignore": [IGNORED]}),
    ],
)
def test_flux_does_not_undo_what_autoscalers_do(written: str, drift: dict[str, object]) -> None:
    plan = planned(rocky(f"web: {{helm: {{source: charts, chart: c, version: 1.x{written}}}}}"))
    spec = one(plan, "HelmRelease", "web").manifest["spec"]
    assert spec["driftDetection"] == drift
    assert "crds" not in spec["upgrade"], "a tenant's upgrade changes no definitions that others use"


@table(
    ("written", "crds"),
    [
        ("", "CreateReplace"),
        ("upgrade: {crds: Skip}", "Skip"),
        ("install: {crds: Skip}", None),
        ("install: {skipCRDs: true}", None),
    ],
)
def test_an_addons_upgrade_brings_the_charts_definitions(written: str, crds: str | None) -> None:
    plan = planned(ADDONS.replace("targetNamespace: certs}", f"targetNamespace: certs, {written}}}"))
    spec = one(plan, "HelmRelease", "edge-certs").manifest["spec"]
    assert spec["upgrade"].get("crds") == crds
    scaled, injected = spec["driftDetection"]["ignore"]
    assert scaled == SCALED
    assert {"/spec/caBundle", "/webhooks/9/clientConfig/caBundle"} < set(injected["paths"])


@table("removed", ["install: null", "install: {remediation: null}"])
def test_an_override_takes_remediation_away(removed: str) -> None:
    app = f"""
        web:
          helm: {{source: charts, chart: c, version: 1.x, install: {{remediation: {{retries: 3}}}}}}
          overrides: [{{when: {{clusters: {{names: [hub]}}}}, helm: {{{removed}}}}}]
    """
    install = one(planned(rocky(app)), "HelmRelease", "web").manifest["spec"]["install"]
    assert install == {"strategy": {"name": "RetryOnFailure", "retryInterval": "30s"}}


def test_a_tenant_without_apps_in_the_environment_gets_nothing() -> None:
    assert named(planned(FRAME + "tenants: {rocky: {quota: {pods: 1}}}\n")) == []


def test_a_plan_tells_placements_and_apps() -> None:
    plan = planned(
        rocky(SIMPLE + "\ncache: {clusters: {names: [edge]}, helm: {source: charts, chart: c, version: 1.x}}", BOTH)
    )
    assert [PlannedPlacement("rocky", "hub", "rocky"), PlannedPlacement("rocky", "edge", "rocky")] == list(
        plan.placements
    )
    assert [
        ("rocky", "hub", "web", "Kustomization rocky/web", None),
        ("rocky", "edge", "web", "Kustomization kamaji/edge-rocky-web", None),
        ("rocky", "edge", "cache", "HelmRelease kamaji/edge-rocky-cache", ("edge", "rocky", "cache")),
    ] == [(app.tenant, app.cluster, app.name, str(app.id), app.release) for app in plan.apps]


# --- owners, order and edges ------------------------------------------------------------------------------------


def test_every_object_belongs_to_the_part_of_the_fleet_that_it_goes_with() -> None:
    owners = {str(object.id).split(" ")[1]: object.owner for object in planned(rocky(SIMPLE, BOTH)).objects}
    expected = {
        "rocky": Owner("rocky", "hub"),
        "rocky/rocky": Owner("rocky", "hub"),
        "rocky/tenantry-reconciler-admin": Owner("rocky", "hub"),
        "rocky/tenantry-isolated": Owner("rocky", "hub"),
        "rocky/manifests": Owner("rocky", "hub"),
        "rocky/web": Owner("rocky", "hub"),
        "kamaji/tenantry-platform": Owner(),
        "kamaji/tenantry-system.charts-example-com.b8bf61a0": Owner(),
        "kamaji/tenantry-system.charts-example-com.tenantry-objects.bf65949c": Owner(),
        "kamaji/rocky": Owner("rocky"),
        "kamaji/edge-rocky-baseline": Owner("rocky", "edge"),
        "kamaji/rocky.manifests.62305212": Owner("rocky"),
        "kamaji/edge-rocky-web": Owner("rocky", "edge"),
    }
    assert expected == owners


def test_an_app_waits_for_its_baseline_its_source_and_the_apps_it_depends_on() -> None:
    plan = planned(
        rocky("web: {kustomize: {source: manifests}, dependsOn: [db]}\ndb: {kustomize: {source: manifests}}", BOTH)
    )
    assert [
        "Namespace rocky",
        "ServiceAccount rocky/rocky",
        "RoleBinding rocky/tenantry-reconciler-admin",
        "NetworkPolicy rocky/tenantry-isolated",
        "GitRepository rocky/manifests",
        "Kustomization rocky/db",
    ] == [str(id) for id in one(plan, "Kustomization", "web").depends_on]
    assert [
        "HelmRelease kamaji/edge-rocky-baseline",
        "ServiceAccount kamaji/rocky",
        "GitRepository kamaji/rocky.manifests.62305212",
        "Kustomization kamaji/edge-rocky-db",
    ] == [str(id) for id in one(plan, "Kustomization", "edge-rocky-web").depends_on]


def test_a_baseline_waits_for_its_chart_and_the_platform_s_account() -> None:
    release = one(planned(rocky(SIMPLE, BOTH)), "HelmRelease", "edge-rocky-baseline")
    assert [
        "HelmChart kamaji/tenantry-system.charts-example-com.tenantry-objects.bf65949c",
        "ServiceAccount kamaji/tenantry-platform",
    ] == [str(id) for id in release.depends_on]


def test_what_lies_in_a_tenant_s_namespace_waits_for_it() -> None:
    plan = planned(rocky(SIMPLE))
    namespace = one(plan, "Namespace", "rocky").id
    assert {object.id.kind for object in plan.objects if namespace in object.depends_on} == {
        "ServiceAccount",
        "RoleBinding",
        "NetworkPolicy",
        "GitRepository",
        "Kustomization",
    }


def test_a_long_chain_of_dependencies_is_put_in_order_without_recursion() -> None:
    count = 1200
    apps = "\n".join(f"a{i}: {{kustomize: {{source: manifests}}, dependsOn: [a{i + 1}]}}" for i in range(count))
    plan = planned(rocky(f"{apps}\na{count}: {{kustomize: {{source: manifests}}}}"))
    assert [f"a{i}" for i in reversed(range(count + 1))] == [app.name for app in plan.apps]


# --- remote and management --------------------------------------------------------------------------------------


def test_on_a_remote_flux_acts_as_the_account_beside_the_kubeconfig_and_the_baseline_binds_that_user() -> None:
    release = one(planned(rocky(SIMPLE, BOTH)), "HelmRelease", "edge-rocky-baseline").manifest["spec"]
    binding = next(manifest for manifest in release["values"]["objects"] if manifest["kind"] == "RoleBinding")
    assert ("tenantry-platform", "tenantry-system", "tenantry-system", "rocky-baseline") == (
        release["serviceAccountName"],
        release["targetNamespace"],
        release["storageNamespace"],
        release["releaseName"],
    )
    assert [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "system:serviceaccount:kamaji:rocky"}
    ] == binding["subjects"]


def test_the_baseline_is_the_same_on_every_cluster_but_for_the_user_and_the_cluster_s_label() -> None:
    plan = planned(rocky(SIMPLE, BOTH + "\nquota: {pods: 1}"))
    remote = one(plan, "HelmRelease", "edge-rocky-baseline").manifest["spec"]["values"]["objects"]
    local = [
        object.manifest
        for object in plan.objects
        if object.id.kind in {each["kind"] for each in remote} and object.owner.cluster == "hub"
    ]

    def comparable(manifest: object) -> str:
        text = (
            repr(manifest)
            .replace("'app.kubernetes.io/managed-by': 'tenantry', ", "")
            .replace("serviceaccount:rocky:", "serviceaccount:kamaji:")
        )
        text = text.replace("'tenantry/cluster': 'hub'", "'tenantry/cluster': 'edge'")
        text = text.replace(", 'annotations': {'helm.sh/resource-policy': 'keep'}", "")
        return re.sub(r", 'annotations': \{'pulumi.com/[^}]*\}", "", text)

    assert [comparable(each) for each in remote] == [comparable(each) for each in local]


@table("role", ["admin", "edit", "system:aggregate-to-view"])
def test_a_binding_is_named_by_its_role_on_every_cluster_because_its_role_can_not_be_changed(role: str) -> None:
    plan = planned(rocky(SIMPLE, f"{BOTH}\nrole: {role}"))
    release = one(plan, "HelmRelease", "edge-rocky-baseline").manifest["spec"]
    (remote,) = (manifest for manifest in release["values"]["objects"] if manifest["kind"] == "RoleBinding")
    local = one(plan, "RoleBinding", f"tenantry-reconciler-{role}").manifest
    for manifest in (local, remote):
        assert (f"tenantry-reconciler-{role}", "rocky") == (
            manifest["metadata"]["name"],
            manifest["metadata"]["namespace"],
        )
        assert {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role} == manifest["roleRef"]


def test_another_role_is_another_binding_and_changes_no_other_object_of_the_management_cluster() -> None:
    before, after = (
        {object.id: object.manifest for object in planned(rocky(SIMPLE, f"{ON_HUB}\nrole: {role}")).objects}
        for role in ("admin", "edit")
    )
    assert {str(id) for id in before.keys() ^ after.keys()} == {
        "RoleBinding rocky/tenantry-reconciler-admin",
        "RoleBinding rocky/tenantry-reconciler-edit",
    }
    assert all(before[id] == after[id] for id in before.keys() & after.keys())


def test_a_kubeconfig_secret_may_be_named_by_a_dns_subdomain() -> None:
    text = rocky(SIMPLE, ON_EDGE).replace(
        "{kamaji: {controlPlane: edge, namespace: kamaji}}",
        "{secret: {name: edge.eu.example.com, namespace: kamaji, key: kubeconfig.yaml}}",
    )
    for kind, name in (("Kustomization", "edge-rocky-web"), ("HelmRelease", "edge-rocky-baseline")):
        assert {"secretRef": {"name": "edge.eu.example.com", "key": "kubeconfig.yaml"}} == one(
            planned(text), kind, name
        ).manifest["spec"]["kubeConfig"]


def test_a_release_on_a_remote_makes_flux_wait_for_the_baseline_and_for_its_dependencies() -> None:
    apps = (
        "web: {helm: {source: charts, chart: c, version: 1.x}, dependsOn: [db]}\n"
        "db: {helm: {source: charts, chart: c, version: 1.x}}"
    )
    plan = planned(rocky(apps, BOTH))
    assert [{"name": "edge-rocky-baseline"}, {"name": "edge-rocky-db"}] == one(
        plan, "HelmRelease", "edge-rocky-web"
    ).manifest["spec"]["dependsOn"]
    assert [{"name": "db"}] == one(plan, "HelmRelease", "web").manifest["spec"]["dependsOn"]


def test_a_chart_from_git_is_built_anew_with_each_commit() -> None:
    plan = planned(
        rocky("web: {helm: {source: manifests, chart: ./charts/web, valuesFiles: [./charts/web/values.yaml]}}")
    )
    (chart,) = (object.manifest for object in plan.objects if object.id.kind == "HelmChart")
    assert {
        "chart": "./charts/web",
        "valuesFiles": ["./charts/web/values.yaml"],
        "reconcileStrategy": "Revision",
        "interval": "10m",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
    } == chart["spec"]


def test_an_add_on_with_a_namespace_of_its_own_makes_it_and_a_tenant_s_app_never_does() -> None:
    addon = one(planned(ADDONS), "HelmRelease", "edge-certs").manifest["spec"]
    tenant = one(
        planned(rocky("web: {helm: {source: charts, chart: c, version: 1.x}}")), "HelmRelease", "web"
    ).manifest["spec"]
    assert (True, "tenantry-system", "certs") == (
        addon["install"]["createNamespace"],
        addon["storageNamespace"],
        addon["targetNamespace"],
    )
    assert ("createNamespace" in tenant["install"], tenant["storageNamespace"], tenant["targetNamespace"]) == (
        False,
        "rocky",
        "rocky",
    )


def test_every_object_has_the_same_field_manager() -> None:
    """So a stack that has lost its state does not conflict with what it has made."""
    managers = [
        each.manifest["metadata"]["annotations"]["pulumi.com/patchFieldManager"]
        for each in planned(rocky(SIMPLE, BOTH)).objects
    ]
    assert set(managers) == {"tenantry"}


# --- dependencies -----------------------------------------------------------------------------------------------


def test_an_override_can_drop_a_dependency_where_it_is_not_placed() -> None:
    text = rocky(
        """\
db: {clusters: {names: [hub]}, kustomize: {source: manifests}}
web: {kustomize: {source: manifests}, dependsOn: [db], overrides: [{when: {clusters: {names: [edge]}}, dependsOn: []}]}
""",
        BOTH,
    )
    plan = planned(text)
    assert ([{"name": "db"}], None) == (
        one(plan, "Kustomization", "web").manifest["spec"].get("dependsOn"),
        one(plan, "Kustomization", "edge-rocky-web").manifest["spec"].get("dependsOn"),
    )


WAITING = (
    ADDONS
    + """\
tenants:
  rocky:
    clusters: {all: true}
    sources:
      manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      db: {kustomize: {source: manifests}}
      web: {kustomize: {source: manifests}, dependsOn: [platform/dns, db]}
      cache: {clusters: {names: [edge]}, helm: {source: charts, chart: c, version: 1.x}, dependsOn: [platform/certs]}
"""
)


@table(
    ("kind", "name", "expected", "addon"),
    [
        ("Kustomization", "web", [{"name": "dns", "namespace": "tenantry-system"}, {"name": "db"}], "dns"),
        ("Kustomization", "edge-rocky-web", [{"name": "edge-dns"}, {"name": "edge-rocky-db"}], "edge-dns"),
        ("HelmRelease", "edge-rocky-cache", [{"name": "edge-rocky-baseline"}, {"name": "edge-certs"}], "edge-certs"),
    ],
)
def test_an_app_waits_for_an_add_on_of_its_cluster(
    kind: str, name: str, expected: list[dict[str, str]], addon: str
) -> None:
    plan = planned(WAITING)
    app = one(plan, kind, name)
    assert expected == app.manifest["spec"]["dependsOn"]
    assert one(plan, kind, addon).id in app.depends_on


SHARED = WAITING.replace(
    "dev: {management: hub}", 'dev: {management: hub}\n  r1: {extends: dev, namespace: "{env}-{tenant}"}'
)


def test_an_add_on_of_another_environment_is_waited_for_by_flux_alone() -> None:
    plan = planned(SHARED.replace("environments: [dev]", "environments: [dev, r1]"), "r1")
    for name, addon in (("web", "dns"), ("edge-r1-rocky-web", "edge-dns")):
        app = one(plan, "Kustomization", name)
        assert app.manifest["spec"]["dependsOn"][0]["name"] == addon
        assert {addon} & {each.name for each in app.depends_on} == set()
    assert {"Kustomization kamaji/edge-dns", "Kustomization tenantry-system/dns"} & set(named(plan)) == set()


# --- names that are refused -------------------------------------------------------------------------------------


@table("name", ["default", "flux-system", "kube-public", "tenantry-system", "kamaji", "tenantry-platform"])
def test_a_tenant_can_not_take_a_namespace_of_the_cluster_or_the_platform_nor_the_platform_s_account(name: str) -> None:
    expected = told(
        f"tenants.yaml:9:3: error[reserved-namespace]: namespace '{name}' of tenant '{name}' is reserved for the"
        f" cluster or the platform",
        f"  at tenants.{name}",
        "  fix: rename the tenant, or change the environment's 'namespace'",
        "Found 1 error",
    )
    assert expected == problems(rocky(SIMPLE).replace("  rocky:\n", f"  {name}:\n"))


BOSS = FRAME.replace("kubeconfig: {kamaji", "platformServiceAccount: boss, kubeconfig: {kamaji").replace(
    "labels: {tier: hub}", "platformServiceAccount: boss"
)


def test_the_platform_s_account_is_reserved_by_the_name_it_has_in_this_fleet() -> None:
    rest = rocky(SIMPLE).removeprefix(FRAME)
    assert "error[reserved-namespace]: namespace 'boss'" in problems(BOSS + rest.replace("rocky:", "boss:", 1))
    assert named(planned(BOSS + rest.replace("rocky:", "tenantry-platform:", 1)))[0] == "Namespace tenantry-platform"


def test_a_namespace_template_takes_the_environment_its_variables_and_the_tenant() -> None:
    text = rocky(SIMPLE).replace(
        "management: hub", 'management: hub, namespace: "{env}-{team}-{tenant}", variables: {team: a}'
    )
    assert named(planned(text))[0] == "Namespace dev-a-rocky"


def test_a_release_name_that_is_written_has_53_characters_at_most() -> None:
    long = "a" * 54
    helm = "source: charts, chart: c, version: 1.x, releaseName"
    assert problems(rocky(f"db: {{helm: {{{helm}: {long}}}}}")) == told(
        f"tenants.yaml:15:18: error[name-too-long]: release name '{long}' has 54 characters, at most 53 are allowed",
        "  at tenants.rocky.apps.db.helm",
        "  fix: set a shorter 'releaseName'",
        "Found 1 error",
    )
    plan = planned(rocky(f"{long}: {{helm: {{{helm}: short}}}}"))
    assert one(plan, "HelmRelease", long).manifest["spec"]["releaseName"] == "short"


# --- apps that cannot be planned -------------------------------------------------------------------------------


SPARSE = "ref: {branch: main}, sparseCheckout: [./apps, ./charts/web/]"


def checking_out(app: str) -> str:
    return rocky(f"web: {{{app}}}").replace("ref: {branch: main}", SPARSE, 1)


@table(
    "app",
    [
        "kustomize: {source: manifests, path: ./apps}",
        "kustomize: {source: manifests, path: apps/web, components: [../../charts/web/x]}",
        "kustomize: {source: manifests, path: ./charts}",
        "kustomize: {source: manifests, path: ./apps, components: [../x], ignoreMissingComponents: true}",
        "kustomize: {source: manifests}",
        "helm: {source: manifests, chart: ./charts/web, valuesFiles: [./apps/values.yaml]}",
    ],
)
def test_what_a_source_checks_out_is_taken(app: str) -> None:
    assert planned(checking_out(app)).objects


def test_what_a_source_includes_may_have_the_rest() -> None:
    include = "{repository: {name: manifests}, toPath: ./web}"
    app = "kustomize: {source: more, path: ./web}"
    more = f"more: {{git: {{url: 'https://git.example.com/rocky/more', {SPARSE}, include: [{include}]}}}}"
    assert planned(rocky(f"web: {{{app}}}").replace("      manifests:", f"      {more}\n      manifests:", 1)).objects


def test_a_user_in_a_url_is_no_password() -> None:
    plan = planned(rocky(SIMPLE).replace("https://git.example.com/rocky", "'https://me@git.example.com:443/rocky'"))
    assert one(plan, "GitRepository", "manifests").manifest["spec"]["url"] == "https://me@git.example.com:443/rocky"


def test_an_unknown_source_is_reported_once() -> None:
    assert problems(rocky("web: {kustomize: {source: nope}}", BOTH)).endswith("Found 1 error\n")


def test_an_environment_that_is_not_declared_is_refused_with_the_closest() -> None:
    with pytest.raises(Refused) as caught:
        planned(FRAME, "def")
    assert str(caught.value) == "tenants.yaml declares no environment 'def' (declared: dev)\n  fix: name 'dev'"
    with pytest.raises(Refused) as caught:
        planned(FRAME, "x")
    assert str(caught.value).endswith("(declared: dev)\n  fix: name one of these")


def test_environments_are_planned_in_the_order_of_the_file() -> None:
    text = FRAME.replace("clusters:\n", "  a: {management: hub-2}\nclusters:\n  hub-2: {environments: [a]}\n", 1)
    assert list(plan_all(fleet(text))) == ["dev", "a"]


@table(
    ("source", "app", "kind", "name"),
    [
        (
            "git: {url: https://git.example.com/x, ref: {tag: v1}}",
            "kustomize: {source: SOURCE}",
            "GitRepository",
            "rocky.SOURCE.",
        ),
        (
            "helm: {url: https://charts.example.com}",
            "helm: {source: SOURCE, chart: c, version: 1.x}",
            "HelmRepository",
            "rocky.SOURCE.",
        ),
        (
            "git: {url: https://git.example.com/x, ref: {tag: v1}}",
            "helm: {source: manifests, chart: ./SOURCE}",
            "HelmChart",
            "rocky.manifests.SOURCE.",
        ),
    ],
)
def test_names_of_sources_and_charts_may_be_longer_than_a_label_because_flux_makes_none_of_them(
    source: str, app: str, kind: str, name: str
) -> None:
    long = "s" * 63
    text = rocky(f"web: {{{app.replace('SOURCE', long)}}}", ON_EDGE)
    plan = planned(text.replace("    sources:\n", f"    sources:\n      {long}: {{{source}}}\n"))
    found = [
        each.id
        for each in plan.objects
        if each.id.name.startswith(name.replace("SOURCE", long)) and each.id.kind == kind
    ]
    assert [(each.kind, each.namespace) for each in found] == [(kind, "kamaji")]


def test_the_name_of_a_chart_has_230_characters_at_most() -> None:
    def text(count: int) -> str:
        return rocky(f"web: {{helm: {{source: manifests, chart: ./{'c' * count}}}}}", ON_EDGE)

    (longest,) = (object.id.name for object in planned(text(205)).objects if object.id.name.count("c") > 150)
    assert len(longest) == 230
    name = f"rocky.manifests.{'c' * 206}.45701c04"
    assert problems(text(206)) == told(
        f"tenants.yaml:15:12: error[name-too-long]: HelmChart name '{name}' has 231 characters, at most 230 are allowed",
        "  at tenants.rocky.apps.web",
        "  fix: use shorter names",
        "Found 1 error",
    )


def test_flux_objects_have_the_metadata_that_the_author_gives_them() -> None:
    text = rocky(
        """
        web:
          kustomize: {source: manifests}
          metadata: {labels: {a.com/where: "{cluster}"}, annotations: {a.com/x: y}}
          overrides: [{when: {clusters: {names: [edge]}}, metadata: {annotations: {a.com/x: null, a.com/z: "1"}}}]
        """,
        BOTH,
    ).replace("ref: {branch: main}}}", "ref: {branch: main}}, metadata: {labels: {a.com/b: c}}}")
    plan = planned(text)
    for name, cluster, wanted in (("web", "hub", {"a.com/x": "y"}), ("edge-rocky-web", "edge", {"a.com/z": "1"})):
        metadata = one(plan, "Kustomization", name).manifest["metadata"]
        assert metadata["labels"]["a.com/where"] == cluster
        assert {key: each for key, each in metadata["annotations"].items() if key.startswith("a.com/")} == wanted
    assert one(plan, "GitRepository", "manifests").manifest["metadata"]["labels"]["a.com/b"] == "c"


def test_flux_objects_are_for_the_shard_of_their_cluster() -> None:
    text = rocky("web: {kustomize: {source: manifests}}\ncache: {helm: {source: charts, chart: c, version: 1.x}}", BOTH)
    text = text.replace("labels: {tier: edge}", "shard: edge, labels: {tier: edge}")

    def shards(text: str) -> set[tuple[str, str | None]]:
        flux = [each.manifest for each in planned(text).objects if "toolkit.fluxcd.io" in each.id.api_version]
        found = ((each["metadata"]["labels"].get("tenantry/cluster", ""), each["metadata"]["labels"]) for each in flux)
        return {(cluster, labels.get("sharding.fluxcd.io/key")) for cluster, labels in found}

    assert shards(text) == {("hub", None), ("edge", "edge"), ("", "edge")}
    others = [each for each in planned(text).objects if "toolkit.fluxcd.io" not in each.id.api_version]
    assert all("sharding.fluxcd.io/key" not in each.manifest["metadata"]["labels"] for each in others)
