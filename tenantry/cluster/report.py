"""Everything that `tenantry status` says about an environment: its apps, what cannot make progress, and what is undeclared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenantry.cluster.inventory import claims_on, namespaces_of, owned_on
from tenantry.cluster.leftovers import leftovers, remains, told, told_kept, told_remains
from tenantry.cluster.selection import Selection
from tenantry.cluster.status import AppStatus, Readiness, by_trouble, statuses
from tenantry.cluster.stuck import stuck
from tenantry.guard.kept import Kept
from tenantry.guard.places import Places
from tenantry.kube.objects import Manifest, ObjectId
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


@dataclass(frozen=True, slots=True)
class StatusReport:
    """apps: what needs attention first.

    undeclared: objects of the environment that the file does not declare; None if they were not looked for.
    stuck:      a message with a fix for each object that cannot make progress by itself.
    remaining:  undeclared objects that no run removes, because they can hold data. kept: the namespaces that the claims record.
    unread:     why undeclared objects could not be looked for; "" if they could.
    """

    environment: str
    read_at: datetime
    apps: tuple[AppStatus, ...]
    undeclared: tuple[ObjectId, ...] | None = None
    stuck: tuple[str, ...] = ()
    unread: str = ""
    remaining: tuple[ObjectId, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def ready(self) -> bool:
        return all(each.readiness is Readiness.READY for each in self.apps)

    def messages(self) -> tuple[str, ...]:
        """What a person has to know besides the apps, each with a fix on a second line."""
        removed = told(self.environment, self.undeclared or ())
        stays = (told_kept(self.environment, self.kept), told_remains(self.remaining, self.kept))
        return tuple(filter(None, (*self.stuck, removed, *stays, self.unread)))


_EVERYTHING = Selection()


def apps_report(plan: Plan, live: Iterable[Manifest], selection: Selection = _EVERYTHING) -> StatusReport:
    """The apps alone, from Kustomizations and HelmReleases that have just been read."""
    found = (each for each in statuses(plan, live) if selection.takes(each.app))
    return StatusReport(plan.environment, datetime.now(UTC), by_trouble(found))


def full_report(
    client: Client, platform: str, plan: Plan, live: Iterable[Manifest], selection: Selection = _EVERYTHING
) -> StatusReport:
    """The apps and everything else.

    Args:   platform: the namespace of the claims.
            live: the environment's Kustomizations and HelmReleases, which have just been read.
    Raises: httpx2.RequestError: no answer.
    """
    live = tuple(live)
    report = _with_undeclared(apps_report(plan, live, selection), client, platform, plan, live, selection)
    waiting = tuple(stuck(filter(selection.takes_labelled, live), _places(client)))
    return replace(report, stuck=waiting)


def _places(client: Client) -> Places | None:
    """Whose the namespaces are; None if reading them is not allowed."""
    try:
        return Places(namespaces_of(client))
    except Refused:
        return None


def _with_undeclared(
    report: StatusReport, client: Client, platform: str, plan: Plan, live: Iterable[Manifest], selection: Selection
) -> StatusReport:
    """With the environment's objects that are not in the plan, or a note that this user may not read all kinds."""
    try:
        owned = owned_on(client, plan.environment, [each.id for each in plan.objects], apps=live)
        taken = list(filter(selection.takes_labelled, owned))
        there = (entry for claim in claims_on(client, platform) for entry in claim.kept)
        planned = {(each.cluster, name) for each in plan.placements for name in each.namespaces}
        left = (each for each in there if each.environment == plan.environment and selection.takes_kept(each))
        kept = (each for each in left if (each.cluster, each.namespace) not in planned)
        return replace(
            report, undeclared=tuple(leftovers(plan, taken)), remaining=tuple(remains(plan, taken)), kept=tuple(kept)
        )
    except Refused as refused:
        return replace(report, unread=f"objects that the file does not declare were not looked for: {refused}")
