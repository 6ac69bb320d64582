"""What is asked of a tenant's objects: each check yields what is wrong with the value of a field, wherever it stands.

Beside them stand the values that nobody chooses: the main file alone decides them, or the fleet for every tenant.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tenantry.fleet.fleet import platform_account
from tenantry.flux.addresses import addresses_of
from tenantry.flux.credentials import borrowed
from tenantry.grants.confined.place import ACCOUNT, APP, CLUSTER, ENVIRONMENT, MANAGED, ROLE, SOURCE, STATE, TENANT
from tenantry.grants.fields import ADVANCED
from tenantry.grants.grants import BOUNDS, HISTORY, INTERVAL, RETRIES, TIMEOUT, is_allowed
from tenantry.kube.names import MAX_RELEASE, is_reserved_namespace, shortened
from tenantry.kube.objects import Manifest, labels_of
from tenantry.messages.data import mapping_at, scalars, value_at
from tenantry.model.durations import seconds_of

if TYPE_CHECKING:
    from tenantry.grants.confined.escapes import Object

_REFERENCES = {
    "repository": "GitRepository",
    "providerRef": "Provider",
    **dict.fromkeys(("secretRef", "certSecretRef", "proxySecretRef", "trustedRootSecretRef"), "Secret"),
    **dict.fromkeys(("sourceRef", "chartRef", "resources", "substituteFrom", "valuesFrom", "dependsOn"), ""),
}
"""Fields that name another object; "": of the kind that the reference gives, or that the object itself is."""
_PATHS = ("path", "valuesFiles", "sparseCheckout", "fromPath", "toPath", "chart", "components")
_REMOTE = re.compile(r":|//|\?|@|\.git(/|$)|(^|/)_git/|^github\.com(/|$)")
"""What kustomize takes for the address of a repository."""
_BOUNDED = {
    "timeout": TIMEOUT,
    **dict.fromkeys(("interval", "retryInterval"), INTERVAL),
    "retries": RETRIES,
    "maxHistory": HISTORY,
}
_DEFAULT_TIMES = ("30s", "5m", "10m", "30m")
"""Times that the fleet sets where nobody sets one."""


def _metadata(object: Object, kind: str, entries: Mapping[str, Any]) -> Iterator[str]:
    accepted = metadata(object, kind)
    for key, value in entries.items():
        values = accepted.get(key, ())
        if value is None or (values is not None and value not in values):
            yield f"has '{key}', which is not granted to it"


def _connections(object: Object, _: str, spec: Mapping[str, Any]) -> Iterator[str]:
    """Where controllers connect to, and as whom."""
    place = object.place
    if not place.platform.sharedIdentity:
        yield from (f"{problem.message} in {problem.path[0]}" for problem in borrowed(object.kind, spec))
    if not object.is_teams:
        # Credentials of the main file go to its own addresses: an override of a team changes nothing there.
        for key in spec.keys() & {"url", "endpoint"}:
            if not place.writes(spec[key]):
                yield f"has an address in {key} that the main file does not write"
        return
    for advanced in ADVANCED.get(object.kind, ()) if not place.grants("advanced") else ():
        if (value := value_at(spec, advanced)) and not all(place.writes(leaf) for _, leaf in scalars(value)):
            yield f"fills {'.'.join(advanced)}, an advanced field,"
    patterns = place.addresses("sources", *(("alerts",) if object.kind == "Provider" else ()))
    for path, address in addresses_of(object.kind, spec):
        if not place.writes(spec.get(str(path[0]))) and not is_allowed(address, patterns):
            yield f"has an address in {path[0]} that is not granted to it"


def _namespace(object: Object, _: str, namespace: str) -> Iterator[str]:
    if not object.plan.is_own(object.place, namespace):
        yield f"names namespace '{namespace}'"


def _path(object: Object, key: str, path: Any) -> Iterator[str]:
    base = str(object.manifest["spec"].get("path") or ".") if key == "components" else "."
    leaves = str(path).startswith("/") or posixpath.normpath(posixpath.join(base, str(path))).startswith("..")
    if leaves or (key == "components" and _REMOTE.search(str(path))):
        yield f"leaves its source by '{path}'"


def _bounded(object: Object, key: str, value: Any) -> Iterator[str]:
    least, most = BOUNDS[_BOUNDED[key]]
    amount, low, high = (seconds_of(bound) if isinstance(bound, str) else bound for bound in (value, least, most))
    if not (object.place.writes(value) or value in _DEFAULT_TIMES or low <= amount <= high):
        yield f"has '{value}', which is not from {least} to {most},"


def _reference(object: Object, key: str, named: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the name of another object. Flux reads what is named with its own rights."""
    place, platform = object.place, f"{object.place.platform.namespace}."
    kind, name = str(named.get("kind") or _REFERENCES[key] or object.manifest["kind"]), str(named.get("name"))
    namespace = named.get("namespace", object.namespace)
    target = object.plan.by_name.get((kind, namespace, name))
    labels = labels_of(target.manifest) if target else {}
    is_addon = APP in labels and TENANT not in labels if target else _is_addon(object, namespace, name)
    if key == "dependsOn" and is_addon:
        return
    if target is None:
        is_own = not object.is_beside or name.startswith(place.prefixes)
    elif TENANT not in labels and name.startswith(platform):
        # A source that a class declares, or a chart of one: nothing in it may be a tenant's.
        is_own = place.declares("sources", labels.get(SOURCE, ""))
        for path, value in scalars(target.manifest["spec"]):
            is_secret = _REFERENCES.get(str(("", *path)[-2])) == "Secret"
            is_own = is_own and not (is_secret and not value.startswith(platform))
    else:
        is_own = labels.get(TENANT) == place.tenant and labels.get(CLUSTER, place.cluster) == place.cluster
    if namespace != object.namespace or not is_own:
        yield f"names {kind} '{namespace}/{name}', which is not the tenant's,"
    elif object.is_teams and kind == "HelmChart" and target:
        yield from _reference(object, "sourceRef", target.manifest["spec"]["sourceRef"])
    elif object.is_teams and object.is_declared(kind, entry := object.entry(kind, name, labels)):
        yield f"names '{entry}' of the main file"


