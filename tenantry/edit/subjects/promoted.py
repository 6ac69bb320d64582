"""What a promotion copies: the settings of an app on a cluster, with the places that set them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tenantry.fleet.apps import app_layers, effective_app
from tenantry.fleet.classes import CLASSES, classes_above
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin, placeholders
from tenantry.fleet.placement import clusters_of_app
from tenantry.fleet.settings import variables_of
from tenantry.fleet.sources import source_layers, source_place
from tenantry.fleet.template import fill
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Path
from tenantry.messages.placeholders import Variables, all_names_in
from tenantry.messages.text import closest, format_path, listed

EVERYTHING = "all"
"""The key that stands for all settings of an app's own block."""
BLOCKS = ("kustomize", "helm")
_KEPT = ("source",)
"""The key of a block that names a source: another environment's source is not taken over, only its ref."""


class Setting(NamedTuple):
    """A setting of an app on a cluster. at: where its value stands in the document; None if nothing sets it.

    value: with placeholders filled in, unless the setting is copied as it is written.
    """

    value: Any
    written: Any
    at: Path | None


@dataclass(frozen=True, slots=True)
class App:
    """An app or add-on by its place in the document. tenants: of an app of a class those that have it, whose apps are planned."""

    at: tuple[str, ...]
    tenants: tuple[str, ...] = field(default=(), compare=False)

    @property
    def of_class(self) -> bool:
        return self.at[0] == CLASSES

    @property
    def planned(self) -> tuple[tuple[str, ...], ...]:
        """Where the document has what is planned of it."""
        return tuple(("tenants", each, *self.at[2:]) for each in self.tenants) if self.of_class else (self.at,)

    def placed(self, fleet: Fleet, environment: str) -> list[tuple[tuple[str, ...], str]]:
        """What is planned of it in an environment, with each cluster."""
        return [(at, cluster) for at in self.planned for cluster in clusters_of_app(fleet, environment, at)]

    def __str__(self) -> str:
        if self.of_class:
            return f"class:{self.at[1]}/{self.at[3]}"
        return f"{self.at[1]}/{self.at[3]}" if self.at[0] == "tenants" else f"platform/{self.at[2]}"


def tenants_of_class(fleet: Fleet, name: str) -> list[str]:
    """The tenants that have a class, also through another one."""
    return [each for each in fleet.document.tenants if name in classes_above(fleet.source, each, "tenants")]


def apps_of(fleet: Fleet, owner: Path) -> list[App]:
    """The apps of a tenant or of a class, all add-ons, or the one app or add-on."""
    at = tuple(map(str, owner))
    if at[0] == CLASSES:
        tenants = tenants_of_class(fleet, at[1])
        classes = (at[1], *sorted(classes_above(fleet.source, at[1])))
        names = at[3:] or dict.fromkeys(name for each in classes for name in fleet.raw(CLASSES, each, "apps"))
        having = {name: tuple(each for each in tenants if name in fleet.raw("tenants", each, "apps")) for name in names}
        return [App((*at[:2], "apps", name), those) for name, those in having.items()]
    group = {("tenants", 2): "apps", (PLATFORM, 1): "addons"}.get((at[0], len(at)))
    return [App((*at, group, str(name))) for name in fleet.raw(*at, group)] if group else [App(at)]


def planned_of(fleet: Fleet, owner: Path) -> list[Path]:
    """Where the document has what is planned of a tenant, an app or an add-on: itself; of a class, the apps of its tenants."""
    planned: list[Path] = [at for app in apps_of(fleet, owner) for at in app.planned] if owner[0] == CLASSES else []
    return planned or [owner]


