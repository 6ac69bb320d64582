"""Objects on the management cluster that a remote cluster, and each placement on it, need before any app."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.fleet.settings import TenantSettings
from tenantry.kube.names import MAX_RELEASE, join, shortened
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, Owner
from tenantry.model import (
    ChartDirectory,
    Git,
    Helm,
    HelmRepository,
    ObjectsChart,
    Source,
)
from tenantry.plan.objects.apps import HELM_API, Dependency, edges, flux_order
from tenantry.plan.objects.lifecycle import Lifecycle, in_state, kept_by_helm
from tenantry.plan.objects.scope import (
    ENVIRONMENT_LABEL,
    MANAGED_BY,
    TENANT_LABEL,
    Scope,
    on_management,
)
from tenantry.plan.objects.sources import IN_PLACE, reference

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
    if chart.git:
        declared, helm = _from_git(chart.git)
    else:
        assert chart.helm is not None  # one of the three is given
        declared = Source(helm=HelmRepository.model_validate(chart.helm.model_dump(exclude={"version"})))
        helm = Helm(chart=OBJECTS_CHART, version=chart.helm.version)
    return declared.model_copy(update={"credentials": chart.credentials}), helm


def _from_git(chart: ChartDirectory) -> tuple[Source, Helm]:
    """Only the chart's directory is fetched.

    The strategy is `ChartVersion`: a fleet's own repository changes with every edit, and `Revision` would upgrade every
    baseline with every commit.
    """
    path = chart.path.removeprefix("./").rstrip("/")
    only = None if path in ("", ".") else [path]
    git = {"url": chart.url, "ref": chart.ref, "interval": _LOOK_FOR_COMMITS, "sparseCheckout": only}
    return Source(git=Git.model_validate(git)), Helm.model_validate(
        {"chart": path or ".", "reconcileStrategy": "ChartVersion"}
    )


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
