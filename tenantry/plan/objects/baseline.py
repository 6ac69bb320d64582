"""The namespaces of a tenant on one cluster: the baseline in them with its network policy, and whom Flux impersonates there.

For a remote cluster a release on the management cluster installs the baseline, before any app.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, TypeAlias

from tenantry.fleet.settings import TenantSettings
from tenantry.kube.names import MAX_RELEASE, join, shortened
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.text import grouped
from tenantry.model import (
    Git,
    Helm,
    HelmRepository,
    ObjectsChart,
    Source,
)
from tenantry.model.tenancy import AccountRef, Network, ServiceAccount, TenantOwner
from tenantry.plan.objects.apps import HELM_API, IN_PLACE, Dependency, edges, flux_order, reference
from tenantry.plan.objects.lifecycle import Lifecycle, in_state, kept_by_helm
from tenantry.plan.objects.scope import (
    ACCOUNT_LABEL,
    APP_LABEL,
    ENVIRONMENT_LABEL,
    MANAGED_BY,
    ROLE_LABEL,
    TENANT_LABEL,
    Scope,
    in_namespace,
    installed_labels,
    on_management,
)

_RBAC = "rbac.authorization.k8s.io"


def role_bindings(scope: Scope, settings: TenantSettings) -> Iterator[Manifest]:
    """The binding of the service account, and one for each role of the owners."""
    users = [_rbac("User", user) for user in users_of(scope)]
    yield _binding(scope, "reconciler", settings.role, users)
    for role, owners in grouped(settings.owners, lambda owner: owner.role).items():
        yield _binding(scope, "owners", role, [_subject(scope, owner) for owner in owners])


def users_of(scope: Scope) -> list[str]:
    """The users that Flux impersonates, on the management cluster and on remotes; the first is that of the planned apps.

    Source: fluxcd.io, Kustomization, "Role-based access control": the namespace is that of the Flux object.
    """
    return [f"system:serviceaccount:{namespace}:{scope.service_account}" for namespace in (scope.home, *scope.accounts)]


def _binding(scope: Scope, what: str, role: str, subjects: Sequence[Manifest]) -> Manifest:
    """A binding of a ClusterRole. Its name says which, as a binding keeps its role for ever; a policy closes such names."""
    body = {"roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role}, "subjects": list(subjects)}
    return in_namespace(scope, f"{_RBAC}/v1", "RoleBinding", join("tenantry", what, role), body)


def _subject(scope: Scope, subject: TenantOwner) -> Manifest:
    if subject.group is not None:
        return _rbac("Group", subject.group)
    if subject.user is not None:
        return _rbac("User", subject.user)
    assert subject.serviceAccount is not None  # a check of the model
    account = subject.serviceAccount
    return {"kind": "ServiceAccount", "name": account.name, "namespace": account_namespace(scope, account)}


def account_namespace(scope: Scope, account: AccountRef) -> str:
    """The namespace of a service account on the placement's cluster."""
    # `storage` is the tenant's main namespace, also in the scope of an extra namespace.
    return scope.own_namespace(account.namespace or scope.storage)


def _rbac(kind: str, name: str) -> dict[str, Any]:
    return {"apiGroup": _RBAC, "kind": kind, "name": name}


def baseline(scope: Scope, settings: TenantSettings) -> list[Manifest]:
    """The Namespace first, then the objects in it: role bindings, quota, limits, network policies."""
    manifests = [_namespace(scope, settings), *role_bindings(scope, settings)]
    if settings.quota:
        manifests.append(in_namespace(scope, "v1", "ResourceQuota", "tenantry", {"spec": {"hard": settings.quota}}))
    if settings.limits:
        limits = [{"type": "Container", **settings.limits}]
        manifests.append(in_namespace(scope, "v1", "LimitRange", "tenantry", {"spec": {"limits": limits}}))
    return [*manifests, *network_policies(scope, settings.network)]


def _namespace(scope: Scope, settings: TenantSettings) -> Manifest:
    # The admission policy reads the account, because a tenant's Flux objects have to name it.
    is_read = scope.kubeconfig is None and scope.service_account != scope.tenant
    labels = {
        **settings.labels,
        **settings.podSecurity.labels,
        **installed_labels(scope),
        **ROLE_LABEL,
        **({ACCOUNT_LABEL: scope.service_account} if is_read else {}),
        # If a Kustomization applied this namespace before, its deletion must not delete the namespace.
        "kustomize.toolkit.fluxcd.io/prune": "disabled",
    }
    annotations = {"annotations": settings.annotations} if settings.annotations else {}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": scope.namespace, "labels": labels, **annotations},
    }