def _is_addon(object: Object, namespace: str, name: str) -> bool:
    """Whether a name is that of an add-on on the cluster that another environment has there."""
    place, addons = object.place, object.place.platform.addons
    homes = {place.platform.namespace, place.home, *(addon.namespace for addon in addons.values())}
    names = {f"{place.cluster}-{addon}" if object.is_beside else addon for addon in addons}
    return namespace in homes and name in names and (object.is_beside or namespace != place.namespace)


def _selected(object: Object, _: str, selector: Mapping[str, Any]) -> Iterator[str]:
    """What labels select has to be the tenant's, and of a team's object nothing that the main file declares."""
    place, labels, name = object.place, selector.get("matchLabels") or {}, selector.get("name", "*")
    if labels.get(TENANT) != place.tenant or labels.get(ENVIRONMENT) != place.environment:
        if name == "*" or labels:
            yield "selects objects that are not the tenant's"
        else:
            yield from _reference(object, "resources", selector)
        return
    named = {"apps": labels.get(APP), "sources": labels.get(SOURCE)}
    for group, entry in named.items() if object.is_teams else ():
        declared = mapping_at(place.fleet.source.data, "tenants", place.tenant, group)
        if entry in declared or (declared and name == "*" and not any(named.values())):
            yield f"tells of {group} of the main file"


def _messages(object: Object, _: str, metadata: Mapping[str, Any]) -> Iterator[str]:
    place = object.place
    own = {"tenant": place.tenant, "environment": place.environment, "cluster": object.labels.get(CLUSTER)}
    for key, value in own.items():
        if value and metadata.get(key) != value:
            yield f"speaks for {key} '{metadata.get(key)}'"


