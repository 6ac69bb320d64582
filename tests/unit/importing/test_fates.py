"""What becomes of each object that was read: in the file, applied by an app of the file, no longer needed, or left where it is."""

from __future__ import annotations

from typing import Any

import yaml

from tenantry.importing.documents import document_of
from tenantry.importing.drafting import drafted, text_of
from tenantry.importing.proof import Report, report_of
from tenantry.importing.resources import Reading, inventory
from tenantry.kube.objects import Manifest
from tenantry.source.parse import parse

KUSTOMIZE = "kustomize.toolkit.fluxcd.io"
SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: fleet, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/fleet", ref: {branch: main}}
"""


def reported(**objects: list[Manifest]) -> Report:
    """The report on the objects of each environment, whose management cluster has its name."""
    found = {name: [document_of(each, "x.yaml", "x.yaml") for each in there] for name, there in objects.items()}
    read = inventory({name: Reading(own) for name, own in found.items()}, {name: name for name in objects})
    draft = drafted(read)
    return report_of(read, draft, text_of(draft.data), "tenants.yaml")


def objects(text: str, applied_by: str = "") -> list[Manifest]:
    """The objects in a text. applied_by: the namespace and the name of the Kustomization that applies them."""
    found = [each for each in yaml.safe_load_all(text) if each]
    namespace, _, name = applied_by.partition("/")
    for each in found if applied_by else ():
        labels = {f"{KUSTOMIZE}/name": name, f"{KUSTOMIZE}/namespace": namespace}
        each["metadata"]["labels"] = {**each["metadata"].get("labels", {}), **labels}
    return found


def leads(name: str, applied_by: str = "", **spec: Any) -> list[Manifest]:
    """A Kustomization of the platform."""
    source = {"kind": "GitRepository", "name": "fleet"}
    text = yaml.safe_dump(
        {
            "apiVersion": f"{KUSTOMIZE}/v1",
            "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "flux-system"},
            "spec": {"interval": "5m", "path": f"./{name}", "prune": True, "sourceRef": source, **spec},
        }
    )
    return objects(text, applied_by)


def fates(report: Report) -> dict[str, str]:
    """What becomes of each object, by its kind and name."""
    return {f"{each.id.kind} {each.id.name}": str(each.outcome) for each in report.objects}


def written(report: Report) -> dict[str, Any]:
    """The data of the written file."""
    return parse(report.text.encode(), "tenants.yaml").data


TOOL = """\
apiVersion: v1
kind: Namespace
metadata: {name: nginx}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: flux-system}
spec: {interval: 1h, url: "https://charts.example.com"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nginx, namespace: nginx}
spec:
  interval: 5m
  chart: {spec: {chart: nginx, version: 1.x, sourceRef: {kind: HelmRepository, name: charts, namespace: flux-system}}}
"""
CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: nginx}\ndata: {a: b}\n"


def test_a_source_beside_another_namespace_is_planned_beside_the_app_and_what_applied_both_is_not_needed() -> None:
    report = reported(prod=[*objects(SOURCE), *leads("infra"), *objects(TOOL, "flux-system/infra")])
    assert fates(report) == {
        "GitRepository fleet": "left",
        "Kustomization infra": "left",
        "Namespace nginx": "left",
        "HelmRepository charts": "different",
        "HelmRelease nginx": "different",
    }


def test_what_an_addon_goes_on_applying_is_told_as_that_also_by_way_of_another() -> None:
    inner = [*leads("tools", "flux-system/infra"), *objects(TOOL + "---\n" + CONFIG, "flux-system/tools")]
    more = objects(CONFIG.replace("settings, namespace: nginx", "more, namespace: flux-system"), "flux-system/infra")
    report = reported(prod=[*objects(SOURCE), *leads("infra"), *inner, *more])
    assert fates(report) == {
        "GitRepository fleet": "equal",
        "Kustomization infra": "different",
        "Kustomization tools": "left",
        "Namespace nginx": "left",
        "HelmRepository charts": "left",
        "HelmRelease nginx": "left",
        "ConfigMap settings": "left",
        "ConfigMap more": "left",
    }
    counts = report.counts
    assert (counts["read"], report.expressed, counts["left"]) == (8, 2, 6)


ELSEWHERE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {name: charts, namespace: config}
spec: {interval: 1h, url: "https://charts.example.com"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: cache-values-4mgd6fm276, namespace: config}
data: {values.yaml: "usePassword: false\\n"}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cache, namespace: config}
spec:
  interval: 5m
  releaseName: cache
  targetNamespace: cache
  chart: {spec: {chart: redis, version: 1.x, sourceRef: {kind: HelmRepository, name: charts}}}
  valuesFrom: [{kind: ConfigMap, name: cache-values-4mgd6fm276}]
---
apiVersion: v1
kind: Namespace
metadata: {name: cache}
"""


