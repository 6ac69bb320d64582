"""Checks that Flux's controllers run as the plan needs them: with the lockdown's flags, and one set for each shard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tenantry.cluster.kubectl import describe
from tenantry.cluster.requests import every
from tenantry.flux.lockdown import FEATURE_GATES, LOCKDOWN, Minor, has_identity_flags, identity_flags, minor_of_release
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id
from tenantry.kube.values import selects
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Problem, error, warning
from tenantry.messages.text import counted
from tenantry.plan.objects.scope import SHARD_LABEL, TENANT_LABEL, used_shards
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_OF_FLUX = "app.kubernetes.io/part-of=flux"


def deployments_of(client: Client) -> list[Manifest]:
    """The Deployments with Flux's label; if there are none, all. Raises: Refused: reading is not allowed.

    Those in tenants' namespaces are left out: a tenant's, with Flux's labels, would hide the controllers.
    """
    return _outside_of_tenants(client, _OF_FLUX) or _outside_of_tenants(client)


def _outside_of_tenants(client: Client, selector: str = "") -> list[Manifest]:
    deployments = list(every(client, "apps/v1", "Deployment", selector=selector))
    marked = every(client, "v1", "Namespace", selector=TENANT_LABEL, metadata_only=True) if deployments else ()
    tenants = {namespace["metadata"]["name"] for namespace in marked if TENANT_LABEL in labels_of(namespace)}
    return [deployment for deployment in deployments if deployment["metadata"].get("namespace") not in tenants]


def check_lockdown(deployments: Iterable[Manifest], *, shared_identity: bool = False) -> Iterator[Problem]:
    """Yields a warning for each controller of Flux that lacks flags.

    Args:   deployments: of any software; those of Flux are known by their images, and by their names.
            shared_identity: whether tenants may use the controllers' identity, so that flags against that are not needed.
    """
    controllers = [(controller, deployment) for deployment in deployments if (controller := _controller_of(deployment))]
    if not controllers:
        yield warning(
            "no-controllers",
            "found no Deployment of a Flux controller, so the multi-tenancy lockdown was not checked",
            "if the controllers run elsewhere, give them the flags of Flux's multi-tenancy lockdown",
        )
    for controller, deployment in controllers:
        flags = flags_of(deployment, controller)
        version = version_of(deployment, controller)
        wanted = dict(LOCKDOWN[controller])
        if not shared_identity and has_identity_flags(controller, version):
            wanted |= identity_flags(controller, version)
        elif not shared_identity:
            yield _too_old(controller, deployment["metadata"])
        missing = [f"--{name}={value}" for name, value in wanted.items() if not _set(flags, name, value)]
        if missing:
            yield _unlocked(controller, deployment["metadata"], missing, _position_of(deployment, controller))


def check_available(deployments: Iterable[Manifest]) -> Iterator[Problem]:
    """Yields an error for each controller of Flux that does not run."""
    for deployment in deployments:
        if (controller := _controller_of(deployment)) and not mapping_at(deployment, "status").get("availableReplicas"):
            id = object_id(deployment)
            message = f"{controller} ({id}) has no pod that is available, so Flux does not do that controller's work"
            yield error("controller-down", message, describe(id))


def _too_old(controller: str, metadata: Mapping[str, Any]) -> Problem:
    return warning(
        "old-controller",
        f"{controller} (Deployment {metadata['namespace']}/{metadata['name']}) is older than that of Flux 2.7, so no flag keeps its"
        " identity from tenants' own Flux objects",
        "upgrade Flux; or, if tenants may use that identity, set 'platform.sharedIdentity: true'",
    )


def _unlocked(controller: str, metadata: Mapping[str, Any], missing: list[str], position: int) -> Problem:
    operations = "\n".join(
        f"          - {{op: add, path: /spec/template/spec/containers/{position}/args/-, value: {flag}}}"
        for flag in missing
    )
    return warning(
        "no-lockdown",
        f"{controller} (Deployment {metadata['namespace']}/{metadata['name']}) runs without {', '.join(missing)}:"
        " a tenant's own Flux objects may reach beyond its namespaces",
        "add to the kustomization.yaml that installs Flux\n"
        "    patches:\n"
        f"      - target: {{kind: Deployment, name: {metadata['name']}}}\n"
        f"        patch: |\n{operations}",
    )


def version_of(deployment: Manifest, controller: str) -> Minor | None:
    """A controller's, by the tag of its image, else by the version of Flux in a label of its Deployment; None: not known."""
    containers, index = _containers_of(deployment), _position_of(deployment, controller)
    tag = str(containers[index].get("image", "")).partition("@")[0].rpartition("/")[2].partition(":")[2]
    if version := _minor(tag):
        return version
    flux = _minor(str(labels_of(deployment).get("app.kubernetes.io/version", "")))
    return minor_of_release(controller, flux) if flux else None


