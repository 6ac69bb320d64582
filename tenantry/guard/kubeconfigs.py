"""Kubeconfigs that a plan gives to other clusters than today: Flux would remove what it installed, or lose it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tenantry.guard.held import READ, Held, Reference, held, note_kubeconfig
from tenantry.guard.places import Places, whose
from tenantry.messages.data import mapping_at
from tenantry.messages.problems import Problem, error
from tenantry.messages.text import listed
from tenantry.plan.plan import Plan


class Renamed(NamedTuple):
    """A remote cluster under another name; the kubeconfig is the same, and so the cluster is."""

    before: str
    after: str
    reference: Reference


def held_by(plan: Plan) -> Held:
    """What the management cluster holds once a plan is applied."""
    return held((each.manifest for each in plan.objects if each.id.kind in READ), plan.environment)


def kubeconfigs_by(plan: Plan) -> Mapping[tuple[str, Reference], bool]:
    """The kubeconfigs of `held_by`, in a fraction of the time."""
    there = [each for each in plan.objects if each.id.kind in READ]
    places = Places(each.manifest for each in there)
    found: dict[tuple[str, Reference], bool] = {}
    for each in there:
        if "kubeConfig" not in mapping_at(each.manifest, "spec"):
            continue
        said = whose(each.manifest)
        is_there = each.id.kind == "Namespace" or places.puts(each.manifest, said)
        if said.environment == plan.environment and said.cluster and is_there:
            note_kubeconfig(each.id, each.manifest, said.cluster, found)
    return found


def renamed(now: Held, planned: Iterable[tuple[str, Reference]]) -> Iterator[Renamed]:
    """Clusters of a plan that are reached through the kubeconfig of another one; no two clusters of a plan share one.

    Not those whose former objects were all decommissioned: these leave what they installed.
    """
    for cluster, reference in planned:
        for (other, there), abandoned in (*now.kubeconfigs.items(), *now.others_kubeconfigs.items()):
            if there == reference and other != cluster and not abandoned:
                yield Renamed(other, cluster, reference)


def kubeconfig_problems(plan: Plan, now: Held) -> Iterator[Problem]:
    """A problem for each cluster that is reached otherwise than today, or whose kubeconfig is another cluster's today."""
    planned = kubeconfigs_by(plan)
    yield from _others(now, planned)
    for before, after, reference in dict.fromkeys(renamed(now, planned)):
        yield error(
            "renamed-cluster",
            f"cluster '{after}' would be reached through {reference}, which is the kubeconfig of cluster '{before}' today: Flux"
            f" would remove everything that it installed for '{before}', namespaces with their data included",
            f"put the name '{before}' back; to rename the cluster, set 'state: decommissioned' on '{before}', run `tenantry up`"
            " of all of its environments, then rename it and remove the state; if it is another cluster, remove"
            f" '{before}' in a run of its own first",
        )


def _others(now: Held, planned: Iterable[tuple[str, Reference]]) -> Iterator[Problem]:
    """Another reference may lead to another cluster: Flux would leave behind what it installed on the first."""
    for cluster, reference in planned:
        before = sorted(there for name, there in now.kubeconfigs if name == cluster and there != reference)
        if before:
            yield error(
                "other-kubeconfig",
                f"cluster '{cluster}' is reached through {listed(before)} today, and would be reached through {reference}:"
                " everything on it would be removed and installed again",
                "remove everything from the cluster first (let no selector match it), or declare a new cluster beside"
                f" '{cluster}' and"
                " move tenants there",
            )
