"""Commands of kubectl and flux, as a shell takes them."""

from __future__ import annotations

from tenantry.cluster.kubectl import mark, resume, suspend
from tenantry.kube.objects import ObjectId
from tests.table import table


def of_flux(kind: str) -> ObjectId:
    return ObjectId("x.toolkit.fluxcd.io/v1", kind, "rocky", "web")


@table(
    ("kind", "words"),
    [
        ("Kustomization", "kustomization"),
        ("HelmRelease", "helmrelease"),
        ("GitRepository", "source git"),
        ("OCIRepository", "source oci"),
        ("HelmRepository", "source helm"),
        ("HelmChart", "source chart"),
        ("Bucket", "source bucket"),
        ("Alert", "alert"),
        ("Receiver", "receiver"),
    ],
)
def test_flux_has_words_of_its_own_for_some_kinds(kind: str, words: str) -> None:
    assert suspend(of_flux(kind)) == f"flux suspend {words} web --namespace rocky"
    assert resume(of_flux(kind)) == f"flux resume {words} web --namespace rocky"


def test_a_marker_gets_another_name() -> None:
    assert mark("tenantry-system", "edge", "--context", "NAME") == (
        "kubectl patch configmap tenantry --namespace tenantry-system --context NAME --type merge"
        """ --patch '{"data": {"cluster": "edge"}}'"""
    )
