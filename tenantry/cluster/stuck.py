"""Kustomizations and HelmReleases that cannot make progress by themselves, each as a message with a fix on a second line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.cluster.inventory import APP_KINDS
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, labels_of, object_id, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.text import one_line
from tenantry.plan.objects.scope import APP_LABEL, TENANT_LABEL
from tenantry.rollout.flux_status import condition, message_of, ready_of


def stuck(manifests: Iterable[Manifest], places: Places | None) -> Iterator[str]:
    """A message, with a fix on a second line, for each stuck Kustomization or HelmRelease that is where the fleet puts it.

    places: None: not known, so that the labels of all objects are believed.
    """
    for manifest in manifests:
        id, owner = readable_id(manifest), whose(manifest)
        if id is None or id.kind not in APP_KINDS or not owner.cluster:
            continue
        if places is not None and not places.puts(manifest, owner):
            continue
        if since := manifest["metadata"].get("deletionTimestamp"):
            yield _deleting(manifest, owner.cluster, since)
        elif _lost_track(manifest):
            yield _lost_release(manifest, owner.cluster)


def _deleting(manifest: Manifest, cluster: str, since: str) -> str:
    ready = ready_of(manifest)
    message = one_line(message_of(ready)) if ready.get("status") == "False" else ""
    wait = "wait until Flux has cleaned up, then run `tenantry up` again"
    give_up = (
        f". If '{cluster}' is gone for good: restore the removed entries in the file, set 'state: decommissioned' on '{cluster}',"
        " run `tenantry up`, then remove the entries again"
    )
    remote = "kubeConfig" in mapping_at(manifest, "spec")
    return (
        f"{_named(manifest, cluster)} has been deleting since {since}; waiting for Flux to clean up on"
        f" {cluster}{f': {message}' if message else ''}\n  fix: {wait}{give_up if remote else ''}"
    )


def _lost_track(manifest: Manifest) -> bool:
    """Whether a release is installed correctly, but its status does not say so and is not about to."""
    status = mapping_at(manifest, "status")
    return (
        value_at(status, ("history", 0, "status")) == "deployed"
        and status.get("observedGeneration") == manifest["metadata"].get("generation")
        and condition(status, "Ready").get("reason") == "Progressing"
        and not condition(status, "Reconciling")
        and not condition(status, "Released")
        and not mapping_at(manifest, "spec").get("suspend")
    )


def _lost_release(manifest: Manifest, cluster: str) -> str:
    metadata = manifest["metadata"]
    return (
        f"{_named(manifest, cluster)} is installed, but Flux lost track of the release and will never report it ready; what"
        f" depends on it waits\n  fix: flux reconcile helmrelease {metadata['name']} --namespace {metadata['namespace']} --force"
    )


def _named(manifest: Manifest, cluster: str) -> str:
    labels = labels_of(manifest)
    tenant, app = labels.get(TENANT_LABEL), labels.get(APP_LABEL)
    what = f"app '{app}'" if app else "the baseline"
    owner = f"{what} of tenant '{tenant}'" if tenant else f"add-on '{app}'"
    return f"{object_id(manifest)} ({owner} on {cluster})"
