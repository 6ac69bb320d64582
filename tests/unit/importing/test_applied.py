"""Objects that carry the labels of Flux's controllers, as they are read from live clusters."""

from __future__ import annotations

from typing import Any

from tenantry.importing.leaving import taken_over
from tenantry.importing.resources import Resource

KUSTOMIZE, HELM = "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"


def resource(kind: str, namespace: str, name: str, owner: tuple[str, str, str] | None = None) -> Resource:
    labels = {f"{owner[0]}/namespace": owner[1], f"{owner[0]}/name": owner[2]} if owner else {}
    metadata: dict[str, Any] = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {})}
    return Resource("dev", {"apiVersion": "v1", "kind": kind, "metadata": metadata}, "live")


def sorted_out(*resources: Resource) -> tuple[list[str], dict[str, str]]:
    fresh = [Resource(each.environment, each.manifest, each.origin) for each in resources]
    kept = [each.name for each in taken_over("dev", fresh)]
    return kept, {each.name: reason.text for each in fresh for reason in each.reasons}


PARENT = resource("Kustomization", "flux-system", "tenants")
SPACE = resource("Namespace", "", "rocky", (KUSTOMIZE, "flux-system", "tenants"))
SPACE.manifest["metadata"]["labels"]["toolkit.fluxcd.io/tenant"] = "rocky"  # type: ignore[index]
APP = resource("Kustomization", "rocky", "app", (KUSTOMIZE, "flux-system", "tenants"))


def test_what_applies_tenants_from_outside_hands_them_over() -> None:
    kept, left = sorted_out(PARENT, SPACE, APP)
    assert kept == ["rocky", "app"]
    assert left == {"tenants": "it applies objects that Tenantry takes over"}


def test_what_an_app_of_a_tenant_applies_stays_its_own() -> None:
    release = resource("HelmRelease", "rocky", "web", (KUSTOMIZE, "rocky", "app"))
    account = resource("ServiceAccount", "rocky", "web-account", (HELM, "rocky", "web"))
    kept, left = sorted_out(APP, release, account)
    assert kept == ["app"]
    assert left == {
        "web": "Kustomization rocky/app applies it",
        "web-account": "HelmRelease rocky/web applies it",
    }


def test_a_generated_chart_goes_by_itself() -> None:
    release, chart = (
        resource("HelmRelease", "rocky", "web"),
        resource("HelmChart", "rocky", "rocky-web", (HELM, "rocky", "web")),
    )
    kept, left = sorted_out(release, chart)
    assert kept == ["web"]
    assert left == {"rocky-web": "HelmRelease rocky/web applies it"}


def test_labels_of_an_owner_that_is_gone_mean_nothing() -> None:
    assert sorted_out(SPACE, APP) == (["rocky", "app"], {})


def test_fluxs_own_bootstrap_applies_itself_and_everything_else() -> None:
    bootstrap = resource("Kustomization", "flux-system", "flux-system", (KUSTOMIZE, "flux-system", "flux-system"))
    add_on = resource("Kustomization", "flux-system", "ingress", (KUSTOMIZE, "flux-system", "flux-system"))
    assert sorted_out(bootstrap, add_on)[0] == ["flux-system", "ingress"]


def test_what_tenantry_manages_stays_with_its_file() -> None:
    app = resource("Kustomization", "rocky", "web", (KUSTOMIZE, "flux-system", "tenants"))
    app.manifest["metadata"]["labels"]["tenantry/environment"] = "dev"  # type: ignore[index]
    kept, left = sorted_out(PARENT, app)
    assert kept == []
    assert left == {
        "tenants": "it applies objects that Tenantry takes over",
        "web": "Tenantry manages it already, by the file that declares it",
    }
