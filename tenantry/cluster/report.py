"""Everything that `tenantry status` says about an environment: apps, what cannot make progress, webhooks, what is undeclared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tenantry.cluster.apps import Selection, statuses, why_command
from tenantry.cluster.drift import compare, confirmed
from tenantry.cluster.inventory import APP_KINDS, claims_on, flux_kinds_of, namespaces_of
from tenantry.cluster.leftovers import leftovers, remains, told, told_kept, told_remains
from tenantry.cluster.objects import Compared, ObjectStatus, object_statuses
from tenantry.cluster.reading import UNLISTED, not_read
from tenantry.cluster.status import (
    TROUBLE,
    AppStatus,
    Readiness,
    age,
    by_trouble,
    condition,
    moment,
    ready_message,
)
from tenantry.guard.kept import Kept
from tenantry.guard.places import Places, whose
from tenantry.kube.objects import Manifest, ObjectId, labels_of, object_id, readable_id
from tenantry.messages.data import mapping_at, value_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, grouped, listed
from tenantry.plan.objects.scope import APP_LABEL, MANAGED_BY, TENANT_LABEL
from tenantry.plan.plan import Plan
from tenantry.plan.users import Users

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


def stuck(manifests: Iterable[Manifest], places: Places | None) -> Iterator[str]:
    """A message, with a fix on a second line, for each stuck Kustomization or HelmRelease that is where the fleet puts it.

    places: None: not known, so that the labels of all objects are believed.
    """
    for manifest in manifests:
        id, said = readable_id(manifest), whose(manifest)
        if id is None or id.kind not in APP_KINDS or not said.cluster:
            continue
        if places is not None and not places.puts(manifest, said):
            continue
        if since := manifest["metadata"].get("deletionTimestamp"):
            yield _leaving(manifest, said.cluster, since)
        elif _is_lost(manifest):
            yield _lost(manifest, said.cluster)


def _leaving(manifest: Manifest, cluster: str, since: str) -> str:
    said = ready_message(manifest)
    wait = "wait until Flux has cleaned up, then run `tenantry up` again"
    give_up = (
        f". If '{cluster}' is gone for good: restore the removed entries in the file, set 'state: decommissioned' on '{cluster}',"
        " run `tenantry up`, then remove the entries again"
    )
    remote = "kubeConfig" in mapping_at(manifest, "spec")
    return (
        f"{_in_words(manifest, cluster)} has been deleting since {since}; waiting for Flux to clean up on"
        f" {cluster}{f': {said}' if said else ''}\n  fix: {wait}{give_up if remote else ''}"
    )


def _is_lost(manifest: Manifest) -> bool:
    """Whether a release is installed correctly, but its status does not say so and is not about to."""
    status = mapping_at(manifest, "status")
    return (
        value_at(status, ("history", 0, "status")) == "deployed"
        and status.get("observedGeneration") == manifest["metadata"].get("generation")
        and condition(status, "Ready").get("reason") == "Progressing"
        and not condition(status, "Reconciling")
        and not condition(status, "Released")
        and not mapping_at(manifest, "spec").get("suspend")
    )


def _lost(manifest: Manifest, cluster: str) -> str:
    metadata = manifest["metadata"]
    return (
        f"{_in_words(manifest, cluster)} is installed, but Flux lost track of the release and will never report it ready; what"
        f" depends on it waits\n  fix: flux reconcile helmrelease {metadata['name']} --namespace {metadata['namespace']} --force"
    )


def _in_words(manifest: Manifest, cluster: str) -> str:
    labels = labels_of(manifest)
    tenant, app = labels.get(TENANT_LABEL), labels.get(APP_LABEL)
    what = f"app '{app}'" if app else "the baseline"
    owner = f"{what} of tenant '{tenant}'" if tenant else f"add-on '{app}'"
    return f"{object_id(manifest)} ({owner} on {cluster})"


@dataclass(frozen=True, slots=True)
class StatusReport:
    """apps: what needs attention first.

    objects:    the planned objects besides apps that are not as planned, also what needs attention first.
    planned:    how many objects are planned, apps included.
    undeclared: objects of the environment that the file does not declare; None if none was found, and not all were looked for.
    stuck:      a message with a fix for each object that cannot make progress by itself.
    remaining:  undeclared objects that no run removes, because they can hold data. kept: the namespaces that the claims record.
    unread:     why the objects on the cluster could not be compared with the file; "" if they could.
    left_out:   what `failing` does not list, and what to type about it; "" if it lists something.
    """

    environment: str
    read_at: datetime
    apps: tuple[AppStatus, ...]
    objects: tuple[ObjectStatus, ...] = ()
    planned: int = 0
    undeclared: tuple[ObjectId, ...] | None = None
    stuck: tuple[str, ...] = ()
    unread: str = ""
    remaining: tuple[ObjectId, ...] = ()
    kept: tuple[Kept, ...] = ()
    left_out: str = ""

    @property
    def off(self) -> int:
        """How many apps and other objects are not as planned or not ready."""
        return len(self.objects) + sum(app.readiness is not Readiness.READY for app in self.apps)

    @property
    def ready(self) -> bool:
        return not self.off

    @property
    def as_planned(self) -> int:
        """How many of the planned objects are there, as planned and ready."""
        return self.planned - self.off

    def messages(self) -> tuple[str, ...]:
        """What a person has to know besides the apps, each with a fix on a second line."""
        removed = told(self.environment, self.undeclared or ())
        stays = (told_kept(self.environment, self.kept), told_remains(self.remaining, self.kept))
        return tuple(filter(None, (*self.stuck, removed, *stays, self.unread)))


_EVERYTHING = Selection()
_FAILING = (Readiness.FAILED, Readiness.MISSING, Readiness.CHANGED, Readiness.UNREACHABLE)
_PATIENCE = timedelta(minutes=5)
"""What progresses for longer counts as failing: a quota or a missing volume keeps Flux waiting, and it never says "failed"."""


def failing(report: StatusReport) -> StatusReport:
    """What is failed, missing, changed by hand or unreachable, and what progresses for more than five minutes."""

    def fails(each: AppStatus | ObjectStatus) -> bool:
        since = moment(each.since)
        late = since is not None and report.read_at - since > _PATIENCE
        return each.readiness in _FAILING or (each.readiness is Readiness.PROGRESSING and late)

    apps, objects = tuple(filter(fails, report.apps)), tuple(filter(fails, report.objects))
    left_out = "" if apps or objects else _left_out(report)
    return replace(report, apps=apps, objects=objects, planned=0, left_out=left_out)


def _left_out(report: StatusReport) -> str:
    """1 app is progressing: rocky/web on edge-1 for 1m. Cause: ..."""
    none = "nothing failed, missing or changed"
    others = [each for each in report.apps if each.readiness is not Readiness.READY]
    told = []
    for state, alike in grouped(others, lambda each: each.readiness).items():
        named = [f"{each.app.full_name} on {each.app.cluster}{_for(each, report.read_at)}" for each in alike]
        told.append(f"{counted(len(alike), 'app')} {state}: {listed(named, 3)}")
    if report.objects:
        told.append(f"{counted(len(report.objects), 'other object')} not ready")
    if not told:
        return f"{none}: {counted(len(report.apps), 'app')} ready"
    cause = f". Cause: {why_command(others[0].app, report.environment)}" if others else ""
    return f"{none}; {'; '.join(told)}{cause}"


def _for(status: AppStatus, now: datetime) -> str:
    since = age(status.since, now)
    return f" for {since}" if since else ""


def apps_report(plan: Plan, live: Iterable[Manifest], selection: Selection = _EVERYTHING) -> StatusReport:
    """The apps, baselines, sources and charts, from what has just been read of them; see `flux_objects_of`."""
    live = tuple(live)
    apps = [status for status in statuses(plan, live) if selection.takes(status.app)]
    users = Users(plan)
    objects = [each for each in object_statuses(plan, live) if selection.takes_planned(each.planned, users)]
    planned = sum(selection.takes_planned(each, users) for each in plan.objects)
    return StatusReport(plan.environment, datetime.now(UTC), by_trouble(apps), _ordered(objects), planned)


def _ordered(objects: Iterable[ObjectStatus]) -> tuple[ObjectStatus, ...]:
    return tuple(sorted(objects, key=lambda each: (TROUBLE.index(each.readiness), each.id)))


def full_report(
    client: Client, platform: str, plan: Plan, live: Iterable[Manifest], selection: Selection = _EVERYTHING
) -> StatusReport:
    """The same for every planned object, and everything else.

    Args:   platform: the namespace of the claims.
            live: the environment's Kustomizations, HelmReleases, sources and charts, which have just been read.
    Raises: httpx2.RequestError: no answer.
    """
    live = tuple(live)
    report = apps_report(plan, live, selection)
    waiting = tuple(stuck(filter(selection.takes_labelled, live), _places(client)))
    report = replace(report, stuck=waiting)
    client.unread, client.unlisted = set(), False
    try:
        of_kind = grouped(live, lambda each: (str(each["apiVersion"]), str(each["kind"])))
        read = {kind: of_kind.get(kind, []) for kind in flux_kinds_of(plan)}
        comparison = compare(client, plan.environment, plan.objects, read=read)
        differences = confirmed(client, comparison.differences)
        claims = list(claims_on(client, platform))
    except Refused as refused:
        return replace(
            report, unread=f"the objects on the management cluster were not compared with the file: {refused}"
        )
    recorded = [entry for claim in claims for entry in claim.kept]
    everything = statuses(plan, live) if selection != _EVERYTHING else report.apps
    compared = Compared(plan, everything, differences)
    owned = [each for each in comparison.unplanned if MANAGED_BY.items() <= labels_of(each).items()]
    taken = list(filter(selection.takes_labelled, owned))
    undeclared = tuple(leftovers(plan, taken))
    objects, users = compared.objects(object_statuses(plan, live)), Users(plan)
    return replace(
        report,
        apps=by_trouble(map(compared.app, report.apps)),
        objects=_ordered(each for each in objects if selection.takes_planned(each.planned, users)),
        undeclared=None if client.unlisted and not undeclared else undeclared,
        remaining=tuple(remains(plan, taken)),
        kept=tuple(entry for entry in _left(plan, recorded) if selection.takes_kept(entry)),
        unread="\n".join(filter(None, (not_read(client), UNLISTED if client.unlisted else ""))),
    )


def _left(plan: Plan, recorded: Iterable[Kept]) -> Iterator[Kept]:
    """The namespaces that an environment has left with their data, and does not plan again."""
    planned = {(placement.cluster, name) for placement in plan.placements for name in placement.namespaces}
    for entry in recorded:
        if entry.environment == plan.environment and (entry.cluster, entry.namespace) not in planned:
            yield entry


def _places(client: Client) -> Places | None:
    """Whose the namespaces are; None if reading them is not allowed."""
    try:
        return Places(namespaces_of(client))
    except Refused:
        return None