def _subject(object: Object, _: str, subject: Mapping[str, Any]) -> Iterator[str]:
    """Whom a binding is for: the tenant's own accounts, and its owners."""
    place, plan, kind, name = object.place, object.plan, subject["kind"], subject["name"]
    if name.startswith("system:") or object.kind == "ClusterRoleBinding":
        extra = [
            namespace for namespace, key in place.frame.extra.items() if place.declared.namespaces[key].serviceAccount
        ]
        homes = [place.home, *(extra if place.kubeconfig is None else ())]
        is_own = kind == "User" and name in [f"system:serviceaccount:{home}:{place.account}" for home in homes]
    else:
        owners: set[tuple[str, str | None]] = set()
        for owner in place.settings(object.namespace).owners:
            account = owner.serviceAccount.name if owner.serviceAccount else None
            owners |= {("Group", owner.group), ("User", owner.user), ("ServiceAccount", account)}
        is_own = (kind, name) in owners or place.grants("owners")
        if kind == "ServiceAccount":
            namespace = subject.get("namespace", object.namespace)
            is_others = namespace in plan.of_tenants | plan.of_kubeconfigs or is_reserved_namespace(namespace)
            is_own = plan.is_own(place, namespace) or (is_own and not is_others)
    if not is_own:
        yield f"gives a role to '{name}', which is not the tenant's,"


def _chart(object: Object, _: str, named: Mapping[str, str]) -> Iterator[str]:
    chart = object.plan.by_name.get((named["kind"], object.namespace, named["name"]))
    is_platforms = chart and chart.id.name.startswith(f"{object.place.platform.namespace}.")
    if not (chart and is_platforms) or {TENANT, APP} & labels_of(chart.manifest).keys():
        yield "takes a chart that is not the platform's"


