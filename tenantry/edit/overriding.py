"""Values for an environment or for clusters alone: in an override with exactly this `when`; and promotion of versions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.values import flow
from tenantry.fleet import walk
from tenantry.fleet.apps import REFS, app_layers, source_entry, source_layers, source_taken, variables_of_source
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.placement import clusters_of_app, placements_of
from tenantry.fleet.settings import variable_at, variables_of_app
from tenantry.kube.names import app_name
from tenantry.load import load_fleet
from tenantry.messages.data import ABSENT, mapping_at, nested, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.placeholders import Variables, all_names_in, fill
from tenantry.messages.text import format_path
from tenantry.model import When
from tenantry.source.parsed_file import override_of

Condition = dict[str, Any]
"""A `when` as the file says it."""


def split(path: Path) -> tuple[Path, Path]:
    """The entry whose overrides hold a value at a path, and the path of the value in such an override.

    Raises: Refused: nothing at the path can differ between environments or clusters.
    """
    if any(isinstance(part, int) for part in path):
        whole = path[: next(index for index, part in enumerate(path) if isinstance(part, int))]
        message = f"an override replaces the list '{format_path(whole)}' as a whole"
        raise Refused(message, f"set all of its entries: '{format_path(whole)}'")
    match path:
        case ("tenants", _, "apps", _, _, *_):
            return path[:4], path[4:]
        case ("platform", "addons", _, _, *_) | ("templates", "tenants", _, _, *_):
            return path[:3], path[3:]
        case ("tenants", _, _, *_):
            return path[:2], path[2:]
        case ("defaults" | "platform", _, *_):
            return path[:1], path[1:]
    message = f"'{format_path(path)}' is the same in all environments and on all clusters"
    raise Refused(message, "name a value of a tenant, an app, an add-on, the platform, `defaults` or a template")


def override(editor: Editor, path: Path, when: Condition, value: Any) -> Path:
    """Write a value that holds where `when` says. Returns: the path where it stands.

    A value that is there is changed where it stands. A new override comes last, or, if it names no clusters, behind the last one
    that names none: clusters are more specific.
    """
    if said := next(_said(editor, path, when), None):
        file, at = said
        editor.set(at, value, file=file)
        return at
    holder, below = split(path)
    file = editor.file_of(path)  # what a team's file declares is overridden there
    entries = _entries(editor, file, holder)
    same = [index for index, entry in enumerate(entries) if mapping_at(entry, "when") == when]
    if same:
        at = (*holder, "overrides", same[-1], *below)
        editor.set(at, value, file=file)
        return at
    general = [index for index, entry in enumerate(entries) if "clusters" not in mapping_at(entry, "when")]
    place = len(entries) if "clusters" in when else general[-1] + 1 if general else 0
    new = {"when": when, **nested(below, value)}
    editor.set((*holder, "overrides"), [*entries[:place], new, *entries[place:]], file=file)
    return (*holder, "overrides", place, *below)


def withdraw(editor: Editor, path: Path, when: Condition) -> Path:
    """Remove such a value. Returns: the path where it stood. Raises: Refused: there is none."""
    if said := next(_said(editor, path, when), None):
        file, at = said
        editor.unset(at, file=file)
        return at
    raise Refused(f"no override sets '{format_path(path)}' for {When.model_validate(when).description}")


def _said(editor: Editor, path: Path, when: Condition) -> Iterator[tuple[FilePath, Path]]:
    """Where overrides with exactly this `when` set a value, the one that prevails first.

    What belongs to an app stands in the app's own overrides, or in those of its tenant.
    """
    holder, below = split(path)
    owner = path[:2] if path[0] == "tenants" else path[:1]
    of_owner = [(owner, path[len(owner) :])] if owner != holder and path[0] != "templates" else []
    for at, inner in [(holder, below), *of_owner]:
        for file in reversed([*editor.documents]):
            for index, entry in reversed([*enumerate(_entries(editor, file, at))]):
                if mapping_at(entry, "when") == when and value_at(entry, inner, ABSENT) is not ABSENT:
                    yield file, (*at, "overrides", index, *inner)


def _entries(editor: Editor, file: FilePath, holder: Path) -> list[Any]:
    entries = value_at(editor.documents[file].data, (*holder, "overrides"))
    return entries if isinstance(entries, list) else []


_VERSION = ("helm", "version")


class Version(NamedTuple):
    """The version of a chart or the ref of a source on a cluster, filled in and as written. at: where it is written."""

    value: Any
    written: Any
    at: Path


class Promotion:
    """Edits app by app. done: a sentence for each edit. left: what differs and is not promoted, and why."""

    def __init__(self, editor: Editor, fleet: Fleet, first: str, second: str) -> None:
        self.editor, self.fleet, self.first, self.second = editor, fleet, first, second
        self.done: dict[str, None] = {}
        self.left: dict[str, None] = {}

    def app(self, at: tuple[str, ...]) -> None:
        """Promote the versions of an app, if both environments have it."""
        wanted, current = (
            [
                versions_on(self.fleet, at, environment, cluster)
                for cluster in clusters_of_app(self.fleet, environment, at)
            ]
            for environment in (self.first, self.second)
        )
        for path, new in wanted[0].items() if wanted and current else ():
            known = (versions[path] for versions in current if path in versions)
            old = {version.at: version for version in known if version.value != new.value}
            if old and any(path not in versions or versions[path].value != new.value for versions in wanted):
                self._leave(at, path, f"differs between the clusters of {self.first}")
                continue
            for version in old.values():
                self._write(at, path, new, version)

    def _write(self, app: tuple[str, ...], path: Path, new: Version, old: Version) -> None:
        if new.at == old.at:
            self._variables(app, path, new)
        elif "clusters" in mapping_at(self.fleet.source.data, *override_of(old.at), "when"):
            self._leave(app, path, f"is set for clusters ({self.fleet.source.line_of(old.at)})")
        elif path == _VERSION:
            self._set(app, path, (*app, *path), new, of_environment=True)
        elif (mine := source_entry(old.at)) == (other := source_entry(new.at)):
            self._set(app, path, (*mine, *path[1:]), new, of_environment=True)
        elif self.fleet.raw(*mine, path[1]).get("url") == self.fleet.raw(*other, path[1]).get("url"):
            self._set(app, path, old.at, new, of_environment=False)
        else:
            self._leave(app, path, "is that of a source at another address")

    def _set(self, app: tuple[str, ...], path: Path, at: Path, new: Version, *, of_environment: bool) -> None:
        if of_environment:
            override(self.editor, at, {"environments": [self.second]}, new.value)
        else:
            self.editor.set(at, new.value)
        self.done[f"{name_of_app(app)}: set {format_path(path)} in {self.second} to {flow(new.value)}"] = None

    def _variables(self, app: tuple[str, ...], path: Path, new: Version) -> None:
        """One text in both environments: the variables in it get the values of the first one."""
        clusters = {name: clusters_of_app(self.fleet, name, app)[0] for name in (self.first, self.second)}
        wanted, current = (variables_of_app(self.fleet, app, *place) for place in clusters.items())
        tenant = app[1] if app[0] == "tenants" else ""
        for name in all_names_in(new.written):
            if wanted.get(name) == current.get(name):
                continue
            at = variable_at(self.fleet, self.second, clusters[self.second], name, tenant)
            if at and at[0] == "environments":
                self.editor.set(("environments", self.second, "variables", name), wanted[name])
                self.done[f"{name_of_app(app)}: set variable {name} of {self.second} to {wanted[name]}"] = None
            else:
                self._leave(app, path, f"follows from {{{name}}}, which no environment sets")

    def _leave(self, app: tuple[str, ...], path: Path, why: str) -> None:
        self.left[f"{name_of_app(app)}: {format_path(path)} {why}, so it stays"] = None


def promote(editor: Editor, fleet: Fleet, apps: Collection[tuple[str, ...]], first: str, second: str) -> Promotion:
    """Edit the files so that apps have in the second environment the versions that they have in the first.

    Raises: Refused: something else would change too, or another place sets a version with more weight; InvalidFleet.
    """
    made, edited = Promotion(editor, fleet, first, second), fleet
    for at in apps:
        made.app(at)
    if made.done:
        edited = load_fleet(editor.main, editor.read)
        again = Promotion(editor, edited, first, second)
        for at in apps:
            again.app(at)
        if again.done:
            raise Refused(f"after the edit, this is left to do: {next(iter(again.done))}", "edit the file by hand")
    for at, _ in walk.apps(fleet) if made.done else ():
        for environment, cluster in placements_of(fleet, at):
            before, after = (versions_on(of, at, environment, cluster) for of in (fleet, edited))
            promoted = at in apps and second in fleet.lineage(environment)
            if not promoted and any(after[path].value != version.value for path, version in before.items()):
                message = f"the version of {name_of_app(at)} in {environment} would change too"
                raise Refused(message, f"promote it too, or edit the file by hand: {next(iter(made.done))}")
    return made


def versions_on(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> Mapping[Path, Version]:
    """The version of an app's chart and the ref of its source on a cluster, by `helm.version` and `source.git.ref`."""
    layers = app_layers(fleet, at, environment, cluster)
    place = source_taken(fleet, at, layers, environment, cluster)
    of_source = source_layers(fleet, place, environment, cluster)
    refs = _found(of_source, REFS, variables_of_source(fleet, place, environment, cluster))
    chart = _found(layers, (_VERSION,), variables_of_app(fleet, at, environment, cluster))
    return {**dict(chart), **{("source", *path): version for path, version in refs}}


def name_of_app(at: tuple[str, ...]) -> str:
    """An app as commands name it: `rocky/web`, `platform/dns`."""
    return app_name(at[1] if at[0] == "tenants" else "", at[-1])


def _found(layers: Sequence[Layer], paths: Sequence[Path], variables: Variables) -> Iterator[tuple[Path, Version]]:
    data = merge(layers)
    for path in paths:
        if (written := value_at(data, path, ABSENT)) is not ABSENT:
            yield path, Version(fill(written, variables, ()), written, origin(layers, path))
