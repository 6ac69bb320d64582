"""Reads the fleet's objects on the management cluster, which it finds by the fleet's labels. It never writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from tenantry.cluster import requests
from tenantry.cluster.reading import APP_KINDS, of_environment, unserved, without_label
from tenantry.fleet.fleet import Fleet
from tenantry.flux.schemas import kinds, schema_of
from tenantry.guard.claims import CLAIM_LABEL, Claim, claims, other_claims
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Problem, Refused, error, refuse
from tenantry.plan.bootstrap import MARKER
from tenantry.plan.objects.scope import ENVIRONMENT_LABEL, MANAGED_BY
from tenantry.plan.plan import Plan
from tenantry.rollout.readiness import reconcilers_of

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

CORE_KINDS = (
    ("v1", "Namespace"),
    ("v1", "ServiceAccount"),
    ("v1", "ConfigMap"),
    ("v1", "Secret"),
    ("v1", "ResourceQuota"),
    ("v1", "LimitRange"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
)
"""API version and kind of what a plan can hold besides Flux's kinds."""


def fleet_kinds() -> list[tuple[str, str]]:
    """API version and kind of whatever a plan can hold, except for what is under `objects`."""
    return [*CORE_KINDS, *((schema_of(kind).api_version, kind) for kind in kinds())]


def apps_of(client: Client, environment: str) -> Iterator[Manifest]:
    """The Kustomizations and HelmReleases of an environment, in all namespaces. The two kinds are listed concurrently.

    Raises: Refused: Flux is not installed on the cluster, or reading is not allowed.
    """
    selector = f"{ENVIRONMENT_LABEL}={environment}"

    def of_kind(kind: str) -> list[Manifest]:
        message = f"the cluster does not serve {kind}: Flux is not installed there"
        unknown = Refused(message, "install Flux, or name the management cluster")
        return list(requests.every(client, APP_KINDS[kind], kind, selector=selector, unknown=unknown))

    return chain.from_iterable(requests.in_parallel(of_kind, APP_KINDS))


def flux_objects_of(client: Client, plan: Plan) -> list[Manifest]:
    """The Kustomizations and HelmReleases of a plan's environment, and objects of the kinds of their sources and charts.

    One list for each kind, and one more where planned objects are not among them: a tenant can take the label off.
    Raises: as `apps_of`.
    """
    selector = f"{ENVIRONMENT_LABEL}={plan.environment}"

    def of_kind(kind: tuple[str, str]) -> list[Manifest]:
        return list(requests.every(client, *kind, selector=selector))

    kinds = flux_kinds_of(plan)
    sources = [kind for kind in kinds if kind[1] not in APP_KINDS]
    live = [*apps_of(client, plan.environment), *chain.from_iterable(requests.in_parallel(of_kind, sources))]
    seen = {readable_id(manifest) for manifest in live}
    unseen = (id for planned in plan.objects if (id := planned.id) not in seen and (id.api_version, id.kind) in kinds)
    return [*live, *without_label(client, plan.environment, unseen).values()]


def flux_kinds_of(plan: Plan) -> list[tuple[str, str]]:
    """API version and kind of what `flux_objects_of` reads."""
    sources = {(id.api_version, id.kind) for reconciler in reconcilers_of(plan).values() for id in reconciler.sources}
    return [*((version, kind) for kind, version in APP_KINDS.items()), *sorted(sources)]


def owned_on(client: Client, environment: str, planned: Iterable[ObjectId] = ()) -> list[Manifest]:
    """The metadata of every object that the fleet created for an environment. Kinds are listed concurrently.

    Args:   planned: objects whose kinds are listed too: those under `objects` can have any.
    Raises: Refused: reading is not allowed.
    """
    planned = list(planned)

    def owned(kind: tuple[str, str]) -> list[Manifest]:
        live = of_environment(client, environment, kind, planned, labelled=True, metadata_only=True)
        return [manifest for manifest in live if MANAGED_BY.items() <= labels_of(manifest).items()]

    more = [(id.api_version, id.kind) for id in planned]
    return [*chain.from_iterable(requests.in_parallel(owned, dict.fromkeys([*fleet_kinds(), *more])))]


def namespaces_of(client: Client) -> Iterator[Manifest]:
    """All Namespaces. Raises: Refused: reading is not allowed."""
    return requests.every(client, "v1", "Namespace")


