"""Whether an object of Kubernetes' own kinds is confined: namespaces, quotas, accounts, roles and bindings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tenantry.fleet.settings import TenantSettings
from tenantry.fleet.template import fill_manifest
from tenantry.grants.confined.place import (
    ACCOUNT,
    APP,
    ENVIRONMENT,
    MANAGED,
    PODS,
    PROVIDER,
    PRUNE,
    ROLE,
    SOURCE,
    STATE,
    TENANT,
    Place,
    fleets_labels,
    is_fleets,
    labels_of,
    states_of,
    unknown_metadata,
)
from tenantry.grants.confined.plan import Planned
from tenantry.kube.names import is_reserved_namespace
from tenantry.kube.objects import Manifest
from tenantry.messages.data import mapping_at

_TYPES = ("Opaque", "kubernetes.io/dockerconfigjson")
_NOBODY = {"key": TENANT, "operator": "DoesNotExist"}


class Kubernetes:
    """An object of Kubernetes' own kinds: in the plan, or installed by the baseline of a remote cluster."""

    def __init__(self, plan: Planned, place: Place, manifest: Manifest, *, on_target: bool) -> None:
        self.plan, self.place, self.manifest, self.on_target = plan, place, manifest, on_target
        self.kind, self.name = manifest["kind"], manifest["metadata"]["name"]
        self.namespace = manifest["metadata"].get("namespace", "")
        self.body = {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind", "metadata")}

    def problems(self) -> Iterator[str]:
        place, metadata = self.place, self.manifest["metadata"]
        yield from unknown_metadata(metadata)
        declared = self._declared()
        if declared is not None:
            if _plain(self.body) != _plain(declared):
                yield "is not as the main file says"
            yield from self._rights()
            return
        if self.kind in ("ClusterRole", "ClusterRoleBinding"):
            yield from self._cluster_right()
            return
        fleets = fleets_labels(place, labels_of(self.manifest)) | PROVIDER | {"reconcile.fluxcd.io/watch": "Enabled"}
        for kind in ("labels", "annotations") if self.kind != "Namespace" else ():
            own = (place.declared.serviceAccount and place.declared.serviceAccount.annotations) or {}
            for key, value in metadata.get(kind, {}).items():
                is_own = self.kind == "ServiceAccount" and kind == "annotations" and key in own
                if not is_own and key not in (APP, SOURCE, STATE) and fleets.get(key) != value:
                    yield f"has {kind[:-1]} '{key}', which no tenant may set"
        if self.kind == "Namespace":
            yield from self._of_namespace()
        elif self.namespace not in self.plan.namespaces(place) and not self._is_beside_kubeconfig():
            yield "is in no namespace of the tenant"
        else:
            yield from self._in_namespace()

    def _is_beside_kubeconfig(self) -> bool:
        place = self.place
        if self.on_target or self.namespace != place.home:
            return False
        own = self.name == place.main if self.kind == "ServiceAccount" else self.name.startswith(place.prefixes)
        return bool(own)

    def _declared(self) -> dict[str, Any] | None:
        """What the main file itself writes of the object, filled in; None: nothing."""
        place = self.place
        written = place.settings(self.namespace).objects if self.namespace else place.holder.cluster_objects
        for key, each in written.items():
            variables = {**place.variables, "namespace": self.namespace or place.main}
            if self.namespace:
                variables["account"] = f"system:serviceaccount:{place.home}:{place.impersonated}"
            if (each["apiVersion"], each["kind"]) != (self.manifest["apiVersion"], self.kind):
                continue
            filled = fill_manifest(each, variables, ())
            if (mapping_at(filled, "metadata").get("name") or key) == self.name:
                return {name: value for name, value in filled.items() if name not in ("apiVersion", "kind", "metadata")}
        return None

    def _rights(self) -> Iterator[str]:
        for rule in (
            self.body.get("rules") or () if self.kind == "Role" and not self.place.declared.clusterAdmin else ()
        ):
            more = {"*", "bind", "escalate"}.intersection(rule.get("verbs") or ())
            if more and {"*", "clusterroles", "roles", "clusterrolebindings", "rolebindings"}.intersection(
                rule.get("resources") or ()
            ):
                yield "leads to all rights"

    def _cluster_right(self) -> Iterator[str]:
        place, prefix = self.place, f"tenantry.{self.place.main}."
        rights = (
            place.declared.clusterRoles.get(self.name.removeprefix(prefix)) if self.name.startswith(prefix) else None
        )
        if rights is None:
            yield "is no right that the main file gives"
        elif self.kind == "ClusterRole":
            if self.body != {"rules": [each.model_dump(exclude_none=True) for each in rights.rules or ()]}:
                yield "is not as the main file says"
        elif self.body["roleRef"]["name"] != (rights.role or self.name) or not self._users() <= self._own_users():
            yield "is not for the tenant alone, or of another role than the main file gives"

    def _users(self) -> set[str]:
        return {f"{each['kind']} {each['name']}" for each in self.body["subjects"]}

    def _own_users(self) -> set[str]:
        place = self.place
        extra = [name for name, key in place.extra.items() if place.declared.namespaces[key].serviceAccount]
        homes = [place.home, *(() if place.kubeconfig else extra)]
        return {f"User system:serviceaccount:{home}:{place.impersonated}" for home in homes}

    def _of_namespace(self) -> Iterator[str]:
        place, metadata, settings = self.place, self.manifest["metadata"], self.place.settings(self.name)
        if self.name not in self.plan.namespaces(place):
            yield "is none of the tenant's namespaces"
        if others := self.plan.claims.get(self.name, set()) - {place.tenant}:
            yield f"belongs to {', '.join(sorted(others))} too"
        if self.plan.is_reserved(self.name):
            yield "is reserved"
        pods = settings.podSecurity
        levels = {mode: level for mode in ("enforce", "audit", "warn") if (level := getattr(pods, mode))}
        levels |= {f"{mode}-version": pods.version for mode in levels} if pods.version else {}
        wanted = {f"{PODS}{key}": level for key, level in levels.items()}
        labels = metadata.get("labels", {})
        if {key: value for key, value in labels.items() if key.startswith(PODS)} != wanted:
            yield "has another pod security than the main file sets"
        wanted |= {key: value for key, value in fleets_labels(place, labels).items() if key != MANAGED or key in labels}
        wanted |= {ROLE: "tenant", PRUNE: "disabled"}
        if place.kubeconfig is None and place.holder.account != place.tenant:
            wanted[ACCOUNT] = place.holder.account
        yield from (f"does not say '{key}: {value}'" for key, value in wanted.items() if labels.get(key) != value)
        for kind, written in (("labels", settings.labels), ("annotations", settings.annotations)):
            for key, value in metadata.get(kind, {}).items():
                if key == STATE and kind == "labels":
                    right = value in states_of(place, place.extra.get(self.name, ""))
                elif kind == "annotations":
                    right = PROVIDER.get(key) == value or key == "tenantry/leaving"
                else:
                    right = key in wanted
                own = not is_fleets(key) and written.get(key) == value
                if not (right or own):
                    yield f"has {kind[:-1]} '{key}', which is not granted to it"

    def _in_namespace(self) -> Iterator[str]:
        """Quota, limits, network, accounts, roles: as the main file sets them, where it does not leave them to the team."""
        place, settings, body = self.place, self.place.settings(self.namespace), self.body
        allowed: dict[str, Any] = {}
        match self.kind:
            case "ServiceAccount":
                own = place.declared.serviceAccount if self.on_target else None
                allowed = {"imagePullSecrets": [{"name": each} for each in own.imagePullSecrets]} if own else {}
                right = {
                    **allowed,
                    **{
                        key: value
                        for key, value in body.items()
                        if (key, value) == ("automountServiceAccountToken", False)
                    },
                } == {**allowed, **body}
                right = right and self.name in (place.holder.account, place.main)
            case "ResourceQuota":
                right = body == {"spec": {"hard": settings.quota}} or (
                    _only(body, "hard") and place.grants_setting("quota")
                )
            case "LimitRange":
                limits = [{"type": "Container", **settings.limits}]
                right = body == {"spec": {"limits": limits}} or (
                    _only(body, "limits") and place.grants_setting("limits")
                )
            case "NetworkPolicy":
                right = place.grants_setting("network") or self._is_written_policy(settings)
            case "RoleBinding":
                right = True
                yield from self._binding(settings)
            case "Secret":
                right = body.keys() <= {"type", "data", "stringData"} and body.get("type", "Opaque") in _TYPES
            case "ConfigMap":
                right = body.keys() <= {"data"}
            case _:
                right = False
        if not right:
            yield "is none that the main file gives to the tenant, or not as it says"

    def _is_written_policy(self, settings: TenantSettings) -> bool:
        peers: list[Manifest] = [
            {"podSelector": {}},
            {"namespaceSelector": {"matchLabels": {TENANT: self.place.tenant, ENVIRONMENT: self.place.environment}}},
        ]
        wanted = [_strict(own) if settings.network == "strict" else _isolated(own) for own in (peers[:1], peers)]
        return self.name == "tenantry-isolated" and settings.network != "open" and self.body.get("spec") in wanted

    def _binding(self, settings: TenantSettings) -> Iterator[str]:
        place, ref = self.place, self.body["roleRef"]
        roles = {
            settings.role,
            *(each.role for each in settings.owners),
        }
        if place.grants_setting("owners"):
            roles |= {"view", *(("edit",) if settings.role in ("edit", "admin") else ())}
        if not place.declared.clusterAdmin:
            roles -= {"cluster-admin"}
        if ref["name"] not in roles or ref["kind"] != "ClusterRole":
            yield f"gives the role '{ref['name']}', which is not granted"
        known = {_subject(each) for each in settings.owners}
        for subject in self.body["subjects"]:
            kind, name = subject["kind"], subject["name"]
            if kind == "ServiceAccount":
                namespace = subject.get("namespace", self.namespace)
                others = namespace in self.plan.holders or namespace in self.plan.kubeconfigs
                named = (kind, name) in known or place.grants_setting("owners")
                own = namespace in self.plan.namespaces(place) or (
                    named and not others and not is_reserved_namespace(namespace)
                )
            elif name.startswith("system:"):
                own = f"{kind} {name}" in self._own_users()
            else:
                own = (kind, name) in known or place.grants_setting("owners")
            if not own:
                yield f"gives a role to '{name}', which is not the tenant's"

    @staticmethod
    def missing(place: Place, objects: Iterable[Manifest]) -> Iterator[str]:
        """What the main file sets for a namespace and no object says."""
        there = {(each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in objects}
        for name in [name for kind, _, name in there if kind == "Namespace"]:
            settings = place.settings(name)
            wanted = [("ResourceQuota", "tenantry", "quota")] if settings.quota else []
            wanted += [("LimitRange", "tenantry", "limits")] if settings.limits else []
            wanted += [("NetworkPolicy", "tenantry-isolated", "network")] if settings.network != "open" else []
            for kind, object, setting in wanted:
                if (kind, name, object) not in there and not place.grants_setting(setting):
                    yield f"lacks the {kind} '{object}' in namespace '{name}'"


def _isolated(own: list[Manifest]) -> Manifest:
    peers = [own[0], {"namespaceSelector": {"matchExpressions": [_NOBODY]}}, *own[1:]]
    return {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}


def _strict(own: list[Manifest]) -> Manifest:
    """In from the tenant and from add-ons; out to the tenant, to name servers and to API servers at private addresses."""
    addons = {"namespaceSelector": {"matchExpressions": [{"key": APP, "operator": "Exists"}, _NOBODY]}}
    names = [{"namespaceSelector": {"matchExpressions": [_NOBODY]}}, {"ipBlock": {"cidr": "169.254.20.10/32"}}]
    private: list[Manifest] = [
        {"ipBlock": {"cidr": each}} for each in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
    ]
    private += [{"ipBlock": {"cidr": "fc00::/7", "except": ["fd00:ec2::254/128"]}}]
    return {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [*own, addons]}],
        "egress": [
            {"to": own},
            {"to": names, "ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]},
            {"to": private, "ports": [{"protocol": "TCP", "port": 6443}]},
        ],
    }


def _only(body: Mapping[str, Any], key: str) -> bool:
    return body.keys() == {"spec"} and body["spec"].keys() == {key}


def _subject(subject: Any) -> tuple[str, str]:
    if subject.group is not None:
        return "Group", subject.group
    return ("User", subject.user) if subject.user is not None else ("ServiceAccount", subject.serviceAccount.name)


def _plain(value: Any) -> Any:
    """The value with text for each scalar."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else str(value)