# Numbers are bounded: Python converts no text of some thousand digits, and the tag of an image is anybody's.
_VERSION = re.compile(r"v?([0-9]{1,18})(?:\.([0-9]{1,18}))?(?:\.[0-9]{1,18})?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def _minor(text: str) -> Minor | None:
    """The major and the minor part of a version; None: it is not one. `1` is `1.0`."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2] or 0)) if match else None


def flags_of(deployment: Manifest, controller: str) -> dict[str, str]:
    """--a=1 --b --c 2 -> {a: 1, b: true, c: 2}; a later flag wins, as in the controller."""
    container = _containers_of(deployment)[_position_of(deployment, controller)]
    words = [*map(str, container.get("command") or ()), *map(str, container.get("args") or ())]
    flags: dict[str, str] = {}
    for word, following in pairwise([*words, "--"]):
        if word.startswith("-"):
            name, given, value = word.lstrip("-").partition("=")
            flag = value if given else "true" if following.startswith("-") else following
            flags[name] = f"{flags[name]},{flag}" if name == FEATURE_GATES and name in flags else flag
    return flags


def _set(flags: Mapping[str, str], name: str, value: str) -> bool:
    if name == FEATURE_GATES:
        return value in flags.get(name, "").split(",")
    if value == "true":
        return flags.get(name, "").lower() in ("true", "t", "1")
    return bool(flags.get(name))


_SELECTOR = "watch-label-selector"
_EVERYWHERE = "watch-all-namespaces"
_SOURCES = "source-controller"
_APPLIERS = {"Kustomization": "kustomize-controller", "HelmRelease": "helm-controller"}


@dataclass(frozen=True, slots=True)
class _Controller:
    """A Deployment of one of Flux's controllers that watches all namespaces."""

    software: str
    selector: str | None

    def takes(self, shard: str) -> bool:
        """Whether it reconciles the objects of a shard. If nobody can tell from its selector, it does."""
        return selects(self.selector or "", {SHARD_LABEL: shard} if shard else {}) is not False


def check_shards(deployments: Iterable[Manifest], plan: Plan) -> Iterator[Problem]:
    """Yields a warning for each shard without a controller.

    Where neither the plan nor a controller knows shards, there is nothing to check. Args: deployments: of any software.
    """
    controllers = list(_controllers(deployments))
    used = used_shards(plan.objects)
    if not controllers or not (any(used) or any(controller.selector for controller in controllers)):
        return
    for shard in sorted(used):
        for software, objects in _by_controller(used[shard]).items():
            own = [controller for controller in controllers if controller.software == software]
            if not any(controller.takes(shard) for controller in own) and (shard or own):
                yield _unwatched(shard, software, objects, plan.management)


def _controllers(deployments: Iterable[Manifest]) -> Iterator[_Controller]:
    for deployment in deployments:
        software = _controller_of(deployment)
        if software not in (_SOURCES, *_APPLIERS.values()) or deployment["spec"].get("replicas") == 0:
            continue
        flags = flags_of(deployment, software)
        if flags.get(_EVERYWHERE, "true") != "false":
            yield _Controller(software, flags.get(_SELECTOR))


def _by_controller(objects: Mapping[str, list[ObjectId]]) -> dict[str, list[ObjectId]]:
    by_controller: dict[str, list[ObjectId]] = {}
    for kind, ids in objects.items():
        by_controller.setdefault(_APPLIERS.get(kind, _SOURCES), []).extend(ids)
    return by_controller


def _unwatched(shard: str, software: str, objects: list[ObjectId], management: str) -> Problem:
    selector = f"{SHARD_LABEL}={shard}" if shard else f"!{SHARD_LABEL}"
    whose = f"of shard '{shard}'" if shard else "without a shard"
    first = min(objects, key=str)
    return warning(
        "no-shard",
        f"no {software} on '{management}' takes objects {whose}:"
        f" {counted(len(objects), 'object')} would not be reconciled, such as {first}",
        f"run one with --{_SELECTOR}={selector} beside the others, or correct 'shard' of the cluster",
    )


# --- Deployments -------------------------------------------------------------------------------------------------------


def _controller_of(deployment: Manifest) -> str:
    """The Flux controller that a Deployment runs, also if it is a shard with another name; "" if it runs none."""
    images = {_software(container) for container in _containers_of(deployment)}
    return next((name for name in LOCKDOWN if name in images or name == deployment["metadata"]["name"]), "")


def _software(container: Mapping[str, Any]) -> str:
    """ghcr.io/fluxcd/kustomize-controller:v1.9.5@sha256:0a -> kustomize-controller"""
    return str(container.get("image", "")).partition("@")[0].rpartition("/")[2].partition(":")[0]


def _containers_of(deployment: Manifest) -> list[Mapping[str, Any]]:
    containers: list[Mapping[str, Any]] = deployment["spec"]["template"]["spec"]["containers"]
    return containers


def _position_of(deployment: Manifest, controller: str) -> int:
    """The index of the controller's container; the first if no image has its name."""
    software = [_software(container) for container in _containers_of(deployment)]
    return software.index(controller) if controller in software else 0
