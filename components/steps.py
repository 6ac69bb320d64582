"""The gates of apps in the stack's state: because of them, an app is removed from the clusters of the last wave first.

The engine orders the deletion of two resources only by resources that it deletes in the same run. So the name of a gate has a hash
of the objects before it: where one of them is removed, the old gate is deleted too, and keeps the order for the last time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from tenantry.kube.objects import ObjectId
from tenantry.plan.planned_apps import PlannedApp
from tenantry.rollout.turns import Turns
from tenantry.stacks.targets import GATE

from .registering import Registrar, Registration


class Steps:
    """A component for each wave of each app but the last: it depends on the app's objects of the wave and on the gate before, and
    the objects of the next wave depend on it. These are far fewer edges than between the objects themselves.
    """

    def __init__(self, apps: Iterable[PlannedApp], turns: Turns, registrar: Registrar) -> None:
        self.turns = turns
        self._registrar = registrar
        self._app = {
            each.id: f"{each.tenant}/{each.name}" if each.tenant else each.name for each in apps if each.id in turns.of
        }
        members: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
        for id, app in self._app.items():
            members[app][turns.of[id].wave].append(str(id))
        self._waves = {app: sorted(found) for app, found in members.items()}
        self._names = {app: _names(app, self._waves[app], found) for app, found in members.items()}
        self._gates: dict[tuple[str, int], tuple[Registration, list[Registration]]] = {}

    def before(self, id: ObjectId) -> tuple[Registration, ...]:
        """The gate that an app's object comes after, if there is one."""
        app, index = self._place(id)
        return (self._gate(app, index - 1)[0],) if index > 0 else ()

    def took(self, id: ObjectId, registration: Registration) -> None:
        """An object has its registration, and the gate after it depends on that."""
        app, index = self._place(id)
        if 0 <= index < len(self._waves.get(app, ())) - 1:
            self._gate(app, index)[1].append(registration)

    def _place(self, id: ObjectId) -> tuple[str, int]:
        """The app of an object, and the how manieth of its waves it is in; -1: no app's object, or in no wave."""
        app = self._app.get(id)
        return (app, self._waves[app].index(self.turns.of[id].wave)) if app else ("", -1)

    def _gate(self, app: str, index: int) -> tuple[Registration, list[Registration]]:
        key = app, self._waves[app][index]
        if key not in self._gates:
            before = [self._gate(app, index - 1)[0]] if index else []
            gate = self._registrar.component(GATE, self._names[app][index], None, before, protect=False)
            self._gates[key] = gate, before
        return self._gates[key]


def _names(app: str, waves: Sequence[int], members: Mapping[int, Sequence[str]]) -> list[str]:
    """The names of an app's gates, such as `rocky/web/1-3f9a1c20`, each with a hash of all objects up to its wave."""
    digest, names = sha256(), []
    for wave in waves[:-1]:
        digest.update("\n".join((*sorted(members[wave]), "")).encode())
        names.append(f"{app}/{wave}-{digest.hexdigest()[:8]}")
    return names
