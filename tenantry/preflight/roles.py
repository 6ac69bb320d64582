"""The smallest roles for who deploys, previews or operates an environment, as manifests for its management cluster.

They follow from the plan, and from what the commands read: a kind that the plan gets is in the roles, too. No rule has a `*`, none
escalates, and what may be bound is named. Secrets are readable by name alone. What lies in namespaces is written in those of the
plan alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from tenantry.cluster.inventory import fleet_kinds
from tenantry.cluster.reading import APP_KINDS
from tenantry.cluster.requests import plural
from tenantry.cluster.running import AROUND
from tenantry.fleet.fleet import Fleet
from tenantry.guard.claims import Claim, claimed
from tenantry.kube.objects import Manifest, ObjectId, group_of, object_id
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import DEPLOYING, homes_of_addons, management_policies
from tenantry.plan.objects.scope import MANAGED_BY
from tenantry.plan.plan import Plan
from tenantry.preflight.remotes import remotes

RoleName: TypeAlias = Literal["deploy", "preview", "operate"]
ROLES: tuple[RoleName, ...] = get_args(RoleName)
_RBAC = "rbac.authorization.k8s.io"
_API = f"{_RBAC}/v1"
_READ = ("get", "list")
_CHANGE = ("patch", "delete", "watch")
"""Pulumi's provider creates by a patch, and watches what it deletes."""
_SOURCES = "source.toolkit.fluxcd.io"
_GIVING = ("*", "bind", "escalate", "impersonate")


@dataclass(frozen=True, slots=True)
class Roles:
    """manifests: Namespaces first. wide: what in them is wider than it should be, because the fleet gives a tenant as much."""

    manifests: tuple[Manifest, ...]
    wide: tuple[str, ...]


def roles(
    fleet: Fleet,
    plan: Plan,
    role: RoleName,
    subject: Mapping[str, str],
    *,
    kubeconfigs: bool,
    secrets: bool,
) -> Roles:
    """The roles and their bindings.

    Args:   plan: of one management cluster, as `Plan.on` gives it. subject: as a binding has it.
            kubeconfigs: whether the Secrets with the kubeconfigs of remote clusters may be read, each by its name.
            secrets: whether who deploys may list the Secrets of the namespaces in which the fleet writes some.
    """
    rights = _Rights()
    _reading(rights, fleet, plan)
    namespaces: list[Manifest] = []
    if role == "deploy":
        namespaces = _deploying(rights, fleet, plan)
        for id in (planned.id for planned in plan.objects if secrets and planned.id.kind == "Secret"):
            rights.allow(id.namespace, id.api_version, "secrets", ["list", "watch"])
    elif role == "operate":
        _operating(rights, plan)
    if kubeconfigs:
        for remote in remotes(fleet, plan):
            if isinstance(at := remote.reference, SecretKey):
                rights.allow(at.namespace, "v1", "secrets", ["get"], at.name)
    name = f"tenantry-{role}-{plan.environment}"
    made = (
        manifest
        for namespace in rights.namespaces
        for manifest in _role(name, namespace, rights.rules(namespace), subject)
    )
    return Roles((*namespaces, *made), tuple(rights.wide()))


def _reading(rights: _Rights, fleet: Fleet, plan: Plan) -> None:
    """What every command reads that asks a management cluster. Of no Secret."""
    planned = ((planned.id.api_version, planned.id.kind) for planned in plan.objects)
    for api_version, kind in dict.fromkeys((*fleet_kinds(), *planned, ("apps/v1", "Deployment"))):
        if kind != "Secret":
            rights.allow("", api_version, plural(kind), _READ)
    platform = fleet.document.platform
    policies = management_policies(homes_of_addons(fleet, plan.management), shared_identity=platform.sharedIdentity)
    for id in map(object_id, policies):
        rights.allow("", id.api_version, plural(id.kind), ["get"], id.name)


def _deploying(rights: _Rights, fleet: Fleet, plan: Plan) -> list[Manifest]:
    """What a run writes. Returns: the Namespaces, because a role cannot be in one that does not exist."""
    group, resource, verb = DEPLOYING
    rights.allow("", f"{group}/v1", resource, [verb])
    stack = Claim(plan.environment, "")
    for planned in claimed(plan, fleet.document.platform.namespace, stack).objects:
        id, manifest = planned.id, planned.manifest
        if id.kind == "Namespace":
            rights.allow("", id.api_version, "namespaces", _CHANGE, id.name)
            continue
        rights.allow(id.namespace, id.api_version, plural(id.kind), ["create"])
        if id.kind == "Secret":
            rights.allow(id.namespace, id.api_version, "secrets", ["get", *_CHANGE], id.name)
        else:
            # A name where others have objects of the kind: outside of namespaces.
            rights.allow(id.namespace, id.api_version, plural(id.kind), _CHANGE, "" if id.namespace else id.name)
        # Who gives a right has to have it, or may bind the role that has it.
        if id.kind in ("Role", "ClusterRole"):
            rights.hold(id, manifest["rules"])
        elif id.kind in ("RoleBinding", "ClusterRoleBinding") and manifest["roleRef"]["kind"] == "ClusterRole":
            rights.allow(id.namespace, _API, "clusterroles", ["bind"], manifest["roleRef"]["name"])
    return [planned.manifest for planned in plan.objects if planned.id.kind == "Namespace"]