def shared_settings(
    fleet: Fleet, app: App, environment: str, extra: Collection[Path] = ()
) -> tuple[list[dict[Path, Setting]], list[str]]:
    """The settings of an app everywhere in an environment, and what a tenant sets itself, which no edit of its class changes."""
    everywhere = app.placed(fleet, environment)
    found = [settings_of(fleet, at, environment, cluster, extra) for at, cluster in everywhere]
    if not app.of_class:
        return found, []
    own: dict[str, None] = {}
    for (at, _), settings in zip(everywhere, found, strict=True):
        of_tenant = {"tenant", *fleet.raw(*at[:2], "variables")}
        for path, setting in list(settings.items()):
            if setting.at is None:
                continue
            place = fleet.source.origin(setting.at)
            if place[0] == "tenants":
                del settings[path]
                own[f"{app}: tenant {at[1]} sets {format_path(path)} itself, so it stays as it is"] = None
            elif of_tenant.isdisjoint(placeholders_of(setting.written)):
                settings[path] = setting._replace(at=place)
            else:
                settings[path] = Setting(setting.written, setting.written, place)
    return found, list(own)


def settings_of(
    fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str, extra: Collection[Path] = ()
) -> dict[Path, Setting]:
    """What a promotion copies of the app at a path on a cluster: its chart's version, its source's ref, and extra settings."""
    tenant = {"tenant": at[1]} if at[0] == "tenants" else {}
    shared = variables_of(fleet, environment, cluster, **tenant)
    variables = {**shared, "app": at[-1]}
    layers = app_layers(fleet, at, environment, cluster)
    effective = effective_app(fleet, at, environment, cluster, variables)
    data = merge(layers)
    found: dict[Path, Setting] = {}
    if effective.kind == "helm":
        found["helm", "version"] = _setting(layers, data, ("helm", "version"), variables)
    of_source = source_layers(fleet, source_place(at, effective.block.source), environment, cluster)
    declared = merge(of_source)
    for kind in (key for key in ("git", "oci") if "ref" in mapping_at(declared, key)):
        found["source", kind, "ref"] = _setting(of_source, declared, (kind, "ref"), shared)
    for path in _extra(data, extra):
        if path not in found:
            written = value_at(data, path, ABSENT)
            found[path] = Setting(written, written, origin(layers, path))
    return found


def unknown_extra(
    fleet: Fleet, apps: Sequence[App], environments: Sequence[str], extra: Collection[Path]
) -> Iterator[str]:
    """A note for each extra setting that none of the apps has. A removed key is one after its removal was promoted."""
    named = [path for path in extra if path != (EVERYTHING,)]
    if not named:
        return
    known = {
        path
        for app in apps
        for environment in environments
        for at, cluster in app.placed(fleet, environment)
        for path in settings_of(fleet, at, environment, cluster, [(EVERYTHING,)])
    }
    texts = sorted(map(format_path, known))
    for wanted in named:
        if not any(path[: len(wanted)] == wanted for path in known):
            text = format_path(wanted)
            near = next((one for one in texts if one.endswith(f".{text}")), None) or closest(text, texts)
            yield f"--with {text} names no setting of {listed(apps)}" + (f"; did you mean {near}?" if near else "")


def _setting(layers: Sequence[Layer], data: Any, path: Path, variables: Variables) -> Setting:
    written = value_at(data, path, ABSENT)
    if written is ABSENT:
        return Setting(ABSENT, ABSENT, None)
    return Setting(fill(written, variables, ()), written, origin(layers, path))


def _extra(data: Mapping[str, Any], wanted: Collection[Path]) -> Iterator[Path]:
    """The settings below the wanted paths: those that are no mappings themselves."""
    for path in _leaves({key: data[key] for key in BLOCKS if key in data}):
        named = any(one == (EVERYTHING,) or path[: len(one)] == one for one in wanted)
        if named and path[1:] != _KEPT:
            yield path


def _leaves(data: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from _leaves(value, (*path, key))
    else:
        yield path


def placeholders_of(written: Any) -> tuple[str, ...]:
    """The names of the placeholders in a text or in a mapping of texts, each once."""
    if isinstance(written, dict):
        return tuple(dict.fromkeys(all_names_in(written)))
    return placeholders(written)