def _baseline(object: Object, _: str, spec: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the objects that it installs, and what it lacks of the main file's, or does not wait for."""
    place = object.place
    installed = set()
    for manifest in mapping_at(spec, "values").get("objects", ()):
        metadata = manifest["metadata"]
        installed.add((manifest["kind"], metadata.get("namespace", ""), metadata["name"]))
        for problem in object.installed(manifest).problems():
            yield f"installs {manifest['kind']} {metadata['name']}, which {problem},"
    namespaces = [name for kind, _, name in installed if kind == "Namespace"]
    if place.namespace not in namespaces:
        yield f"lacks namespace '{place.namespace}'"
    for namespace in namespaces:
        settings = place.settings(namespace)
        for kind, name, setting, is_set in (
            ("ResourceQuota", "tenantry", "quota", settings.quota),
            ("LimitRange", "tenantry", "limits", settings.limits),
            ("NetworkPolicy", "tenantry-isolated", "network", settings.network != "open"),
        ):
            if is_set and (kind, namespace, name) not in installed and not place.grants(setting):
                yield f"lacks the {kind} '{name}' of namespace '{namespace}'"
    yield from unawaited(object, spec)


def unawaited(object: Object, spec: Mapping[str, Any]) -> Iterator[str]:
    """The add-ons that the main file has a baseline wait for, and that it does not wait for."""
    place, after = object.place, {dependency["name"] for dependency in spec.get("dependsOn", ())}
    for name in place.settings("").dependsOn:
        addon = object.plan.addons.get((name.partition("/")[2], place.cluster))
        if addon and not (addon.name in after if addon.kind == "HelmRelease" else addon in object.depends_on):
            yield f"does not wait for {addon}"


CHECKS: dict[str, Callable[[Object, str, Any], Iterator[str]]] = {
    **dict.fromkeys(("labels", "annotations"), _metadata),
    "Kustomization.targetNamespace": _namespace,
    "HelmRelease.targetNamespace": _namespace,
    "HelmRelease.storageNamespace": _namespace,
    **dict.fromkeys(_PATHS, _path),
    **dict.fromkeys(_BOUNDED, _bounded),
    **dict.fromkeys(_REFERENCES, _reference),
    "spec": _connections,
    "eventSources": _selected,
    "eventMetadata": _messages,
    "subjects": _subject,
    "Baseline.chartRef": _chart,
    "Baseline.spec": _baseline,
}
"""By the field, or the kind and the field: the check of its value, or of each entry of a list."""


# --- values that nobody chooses ---------------------------------------------------------------------------------------


Values = tuple[Any, ...]
_SHARD, _PRUNE, _PODS = "sharding.fluxcd.io/key", "kustomize.toolkit.fluxcd.io/prune", "pod-security.kubernetes.io/"
_ANNOTATIONS: dict[str, Values] = {
    "pulumi.com/deletionPropagationPolicy": ("background",),
    "pulumi.com/patchFieldManager": ("tenantry",),
    "pulumi.com/patchForce": ("true",),
    "helm.sh/resource-policy": ("keep",),
    _PRUNE: ("disabled",),
}
"""Those with an effect on Pulumi, Helm or Flux."""


def values(object: Object) -> Iterator[Values]:
    """Paths of fields, each with the values that the object may have there; None: it may lack the field."""
    place, kind = object.place, object.kind
    settings = place.settings(object.namespace or object.name)
    match kind:
        case "Baseline":
            release, is_active = f"{place.namespace}-baseline", place.fleet.clusters[place.cluster].state == "active"
            yield ("spec", "kubeConfig"), place.kubeconfig_reference
            yield ("spec", "serviceAccountName"), platform_account(place.fleet, place.environment, place.cluster)
            yield ("spec", "releaseName"), release, shortened(release, MAX_RELEASE)
            yield from ((("spec", key), place.platform.namespace) for key in ("targetNamespace", "storageNamespace"))
            yield ("spec", "driftDetection"), {"mode": "enabled"}
            yield ("spec", "suspend"), None, False, not is_active
            for action in ("install", "upgrade"):
                yield ("spec", action, "disableTakeOwnership"), True, *((None, False) if place.declared.adopt else ())
        case "Kustomization" | "HelmRelease":
            yield ("spec", "kubeConfig"), place.kubeconfig_reference
            yield ("spec", "serviceAccountName"), place.account
        case "Namespace":
            yield from ((("metadata", "labels", key), *accepted) for key, accepted in _labels(object).items())
        case "ServiceAccount":
            own = place.declared.serviceAccount if not object.is_beside else None
            yield ("metadata", "name"), place.namespace, *(() if object.is_beside else (place.frame.account,))
            yield ("automountServiceAccountToken",), None, False
            yield ("imagePullSecrets",), None, [{"name": name} for name in own.imagePullSecrets] if own else []
        case "ResourceQuota" if not place.grants("quota"):
            yield ("spec", "hard"), settings.quota
        case "LimitRange" if not place.grants("limits"):
            yield ("spec", "limits"), [{"type": "Container", **settings.limits}]
        case "NetworkPolicy" if not place.grants("network"):
            yield ("metadata", "name"), "tenantry-isolated"
            yield ("spec",), *_policies(settings.network, place.tenant, place.environment)
        case "RoleBinding":
            roles = {settings.role, *(owner.role for owner in settings.owners)}
            if place.grants("owners"):
                roles |= {"view", "edit"} if settings.role in ("edit", "admin") else {"view"}
            yield ("roleRef", "kind"), "ClusterRole"
            yield ("roleRef", "name"), *(roles if place.declared.clusterAdmin else roles - {"cluster-admin"})
        case "ClusterRole" | "ClusterRoleBinding":
            rights = {f"tenantry.{place.namespace}.{key}": right for key, right in place.declared.clusterRoles.items()}
            right = rights.get(object.name)
            yield ("metadata", "name"), *rights
            if kind == "ClusterRole":
                yield ("rules",), [rule.model_dump(exclude_none=True) for rule in (right and right.rules) or ()]
            else:
                yield ("roleRef", "kind"), "ClusterRole"
                yield ("roleRef", "name"), (right and right.role) or object.name
        case "Secret":
            yield ("type",), None, "Opaque", "kubernetes.io/dockerconfigjson"


def metadata(object: Object, kind: str) -> Mapping[str, Values | None]:
    """The labels or annotations that the object may have, each with its values; None: any value."""
    place, is_namespace = object.place, object.kind == "Namespace"
    accepted: dict[str, Values | None] = {}
    if object.declared is not None:
        accepted = {key: (value,) for key, value in mapping_at(object.declared, "metadata", kind).items()}
    elif is_namespace:
        accepted = {key: (value,) for key, value in getattr(place.settings(object.name), kind).items()}
    elif object.kind == "ServiceAccount" and kind == "annotations" and place.declared.serviceAccount:
        accepted = dict.fromkeys(place.declared.serviceAccount.annotations or ())
    elif object.is_flux:
        accepted = {key: None for group, key in place.frame.metadata if group == kind}
    # What has an effect on the fleet, Pulumi, Flux or pod security comes from the fleet alone.
    for key in list(accepted):
        if key.startswith(("tenantry/", "pulumi.com/", _PODS)) or key.partition("/")[0].endswith("fluxcd.io"):
            del accepted[key]
    if kind == "annotations":
        accepted |= {**_ANNOTATIONS, **({"pulumi.com/skipAwait": ("true",)} if object.declared is not None else {})}
        return {**accepted, "tenantry/leaving": None} if is_namespace else accepted
    accepted |= {**_labels(object), STATE: None if object.app else (*place.states(object.namespace or object.name),)}
    if not is_namespace:
        accepted |= {APP: None, SOURCE: None}
    if object.is_flux:
        names = [place.cluster] if CLUSTER in object.labels else list(place.fleet.clusters)
        accepted[_SHARD] = tuple(place.fleet.clusters[name].shard for name in names)
    return accepted


def _labels(object: Object) -> dict[str, Values]:
    """The fleet's labels; all that a namespace has to have."""
    place, kind = object.place, object.kind
    labels: dict[str, Values] = {
        MANAGED: ("tenantry", None),
        CLUSTER: (place.cluster, None),
        TENANT: (place.tenant,),
        ENVIRONMENT: (place.environment,),
        _PRUNE: ("disabled",),
    }
    if kind in ("ConfigMap", "Secret"):
        labels["reconcile.fluxcd.io/watch"] = ("Enabled",)
    elif kind == "Namespace":
        labels[ROLE] = ("tenant",)
        if place.kubeconfig is None and place.frame.account != place.tenant:
            labels[ACCOUNT] = (place.frame.account,)
        pods = place.settings(object.name).podSecurity
        for mode in ("enforce", "audit", "warn"):
            if level := getattr(pods, mode):
                labels[_PODS + mode] = (level,)
                if pods.version:
                    labels[f"{_PODS}{mode}-version"] = (pods.version,)
    return labels


def _policies(network: str, tenant: str, environment: str) -> Iterator[Manifest]:
    """The specs that isolate a namespace: from all but its own pods, or from all but those of the tenant's namespaces."""
    whole = {"namespaceSelector": {"matchLabels": {TENANT: tenant, ENVIRONMENT: environment}}}
    no_tenants = {"key": TENANT, "operator": "DoesNotExist"}
    platform = {"namespaceSelector": {"matchExpressions": [no_tenants]}}
    addons = {"namespaceSelector": {"matchExpressions": [{"key": APP, "operator": "Exists"}, no_tenants]}}
    names = [platform, {"ipBlock": {"cidr": "169.254.20.10/32"}}]
    private = [{"ipBlock": {"cidr": cidr}} for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]
    ports = [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]
    pods: Manifest = {"podSelector": {}}
    for own in ([pods], [pods, whole]):
        if network == "isolated":
            peers = [pods, platform, *own[1:]]
            yield {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}
        elif network == "strict":
            out: list[Manifest] = [{"to": own}, {"to": names, "ports": ports}]
            # API servers at private addresses, and not what tells machines who they are.
            local = {"ipBlock": {"cidr": "fc00::/7", "except": ["fd00:ec2::254/128", "fd20:ce::254/128"]}}
            out.append({"to": [*private, local], "ports": [{"protocol": "TCP", "port": 6443}]})
            into = [{"from": [*own, addons]}]
            yield {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": into, "egress": out}
