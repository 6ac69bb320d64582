"""The gates of apps in the stack's state: because of them, an app is removed from the clusters of the last wave first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tenantry.cluster.rollout_order import Turns
from tenantry.kube.objects import ObjectId
from tenantry.plan.planned_apps import PlannedApp
from tenantry.stacks.targets import GATE

from .registering import Registrar, Registration


class Steps:
    """A component for each wave of each app but the last: it depends on the app's objects of the wave, and those of the next wave
    depend on it, which is far fewer edges than between the objects themselves.

    There is one for each app, because the engine takes no account of what a resource that stays depends on: only the gates that
    go together with the app keep the order.
    """

    def __init__(self, apps: Iterable[PlannedApp], turns: Turns, registrar: Registrar) -> None:
        self.turns = turns
        self._registrar = registrar
        self._app = {
            each.id: f"{each.tenant}/{each.name}" if each.tenant else each.name for each in apps if each.id in turns.of
        }
        waves: dict[str, set[int]] = defaultdict(set)
        for id, app in self._app.items():
            waves[app].add(turns.of[id].wave)
        self._waves = {app: sorted(found) for app, found in waves.items()}
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
        wave = self._waves[app][index]
        if (app, wave) not in self._gates:
            members: list[Registration] = []
            self._gates[app, wave] = self._registrar.component(GATE, f"{app}/{wave}", None, members), members
        return self._gates[app, wave]
