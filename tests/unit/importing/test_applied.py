"""Objects that carry the labels of Flux's controllers, as they are read from live clusters."""

from __future__ import annotations

from typing import Any

from tenantry.importing.leaving import expressible
from tenantry.importing.model import Read
from tenantry.importing.world import Notes, Thing

KUSTOMIZE, HELM = "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io"


def thing(kind: str, namespace: str, name: str, owner: tuple[str, str, str] | None = None) -> Thing:
    labels = {f"{owner[0]}/namespace": owner[1], f"{owner[0]}/name": owner[2]} if owner else {}
    metadata: dict[str, Any] = {"name": name, "labels": labels, **({"namespace": namespace} if namespace else {})}
    return Thing(Read("dev", {"apiVersion": "v1", "kind": kind, "metadata": metadata}, "live"))


def sorted_out(*things: Thing) -> tuple[list[str], dict[str, str]]:
    notes = Notes()
    kept = [each.name for each in expressible(things, notes)]
    return kept, {each.read.manifest["metadata"]["name"]: each.reason for each in notes.left_over}


PARENT = thing("Kustomization", "flux-system", "tenants")
SPACE = thing("Namespace", "", "rocky", (KUSTOMIZE, "flux-system", "tenants"))
APP = thing("Kustomization", "rocky", "app", (KUSTOMIZE, "flux-system", "tenants"))


def test_what_applies_tenants_from_outside_hands_them_over() -> None:
    kept, left = sorted_out(PARENT, SPACE, APP)
    assert kept == ["rocky", "app"]
    assert left == {"tenants": "it applies objects that Tenantry takes over"}


def test_what_an_app_of_a_tenant_applies_stays_its_own() -> None:
    release = thing("HelmRelease", "rocky", "web", (KUSTOMIZE, "rocky", "app"))
    account = thing("ServiceAccount", "rocky", "web-account", (HELM, "rocky", "web"))
    kept, left = sorted_out(APP, release, account)
    assert kept == ["app"]
    assert left == {
        "web": "Kustomization rocky/app applies it",
        "web-account": "HelmRelease rocky/web applies it",
    }


def test_a_generated_chart_goes_by_itself() -> None:
    release, chart = (
        thing("HelmRelease", "rocky", "web"),
        thing("HelmChart", "rocky", "rocky-web", (HELM, "rocky", "web")),
    )
    kept, left = sorted_out(release, chart)
    assert kept == ["web"]
    assert left == {"rocky-web": "helm-controller made it for 'spec.chart' of HelmRelease rocky/web"}


def test_labels_of_an_owner_that_is_gone_mean_nothing() -> None:
    assert sorted_out(SPACE, APP) == (["rocky", "app"], {})


def test_fluxs_own_bootstrap_applies_itself_and_everything_else() -> None:
    bootstrap = thing("Kustomization", "flux-system", "flux-system", (KUSTOMIZE, "flux-system", "flux-system"))
    add_on = thing("Kustomization", "flux-system", "ingress", (KUSTOMIZE, "flux-system", "flux-system"))
    assert sorted_out(bootstrap, add_on)[0] == ["flux-system", "ingress"]
