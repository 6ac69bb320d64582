"""Checks by uid, on all clusters, which objects are still the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.kube.objects import ObjectId
from tests.e2e.clusters import eventually
from tests.e2e.project import Project
from tests.faults.api import Api
from tests.faults.compare import ENVIRONMENT, listed, orphans

Identities = dict[tuple[str, ObjectId], str]
"""uids by cluster and object."""


def identities(project: Project, clusters: Iterable[str]) -> Identities:
    """Of everything that is there; Helm's own notes are left out, for they come and go with each revision."""
    return {
        (cluster, id): manifest["metadata"]["uid"]
        for cluster in clusters
        for id, manifest in listed(Api(project.kubeconfig(cluster))).items()
        if not id.name.startswith("sh.helm.release.")
    }


def made_anew(before: Identities, after: Identities) -> list[str]:
    """What is there under its old name and is not what it was."""
    return [f"{cluster}: {id}" for (cluster, id), uid in before.items() if after.get((cluster, id), uid) != uid]


def emptied(project: Project, cluster: str) -> None:
    """Wait until a cluster holds nothing of the environment; a test fails with what it holds."""
    last: list[str] = []

    def empty() -> bool:
        last[:] = left(project, cluster)
        return not last

    try:
        eventually(empty, "nothing to be left")
    except AssertionError as error:
        raise AssertionError("\n".join([f"{error} on {cluster}:", *last])) from None


def left(project: Project, cluster: str, environment: str = "dev") -> Iterator[str]:
    """What a cluster holds that carries the environment's label, or that Flux has applied for anything at all.

    Namespaces stay with their data.
    """
    live = listed(Api(project.kubeconfig(cluster)))
    yield from orphans(cluster, {id: each for id, each in live.items() if id.kind != "Namespace"}, {})
    for id, manifest in live.items():
        if id.kind != "Namespace" and (manifest["metadata"].get("labels") or {}).get(ENVIRONMENT) == environment:
            yield str(id)
