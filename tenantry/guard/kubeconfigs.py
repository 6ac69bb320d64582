"""Kubeconfigs that a plan gives to other clusters than today: Flux would remove what it installed, or lose it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tenantry.guard.held import Held, Reference
from tenantry.guard.reading import held_by
from tenantry.messages.errors import Problem, error
from tenantry.messages.text import listed
from tenantry.plan.plan import Plan


class Renamed(NamedTuple):
    """A remote cluster under another name; the kubeconfig is the same, and so the cluster is."""

    before: str
    after: str
    reference: Reference


def renamed(now: Held, planned: Iterable[tuple[str, Reference]]) -> Iterator[Renamed]:
    """Clusters of a plan that are reached through the kubeconfig of another one; no two clusters of a plan share one.

    Not those whose former objects were all decommissioned: these leave what they installed.
    """
    for cluster, reference in planned:
        for (other, used), abandoned in (*now.kubeconfigs.items(), *now.others_kubeconfigs.items()):
            if used == reference and other != cluster and not abandoned:
                yield Renamed(other, cluster, reference)


def kubeconfig_problems(plan: Plan, now: Held) -> Iterator[Problem]:
    """A problem for each cluster that is reached otherwise than today, or whose kubeconfig is another cluster's today."""
    planned = held_by(plan).kubeconfigs
    yield from _others(now, planned)
    renames = dict.fromkeys(renamed(now, planned))
    if not renames:
        yield from _installed_again(plan, now)
    for before, after, reference in renames:
        yield error(
            "renamed-cluster",
            f"cluster '{after}' would be reached through {reference}, which is the kubeconfig of cluster '{before}' today: Flux"
            f" would remove everything that it installed for '{before}', namespaces with their data included",
            f"put the name '{before}' back; to rename the cluster, set 'state: decommissioned' on '{before}', run `tenantry up`"
            " of all of its environments, then rename it and remove the state; if it is another cluster, remove"
            f" '{before}' in a run of its own first",
        )


def _installed_again(plan: Plan, now: Held) -> Iterator[Problem]:
    """Releases that go while others install the same namespaces through the same kubeconfig: the cluster was renamed, together with
    the labels of its live objects. A release's name and its kubeconfig still tell it.
    """
    planned = {object.id for object in plan.objects}
    going = {place: gone for place, ids in now.installers.items() if (gone := [id for id in ids if id not in planned])}
    wanted = held_by(plan).installers if going else {}
    both = {place: (gone, after) for place, gone in sorted(going.items()) if (after := wanted.get(place))}
    for reference, (gone, after) in {place[0]: releases for place, releases in both.items()}.items():
        yield error(
            "renamed-cluster",
            f"what {listed(map(str, gone))} has installed on the cluster behind {reference} would be installed by"
            f" {listed(map(str, after))}: Flux would remove everything that the first has installed there, namespaces with their"
            " data included",
            "put the former name of the cluster back, in the file and in the labels of its objects; to rename a cluster, set"
            " 'state: decommissioned' on it and run `tenantry up`, then rename it, remove 'state', and run `tenantry up` again",
        )


def _others(now: Held, planned: Iterable[tuple[str, Reference]]) -> Iterator[Problem]:
    """Another reference may lead to another cluster: Flux would leave behind what it installed on the first."""
    for cluster, reference in planned:
        before = sorted(other for name, other in now.kubeconfigs if name == cluster and other != reference)
        if before:
            yield error(
                "other-kubeconfig",
                f"cluster '{cluster}' is reached through {listed(before)} today, and would be reached through {reference}:"
                " everything on it would be removed and installed again",
                f"to rotate the kubeconfig, replace the content of {listed(before)} and leave the file as it is; if it is another"
                " cluster, remove everything from the cluster first (let no selector match it), or declare a new cluster beside"
                f" '{cluster}' and"
                " move tenants there",
            )