def _operating(rights: _Rights, plan: Plan) -> None:
    """What `flux reconcile`, `flux suspend` and `flux resume` write, and what `why` reads besides."""
    for id in (planned.id for planned in plan.objects):
        if id.kind in APP_KINDS or group_of(id.api_version) == _SOURCES:
            rights.allow(id.namespace, id.api_version, plural(id.kind), ["patch"])
    for app in plan.apps:
        # Of a release, helm-controller makes a chart.
        if app.id.kind == "HelmRelease":
            rights.allow(app.id.namespace, f"{_SOURCES}/v1", "helmcharts", ["patch"])
    homes = {app.id.namespace for app in plan.apps}
    for namespace in homes | {planned.id.name for planned in plan.objects if planned.id.kind == "Namespace"}:
        for api_version, kind in AROUND:
            rights.allow(namespace, api_version, plural(kind), _READ)


@dataclass(slots=True)
class _Rights:
    """Verbs by namespace, API group, resource and name; "" for the whole cluster, and for every name.

    held: rules of the fleet's own roles, by namespace, each with the role.
    """

    _verbs: dict[tuple[str, str, str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    held: dict[str, list[tuple[ObjectId, Mapping[str, Any]]]] = field(default_factory=lambda: defaultdict(list))

    def allow(self, namespace: str, api_version: str, resource: str, verbs: Iterable[str], name: str = "") -> None:
        self._verbs[namespace, group_of(api_version), resource, name].update(verbs)

    def hold(self, role: ObjectId, rules: Iterable[Mapping[str, Any]]) -> None:
        self.held[role.namespace] += [(role, rule) for rule in rules]

    @property
    def namespaces(self) -> list[str]:
        return sorted({*(namespace for namespace, *_ in self._verbs), *self.held})

    def rules(self, wanted: str) -> list[dict[str, Any]]:
        """The rules in a namespace, as few as possible, in an order that does not change with the plan's."""
        names: dict[tuple[str, str, tuple[str, ...], bool], list[str]] = defaultdict(list)
        for (namespace, group, resource, name), verbs in self._verbs.items():
            if namespace == wanted:
                names[group, resource, tuple(sorted(verbs)), bool(name)].append(name)
        resources: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
        for (group, resource, granted, named), resource_names in names.items():
            resources[group, granted, tuple(sorted(resource_names)) if named else ()].append(resource)
        made = [_rule(*key, sorted(resource_names)) for key, resource_names in sorted(resources.items())]
        own = ({key: list(value) for key, value in rule.items()} for _, rule in self.held.get(wanted, ()))
        return [*made, *own]

    def wide(self) -> Iterable[str]:
        """What the fleet's own roles make wider than it should be, a line for each."""
        for held in self.held.values():
            for role in dict.fromkeys(role for role, rule in held if _is_wide(rule)):
                yield (
                    f"{role} of the fleet has wide rights, so who deploys it has them there, too: Kubernetes lets nobody give a"
                    " right that he does not have"
                )


def _rule(group: str, verbs: Sequence[str], names: Sequence[str], resources: list[str]) -> dict[str, Any]:
    only = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": resources, **only, "verbs": list(verbs)}


def _is_wide(rule: Mapping[str, Any]) -> bool:
    words = {word for key in ("apiGroups", "resources", "verbs") for word in rule.get(key) or ()}
    return not words.isdisjoint(_GIVING)


def _role(
    name: str, namespace: str, rules: list[dict[str, Any]], subject: Mapping[str, str]
) -> tuple[Manifest, Manifest]:
    """A role and its binding; namespace: "": on the whole cluster."""
    prefix = "" if namespace else "Cluster"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), "labels": MANAGED_BY}
    return (
        {"apiVersion": _API, "kind": f"{prefix}Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": _API,
            "kind": f"{prefix}RoleBinding",
            "metadata": metadata,
            "roleRef": {"apiGroup": _RBAC, "kind": f"{prefix}Role", "name": name},
            "subjects": [dict(subject)],
        },
    )
