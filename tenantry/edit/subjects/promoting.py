"""Promotion: an environment gets the versions and refs of apps that another environment has.

What differs on purpose, such as replicas, stays, unless the caller names it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.promoted import (
    App,
    Setting,
    apps_of,
    placeholders_of,
    settings_of,
    shared_settings,
    tenants_of_class,
)
from tenantry.edit.subjects.references import references_in, references_to
from tenantry.fleet.blocks import blocks_of
from tenantry.fleet.classes import CLASSES
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.settings import variable_at, variables_of, variables_of_app
from tenantry.fleet.sources import source_data, source_entry
from tenantry.fleet.template import fill
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import ABSENT, mapping_at, texts_in
from tenantry.messages.errors import Path, Refused
from tenantry.messages.placeholders import names_in
from tenantry.messages.text import format_path, listed


@dataclass(frozen=True, slots=True)
class Promoted:
    """done: a sentence for each edit. notes: what cannot be promoted, and why."""

    done: tuple[str, ...]
    notes: tuple[str, ...]


def promotable(fleet: Fleet, owner: Path, first: str, second: str) -> list[App]:
    """The apps of a tenant or class, or the one app or add-on, that both environments have. Raises: Refused: there is none."""
    apps = apps_of(fleet, owner)
    both = [app for app in apps if all(app.placed(fleet, env) for env in (first, second))]
    if not both:
        missing = next(env for env in (first, second) if not any(each.placed(fleet, env) for each in apps))
        raise Refused(
            f"environment '{missing}' has none of these apps",
            f"see why: tenantry parity {first} {second}",
        )
    return both


def promote(
    editor: Editor, fleet: Fleet, apps: Sequence[App], first: str, second: str, extra: Collection[Path] = ()
) -> Promoted:
    """Edit the files so that apps have in the second environment what they have in the first.

    The caller checks the result: of the edited fleet, the same promotion has nothing left to do.

    Args:   extra: settings of an app that are copied too, by their paths below it; `("all",)` is all of them.
    Raises: Refused: a setting cannot be copied without changing something else, or it differs between clusters.
    """
    found = _Promotion(editor, fleet, apps, first, second)
    for app in apps:
        found.app(app, extra)
    return Promoted(tuple(dict.fromkeys(found.done)), tuple(dict.fromkeys(found.notes)))


def require_own_kept(
    before: Fleet, after: Fleet, apps: Sequence[App], second: str, extra: Collection[Path] = ()
) -> None:
    """An override of a class comes over what a tenant's own entry says without one.

    Args:   before, after: the fleet without and with a promotion to the second environment.
    Raises: Refused: a tenant of a class would lose what it sets itself.
    """
    for app in (each for each in apps if each.of_class):
        for at, cluster in app.placed(before, second):
            now = settings_of(after, at, second, cluster, extra)
            for path, setting in settings_of(before, at, second, cluster, extra).items():
                own = setting.at is not None and before.source.origin(setting.at)[0] == "tenants"
                if setting.at is None or not own or (path in now and now[path].value == setting.value):
                    continue
                said = path[1:] if path[0] == "source" else path
                there = format_path((*setting.at[:4], "overrides", "environments", second, *said))
                value = "VALUE" if isinstance(setting.written, dict | list) else setting.written
                raise Refused(
                    f"{format_path(path)} of {app} would change for tenant '{at[1]}' too, which sets it itself"
                    f" ({before.source.line_of(setting.at)}): an override of its class comes over that",
                    f"let the tenant keep it: tenantry set {there} {value}",
                )


class _Promotion:
    """Edits app by app; later apps see what was edited for earlier ones."""

    def __init__(self, editor: Editor, fleet: Fleet, apps: Sequence[App], first: str, second: str) -> None:
        self.editor, self.fleet = editor, fleet
        self.first, self.second = first, second
        self.apps = apps
        self.done: list[str] = []
        self.notes: list[str] = []

    def app(self, app: App, extra: Collection[Path]) -> None:
        sides = []
        for environment in (self.first, self.second):
            settings, own = shared_settings(self.fleet, app, environment, extra)
            self.notes += own
            sides.append(settings)
        nothing = Setting(ABSENT, ABSENT, None)
        for path in dict.fromkeys(path for side in sides for settings in side for path in settings):
            # A tenant that sets it itself says nothing of its class.
            wanted, there = (
                [settings.get(path, nothing) for settings in side if path in settings or not app.of_class]
                for side in sides
            )
            if not wanted or not there:
                continue
            values = [setting.value for setting in wanted]
            if any(setting.value not in values for setting in there):
                self._setting(app, path, wanted, there)

    def _setting(self, app: App, path: Path, wanted: Sequence[Setting], there: Sequence[Setting]) -> None:
        new = wanted[0]
        if any(setting.value != new.value for setting in wanted):
            raise Refused(
                f"{format_path(path)} of {app} differs between the clusters of environment '{self.first}'",
                f"see `tenantry explain {_words(app)} -e {self.first}`, then set it: tenantry set PATH VALUE",
            )
        for old in {setting.at: setting for setting in there if setting.value != new.value}.values():
            self._write(app, path, new, old)

    def _write(self, app: App, path: Path, new: Setting, old: Setting) -> None:
        at = old.at or ()
        if path[0] == "source" and new.at == old.at:
            self._variables(app, path, new)
        elif path[0] == "source":
            self._ref(app, path, new, old)
        elif new.at == old.at and placeholders_of(new.written):
            self._variables(app, path, new)
        elif at[len(app.at) : len(app.at) + 2] in (("overrides", "clusters"), ("overrides", "where")):
            raise _of_clusters(self.fleet, app, path, at, self.second)
        else:
            override = (*app.at, "overrides", "environments", self.second, *path)
            self._put(override, self._text(app, new), app, path)

    def _put(self, at: Path, value: Any, app: App, path: Path) -> None:
        if value is ABSENT:
            if self.editor.value(at, ABSENT) is not ABSENT:
                self.editor.unset(at)
            else:
                self.editor.set(at, None)
        else:
            self.editor.set(at, value)
        what = f" to {_short(value)}" if path[-1] in ("version", "ref") and value is not ABSENT else ""
        self.done.append(f"{app}: set {format_path(path)} in {self.second}{what}")

    def _text(self, app: App, new: Setting) -> Any:
        """What to write in the second environment: the text as it stands, if it means the same there."""
        names = placeholders_of(new.written)
        if new.value == new.written or not names:
            return new.written
        at, cluster = app.placed(self.fleet, self.second)[0]
        variables = variables_of_app(self.fleet, at, self.second, cluster)
        if set(names) <= variables.keys() and fill(new.written, variables, ()) == new.value:
            return new.written
        return _escaped(new.value)

    def _ref(self, app: App, path: Path, new: Setting, old: Setting) -> None:
        """The environments have different sources, or one with overrides: the second one gets the ref of the first one."""
        assert old.at is not None, "a source has a ref"
        assert new.at is not None, "a source has a ref"
        mine, other = source_entry(old.at), source_entry(new.at)
        if self._address(app, mine, self.second) != self._address(app, other, self.first):
            self.notes.append(f"{app}: the environments have sources at different addresses, so no ref is promoted")
            return
        group = old.at[len(mine) + 1] if old.at[len(mine)] == "overrides" else ""
        if group in ("clusters", "where"):
            raise _of_clusters(self.fleet, app, path, old.at, self.second)
        name = str(mine[-1])
        promoted = {at for each in self.apps for at in (each.at, *each.planned)}
        if others := [user for user in self._users(mine, name, app) if user.at not in promoted]:
            whole, owner = ("class", f"class:{mine[1]}") if mine[0] == CLASSES else ("tenant", app.at[1])
            what, all_of = f"{whole} '{mine[1]}'", f"the whole {whole}"
            if mine[0] == PLATFORM:
                what, all_of, owner = "the platform", "all add-ons", PLATFORM
            raise Refused(
                f"source '{name}' of {what} is used by {listed(others)} too, whose ref would change with it",
                f"promote {all_of}: tenantry promote {owner} --from {self.first} --to {self.second}",
            )
        in_override = mine == other or group
        at = (*mine, "overrides", "environments", self.second, *path[1:]) if in_override else old.at
        self._put(at, self._text(app, new), app, path)

    def _users(self, source: tuple[str, ...], name: str, app: App) -> Iterable[App]:
        """The apps that name a source. What a class declares is every tenant's of the class."""
        if source[:2] == (PLATFORM, "addons"):
            return [app]
        if source[0] == PLATFORM:
            paths = [each.path for _, each in references_to(self.editor, Target(Kind.SOURCE, name, PLATFORM))]
            return dict.fromkeys(App(tuple(map(str, each[:3]))) for each in paths if each[1] == "addons")
        if source[0] != CLASSES:
            paths = [each.path for _, each in references_to(self.editor, Target(Kind.SOURCE, name, app.at[1]))]
            return dict.fromkeys(App(tuple(map(str, each[:4]))) for each in paths if each[2] == "apps")
        owners = [("tenants", each) for each in tenants_of_class(self.fleet, source[1])]
        apps = [(*owner, "apps", each) for owner in owners for each in self.fleet.raw(*owner, "apps")]
        return [App(at) for at in apps if name in _sources_of(self.fleet, at)]

    def _address(self, app: App, source: tuple[str, ...], environment: str) -> Any:
        """Where a source is that an app has in an environment, as it is written."""
        at, cluster = app.placed(self.fleet, environment)[0]
        declared = source_data(self.fleet, (*at[:2], *source[2:]) if app.of_class else source, environment, cluster)
        return {kind: mapping_at(declared, kind).get("url") for kind in ("git", "oci") if kind in declared}

    def _variables(self, app: App, path: Path, new: Setting) -> None:
        """One text with placeholders in both environments: the variables of the second one get the values of the first one."""
        clusters = [app.placed(self.fleet, each)[0][1] for each in (self.first, self.second)]
        wanted, there = map(variables_of, (self.fleet,) * 2, (self.first, self.second), clusters)
        for name in placeholders_of(new.written):
            if wanted.get(name) == there.get(name):
                continue
            at = variable_at(self.fleet, self.second, clusters[1], name)
            if at is None or at[0] != "environments":
                self.notes.append(f"{app}: {format_path(path)} follows from {{{name}}}, which is not promoted")
                continue
            self._only_mine(name, path)
            self.editor.set(("environments", self.second, "variables", name), wanted[name])
            self.done.append(f"{app}: set variable {name} of {self.second} to {_short(wanted[name])}")

    def _only_mine(self, name: str, path: Path) -> None:
        """Raises: Refused: something else than the promoted apps uses a variable."""
        own = [app for app in self.apps if not app.of_class]
        named = [reference.target for app in own for reference in references_in(self.editor, app.at)]
        mine = {at for app in self.apps for at in app.planned}
        mine |= {target.path for target in named if target.kind is Kind.SOURCE}
        of_class = [at for app in self.apps if app.of_class for at in app.planned]
        mine |= {(*at[:2], "sources", source) for at in of_class for source in _sources_of(self.fleet, at)}
        # What a class says stands in each of its tenants.
        apart = ("environments", "clusters", CLASSES) if of_class else ("environments", "clusters")
        named_in = (at for at, text in texts_in(self.fleet.source.data) if name in names_in(text))
        used = (at for at in named_in if at[0] not in apart)
        users = list(dict.fromkeys(at for at in used if not any(at[: len(each)] == each for each in mine)))
        if users:
            places = listed((f"{format_path(at)} ({self.fleet.source.line_of(at)})" for at in users), 3)
            raise Refused(
                f"{format_path(path)} follows from variable '{name}', which is used elsewhere too: {places}",
                f"if all of it may change: tenantry set environments.{self.second}.variables.{name} VALUE",
            )


def _sources_of(fleet: Fleet, at: tuple[str, ...]) -> set[str]:
    """The sources that the app at a path names, anywhere."""
    return {str(block["source"]) for _, block in blocks_of(fleet.source.data, at) if "source" in block}


def _of_clusters(fleet: Fleet, app: App, path: Path, at: Path, second: str) -> Refused:
    return Refused(
        f"{format_path(path)} of {app} is set for clusters ({fleet.source.line_of(at)}),"
        f" which an override for environment '{second}' does not change",
        f"set it there: tenantry set {format_path(at)} VALUE",
    )


def _escaped(value: Any) -> Any:
    match value:
        case str():
            return value.replace("{", "{{").replace("}", "}}")
        case dict():
            return {key: _escaped(inner) for key, inner in value.items()}
        case _:
            return value


def _short(value: Any) -> str:
    return " ".join(f"{key} {text}" for key, text in value.items()) if isinstance(value, dict) else str(value)


def _words(app: App) -> str:
    if app.of_class:
        return f"{app.tenants[0]}/{app.at[3]}"
    return f"{app.at[1]} {app.at[3]}" if app.at[0] == "tenants" else str(app)
