"""Folding: overrides of environments that say the same as the app itself go, and what all of them say becomes the app's own.

Called by: `promote`, behind which overrides of several environments have become equal.
Never: changes what any cluster gets. Every placement of the app is merged once more, and a fold that changes one is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from tenantry.edit.document import nested, same
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.promoted import BLOCKS, App, settings_of, tenants_of_class
from tenantry.fleet.apps import own_layers
from tenantry.fleet.classes import CLASSES
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge
from tenantry.fleet.placement import placements_of, placements_of_source
from tenantry.fleet.sources import REFS, source_taken, with_one_ref, written_layers
from tenantry.messages.data import ABSENT, value_at, without
from tenantry.messages.errors import Path
from tenantry.messages.text import format_path, listed


def fold(editor: Editor, fleet: Fleet, apps: Sequence[App], second: str, extra: Collection[Path] = ()) -> list[str]:
    """Fold the version of each app, its source's ref, and extra settings. Returns: a sentence for each fold.

    Args: fleet: as the editor has it now; second: the environment whose value the app itself gets; extra: as for `promote`.
    """
    return [sentence for part in _parts(editor, fleet, apps, second, extra) for sentence in part.fold()]


def unfolded(editor: Editor, fleet: Fleet, apps: Sequence[App], second: str, extra: Collection[Path] = ()) -> list[str]:
    """Why equal overrides of several environments stay: a sentence for each setting. Args: as for `fold`, before it."""
    return [sentence for part in _parts(editor, fleet, apps, second, extra) for sentence in part.unfolded()]


def _parts(
    editor: Editor, fleet: Fleet, apps: Sequence[App], second: str, extra: Collection[Path]
) -> Iterator[_Overridden]:
    """The apps, and the sources that they take in the second environment, each once."""
    sources: dict[tuple[str, ...], None] = {}
    for app in apps:
        every = [(at, place) for at in app.planned for place in placements_of(fleet, at)]
        placements = [place for _, place in every]
        written = [own_layers(fleet, at, *place) for at, place in every]
        paths = dict.fromkeys(
            path for at, place in every for path in settings_of(fleet, at, *place, extra) if path[0] in BLOCKS
        )
        layers = [_of_class(fleet, app.at, each, paths) for each in written] if app.of_class else written
        yield _Overridden(editor, fleet, app.at, f"{app}", "app", second, placements, layers, paths)
        there = [(at, place, own) for (at, place), own in zip(every, written, strict=True) if place[0] == second]
        taken = (source_taken(fleet, at, own, *place) for at, place, own in there)
        sources |= {(*app.at[:2], *each[2:]) if app.of_class else each: None for each in taken}
    for at in sources:
        of_class = at[0] == CLASSES
        planned = [("tenants", each, *at[2:]) for each in tenants_of_class(fleet, at[1])] if of_class else [at]
        every = [(each, place) for each in planned for place in dict.fromkeys(placements_of_source(fleet, each))]
        placements, paths = [place for _, place in every], dict.fromkeys(REFS)
        layers = [tuple(written_layers(fleet, each, *place)) for each, place in every]
        layers = [_of_class(fleet, at, each, paths) for each in layers] if of_class else layers
        own = at[:2] == ("platform", "addons")
        who = f"the source of platform/{at[2]}" if own else f"source {at[1] if at[0] == 'tenants' else at[0]}/{at[-1]}"
        who = f"source class:{at[1]}/{at[3]}" if of_class else who
        yield _Overridden(editor, fleet, at, who, "source", second, placements, layers, paths)


def _of_class(fleet: Fleet, at: tuple[str, ...], layers: Sequence[Layer], paths: dict[Path, None]) -> tuple[Layer, ...]:
    """The layers of a tenant's app or source as those of its class's, at a path. A setting that the class itself does not say is
    taken off the paths.
    """
    for layer in layers:
        for path in list(paths):
            said = value_at(layer.data, path, ABSENT) is not ABSENT
            if said and fleet.source.origin((*layer.path, *path))[: len(at)] != at:
                del paths[path]
    return tuple(Layer((*at, *layer.path[len(at) :]), layer.data) for layer in layers)


class _Overridden:
    """An app or a source with the levels of each cluster. Levels that hold on several clusters are merged once.

    who: it, in sentences; what: "app" or "source"; paths: the settings of it that a promotion copies.
    """

    def __init__(
        self,
        editor: Editor,
        fleet: Fleet,
        at: tuple[str, ...],
        who: str,
        what: str,
        second: str,
        placements: Sequence[tuple[str, str]],
        layers: Sequence[tuple[Layer, ...]],
        paths: Collection[Path],
    ) -> None:
        self.editor, self.fleet, self.at, self.second = editor, fleet, at, second
        self.who, self.what, self.paths = who, what, paths
        by_environment: dict[str, list[tuple[Layer, ...]]] = {}
        self.levels: dict[tuple[Path, ...], tuple[Layer, ...]] = {}
        for (environment, _), each in zip(placements, layers, strict=True):
            self.levels[tuple(layer.path for layer in each)] = each
            by_environment.setdefault(environment, []).append(each)
        self.by_environment = by_environment
        self.there = by_environment.get(second, [])
        self.placed = {name for environment in by_environment for name in fleet.lineage(environment)}

    def fold(self) -> list[str]:
        return [sentence for path in self.paths if (sentence := self._setting(path))]

    def unfolded(self) -> list[str]:
        return [sentence for path in self.paths if (sentence := self._kept(path))]

    def _kept(self, path: Path) -> str:
        """Why the override of the second environment stays although another one says the same, or ""."""
        over = self.fleet.raw(*self.at, "overrides", "environments")
        value = value_at(over.get(self.second), path, ABSENT)
        equal = [
            name for name, entry in over.items() if value is not ABSENT and same(value_at(entry, path, ABSENT), value)
        ]
        users = [
            name for name, levels in self.by_environment.items() if any(self._has_own(path, each) for each in levels)
        ]
        if len(equal) < 2 or not users or same(value_at(self.fleet.raw(*self.at), path, ABSENT), value):
            return ""
        them = "it" if len(users) == 1 else "them"
        have = "has" if len(users) == 1 else "have"
        return (
            f"{self.who}: {format_path(path)} stays in the overrides for {listed(equal)}, although they are equal:"
            f" {listed(users)} {have} the {self.what}'s own value, and a fold would change {them}"
        )

    def _setting(self, path: Path) -> str:
        """Fold one setting. Returns: what was done, or ""."""
        base = value_at(self.fleet.raw(*self.at), path, ABSENT)
        value = base if self._is_used(path) else value_at(self._merged(self.there[0]), path, ABSENT)
        if value is ABSENT or (isinstance(value, dict) and path not in REFS):
            return ""
        over = (*self.at, "overrides", "environments")
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
            return f"{self.who}: removed {what} from the overrides for {whose}, because the {self.what} itself says the same"
        self.editor.set((*self.at, *path), value)
        return f"{self.who}: moved {what} from the overrides for {whose} to the {self.what} itself"

    def _is_used(self, path: Path) -> bool:
        """Whether a placement has the value of the app itself."""
        return any(self._has_own(path, layers) for layers in self._all())

    @staticmethod
    def _has_own(path: Path, layers: Sequence[Layer]) -> bool:
        return all(value_at(layer.data, path, ABSENT) is ABSENT for layer in layers[1:])

    def _changes_nothing(self, path: Path, value: Any, gone: Collection[Path]) -> bool:
        for layers in self._all():
            bare = Layer((), without(layers[0].data, [path]))
            own = Layer(layers[0].path, merge([bare, Layer((), nested(path, value))]))
            left = [Layer(each.path, without(each.data, [path])) if each.path in gone else each for each in layers[1:]]
            if not same(self._merged([own, *left]), self._merged(layers)):
                return False
        return True

    def _all(self) -> Collection[tuple[Layer, ...]]:
        return self.levels.values()

    @staticmethod
    def _merged(layers: Sequence[Layer]) -> dict[str, Any]:
        return merge(with_one_ref(list(layers)))
