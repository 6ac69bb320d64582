"""Sources of every kind, what apps take from them, and the Secrets and ConfigMaps they name."""

from __future__ import annotations

import pytest

from tenantry.kube.objects import KubeObject, SecretValues
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.messages.text import format_invalid
from tenantry.source.parse import parse
from tests.table import table

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters:
  hub: {environments: [dev]}
  edge: {environments: [dev], kubeconfig: {secret: {name: KUBECONFIG, namespace: clusters, key: value}}}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {all: true}
    credentials: {git: {keys: [password, username]}, pull: {registry: ghcr.io}, ca: {existing: true}}
    configs: {settings: {data: {WHERE: "{cluster}"}}}
    sources:
      chart: {oci: {url: "oci://ghcr.io/rocky/cache", ref: {tag: v1}}, credentials: pull}
      manifests: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}, credentials: git}
      blobs: {bucket: {bucketName: rocky, endpoint: s3.example.com}}
      charts: {helm: {url: "https://charts.example.com"}}
    apps:
"""


def text(*apps: str, kubeconfig: str = "edge-kubeconfig") -> str:
    return FLEET.replace("KUBECONFIG", kubeconfig) + "".join(f"      {app}\n" for app in apps)


def objects(*apps: str) -> dict[str, KubeObject]:
    plan = plan_all(fleet_of(parse(text(*apps).encode(), "tenants.yaml")))["dev"]
    return {str(each.id): each for each in plan.objects}


def told(fleet: str) -> str:
    with pytest.raises(InvalidFleet) as caught:
        plan_all(fleet_of(parse(fleet.encode(), "tenants.yaml")))
    return format_invalid(caught.value)


def test_a_chart_in_a_registry_is_taken_as_a_whole_and_as_it_is() -> None:
    planned = objects("cache: {helm: {source: chart}}")
    assert planned["OCIRepository rocky/chart"].manifest["spec"]["layerSelector"] == {
        "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
        "operation": "copy",
    }
    assert planned["HelmRelease rocky/cache"].manifest["spec"]["chartRef"] == {"kind": "OCIRepository", "name": "chart"}
    assert not any(each.startswith("HelmChart rocky/") for each in planned)


def test_manifests_in_a_registry_are_unpacked() -> None:
    assert (
        "layerSelector"
        not in objects("web: {kustomize: {source: chart}}")["OCIRepository rocky/chart"].manifest["spec"]
    )


@table("key", ["chart: cache", "version: 1.x", "valuesFiles: [a.yaml]", "verify: {provider: cosign}"])
def test_a_chart_that_is_a_source_leaves_nothing_to_choose(key: str) -> None:
    name = key.partition(":")[0]
    message = told(text(f"cache: {{helm: {{source: chart, {key}}}, clusters: {{names: [hub]}}}}"))
    assert f"error[no-choice-of-chart]: the whole source is the chart, so '{name}' does not apply\n" in message
    assert (
        f"  fix: remove '{name}'; 'ref' and 'verify' of the source say which chart is taken\nFound 1 error" in message
    )


def test_a_chart_in_a_bucket_is_a_folder() -> None:
    planned = objects("jobs: {helm: {source: blobs, chart: ./jobs}}")
    (chart,) = (each for name, each in planned.items() if name.startswith("HelmChart rocky/"))
    assert chart.manifest["spec"]["reconcileStrategy"] == "Revision"
    assert chart.manifest["spec"]["sourceRef"] == {"kind": "Bucket", "name": "blobs"}


def test_keys_of_the_chart_go_to_the_chart() -> None:
    planned = objects("q: {helm: {source: charts, chart: q, version: 1.x, ignoreMissingValuesFiles: true}}")
    (chart,) = (each for name, each in planned.items() if name.startswith("HelmChart rocky/"))
    assert chart.manifest["spec"]["ignoreMissingValuesFiles"] is True
    assert "ignoreMissingValuesFiles" not in planned["HelmRelease rocky/q"].manifest["spec"]


def test_a_secret_has_its_tenants_name_for_it_on_the_management_cluster_and_an_unmistakable_one_beside_kubeconfigs() -> (
    None
):
    planned = objects("web: {kustomize: {source: manifests}}")
    for identity, source in (
        ("rocky/git", "rocky/manifests"),
        ("clusters/rocky.git", "clusters/rocky.manifests."),
    ):
        secret = planned[f"Secret {identity}"]
        assert secret.secret == SecretValues(("credentials", "rocky", "git"), ("password", "username"))
        assert "data" not in secret.manifest
        assert secret.manifest["metadata"]["labels"]["reconcile.fluxcd.io/watch"] == "Enabled"
        (reader,) = (each for name, each in planned.items() if name.startswith(f"GitRepository {source}"))
        assert reader.manifest["spec"]["secretRef"] == {"name": identity.partition("/")[2]}
        assert secret.id in reader.depends_on


def test_a_config_holds_what_the_cluster_makes_of_it() -> None:
    planned = objects(
        "web: {kustomize: {source: blobs, postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}}}"
    )
    assert planned["ConfigMap rocky/settings"].manifest["data"] == {"WHERE": "hub"}
    assert planned["ConfigMap clusters/edge.rocky.settings"].manifest["data"] == {"WHERE": "edge"}


def test_what_is_not_used_is_not_made() -> None:
    assert not any(each.startswith(("Secret", "ConfigMap")) for each in objects("web: {kustomize: {source: blobs}}"))


def test_what_exists_is_named_and_not_made() -> None:
    planned = objects("q: {helm: {source: charts, chart: q, version: 1.x, valuesFrom: [{kind: Secret, name: ca}]}}")
    assert planned["HelmRelease clusters/edge-rocky-q"].manifest["spec"]["valuesFrom"] == [
        {"kind": "Secret", "name": "rocky.ca"}
    ]
    assert not any(each.startswith("Secret") for each in planned)


def test_sources_may_include_others_but_not_each_other() -> None:
    plain = 'git: {url: "https://git.example.com/rocky", ref: {branch: main}}'
    including = plain.replace("main}", "main}, include: [{repository: {name: shared}}]")
    extra = f"      shared: {{{plain}}}\n    apps:\n"
    fleet = text("web: {kustomize: {source: manifests}}").replace(plain, including).replace("    apps:\n", extra)
    plan = plan_all(fleet_of(parse(fleet.encode(), "tenants.yaml")))["dev"]
    (source,) = (each for each in plan.objects if str(each.id).startswith("GitRepository clusters/rocky.manifests."))
    (included,) = (each.id for each in plan.objects if str(each.id).startswith("GitRepository clusters/rocky.shared."))
    assert source.manifest["spec"]["include"] == [{"toPath": "shared", "repository": {"name": included.name}}]
    assert included in source.depends_on
    circle = fleet.replace(
        f"shared: {{{plain}}}", f"shared: {{{including.replace('name: shared', 'name: manifests')}}}"
    )
    assert "error[dependency-cycle]: sources include each other: manifests -> shared -> manifests\n" in told(circle)
