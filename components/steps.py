"""The gates of apps in the stack's state: because of them, an app is removed from the clusters of the last wave first.

The engine orders the deletion of two resources only by resources that it deletes in the same run. So the name of a gate has a hash
of the objects before it: where one of them is removed, the old gate is deleted too, and keeps the order for the last time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import pulumi

from tenantry.kube.objects import ObjectId
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.turns import Turns

from .answers import Answers


class _Gate(NamedTuple):
    """A gate, and what it comes after."""

    resource: pulumi.Stash
    needed: list[pulumi.Resource]


class Steps:
    """A gate for each wave of each app but the last: it depends on the app's objects of the wave and on the gate before, and the
    objects of the next wave depend on it. These are far fewer edges than between the objects themselves.

    A gate is one of Pulumi's own resources, which keep a value in the state. It is no component, because the SDK takes a dependency
    on a component for one on everything below it.
    """

    def __init__(
        self, apps: Iterable[PlannedApp], turns: Turns, answers: Answers, parent: pulumi.ComponentResource
    ) -> None:
        """parent: of the gates."""
        self._turns = turns
        self._answers = answers
        self._parent = parent
        self._app = {
            each.id: f"{each.tenant}/{each.name}" if each.tenant else each.name for each in apps if each.id in turns.of
        }
        members: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for id, app in self._app.items():
            members[app][turns.of[id].wave].append(str(id))
        self._waves = {app: sorted(found) for app, found in members.items()}
        self._names = {app: _names(app, self._waves[app], found) for app, found in members.items()}
        self._gates: dict[tuple[str, int], _Gate] = {}

    def before(self, id: ObjectId) -> list[pulumi.Resource]:
        """The gate that an app's object comes after, if there is one."""
        app, position = self._place(id)
        return [self._gate(app, position - 1).resource] if position else []

    def took(self, id: ObjectId, resource: pulumi.Resource) -> None:
        """An object is created, and the gate after it depends on it."""
        app, position = self._place(id)
        if position is not None and position < len(self._waves[app]) - 1:
            self._gate(app, position).needed.append(resource)

    def _place(self, id: ObjectId) -> tuple[str, int | None]:
        """The app of an object, and the position of its wave among the app's; None: it is no app's object, or in no wave."""
        app = self._app.get(id)
        return (app, self._waves[app].index(self._turns.of[id].wave)) if app else ("", None)

    def _gate(self, app: str, position: int) -> _Gate:
        key = app, self._waves[app][position]
        if key not in self._gates:
            needed: list[pulumi.Resource] = [self._gate(app, position - 1).resource] if position else []
            # Its name changes, so nothing may keep the old one.
            opts = pulumi.ResourceOptions(parent=self._parent, depends_on=self._answers.after(needed), protect=False)
            gate = pulumi.Stash(self._names[app][position], input=app, opts=opts)
            self._answers.expect(gate, self._parent)
            self._gates[key] = _Gate(gate, needed)
        return self._gates[key]


def _names(app: str, waves: Sequence[int], members: Mapping[int, Sequence[str]]) -> list[str]:
    """The names of an app's gates, such as `rocky/web/1-3f9a1c20`, each with a hash of all objects up to its wave."""
    digest, names = sha256(), []
    for wave in waves[:-1]:
        digest.update("\n".join((*sorted(members[wave]), "")).encode())
        names.append(f"{app}/{wave}-{digest.hexdigest()[:8]}")
    return names
