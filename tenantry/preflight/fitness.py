"""Whether a cluster keeps tenants apart: flags of Flux's controllers, and the admission policies as this version makes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tenantry.cluster.requests import every
from tenantry.facts.objects import changed_fields, projected
from tenantry.flux.lockdown import FEATURE_GATES, LOCKDOWN, Minor, identity_flags
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Problem, Refused, warning
from tenantry.plan.bootstrap import label_policies
from tenantry.plan.objects.scope import TENANT_LABEL

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
        own = {} if shared_identity else identity_flags(controller, _version_of(deployment, controller))
        wanted = {**LOCKDOWN[controller], **own}
        missing = [f"--{name}={value}" for name, value in wanted.items() if not _set(flags, name, value)]
        if missing:
            yield _unlocked(controller, deployment["metadata"], missing, _position_of(deployment, controller))


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


# Numbers are bounded: Python converts no text of some thousand digits, and the tag of an image is anybody's.
_VERSION = re.compile(r"v?([0-9]{1,18})(?:\.([0-9]{1,18}))?(?:\.[0-9]{1,18})?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")


def _version_of(deployment: Manifest, controller: str) -> Minor | None:
    """The first two numbers of a controller's version, by the tag of its image; None: it has none. `1` is `1.0`."""
    image = str(_containers_of(deployment)[_position_of(deployment, controller)].get("image", ""))
    match = _VERSION.fullmatch(image.partition("@")[0].rpartition("/")[2].partition(":")[2])
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


# --- admission policies -----------------------------------------------------------------------------------------------


def check_policies(
    wanted: Iterable[Manifest],
    cluster: str,
    read: Callable[[ObjectId], Manifest | None],
    fix: str,
) -> Iterator[Problem]:
    """Yields a warning if any is missing, and one if any is different.

    Args:   wanted: the policies and their bindings. cluster: in words. read: an object of the cluster.
    Raises: Refused: one cannot be read.
    """
    policies = [(object_id(policy), policy, read(object_id(policy))) for policy in wanted]
    missing = [str(id) for id, _, live in policies if live is None]
    other = [str(id) for id, wanted, live in policies if live and _differs(live, wanted)]
    if missing:
        message = f"{cluster} has no {', '.join(missing)}: a tenant can reach what is not its own"
        yield warning("no-policy", message, fix)
    if other:
        verb = "differs" if len(other) == 1 else "differ"
        message = f"{', '.join(other)} on {cluster} {verb} from what this version of Tenantry creates"
        yield warning("other-policy", message, fix)


class Policed:
    """Whether an object was made when the admission policies, as this version makes them, kept tenants from the fleet's labels.

    Then its labels prove whose it is, in a tenant's namespace too. The policies are read when somebody asks first.
    """

    def __init__(self, read: Callable[[ObjectId], Manifest | None]) -> None:
        self._read = read

    def __call__(self, manifest: Manifest) -> bool:
        made = str(mapping_at(manifest, "metadata").get("creationTimestamp") or "")
        return bool(self._since) and made > self._since

    @cached_property
    def _since(self) -> str:
        """As RFC 3339; "" if the cluster does not have all of the policies, or does not say since when."""
        times = []
        for policy in label_policies():
            try:
                live = self._read(object_id(policy))
            except Refused:
                return ""
            if live is None or _differs(live, policy):
                return ""
            managers = mappings_in(mapping_at(live, "metadata").get("managedFields"))
            times.append(max((str(entry.get("time", "")) for entry in managers), default=""))
        return max(times) if all(times) else ""


def _differs(live: Manifest, wanted: Manifest) -> bool:
    return any(changed_fields(projected(live["spec"], wanted["spec"]), wanted["spec"]))
