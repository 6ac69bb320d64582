"""What does not get on by itself; whoever waits for it is told where, why, and what to do.

Two things do not. What an earlier run deleted and Flux cannot clean up: Pulumi gives up waiting after ten minutes, and its
error names the object only. And what helm-controller has installed without keeping that it has: up to 1.6 it loses its note
if the API server goes away at that moment, finds nothing to do ever after, and never calls the release ready.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenantry.cluster.inventory import APP_KINDS
from tenantry.cluster.status import condition, ready_message
from tenantry.kube.objects import Manifest, object_id
from tenantry.plan.objects.scope import APP_LABEL, CLUSTER_LABEL, TENANT_LABEL


def stuck(manifests: Iterable[Manifest]) -> Iterator[str]:
    """A message, with a fix in a second line, for each Kustomization or HelmRelease of the fleet that does not get on."""
    for manifest in manifests:
        cluster = (manifest["metadata"].get("labels") or {}).get(CLUSTER_LABEL)
        if manifest["kind"] not in APP_KINDS or not cluster:
            continue
        if "deletionTimestamp" in manifest["metadata"]:
            yield _leaving(manifest, cluster)
        elif _is_lost(manifest):
            yield _lost(manifest, cluster)


def _leaving(manifest: Manifest, cluster: str) -> str:
    since, said = manifest["metadata"]["deletionTimestamp"], ready_message(manifest)
    wait = "it goes by itself once Flux can clean up; then run `pulumi up` again"
    give_up = (
        f". If '{cluster}' is gone for good: put back into the file what was removed, set 'state: decommissioned' on '{cluster}',"
        " run `pulumi up --refresh`, and remove it after that"
    )
    remote = "kubeConfig" in (manifest.get("spec") or {})
    return (
        f"{_in_words(manifest, cluster)} has been in deletion since {since}, until Flux has cleaned up on"
        f" {cluster}{f': {said}' if said else ''}\n  fix: {wait}{give_up if remote else ''}"
    )


def _is_lost(manifest: Manifest) -> bool:
    """Whether a release is installed as it should be, and nothing says so or is on its way to."""
    status = manifest.get("status") or {}
    last: Mapping[str, Any] = next(iter(status.get("history") or ()), {})
    return (
        last.get("status") == "deployed"
        and status.get("observedGeneration") == manifest["metadata"].get("generation")
        and condition(status, "Ready").get("reason") == "Progressing"
        and not condition(status, "Reconciling")
        and not condition(status, "Released")
        and not (manifest.get("spec") or {}).get("suspend")
    )


def _lost(manifest: Manifest, cluster: str) -> str:
    metadata = manifest["metadata"]
    return (
        f"{_in_words(manifest, cluster)} is installed, but Flux has lost its note of that: it never gets ready by itself, and what"
        f" depends on it waits\n  fix: flux reconcile helmrelease {metadata['name']} --namespace {metadata['namespace']} --force"
    )


def _in_words(manifest: Manifest, cluster: str) -> str:
    labels = manifest["metadata"]["labels"]
    tenant, app = labels.get(TENANT_LABEL), labels.get(APP_LABEL)
    what = f"app '{app}'" if app else "the baseline"
    owner = f"{what} of tenant '{tenant}'" if tenant else f"add-on '{app}'"
    return f"{object_id(manifest)} ({owner} on {cluster})"
