"""Rules about what becomes something else than it looks like: numbers that stand for texts, and `null` that removes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tenantry.fleet import walk
from tenantry.fleet.blocks import shared_blocks
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.lineages import TENANTS
from tenantry.fleet.merge import merge
from tenantry.fleet.placement import distinct_layers
from tenantry.kube.yaml_text import LARGE, outcome
from tenantry.messages.data import ABSENT, leaves, scalars, value_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import doubtful
from tenantry.messages.text import format_path
from tenantry.model import PlacedSettings

_OF_CHART = ("helm", "values")


def numbers_are_what_comes_out(fleet: Fleet) -> Iterator[Problem]:
    """In values of charts, in manifests, and in substitutions, where a chart or Flux prints them as texts."""
    for block in _blocks(fleet):
        yield from _altered(fleet, (*block, "values"), of_chart=True)
        at = (*block, "postBuild", "substitute")
        for key, value in fleet.raw(*at).items():
            text = (
                fleet.source.plain_text((*at, key)) if isinstance(value, int) and not isinstance(value, bool) else None
            )
            if text is not None and text != str(value):
                yield _number((*at, key), text, str(value))
    for at, _ in (*walk.objects(fleet), *walk.cluster_objects(fleet)):
        yield from _altered(fleet, at, of_chart=False)


def variables_are_what_comes_out(fleet: Fleet) -> Iterator[Problem]:
    """Where a placeholder is the whole value, it is the variable's number."""
    printed: set[str] | None = None
    for at in walk.variable_holders(fleet):
        for name, value in fleet.raw(*at, "variables").items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                continue
            path = (*at, "variables", name)
            if printed is None:
                printed = set(_printed(fleet))
            key = "tag" if name in printed else name
            of_chart = isinstance(value, float) or abs(value) < LARGE or name in printed
            if not (text := fleet.source.plain_text(path)):
                continue
            printed_as = outcome(text, value, key, of_chart=of_chart)
            if isinstance(value, int) and text != str(value):
                printed_as = printed_as or str(value)  # what becomes of it in the midst of a text
            if printed_as:
                yield _number(path, text, printed_as)


def _printed(fleet: Fleet) -> Iterator[str]:
    """The variables that are whole values of charts, at keys of texts."""
    for block in _blocks(fleet):
        for path, value in scalars(fleet.raw(*block, "values")):
            whole = isinstance(value, str) and value[:1] == "{" and value[-1:] == "}"
            if whole and outcome("", LARGE, str(path[-1]), of_chart=True):
                yield value[1:-1]


def _blocks(fleet: Fleet) -> Iterator[Path]:
    yield from (path for path, _, _ in shared_blocks(fleet.source.data))
    for at, *_ in walk.apps(fleet):
        yield from (path for path, _ in walk.blocks(fleet, at))


def _altered(fleet: Fleet, at: Path, *, of_chart: bool) -> Iterator[Problem]:
    for path, value in scalars(value_at(fleet.source.data, at)):
        # Most values are texts, and nearly all numbers are small.
        if isinstance(value, str | bool) or value is None:
            continue
        key = str(next((part for part in reversed(path) if isinstance(part, str)), ""))
        if key == "value" and isinstance(name := value_at(fleet.source.data, (*at, *path[:-1], "name")), str):
            key = name
        if isinstance(value, float) or outcome("", value, key, of_chart=of_chart):
            text = fleet.source.plain_text((*at, *path))
            if text and (printed := outcome(text, value, key, of_chart=of_chart)):
                yield _number((*at, *path), text, printed)


def _number(path: Path, text: str, printed: str) -> Problem:
    message = f"'{text}' is a number in YAML, and a program that prints it as text gets {printed}"
    return doubtful(path, "number-as-text", message, fix=f'put it in quotes: "{text}"')


# --- null ---------------------------------------------------------------------------------------------------------------