def test_a_namespace_whose_releases_all_install_elsewhere_is_the_platforms_and_its_values_are_named() -> None:
    report = reported(prod=[*objects(SOURCE), *leads("infra"), *objects(ELSEWHERE, "flux-system/infra")])
    assert fates(report) == {
        "GitRepository fleet": "left",
        "Kustomization infra": "left",
        "HelmRepository charts": "equal",
        "ConfigMap cache-values-4mgd6fm276": "left",
        "HelmRelease cache": "different",
        "Namespace cache": "left",
    }
    platform = written(report)["platform"]
    assert platform["configs"] == {"cache-values-4mgd6fm276": {"existing": True}}
    assert (platform["addons"]["cache"]["namespace"], platform["addons"]["cache"]["helm"]["targetNamespace"]) == (
        "config",
        "cache",
    )


OWN_ACCOUNT = """\
apiVersion: v1
kind: Namespace
metadata: {name: monitoring}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: flux, namespace: monitoring}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: flux-monitoring}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: flux, namespace: monitoring}]
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: infra, namespace: monitoring}
spec: {interval: 5m, url: "oci://registry.example.com/monitoring", ref: {tag: latest}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: controllers, namespace: monitoring}
spec:
  interval: 5m
  path: ./
  prune: true
  targetNamespace: monitoring
  serviceAccountName: flux
  sourceRef: {kind: OCIRepository, name: infra}
"""


def test_a_namespace_with_an_account_of_its_own_is_a_tenants_whatever_its_name_is() -> None:
    report = reported(prod=[*objects(SOURCE), *leads("tenants"), *objects(OWN_ACCOUNT, "flux-system/tenants")])
    told = fates(report)
    assert {
        key: told[key] for key in ("Kustomization tenants", "OCIRepository infra", "ClusterRoleBinding flux-monitoring")
    } == {
        "Kustomization tenants": "left",
        "OCIRepository infra": "equal",
        "ClusterRoleBinding flux-monitoring": "different",
    }
    tenant = written(report)["tenants"]["monitoring"]
    assert tenant["clusterRoles"] == {"flux-monitoring": {"role": "cluster-admin"}}
    assert tenant["serviceAccount"] == {"name": "flux"}
    assert "monitoring" not in written(report)["platform"]["reservedNamespaces"]
    without = OWN_ACCOUNT.replace(
        "kind: ServiceAccount\nmetadata: {name: flux,", "kind: ServiceAccount\nmetadata: {name: other,"
    )
    assert "tenants" not in written(reported(prod=[*objects(SOURCE), *objects(without)]))


