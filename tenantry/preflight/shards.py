"""Checks that each shard of Flux's controllers that a plan uses has controllers, and one of each kind only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.kube.values import selects
from tenantry.messages.errors import Problem, warning
from tenantry.messages.text import counted, listed
from tenantry.plan.flux_shards import used_shards
from tenantry.plan.objects.scope import SHARD_LABEL
from tenantry.plan.plan import Plan
from tenantry.preflight.lockdown import controller_of, flags_of

_SELECTOR = "watch-label-selector"
_ADDRESS = "storage-adv-addr"
_EVERYWHERE = "watch-all-namespaces"
_SOURCES = "source-controller"
_APPLIERS = {"Kustomization": "kustomize-controller", "HelmRelease": "helm-controller"}


@dataclass(frozen=True, slots=True)
class _Controller:
    """A Deployment of one of Flux's controllers that watches all namespaces. address: where it serves artifacts, or ""."""

    software: str
    name: str
    selector: str | None
    address: str

    def takes(self, shard: str) -> bool:
        """Whether it reconciles the objects of a shard. If nobody can tell from its selector, it does."""
        return selects(self.selector or "", {SHARD_LABEL: shard} if shard else {}) is not False


def check_shards(deployments: Iterable[Manifest], plan: Plan) -> Iterator[Problem]:
    """Yields a warning for each shard without a controller or with several.

    Where neither the plan nor a controller knows shards, there is nothing to check. Args: deployments: of any software.
    """
    found = list(_controllers(deployments))
    used = used_shards(plan.objects)
    if not found or not (any(used) or any(each.selector for each in found)):
        return
    for shard in sorted(used):
        for software, objects in _by_controller(used[shard]).items():
            own = [each for each in found if each.software == software]
            taking = [each.name for each in own if each.takes(shard)]
            if not taking and (shard or own):
                yield _unwatched(shard, software, objects, plan.management)
            elif len(taking) > 1:
                yield _watched_twice(shard, software, taking)
    yield from _shared_addresses(found)


def _controllers(deployments: Iterable[Manifest]) -> Iterator[_Controller]:
    for each in deployments:
        software = controller_of(each)
        if software not in (_SOURCES, *_APPLIERS.values()) or each["spec"].get("replicas") == 0:
            continue
        flags, namespace = flags_of(each, software), each["metadata"]["namespace"]
        if flags.get(_EVERYWHERE, "true") != "false":
            address = flags.get(_ADDRESS, "").replace("$(RUNTIME_NAMESPACE)", namespace)
            yield _Controller(software, f"{namespace}/{each['metadata']['name']}", flags.get(_SELECTOR), address)


def _by_controller(objects: Mapping[str, list[ObjectId]]) -> dict[str, list[ObjectId]]:
    found: dict[str, list[ObjectId]] = {}
    for kind, ids in objects.items():
        found.setdefault(_APPLIERS.get(kind, _SOURCES), []).extend(ids)
    return found


def _unwatched(shard: str, software: str, objects: list[ObjectId], management: str) -> Problem:
    selector = f"{SHARD_LABEL}={shard}" if shard else f"!{SHARD_LABEL}"
    whose = f"of shard '{shard}'" if shard else "without a shard"
    first = min(objects, key=str)
    return warning(
        "no-shard",
        f"no {software} on '{management}' takes objects {whose}:"
        f" {counted(len(objects), 'object')} would not be reconciled, such as {first}",
        f"run one with --{_SELECTOR}={selector} (docs/flux-at-scale.md), or correct 'shard' or 'fluxShards'",
    )


def _watched_twice(shard: str, software: str, names: list[str]) -> Problem:
    whose = f"of shard '{shard}'" if shard else "without a shard"
    return warning(
        "shared-shard",
        f"Deployments {listed(sorted(names))} run {software} and take objects {whose}: they work against each other",
        f"give each its own --{_SELECTOR}; the one for objects without a shard gets !{SHARD_LABEL}",
    )


def _shared_addresses(found: list[_Controller]) -> Iterator[Problem]:
    by_address: dict[str, list[str]] = {}
    for each in found:
        if each.address:
            by_address.setdefault(each.address, []).append(each.name)
    for address, names in by_address.items():
        if len(names) > 1:
            yield warning(
                "shared-storage",
                f"Deployments {listed(sorted(names))} serve their artifacts at the same address, {address}:"
                " each finds only its own",
                f"give each its own Service, and name that in --{_ADDRESS}",
            )
