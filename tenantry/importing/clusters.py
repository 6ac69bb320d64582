"""Remote clusters, from the kubeconfigs that Flux objects name, each in the form of the tool that wrote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from pydantic_core import ValidationError

from tenantry.importing.model import Held
from tenantry.importing.owners import tenant_namespaces
from tenantry.importing.world import Notes, Thing, World
from tenantry.kube.names import dns_label_problem, is_reserved_namespace, slug
from tenantry.kube.objects import group_of
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused
from tenantry.model import Kubeconfig, SecretKey
from tenantry.plan.objects.scope import CLUSTER_LABEL

APPS = ("Kustomization", "HelmRelease")
_FLUX_KEY = "value"
"""The key that Flux reads if none is named. Source: fluxcd.io, Kustomization, "Remote clusters"."""
_HOLDERS = ("kubeconfigs", "tenantry-kubeconfigs")
"""Where a kubeconfig is expected that may not stay where it is: the first of these that is no tenant's."""
_TOO_VAGUE = ("cluster", "remote", "kubeconfig", "value")
"""Names of Secrets that say nothing of the cluster."""


class Reference(NamedTuple):
    """What a Flux object says of the cluster that it acts on."""

    kind: str
    namespace: str
    name: str
    key: str


def reference_of(thing: Thing) -> Reference | None:
    """How an app reaches its cluster; None: it is the management cluster."""
    written = mapping_at(thing.spec, "kubeConfig")
    if secret := mapping_at(written, "secretRef"):
        return Reference("Secret", thing.namespace, str(secret.get("name")), str(secret.get("key") or _FLUX_KEY))
    if config := mapping_at(written, "configMapRef"):
        return Reference("ConfigMap", thing.namespace, str(config.get("name")), "")
    return None


def without_proxies(things: Iterable[Thing], notes: Notes) -> None:
    """Take the kubeconfigs from apps that Capsule's proxy leads to the cluster on which they are.

    Capsule makes a Secret for the account of a Tenant's owner, beside the account and named after it. Source: projectcapsule.dev,
    Flux; clastix/flux2-capsule-multi-tenancy.
    """
    things = list(things)
    owners = {
        str(each.get("name"))
        for thing in things
        if thing.kind == "Tenant" and group_of(str(thing.read.manifest["apiVersion"])).startswith("capsule.")
        for each in mappings_in(thing.spec.get("owners"))
    }
    accounts = {(each.namespace, each.name) for each in things if each.kind == "ServiceAccount"} if owners else set()
    for thing in things if accounts else ():
        reference = reference_of(thing) if thing.kind in APPS else None
        account = reference.name.removesuffix("-kubeconfig") if reference else ""
        is_owners = {account, f"system:serviceaccount:{thing.namespace}:{account}"} & owners
        if reference and is_owners and reference.name != account and (thing.namespace, account) in accounts:
            rest = {key: each for key, each in thing.spec.items() if key != "kubeConfig"}
            thing.spec = {"serviceAccountName": account, **rest}
            thing.is_through_proxy = True
            text = f"Secret {reference.name} leads through Capsule's proxy to the cluster that the app is on"
            notes.leave(thing.read, text, "keep it: Flux goes on using it", "spec.kubeConfig")


class Remotes:
    """The remote clusters of one environment: the name of each, and how it is reached."""

    def __init__(self, world: World, taken: dict[str, Any]) -> None:
        """taken: the clusters of all environments so far, and what tells them apart."""
        self._taken = taken
        self._world = world
        self._claimed: set[str] = set()
        self._names: dict[Reference, str] = {}
        self.entries: dict[str, dict[str, Any]] = {}
        inside = tenant_namespaces(world)
        apart = next(each for each in _HOLDERS if each not in inside)
        seen = self._seen()
        staying: dict[Reference, list[Reference]] = defaultdict(list)
        for reference in seen:
            if reference.namespace not in inside and not _is_refused(world, reference):
                staying[reference._replace(namespace="")].append(reference)
        groups: dict[tuple[str, str, str, str], list[Reference]] = defaultdict(list)
        for reference, name in seen.items():
            # A Secret that lies beside each tenant is the same cluster's everywhere, and that of one beside the platform's apps.
            there = staying[reference._replace(namespace="")]
            if reference in there:
                holder = reference.namespace
            else:
                holder = there[0].namespace if len(there) == 1 and not _is_vague(reference) else apart
            groups[holder, reference.kind, reference.name, reference.key].append(reference)
            self._names[reference] = name
        for (holder, kind, object_name, key), references in groups.items():
            form = _form(kind, object_name, holder, key)
            name = self._free(self._names[references[0]], holder, form)
            for each in references:
                self._names[each] = name
            self.entries[name] = form
            _tell_moved(world, name, holder, references)
            _tell_kept(world, name, references)

    def name(self, thing: Thing) -> str | None:
        """The remote cluster of an app; None: the management cluster."""
        reference = reference_of(thing)
        return self._names[reference] if reference else None

    def kubeconfig_namespace(self, cluster: str) -> str:
        form = next(iter(self.entries[cluster].values()))
        return str(form["namespace"])

    def _seen(self) -> dict[Reference, str]:
        """Every way to a cluster that is named, with a name for the cluster."""
        seen = _seen(self._world)
        self._claimed = {each for each in seen.values() if each}
        return {reference: name or _derived(reference) for reference, name in seen.items()}

    def _free(self, name: str, holder: str, form: dict[str, Any]) -> str:
        """A name that no other cluster has: a kubeconfig means another cluster on each management cluster."""
        itself = form if name in self._claimed else (self._world.management, form)
        for each in (name, f"{name}-{slug(holder)}", f"{name}-{slug(holder)}-{self._world.environment}"):
            if self._taken.setdefault(each, itself) == itself and each not in self.entries:
                if each != name:
                    text = f"'{name}' is the name of another cluster; the Flux objects for this one get new names"
                    self._world.notes.decide(("clusters", each), text)
                return each
        raise Refused(f"two remote clusters would be named '{name}'", "rename the Secret with the kubeconfig of one")