def nulls_of_apps_remove_something(fleet: Fleet) -> Iterator[Problem]:
    """A `null` removes what another level of the file sets. What a chart sets itself stays: the release does not get the `null`."""
    of_all = any(_has_null(block) for _, _, block in shared_blocks(fleet.source.data))
    for at, *_ in walk.apps(fleet):
        if not (of_all or any(_has_null(block) for _, block in walk.blocks(fleet, at))):
            continue
        has_effect: dict[Path, bool] = {}
        for layers in distinct_layers(fleet, at):
            for index, layer in enumerate(layers):
                nulls = (path for path, value in leaves(layer.data) if value is None)
                for path in (path for path in nulls if path[0] in ("kustomize", "helm")):
                    removes = value_at(merge(layers[:index]), path, ABSENT) is not ABSENT or _of_template(
                        fleet, at, path
                    )
                    place = (*layer.path, *path)
                    has_effect[place] = has_effect.get(place, False) or removes
        for place, removes in has_effect.items():
            if not removes:
                yield _nothing(at, place)


def _has_null(data: Any) -> bool:
    return any(value is None for _, value in scalars(data))


def _of_template(fleet: Fleet, at: tuple[str, ...], path: Path) -> bool:
    """Whether a template of tenants sets the value: an app's entry is merged with those before its levels are."""
    if at[0] != "tenants":
        return False
    levels = (("defaults",), *((*TENANTS.templates, name) for name in fleet.raw(*TENANTS.templates)))
    return any(value_at(fleet.source.data, (*level, *at[2:], *path)) is not None for level in levels)


def _nothing(at: tuple[str, ...], place: Path) -> Problem:
    below = place[place.index("values") + 1 :] if "values" in place else ()
    if not below:
        message = f"'null' removes nothing: no other level sets '{place[-1]}'"
        return doubtful(place, "removes-nothing", message, fix="remove it", at_key=True)
    owner = ".".join(at[:2]) if at[0] == "tenants" else at[0]
    name, written = f"{at[-1]}-values", "null"
    for part in reversed(below):
        written = f"{{{part}: {written}}}"
    config, reference = f'{{{name}: {{data: {{values.yaml: "{written}"}}}}}}', f"[{{kind: ConfigMap, name: {name}}}]"
    fix = (
        f"to remove a default of the chart, write 'configs: {config}' in '{owner}:',"
        f" and 'valuesFrom: {reference}' beside 'values:'; otherwise remove the line"
    )
    message = (
        f"'null' removes nothing: no other level sets '{format_path(below)}', and what the chart sets itself stays"
    )
    return doubtful(place, "removes-nothing", message, fix=fix, at_key=True)


_SETTINGS = frozenset(PlacedSettings.model_fields) - {"dependsOn"}


def empty_settings_are_meant(fleet: Fleet) -> Iterator[Problem]:
    """A key without a value is `null` in YAML: it takes a limit away that a template sets, or says nothing."""
    for at, _ in walk.settings(fleet):
        above = "overrides" in at or "namespaces" in at
        for path, value in leaves({key: value for key, value in fleet.raw(*at).items() if key in _SETTINGS}, at):
            if value is None and (above or len(path) > len(at) + 1) and fleet.source.plain_text(path) == "":
                yield _empty(path)
            elif value is None and at[:-1] == ("tenants",) and fleet.source.plain_text(path):
                message = f"'null' removes nothing: no other level sets '{path[-1]}'"
                yield doubtful(path, "removes-nothing", message, fix="remove it", at_key=True)
    for entry, removed in fleet.source.removed.items():
        for path, place in removed.items():
            if entry[0] == "tenants" and path[0] in _SETTINGS and fleet.source.plain_text(place) == "":
                yield _empty(place)


def _empty(place: Path) -> Problem:
    message = f"'{place[-1]}' has no value, which is null in YAML: it removes what a template or 'defaults' set"
    return doubtful(
        place, "no-value", message, fix=f"write a value, or '{place[-1]}: null' if it is to be removed", at_key=True
    )
