"""The apps of an environment: which of them a command is about, and whether they are ready according to Flux."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tenantry.cluster.kubectl import resume
from tenantry.cluster.standing import Live
from tenantry.cluster.status import MISSING, PAUSED, AppStatus, Readiness, condition, last_good, revision_of, since_of
from tenantry.cluster.unreached import Known, Standings
from tenantry.fleet.placement import in_another_environment, labelled
from tenantry.guard.kept import Kept
from tenantry.guard.places import label, whose
from tenantry.kube.names import ADDON_PREFIX, PLATFORM
from tenantry.kube.objects import KubeObject, Manifest, ObjectId, labels_of, readable_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.text import declared
from tenantry.plan.objects.scope import APP_LABEL, SHARD_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.users import Users


def statuses(plan: Plan, live: Iterable[Manifest]) -> tuple[AppStatus, ...]:
    """One status per planned app, in the order of the plan.

    live: the environment's Kustomizations and HelmReleases; with their sources and charts, the reason is the true one.
    """
    found: Live = {id: manifest for manifest in live if (id := readable_id(manifest))}
    paused, standings = paused_by_file(plan), Standings(plan, found)
    judged = (
        _status(app, standings.of(app.id), found.get(app.id), plan.environment, paused=app.id in paused)
        for app in plan.apps
    )
    if plan.rollout is None:
        return tuple(judged)
    return tuple(replace(each, wave=plan.wave_of(each.app.id)) for each in judged)


def paused_by_file(plan: Plan) -> frozenset[ObjectId]:
    """The objects that the plan itself suspends."""
    return frozenset(
        planned.id for planned in plan.objects if mapping_at(planned.manifest, "spec").get("suspend") is True
    )


def _status(app: PlannedApp, stands: Known, manifest: Manifest | None, environment: str, *, paused: bool) -> AppStatus:
    if manifest is None:
        return AppStatus(app, Readiness.MISSING, MISSING, "", cause=app.id)
    status, state = mapping_at(manifest, "status"), stands.readiness
    ready, revision = condition(status, "Ready"), revision_of(status)
    attempted = str(status.get("lastAttemptedRevision") or "")
    by_hand = state is Readiness.SUSPENDED and not paused
    good = state in (Readiness.READY, Readiness.SUSPENDED)
    return AppStatus(
        app,
        state,
        _message(app, stands, manifest, environment, by_hand=by_hand),
        revision,
        attempted if attempted != revision else "",
        since_of(manifest, ready) if good else last_good(manifest),
        by_hand,
        cause=stands.cause,
        behind=stands.behind,
    )


def _message(app: PlannedApp, stands: Known, manifest: Manifest, environment: str, *, by_hand: bool) -> str:
    if stands.readiness is not Readiness.SUSPENDED:
        has_status = bool(condition(mapping_at(manifest, "status"), "Ready"))
        return stands.message if stands.message or has_status else _unwatched(manifest, environment)
    if not by_hand:
        return PAUSED
    return f"suspended by hand, not in the file: {resume(app.id)}"


def _unwatched(manifest: Manifest, environment: str) -> str:
    """What may be wrong if no controller has told anything of an object."""
    shard = labels_of(manifest).get(SHARD_LABEL)
    if not isinstance(shard, str):
        return ""
    return f"no controller of shard {shard} has reconciled it yet: check with `tenantry preflight -e {environment}`"


def why_command(app: PlannedApp, environment: str) -> str:
    """The command that tells why an app is not ready."""
    return f"tenantry why {app.full_name} -e {environment} -c {app.cluster}"


@dataclass(frozen=True, slots=True)
class Selection:
    """Empty sets select everything. The tenant "" is the platform, whose apps are add-ons."""

    tenants: frozenset[str] = frozenset()
    apps: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()

    def takes(self, app: PlannedApp) -> bool:
        """Whether an app is selected."""
        return self.names(app.tenant, app.name, app.cluster)

    def takes_labelled(self, manifest: Manifest) -> bool:
        """Whether the labels of an object say that it belongs to what is selected."""
        said = whose(manifest)
        return self.names(said.tenant, label(labels_of(manifest), APP_LABEL), said.cluster)

    def takes_planned(self, planned: KubeObject, users: Users) -> bool:
        """Whether an object is selected, or takes part in what is: clusters share sources and charts."""
        return self.takes_labelled(planned.manifest) or any(
            self.takes_labelled(user.manifest) for user in users.of(planned.id)
        )

    def takes_kept(self, kept: Kept) -> bool:
        """Whether a namespace was left by what is selected."""
        return self.names(kept.tenant, "", kept.cluster)

    def names(self, tenant: str, app: str, cluster: str) -> bool:
        """Whether the app of a tenant on a cluster is selected."""
        return (
            (not self.tenants or tenant in self.tenants)
            and (not self.apps or app in self.apps)
            and (not self.clusters or cluster in self.clusters)
        )


def select(
    plan: Plan, tenants: Sequence[str] = (), apps: Sequence[str] = (), clusters: Sequence[str] = ()
) -> Selection:
    """The selection that options name. `platform` is the platform team; an add-on can also be `platform/ADDON`.

    clusters: names, or labels such as `tier=edge`, for all that have them and an app of the selection.

    Raises: Refused: the environment has no such tenant, app or cluster; a later option is checked within the earlier ones.
    """
    if not any(each.tenant == PLATFORM for each in plan.apps):  # a tenant may be called so
        tenants = ["" if tenant == PLATFORM else tenant for tenant in tenants]
    apps = [app.removeprefix(ADDON_PREFIX) for app in apps]
    left = plan.apps
    for names, key, lacks in (
        (tenants, "tenant", "no apps of tenant"),
        (apps, "name", "no app"),
        (clusters, "cluster", "no apps on cluster"),
    ):
        there: set[str] = {getattr(each, key) for each in left}
        if key == "cluster":
            names = clusters = labelled(clusters, {name: plan.labels[name] for name in plan.labels if name in there})
        for name in names:
            if name not in there:
                known = declared("name one of these", name, {each or PLATFORM for each in there})
                of = f" of {' or '.join(each or PLATFORM for each in tenants)}" if key == "name" and tenants else ""
                message = f"environment '{plan.environment}' has {lacks} '{name or PLATFORM}'{of}"
                there_only = plan.homes.get(name, ()) if key == "cluster" else ()
                if there_only and plan.environment not in there_only:
                    message = in_another_environment(name, there_only, plan.environment)
                raise Refused(message, known, code=UNKNOWN_NAME)
        left = tuple(each for each in left if not names or getattr(each, key) in names)
    return Selection(frozenset(tenants), frozenset(apps), frozenset(clusters))