def account(scope: Scope, name: str, declared: ServiceAccount | None) -> Manifest:
    """A service account in the scope's namespace on the target cluster. Its rights come from bindings alone."""
    if declared is None:
        return in_namespace(scope, "v1", "ServiceAccount", name, {})
    secrets = {"imagePullSecrets": [{"name": name} for name in declared.imagePullSecrets]}
    made = in_namespace(scope, "v1", "ServiceAccount", name, secrets if declared.imagePullSecrets else {})
    annotations = {"annotations": declared.annotations} if declared.annotations else {}
    return {**made, "metadata": {**made["metadata"], **annotations}}


LINK_LOCAL = ("169.254.0.0/16", "fe80::/10")
METADATA = (
    *LINK_LOCAL,
    "100.100.100.200/32",
    "192.0.0.192/32",
    "168.63.129.16/32",
    "fd00:ec2::254/128",
    "fd20:ce::254/128",
)
"""Where clouds give credentials of the node or of pods to whoever asks. No policy of a strict tenant leads there.

Link-local as a whole, because clouds and their agents choose more addresses there. The others are those of Alibaba, Oracle, Azure,
AWS and Google.
"""
_DNS_OF_NODES = "169.254.20.10/32"
_NO_TENANT = {"key": TENANT_LABEL, "operator": "DoesNotExist"}
_OF_ADDONS = {"key": APP_LABEL, "operator": "Exists"}
_NAME_SERVERS = [
    {"namespaceSelector": {"matchExpressions": [_NO_TENANT]}},
    # NodeLocal DNSCache, which runs in the network of the node.
    {"ipBlock": {"cidr": _DNS_OF_NODES}},
]
_DNS = [{"protocol": protocol, "port": 53} for protocol in ("UDP", "TCP")]
_API_SERVERS = [
    *({"ipBlock": {"cidr": private}} for private in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")),
    {"ipBlock": {"cidr": "fc00::/7", "except": [service for service in METADATA if service.startswith("fd")]}},
]
"""Private addresses. No selector selects the API server, as it is no pod, and a plan does not know its address."""
_API_PORT = [{"protocol": "TCP", "port": 6443}]


def network_policies(scope: Scope, network: Network) -> Iterator[Manifest]:
    """The policy of a namespace; none if its network is open."""
    if network != "open":
        spec = _strict(scope) if network == "strict" else _isolated(scope)
        yield in_namespace(scope, "networking.k8s.io/v1", "NetworkPolicy", "tenantry-isolated", {"spec": spec})


def metadata_services(policy: Manifest) -> list[str]:
    """The addresses of METADATA to which a policy allows connections, all or some of each."""
    rules = mappings_in(mapping_at(policy, "spec").get("egress"))
    if any(not rule.get("to") for rule in rules):  # it allows all
        return list(METADATA)
    blocks = [mapping_at(peer, "ipBlock") for rule in rules for peer in mappings_in(rule.get("to"))]
    return [service for service in METADATA if any(_overlaps(block, service) for block in blocks if block)]


def _overlaps(block: Mapping[str, Any], address: str) -> bool:
    whole, part = _network(block.get("cidr")), ip_network(address)
    if whole is None or not whole.overlaps(part):
        return False
    both = min(whole, part, key=lambda network: network.num_addresses)
    left_out = (_network(network) for network in block.get("except") or ())
    return str(both) != _DNS_OF_NODES and not any(
        excepted and excepted.version == both.version and both.subnet_of(excepted)  # type: ignore[arg-type]
        for excepted in left_out
    )


_Network: TypeAlias = IPv4Network | IPv6Network


def _network(text: Any) -> _Network | None:
    try:
        return ip_network(str(text), strict=False)
    except ValueError:
        return None


def _isolated(scope: Scope) -> dict[str, Any]:
    """Allow ingress from the tenant's pods and from namespaces without a tenant (ingress, monitoring), and from nowhere else."""
    own, *extras = _own(scope)
    peers = [own, {"namespaceSelector": {"matchExpressions": [_NO_TENANT]}}, *extras]
    return {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": peers}]}


def _strict(scope: Scope) -> dict[str, Any]:
    """Allow the tenant's pods among themselves, ingress from namespaces that add-ons own, and egress to DNS and the API server."""
    own = _own(scope)
    return {
        "podSelector": {},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": [{"from": [*own, {"namespaceSelector": {"matchExpressions": [_OF_ADDONS, _NO_TENANT]}}]}],
        "egress": [
            {"to": own},
            {"to": _NAME_SERVERS, "ports": _DNS},
            {"to": _API_SERVERS, "ports": _API_PORT},
        ],
    }


def _own(scope: Scope) -> list[Manifest]:
    """The pods of the namespace, and those of the tenant's others."""
    peers: list[Manifest] = [{"podSelector": {}}]
    if scope.namespaces:
        # Another environment on the same cluster has tenants with the same names.
        own = {TENANT_LABEL: scope.tenant, ENVIRONMENT_LABEL: scope.environment}
        peers.append({"namespaceSelector": {"matchLabels": own}})
    return peers


# --- what a remote cluster needs on its management cluster ------------------------------------------------------------


OBJECTS_CHART = "tenantry-objects"
"""The name of the chart in tenantry/charts/objects, which installs `values.objects` unchanged."""
_LOOK_FOR_COMMITS = "10m"
"""How often Flux looks for new commits: as often as it reads the index of a Helm repository."""


def service_account(name: str, namespace: str, environment: str, owner: Owner) -> KubeObject:
    """A service account on the management cluster, for Flux objects of remotes.

    The remote needs no such object, only role bindings for the user. But Flux checks that it exists here before it prunes.
    """
    labels = {
        **MANAGED_BY,
        **({TENANT_LABEL: owner.tenant} if owner.tenant else {}),
        ENVIRONMENT_LABEL: environment,
    }
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    return on_management({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, **NO_TOKEN}, owner)


NO_TOKEN = {"automountServiceAccountToken": False}
"""Of accounts that Flux impersonates and no pod runs as: a pod that names one gets no token of it."""


def chart_of_objects(chart: ObjectsChart) -> tuple[Source, Helm | None]:
    """The source and the chart of the baselines on remote clusters, as for an app; None: the source is the chart."""
    if chart.oci:
        return Source(oci=chart.oci, credentials=chart.credentials), None
    if place := chart.git:
        # Only the chart's directory is fetched. A fleet's own repository changes with every edit, and the strategy `Revision` would
        # upgrade every baseline with every commit.
        path = str(place.path).removeprefix("./").rstrip("/")
        only = None if path in ("", ".") else [path]
        git = {"url": place.url, "ref": place.ref, "interval": _LOOK_FOR_COMMITS, "sparseCheckout": only}
        declared = Source(git=Git.model_validate(git))
        helm = Helm.model_validate({"chart": path or ".", "reconcileStrategy": "ChartVersion"})
    else:
        assert chart.helm is not None  # one of the three is given
        declared = Source(helm=HelmRepository.model_validate(chart.helm.model_dump(include={"url", "type"})))
        helm = Helm(chart=OBJECTS_CHART, version=chart.helm.version)
    return declared.model_copy(update={"credentials": chart.credentials}), helm


def objects_release(
    scope: Scope,
    platform: Scope,
    key: str,
    manifests: Sequence[Manifest],
    settings: TenantSettings,
    depends_on: tuple[ObjectId, ...],
    after: Sequence[Dependency],
    state: Lifecycle,
    *,
    adopt: bool,
) -> KubeObject:
    """The HelmRelease that installs manifests as they are, with the platform's rights: a baseline, or namespaces of an add-on.

    scope: the owner's, for names and labels; platform: the cluster's, for identity and storage. key: as for an app.
    depends_on: the chart first, then the platform's service account. after: add-ons that the owner waits for.
    state: what can hold data is held on the cluster when the release is deleted, unless the state is `offboarding`.
    adopt: whether the release takes over what exists already; otherwise Helm refuses to install it.
    """
    strategy = {"name": "RetryOnFailure", "retryInterval": settings.retryInterval}
    action = {"strategy": strategy, **({} if adopt else {"disableTakeOwnership": True})}
    spec = {
        "interval": settings.interval,
        "timeout": settings.timeout,
        "releaseName": shortened(join(scope.namespace, key) if scope.tenant else key, MAX_RELEASE),
        "targetNamespace": platform.storage,
        "storageNamespace": platform.storage,
        "chartRef": reference(depends_on[0]),
        "serviceAccountName": platform.service_account,
        **platform.remote(),
        **flux_order(scope, "HelmRelease", after),
        "driftDetection": {"mode": "enabled"},
        "install": action,
        "upgrade": {**action, "chartNameChangeStrategy": IN_PLACE},
        "values": {"objects": kept_by_helm(manifests, state)},
    }
    made = scope.object(HELM_API, "HelmRelease", key, {"spec": spec}, depends_on=(*depends_on, *edges(after)))
    return in_state(made, state)