AUTOMATED = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: nginx-chart, namespace: flux-system}
spec: {interval: 5m, url: "oci://registry.example.com/nginx", ref: {tag: 1.0.0}}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImageRepository
metadata: {name: nginx-chart, namespace: flux-system}
spec: {interval: 5m, image: registry.example.com/nginx}
---
apiVersion: image.toolkit.fluxcd.io/v1
kind: ImagePolicy
metadata: {name: nginx-chart, namespace: flux-system}
spec: {imageRepositoryRef: {name: nginx-chart}, policy: {semver: {range: 1.x}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nginx, namespace: nginx}
spec: {interval: 5m, chartRef: {kind: OCIRepository, name: nginx-chart, namespace: flux-system}}
"""


def test_what_applies_image_automation_goes_on_applying_it_with_all_the_rest() -> None:
    report = reported(prod=[*objects(SOURCE), *leads("infra"), *objects(AUTOMATED, "flux-system/infra")])
    told = fates(report)
    assert told.pop("Kustomization infra") == "different"
    assert told.pop("GitRepository fleet") == "equal"
    assert set(told.values()) == {"left"}
    alone = fates(reported(prod=[*objects(SOURCE), *leads("web"), *objects(AUTOMATED)]))
    assert (alone["HelmRelease nginx"], alone["ImagePolicy nginx-chart"]) == ("different", "inexpressible")


def test_an_app_of_a_source_that_flux_refuses_is_left_with_it() -> None:
    report = reported(
        prod=[
            *objects(SOURCE),
            *leads("web"),
            *objects(SOURCE.replace("https://", "REPO_").replace("fleet", "bad", 1)),
            *leads("bad", sourceRef={"kind": "GitRepository", "name": "bad"}),
        ]
    )
    assert {key: fate for key, fate in fates(report).items() if key.endswith("bad")} == {
        "GitRepository bad": "inexpressible",
        "Kustomization bad": "inexpressible",
    }


def test_what_goes_on_must_not_wait_for_what_is_not_needed_any_more() -> None:
    refused = leads("checks", components=["../../out"], dependsOn=[{"name": "infra"}, {"name": "other"}])
    report = reported(prod=[*objects(SOURCE), *leads("infra"), *objects(TOOL, "flux-system/infra"), *refused])
    assert (fates(report)["Kustomization infra"], fates(report)["Kustomization checks"]) == (
        "left",
        "inexpressible",
    )
    reasons = [reason for each in report.objects for reason in each.reasons]
    told = [(each.text, each.fix) for each in reasons if each.field == "spec.dependsOn"]
    assert told == [
        (
            "it waits for Kustomization flux-system/infra, which is not needed any more",
            "take this out of its 'dependsOn' before you remove that one",
        )
    ]


CAPSULE = """\
apiVersion: v1
kind: Namespace
metadata: {name: rocky, labels: {toolkit.fluxcd.io/tenant: rocky}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: gitops, namespace: rocky}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: gitops, namespace: rocky}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: gitops, namespace: rocky}]
---
apiVersion: capsule.clastix.io/v1beta2
kind: Tenant
metadata: {name: rocky}
spec: {owners: [{kind: ServiceAccount, name: "system:serviceaccount:rocky:gitops"}]}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: rocky, namespace: rocky}
spec: {interval: 1m, url: "https://git.example.com/rocky", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: rocky, namespace: rocky}
spec:
  interval: 5m
  path: ./prod
  prune: true
  kubeConfig: {secretRef: {name: gitops-kubeconfig, key: kubeconfig}}
  sourceRef: {kind: GitRepository, name: rocky}
"""


def test_a_kubeconfig_of_capsules_proxy_is_no_other_cluster() -> None:
    report = reported(prod=[*objects(SOURCE), *leads("tenants"), *objects(CAPSULE, "flux-system/tenants")])
    told = fates(report)
    assert {key: told[key] for key in ("ServiceAccount gitops", "GitRepository rocky", "Kustomization rocky")} == {
        "ServiceAccount gitops": "equal",
        "GitRepository rocky": "equal",
        "Kustomization rocky": "different",
    }
    assert list(written(report)["clusters"]) == ["prod"]
    tenant = written(report)["tenants"]["rocky"]
    assert (tenant["serviceAccount"], tenant["role"]) == ({"name": "gitops"}, "cluster-admin")
    # Flux goes on using the kubeconfig, and the owner of a Tenant may have made namespaces of its own.
    app = next(each for each in report.objects if (each.id.kind, each.id.name) == ("Kustomization", "rocky"))
    assert ("spec", "kubeConfig") in [each.path for each in app.held]
    assert tenant["apps"]["rocky"]["state"] == "paused"
    without = CAPSULE.replace("rocky:gitops", "rocky:other")
    assert "gitops" in written(reported(prod=[*objects(SOURCE), *objects(without)]))["clusters"]


def test_an_app_with_rights_in_all_namespaces_is_not_moved_into_one() -> None:
    text = OWN_ACCOUNT.replace("  targetNamespace: monitoring\n", "")
    apps = written(reported(prod=[*objects(SOURCE), *objects(text)]))["tenants"]["monitoring"]["apps"]
    assert apps["controllers"]["state"] == "paused"
    text = OWN_ACCOUNT.replace("name: flux, namespace: monitoring}]", "name: other, namespace: monitoring}]").replace(
        "  targetNamespace: monitoring\n", ""
    )
    apps = written(reported(prod=[*objects(SOURCE), *objects(text)]))["tenants"]["monitoring"]["apps"]
    assert "state" not in apps["controllers"]