def marked_as(client: Client, platform: str) -> str | None:
    """The name in the marker of a cluster; None without a marker. Raises: Refused: reading is not allowed."""
    marker = requests.one(client, ObjectId("v1", "ConfigMap", platform, MARKER)) or {}
    return (marker.get("data") or {}).get("cluster")


def against_claim(client: Client, fleet: Fleet, mine: Claim) -> Iterator[Problem]:
    """Conflicts between a stack's own claim and the claims on the management cluster."""
    platform = fleet.document.platform.namespace
    return other_claims(mine, claims_on(client, platform), platform)


def claims_on(client: Client, platform: str) -> list[Claim]:
    """Which stacks run which environments from here. Raises: Refused: reading is not allowed."""
    return list(claims(requests.every(client, "v1", "ConfigMap", namespace=platform, selector=CLAIM_LABEL)))


def held_on(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Manifest]:
    """What the management cluster of a plan holds: all namespaces, the objects that stand for apps of the environment or lie in its
    tenants' namespaces, and the metadata of everything that the plan would take over.

    Raises: Refused: it is another cluster, has no marker, or does not serve a kind of the plan.
    """
    refuse(unmarked(client, fleet, plan))
    refuse(unserved(client, fleet, plan))
    return holdings(client, plan)


def holdings(client: Client, plan: Plan) -> Iterator[Manifest]:
    """As `held_on`, without checking the cluster's marker."""
    namespaces = list(namespaces_of(client))
    yield from namespaces
    apps = list(apps_of(client, plan.environment))
    yield from apps
    places = Places(namespaces)
    reached = (app for app in apps if places.tenants(app) is None)
    yield from _beside_kubeconfigs(client, plan, {whose(app).cluster for app in reached})
    tenants = {
        namespace["metadata"]["name"] for namespace in namespaces if whose(namespace).environment == plan.environment
    }
    yield from strangers_on(client, plan, tenants)


def _beside_kubeconfigs(client: Client, plan: Plan, known: Collection[str]) -> Iterator[Manifest]:
    """What other environments have beside the kubeconfigs of remote clusters that are new here, perhaps under other names."""
    new = {
        planned.id.namespace
        for planned in plan.objects
        if "kubeConfig" in mapping_at(planned.manifest, "spec") and planned.owner.cluster not in known
    }
    selector = f"{ENVIRONMENT_LABEL},{ENVIRONMENT_LABEL}!={plan.environment}"
    for namespace in sorted(new):
        for kind, api_version in APP_KINDS.items():
            yield from requests.every(client, api_version, kind, namespace=namespace, selector=selector)


OTHER_CLUSTER, UNMARKED = "other-cluster", "unmarked-cluster"


def unmarked(client: Client, fleet: Fleet, plan: Plan) -> Iterator[Problem]:
    """Whether the cluster is the management cluster of the plan, according to its marker."""
    hub = plan.management
    marked, server = marked_as(client, fleet.document.platform.namespace), client.access.cluster.server
    if marked is None:
        yield error(
            UNMARKED,
            f"cluster {server} is not marked as '{hub}', the management cluster of environment '{plan.environment}'",
            f"check the kubeconfig and its context; if they are right: tenantry bootstrap {hub}"
            " --kubeconfig FILE --context NAME",
        )
    elif marked != hub:
        yield error(
            OTHER_CLUSTER,
            f"cluster {server} is marked as '{marked}', but the management cluster of environment '{plan.environment}'"
            f" is '{hub}'",
            "choose the kubeconfig and context of that cluster, or the stack of the other environment",
        )


def strangers_on(client: Client, plan: Plan, tenants: Collection[str] = ()) -> Iterable[Manifest]:
    """The metadata of planned objects that exist without the environment's label, and all of those that stand for apps.

    `namespaces_of` covers Namespaces. On a cluster with the fleet these are very few.
    Args:   tenants: namespaces in which what stands for apps is read, planned or not: a tenant can take the label off.
    Raises: Refused: reading is not allowed.
    """
    planned = (item.id for item in plan.objects if item.id.kind != "Namespace")
    found = without_label(
        client, plan.environment, planned, metadata_only=lambda kind: kind[1] not in APP_KINDS, tenants=tenants
    )
    return found.values()
