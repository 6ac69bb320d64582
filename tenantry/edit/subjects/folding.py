"""Folding: overrides of environments that say the same as the app itself go, and what all of them say becomes the app's own.

Called by: `promote`, behind which overrides of several environments have become equal.
Never: changes what any cluster gets. Every placement of the app is merged once more, and a fold that changes one is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tenantry.edit.document import nested, same
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.promoted import BLOCKS, App, settings_of
from tenantry.fleet.apps import app_layers
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.placement import placements_of
from tenantry.messages.data import ABSENT, value_at, without
from tenantry.messages.errors import Path
from tenantry.messages.text import format_path, listed


def fold(editor: Editor, fleet: Fleet, apps: Sequence[App], second: str, extra: Collection[Path] = ()) -> list[str]:
    """Fold the version of each app, and extra settings. Returns: a sentence for each fold.

    Args: fleet: as the editor has it now; second: the environment whose value the app itself gets; extra: as for `promote`.
    """
    return [sentence for app in apps for sentence in _App(editor, fleet, app, second).fold(extra)]


def unfolded(editor: Editor, fleet: Fleet, apps: Sequence[App], second: str, extra: Collection[Path] = ()) -> list[str]:
    """Why equal overrides of several environments stay: a sentence for each setting. Args: as for `fold`, before it."""
    return [sentence for app in apps for sentence in _App(editor, fleet, app, second).unfolded(extra)]


class _App:
    """An app with the levels of each cluster. Levels that hold on several clusters are merged once."""

    def __init__(self, editor: Editor, fleet: Fleet, app: App, second: str) -> None:
        self.editor, self.fleet, self.app, self.second = editor, fleet, app, second
        self.placements = list(placements_of(fleet, app.at))
        by_environment: dict[str, list[tuple[Layer, ...]]] = {}
        self.levels: dict[tuple[Path, ...], tuple[Layer, ...]] = {}
        for environment, cluster in self.placements:
            layers = app_layers(fleet, app.at, environment, cluster)
            self.levels[tuple(layer.path for layer in layers)] = layers
            by_environment.setdefault(environment, []).append(layers)
        self.by_environment = by_environment
        self.there = by_environment.get(second, [])
        self.placed = {name for environment in by_environment for name in fleet.lineage(environment)}

    def fold(self, extra: Collection[Path]) -> list[str]:
        return [sentence for path in self._paths(extra) if (sentence := self._setting(path))]

    def unfolded(self, extra: Collection[Path]) -> list[str]:
        return [sentence for path in self._paths(extra) if (sentence := self._kept(path))]

    def _paths(self, extra: Collection[Path]) -> dict[Path, None]:
        """The settings of the app that a promotion copies."""
        found = (
            path
            for environment, cluster in self.placements
            for path in settings_of(self.fleet, self.app, environment, cluster, extra)
            if path[0] in BLOCKS
        )
        return dict.fromkeys(found)

    def _kept(self, path: Path) -> str:
        """Why the override of the second environment stays although another one says the same, or ""."""
        over = self.fleet.raw(*self.app.at, "overrides", "environments")
        value = value_at(over.get(self.second), path, ABSENT)
        equal = [
            name for name, entry in over.items() if value is not ABSENT and same(value_at(entry, path, ABSENT), value)
        ]
        users = [
            name for name, levels in self.by_environment.items() if any(self._has_own(path, each) for each in levels)
        ]
        if len(equal) < 2 or not users or same(value_at(self.fleet.raw(*self.app.at), path, ABSENT), value):
            return ""
        them = "it" if len(users) == 1 else "them"
        have = "has" if len(users) == 1 else "have"
        return (
            f"{self.app}: {format_path(path)} stays in the overrides for {listed(equal)}, although they are equal:"
            f" {listed(users)} {have} the app's own value, and a fold would change {them}"
        )

    def _setting(self, path: Path) -> str:
        """Fold one setting. Returns: what was done, or ""."""
        base = value_at(self.fleet.raw(*self.app.at), path, ABSENT)
        value = base if self._is_used(path) else value_at(merge(self.there[0]), path, ABSENT)
        if value is ABSENT or isinstance(value, dict):
            return ""
        over = (*self.app.at, "overrides", "environments")
        gone = [
            name
            for name, entry in self.fleet.raw(*over).items()
            if name in self.placed and same(value_at(entry, path, ABSENT), value)
        ]
        if not gone or not self._changes_nothing(path, value, {(*over, name) for name in gone}):
            return ""
        for name in gone:
            self.editor.unset((*over, name, *path))
        what, whose = format_path(path), listed(gone)
        if same(base, value):
            return f"{self.app}: removed {what} from the overrides for {whose}, because the app itself says the same"
        self.editor.set((*self.app.at, *path), value)
        return f"{self.app}: moved {what} from the overrides for {whose} to the app itself"

    def _is_used(self, path: Path) -> bool:
        """Whether a placement has the value of the app itself."""
        return any(self._has_own(path, layers) for layers in self._all())

    @staticmethod
    def _has_own(path: Path, layers: Sequence[Layer]) -> bool:
        return all(value_at(layer.data, path, ABSENT) is ABSENT for layer in layers[1:])

    def _changes_nothing(self, path: Path, value: Any, gone: Collection[Path]) -> bool:
        for layers in self._all():
            own = Layer(layers[0].path, merge([layers[0], Layer((), nested(path, value))]))
            left = [Layer(each.path, without(each.data, [path])) if each.path in gone else each for each in layers[1:]]
            if not same(merge([own, *left]), merge(layers)):
                return False
        return True

    def _all(self) -> Collection[tuple[Layer, ...]]:
        return self.levels.values()
