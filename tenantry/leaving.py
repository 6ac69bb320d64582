"""What an earlier run deleted and Flux has not let go of yet; whoever waits for it is told where, why, and what to do.

A deletion waits until Flux has cleaned up on the object's cluster, and Pulumi gives up waiting after ten minutes. Its
error names the object only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.inventory import APP_KINDS
from tenantry.kube import Manifest, object_id
from tenantry.objects.scope import APP_LABEL, CLUSTER_LABEL, TENANT_LABEL
from tenantry.status import ready_message


def leaving(manifests: Iterable[Manifest]) -> Iterator[str]:
    """A message, with a remedy in a second line, for each Kustomization or HelmRelease of the fleet that is in deletion."""
    for manifest in manifests:
        labels = manifest["metadata"].get("labels") or {}
        cluster = labels.get(CLUSTER_LABEL)
        if manifest["kind"] in APP_KINDS and cluster and "deletionTimestamp" in manifest["metadata"]:
            tenant, app = labels.get(TENANT_LABEL, ""), labels.get(APP_LABEL, "")
            since, said = manifest["metadata"]["deletionTimestamp"], ready_message(manifest)
            yield (
                f"{object_id(manifest)} ({_named(tenant, app)} on {cluster}) has been in deletion since {since}, until Flux has"
                f" cleaned up on {cluster}{f': {said}' if said else ''}\n  fix: {_remedy(manifest, cluster)}"
            )


def _named(tenant: str, app: str) -> str:
    what = f"app '{app}'" if app else "the baseline"
    return f"{what} of tenant '{tenant}'" if tenant else f"add-on '{app}'"


def _remedy(manifest: Manifest, cluster: str) -> str:
    wait = "it goes by itself once Flux can clean up; then run `pulumi up` again"
    if "kubeConfig" not in (manifest.get("spec") or {}):
        return wait
    return (
        f"{wait}. If '{cluster}' is gone for good: put back into the file what was removed, set 'state: decommissioned' on"
        f" '{cluster}', run `pulumi up --refresh`, and remove it after that"
    )
