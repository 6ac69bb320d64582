"""Whose change an app that is not ready speaks against: what it stops is what its author has, and not what others have.

Nothing here reads a cluster.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tenantry.kube.objects import ObjectId
from tenantry.messages.text import listed
from tenantry.plan.engine_order import is_reconciled
from tenantry.plan.plan import Plan
from tenantry.rollout.parts import Part, parts_of

_MOST = 5


class Author(NamedTuple):
    """A tenant, a class, or the platform: then both are ""."""

    tenant: str = ""
    of_class: str = ""

    def __str__(self) -> str:
        """Such as: tenant 'rocky'"""
        if self.of_class:
            return f"class '{self.of_class}'"
        return f"tenant '{self.tenant}'" if self.tenant else "the platform"


PLATFORM = Author()


@dataclass(slots=True)
class Authors:
    """Of the objects of a plan.

    touched: what the run changes. _authors: of each object, without those of the platform. _tenants: of each object that has one.
    _of_class: the tenants that have an app of a class. _last: by the subject of parts, the last wave in which something of it
    changes. _first: by author, the first wave in which something of it changes; 0: outside of the waves.
    """

    plan: Plan
    touched: Collection[ObjectId] = frozenset()
    _authors: dict[ObjectId, Author] = field(default_factory=dict)
    _tenants: dict[ObjectId, str] = field(default_factory=dict)
    _of_class: dict[str, set[str]] = field(default_factory=dict)
    _parts: Mapping[ObjectId, Part] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)
    _first: dict[Author, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.plan.rollout is None:
            return
        self._parts = parts_of(self.plan)
        self._find_authors()
        for id in self.touched:
            part, author = self._parts.get(id), self.of(id)
            wave = part.wave if part else 0
            self._first[author] = min(wave, self._first.get(author, wave))
            if part:
                self._last[part.subject] = max(wave, self._last.get(part.subject, 0))

    def _find_authors(self) -> None:
        apps = {app.id for app in self.plan.apps}
        by_name: dict[str, Author] = {}
        for app in self.plan.apps:
            of_class = self.plan.app_classes.get((app.tenant, app.name), "")
            by_name[app.full_name] = Author(of_class=of_class) if of_class else Author(app.tenant)
            if of_class:
                self._of_class.setdefault(of_class, set()).add(app.tenant)
        self._tenants = {each.id: each.owner.tenant for each in self.plan.objects if each.owner.tenant}
        platforms = {each.id for each in self.plan.objects if not each.owner.tenant} & {*self.touched}
        for id, tenant in self._tenants.items():
            part = self._parts.get(id)
            self._authors[id] = by_name.get(part.subject, Author(tenant)) if part else Author(tenant)
        for planned in self.plan.objects:
            # A baseline that changes with the platform's chart.
            if is_reconciled(planned.id) and planned.id not in apps and not platforms.isdisjoint(planned.depends_on):
                self._authors[planned.id] = PLATFORM

    def of(self, id: ObjectId) -> Author:
        """Who has written what an object has: the class of an app, or else the object's tenant, or the platform."""
        return self._authors.get(id, PLATFORM)

    def blamed(self, id: ObjectId, wave: int, *, ready_before: bool) -> Author | None:
        """Against whom it counts if an app or a baseline of a wave is not ready.

        Its author, if it changes in this wave or a later one: this wave has to prove it first. If it was ready and does not change,
        whatever else has changed so far has broken it: something of the platform's, or of its author's. None: nobody.
        """
        part, author = self._parts.get(id), self.of(id)
        if part is None:
            return None
        if self._last.get(part.subject, 0) >= wave:
            return author
        if ready_before:
            for each in (PLATFORM, author):
                if self._first.get(each, wave + 1) <= wave:
                    return each
        return None

    def is_stopped(self, id: ObjectId, stopped: Collection[Author]) -> bool:
        """Whether an object stays as it is because some authors are stopped: with a tenant all that it has, with a class all that
        the tenants have that have an app of the class.
        """
        tenant = self._tenants.get(id)
        return bool(tenant) and any(tenant in self._members(author) for author in stopped)

    def tenants_of(self, stopped: Iterable[Author]) -> frozenset[str]:
        """The tenants that are stopped with some authors."""
        return frozenset(tenant for author in stopped for tenant in self._members(author))

    def in_words(self, author: Author) -> str:
        """Such as: class 'small' (tenants acme, bolt)"""
        return f"{author} (tenants {listed(sorted(self._members(author)), _MOST)})" if author.of_class else str(author)

    def _members(self, author: Author) -> Collection[str]:
        return self._of_class.get(author.of_class, ()) if author.of_class else (author.tenant,)
