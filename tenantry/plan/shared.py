"""What clusters share: one source and one chart for each content of one author, beside the kubeconfigs of the clusters.

No tenant has rights there, and copies would be equal, so Flux fetches once what many clusters take. An author is the platform or
one tenant, in one environment. A name says all that decides the content, so objects of different content never meet, and an object
never changes its content: what takes it moves to another object instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.templates import is_platforms_source
from tenantry.flux.references import references
from tenantry.kube import names
from tenantry.kube.objects import KubeObject, Owner
from tenantry.model import Source
from tenantry.model.durations import seconds_of
from tenantry.plan.objects.scope import SHARD_LABEL, SHARDED, SOURCE_LABEL, Scope, is_fleets_own

PACE = ("interval", "timeout")
"""Fields of a spec that say when Flux fetches, and not what."""
_MOST = 40
"""Characters of a name that an address gives. The digits at the end tell two such names apart."""


def shared(
    fleet: Fleet,
    scope: Scope,
    planned: KubeObject,
    *parts: str,
    platforms: bool = False,
) -> KubeObject:
    """The object as all clusters of its content share it; as it is on the management cluster, where a tenant has its own.

    Its name is `<namespace of the author>.<source>[.<chart>].<hash>`. The hash covers author, environment, spec, shard and
    metadata, but not the pace. A Secret counts by its name: the plan does not know its values.

    Args: parts: the middle of the name, such as the key of the source.
          platforms: whether the platform is its author, although a tenant's app takes it.
    """
    if scope.kubeconfig is None:
        return planned
    if platforms:
        scope = replace(scope, owner=Owner(), namespace=fleet.document.platform.namespace)
    metadata = planned.manifest["metadata"]
    content: dict[str, Any] = {
        "author": scope.tenant,
        "environment": scope.environment,
        "kind": planned.id.kind,
        "spec": {key: value for key, value in planned.manifest["spec"].items() if key not in PACE},
        **{part: _of_author(metadata[part]) for part in ("labels", "annotations")},
    }
    shard = fleet.clusters[scope.cluster].shard
    name = ".".join((scope.namespace, *parts, names.digest({**content, "shard": shard})))
    labels = {
        **_of_author(metadata["labels"]),
        **replace(scope, cluster="").labels(),
        SOURCE_LABEL: parts[0],
        **({SHARD_LABEL: shard} if shard and planned.id.kind in SHARDED else {}),
    }
    manifest = {**planned.manifest, "metadata": {**metadata, "name": name, "labels": labels}}
    return replace(planned, manifest=manifest, owner=Owner(scope.tenant))


def shared_chart(
    fleet: Fleet, scope: Scope, chart: KubeObject, source: KubeObject, *, platforms: bool = False
) -> KubeObject:
    """The chart of a shared source. platforms: as of `shared`."""
    key = str(chart.manifest["spec"]["chart"]).rstrip("/").rpartition("/")[2]
    called = source.id.name.split(".")[1:-1]
    return shared(fleet, scope, chart, *called, names.slug(key) or "chart", platforms=platforms)


def is_platforms(fleet: Fleet, scope: Scope, name: str, planned: KubeObject) -> bool:
    """Whether a tenant's source is the platform's, because its class says all of it.

    What reads a Secret stays the tenant's. Args: planned: with the names of Secrets as they are written.
    """
    if not scope.tenant or scope.kubeconfig is None or not is_platforms_source(fleet.source, scope.tenant, name):
        return False
    kind, spec = planned.id.kind, planned.manifest["spec"]
    return not (spec.get("include") or any(references(kind, spec)))


def shared_alert(scope: Scope, provider: KubeObject, alert: KubeObject, name: str) -> tuple[KubeObject, KubeObject]:
    """The Provider and the Alert for the sources that clusters share: one of each, unless a placeholder is another on each cluster.

    Their names follow from their content, as those of sources. scope: of no cluster.
    """
    spec = {key: value for key, value in alert.manifest["spec"].items() if key != "providerRef"}
    content = {"author": scope.tenant, "environment": scope.environment, "spec": spec}
    called = ".".join((scope.namespace, name, names.digest({**content, "provider": provider.manifest["spec"]})))

    def named(planned: KubeObject, spec: Mapping[str, Any]) -> KubeObject:
        metadata = {**planned.manifest["metadata"], "name": called, "labels": scope.labels()}
        return replace(
            planned, manifest={**planned.manifest, "metadata": metadata, "spec": spec}, owner=Owner(scope.tenant)
        )

    first = named(provider, provider.manifest["spec"])
    second = named(alert, {**spec, "providerRef": {"name": called}})
    return first, replace(second, depends_on=(first.id,))


def at_one_pace(first: KubeObject, second: KubeObject) -> KubeObject | None:
    """Two of a shared object as one: it is fetched as often as the one that wants it most often, and may take as long as the most
    patient one allows. None: they are not two of one.
    """
    # What is of one cluster is shared with none.
    if first.owner.cluster or "spec" not in first.manifest:
        return None
    specs = (first.manifest["spec"], second.manifest["spec"])
    pace = {
        key: choose((spec[key] for spec in specs if key in spec), key=lambda time: (seconds_of(time), time))
        for key, choose in zip(PACE, (min, max), strict=True)
        if any(key in spec for spec in specs)
    }
    first_paced, same = (
        replace(planned, manifest={**planned.manifest, "spec": {**planned.manifest["spec"], **pace}})
        for planned in (first, second)
    )
    return first_paced if first_paced == same else None


def key_of_address(source: Source) -> str:
    """What a source is called that has no name of its own: the last part of its address, or the host."""
    block = source.block.model_dump(exclude_none=True)
    text = str(block.get("bucketName") or block.get("url") or "source")
    split = urlsplit(text)
    path = split.path.removesuffix("/").removesuffix(".git").rpartition("/")[2]
    return names.slug(path or split.hostname or text)[:_MOST].strip("-") or "source"


def _of_author(written: Mapping[str, str]) -> dict[str, str]:
    """Labels or annotations without those that the fleet sets."""
    return {key: value for key, value in written.items() if not is_fleets_own(key)}