def _is_refused(world: World, reference: Reference) -> bool:
    """Whether the file's own rules refuse kubeconfigs in a namespace: the platform's, and those of Kubernetes and Flux."""
    return reference.namespace == world.platform or is_reserved_namespace(reference.namespace)


def _is_vague(reference: Reference) -> bool:
    """Whether Secrets of this name are those of other clusters in other namespaces."""
    return _short(reference) in _TOO_VAGUE


def _tell_moved(world: World, name: str, holder: str, references: list[Reference]) -> None:
    """That a kubeconfig has to be copied, and that several are taken for one."""
    namespaces, first = tuple(sorted(each.namespace for each in references)), references[0]
    away = [each for each in namespaces if each != holder]
    if not away:
        return
    is_there = len(away) < len(namespaces) or world.get(first.kind, holder, first.name) is not None
    if not is_there:
        whose = "the namespace of a tenant, of the platform, or of Flux"
        text = (
            f"copy {first.kind} {first.name} from namespace {away[0]} to {holder}: a kubeconfig must not lie in {whose}"
        )
        world.notes.decide(("clusters", name, "kubeconfig"), f"{text}. The steps of the report have the command")
    if len(namespaces) > 1:
        same = f"decide: {first.kind}s named {first.name} in {', '.join(namespaces)} are taken for the same cluster"
        world.notes.decide(
            ("clusters", name, "kubeconfig"), f"{same}. The steps of the report have the commands to check it"
        )
    held = Held(world.environment, first.kind, first.name, first.key, namespaces, holder, name, is_there)
    world.notes.held.append(held)


def _tell_kept(world: World, name: str, references: list[Reference]) -> None:
    """The kubeconfigs and their namespaces stay as they are."""
    for reference in references:
        if there := world.get(reference.kind, reference.namespace, reference.name):
            text = f"it is the kubeconfig of cluster {name}, which Flux reads as before"
            world.notes.leave(there.read, text, "keep it, and what creates it", fate="stays")
        space = world.get("Namespace", "", reference.namespace)
        if space is not None and not space.tenant:
            text = f"it holds the kubeconfig of cluster {name}"
            world.notes.leave(space.read, text, "keep it, and what creates it", fate="stays")


def _seen(world: World) -> dict[Reference, str]:
    """Every way to a cluster that is named, with the name that Tenantry's labels give the cluster, if any."""
    labels: dict[Reference, set[str]] = defaultdict(set)
    # What others apply, such as a chart that makes clusters, names clusters too.
    for thing in (*world.of(*APPS), *(each for each in world.beside if each.kind in APPS)):
        if reference := reference_of(thing):
            labels[reference].add(str(thing.labels.get(CLUSTER_LABEL, "")))
    found: dict[Reference, str] = {}
    for reference, names in labels.items():
        claimed = names.pop() if len(names) == 1 else ""
        found[reference] = claimed if not dns_label_problem(claimed) else ""
    return found


def _derived(reference: Reference) -> str:
    name = _short(reference)
    return slug(reference.namespace if name in _TOO_VAGUE else name)[:63].strip("-") or "remote"


def _short(reference: Reference) -> str:
    """The name of a kubeconfig without what tools write around the cluster's."""
    name = reference.name
    if reference.key == "config":
        name = name.removeprefix("vc-")
    for affix in ("-admin-kubeconfig", "-kubeconfig"):
        if name.endswith(affix) and name != affix:
            name = name.removesuffix(affix)
            break
    return name.removeprefix("kubeconfig-")


def _form(kind: str, name: str, namespace: str, key: str) -> dict[str, Any]:
    """`kubeconfig:` of the cluster: that of the tool whose Secret it is. key: the one that Flux reads."""
    if kind == "ConfigMap":
        return {"configMap": {"name": name, "namespace": namespace}}
    # Kamaji's Secrets end like those of Cluster API, whose key is Flux's own.
    is_kamajis = name.endswith(_around("kamaji", _NAMED["kamaji"])[1])
    for tool, owner in (_NAMED if key != _FLUX_KEY or is_kamajis else _UNNAMED).items():
        before, after = _around(tool, owner)
        place = {owner: name.removeprefix(before).removesuffix(after), "namespace": namespace}
        for form in ({tool: place}, {tool: {**place, "key": key}}):
            with suppress(ValidationError):
                found = Kubeconfig.model_validate(form).resolved
                if isinstance(found, SecretKey) and (found.name, found.key) == (name, key):
                    return form
    return {"secret": {"name": name, "namespace": namespace, "key": key}}


_NAMED = {"kamaji": "controlPlane", "vcluster": "name"}
_UNNAMED = {"capi": "cluster"}
"""What the file calls the cluster of each tool: of those whose key Flux has to be told, and of the one whose key is Flux's own."""


@cache
def _around(tool: str, owner: str) -> tuple[str, str]:
    """What stands before and behind the cluster in the name of its Secret."""
    before, _, after = Kubeconfig.model_validate({tool: {owner: "x", "namespace": "x"}}).resolved.name.partition("x")
    return before, after
