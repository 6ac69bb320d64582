"""Everything that `tenantry status` says about an environment: its apps, what cannot make progress, and what is undeclared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tenantry.cluster.apps import statuses
from tenantry.cluster.inventory import namespaces_of, owned_on
from tenantry.cluster.leftovers import leftovers, told
from tenantry.cluster.selection import Selection
from tenantry.cluster.status import AppStatus, Readiness, by_trouble
from tenantry.cluster.stuck import stuck
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
    unread:     why undeclared objects could not be looked for; "" if they could.
    """

    environment: str
    read_at: datetime
    apps: tuple[AppStatus, ...]
    undeclared: tuple[ObjectId, ...] | None = None
    stuck: tuple[str, ...] = ()
    unread: str = ""

    @property
    def ready(self) -> bool:
        return all(each.readiness is Readiness.READY for each in self.apps)

    def messages(self) -> tuple[str, ...]:
        """What a person has to know besides the apps, each with a fix on a second line."""
        return tuple(filter(None, (*self.stuck, told(self.environment, self.undeclared or ()), self.unread)))


_EVERYTHING = Selection()


def apps_report(plan: Plan, live: Iterable[Manifest], selection: Selection = _EVERYTHING) -> StatusReport:
    """The apps alone, from Kustomizations and HelmReleases that have just been read."""
    found = (each for each in statuses(plan, live) if selection.takes(each.app))
    return StatusReport(plan.environment, datetime.now(UTC), by_trouble(found))


def full_report(
    client: Client, plan: Plan, live: Iterable[Manifest], selection: Selection = _EVERYTHING
) -> StatusReport:
    """The apps and everything else.

    Args:   live: the environment's Kustomizations and HelmReleases, which have just been read.
    Raises: httpx2.RequestError: no answer.
    """
    live = tuple(live)
    undeclared, unread = _undeclared(client, plan, live, selection)
    waiting = tuple(stuck(filter(selection.takes_labelled, live), _places(client)))
    return replace(apps_report(plan, live, selection), undeclared=undeclared, stuck=waiting, unread=unread)


def _places(client: Client) -> Places | None:
    """Whose the namespaces are; None if reading them is not allowed."""
    try:
        return Places(namespaces_of(client))
    except Refused:
        return None


def _undeclared(
    client: Client, plan: Plan, live: Iterable[Manifest], selection: Selection
) -> tuple[tuple[ObjectId, ...] | None, str]:
    """The environment's objects that are not in the plan, or a note that this user may not read all kinds."""
    try:
        owned = owned_on(client, plan.environment, [each.id for each in plan.objects], apps=live)
        return tuple(leftovers(plan, filter(selection.takes_labelled, owned))), ""
    except Refused as refused:
        return None, f"objects that the file does not declare were not looked for: {refused}"
