"""Flux's objects backward, to the blocks of the file: a Kustomization or HelmRelease of an app, and the source of either.

What Flux would do without a field is written out where Tenantry differs. A release that is installed stays the same one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from pydantic_core import ValidationError

from tenantry.fleet.settings import TIMES, TenantSettings
from tenantry.flux.references import references, renamed
from tenantry.flux.schemas import schema_of
from tenantry.importing.equivalence import effective_spec
from tenantry.importing.world import Thing, World
from tenantry.kube.names import digest
from tenantry.messages.data import mapping_at, mappings_in, value_at, with_texts
from tenantry.messages.placeholders import escaped
from tenantry.model.flux import SET_BY_FLEET, FluxBlock
from tenantry.model.sources import SOURCE_KINDS
from tenantry.model.strict import FILLED

_Data = TypeVar("_Data")


def literal(value: _Data) -> _Data:
    """Plain data whose texts mean themselves, although the file knows placeholders."""
    return cast("_Data", with_texts(value, escaped))


# --- what the plan says anyway ----------------------------------------------------------------------------------------


Block = dict[str, Any]
Planned = Callable[[Block], Mapping[str, Any]]
"""What the plan makes of a block. Raises: ValidationError: the model refuses the block."""


def smallest(block: Block, planned: Planned) -> Block:
    """The block without the values that the plan gives to a block that leaves them out."""
    try:
        wanted = planned(block)
    except ValidationError:
        return block  # it is left out with the model's own message
    return _smaller(block, planned, wanted, planned)


def _smaller(block: Block, planned: Planned, wanted: Mapping[str, Any], outer: Planned) -> Block:
    """planned: of the whole block, given this part of it."""
    kept = dict(block)
    for key, value in block.items():
        others = {name: each for name, each in kept.items() if name != key}
        try:
            without = planned(others)
        except ValidationError:
            continue
        if without == wanted:
            kept = others
        elif outer is planned and isinstance(value, dict) and isinstance(without.get(key), dict):
            # The plan completes the mapping, as it does with the actions of a release.
            kept[key] = _smaller(value, partial(_planned_below, planned, kept, key), wanted, outer)
    return kept


def _planned_below(planned: Planned, block: Block, key: str, part: Block) -> Mapping[str, Any]:
    return planned({**block, key: part})


def as_model(model: type[FluxBlock]) -> Planned:
    """What the plan makes of a block that it takes over with the model's defaults."""

    def planned(block: Block) -> Mapping[str, Any]:
        spec = model.model_validate(block, context=FILLED).model_dump(exclude_none=True)
        return effective_spec({"kind": model.flux_kind, "metadata": {"name": ""}, "spec": spec})

    return planned


def authors_part(world: World, thing: Thing, model: type[FluxBlock], named: Named) -> Block:
    """The spec of an object without what the fleet sets itself: left over with the model's reason, if no other part of the file
    says it.
    """
    spec = {key: value for key, value in thing.spec.items() if (thing.kind, key) != ("HelmRelease", "chart")}
    for path, reason in model.owned.items():
        parts = path.split(".")
        if value_at(spec, tuple(parts)) not in (None, False, {}) and not reason.startswith(SET_BY_FLEET):
            text = f"Tenantry does not take '{path}': {reason}"
            world.notes.leave(thing.read, text, "nothing, if the result is right", f"spec.{path}")
        spec = _without(spec, parts)
    return {
        key: short_time(value) if key in _KEYS and isinstance(value, str) else value
        for key, value in named.in_spec(thing, spec).items()
    }


def _without(data: Block, parts: list[str]) -> Block:
    first, *rest = parts
    if first not in data or (rest and not isinstance(data[first], dict)):
        return data
    below = _without(data[first], rest) if rest else {}
    return {**data, first: below} if below else {key: each for key, each in data.items() if key != first}


class Named:
    """The Secrets and ConfigMaps that the objects of one owner name in one place."""

    def __init__(self, world: World, configs: str, *secrets: str) -> None:
        """configs, secrets: the prefixes of the names that Tenantry gives them there, of Secrets the usual one last."""
        self._world = world
        self._prefixes = {"ConfigMap": (configs,), "Secret": secrets or (configs,)}
        self._former = configs
        self.credentials: dict[str, Thing | None] = {}
        self.configs: dict[str, Thing | None] = {}

    def in_spec(self, thing: Thing, spec: dict[str, Any]) -> dict[str, Any]:
        """The spec with the names that the file gives them."""
        for reference in references(thing.kind, spec):
            self.declare(thing, reference.kind, reference.name)
        return renamed(thing.kind, spec, self.short)

    def short(self, kind: str, name: str) -> str:
        found = next((each for each in self._prefixes[kind] if name.startswith(each)), self._former)
        return name.removeprefix(found)

    def credentials_of(self, thing: Thing) -> dict[str, str]:
        """`credentials` of what an object is made of, if it names a Secret."""
        secret = mapping_at(thing.spec, "secretRef").get("name")
        return {"credentials": self.declare(thing, "Secret", str(secret))} if secret else {}

    def declare(self, thing: Thing, kind: str, name: str) -> str:
        """Declare a Secret or ConfigMap that an object names; gives the name that the file gives it."""
        short, prefixes = self.short(kind, name), self._prefixes[kind]
        group = self.credentials if kind == "Secret" else self.configs
        found = self._world.get(kind, thing.namespace, name)
        other = group.get(short, found)
        is_one = other is found or (other and found and other.at("data") == found.at("data"))
        if kind == "ConfigMap" and not is_one:
            found = None  # one name in the file has one content
            group[short] = None
        group.setdefault(short, found)
        if prefixes[-1] and not name.startswith(prefixes):
            self._world.notes.leave(
                thing.read,
                f"{kind} {thing.namespace}/{name} will be read as {prefixes[-1]}{short}",
                f"copy {kind} {name} in namespace {thing.namespace} to {prefixes[-1]}{short}",
            )
        return short


# --- times -------------------------------------------------------------------------------------------------------------


_GO = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_KEYS = ("interval", "retryInterval", "timeout", "chartInterval")


def short_time(text: str) -> str:
    """A time without empty parts at its end."""
    found = _GO.fullmatch(text)
    if not found or not text:
        return text
    parts = [
        f"{int(number)}{unit}" for number, unit in zip(found.groups(), "hms", strict=True) if number and int(number)
    ]
    return "".join(parts) or text


def chart_of(world: World, thing: Thing) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a release takes: the spec of its chart, and the reference to the chart's source. Both may be empty."""
    if template := mapping_at(thing.spec, "chart", "spec"):
        return template, mapping_at(template, "sourceRef")
    reference = mapping_at(thing.spec, "chartRef")
    if reference.get("kind") != "HelmChart":
        return {}, reference
    namespace = str(reference.get("namespace") or thing.namespace)
    chart = world.get("HelmChart", namespace, str(reference.get("name")))
    if chart is None:
        return {}, {}
    return chart.spec, {**mapping_at(chart.spec, "sourceRef"), "namespace": namespace}


def has_shared_interval(chart: Thing) -> bool:
    """Whether Tenantry made the chart, for all releases that set no interval of their own: its name tells.

    On a live cluster the API server has filled in defaults, which the name may leave out.
    """
    wanted = {key: each for key, each in chart.spec.items() if key not in ("interval", "sourceRef")}
    fields = schema_of("HelmChart").spec["properties"]
    written = {key: each for key, each in wanted.items() if fields.get(key, {}).get("default") != each}
    return bool(chart.source_key) or (
        chart.is_ours and any(chart.name.endswith(f"-{digest(each)}") for each in (wanted, written))
    )


# --- sources -----------------------------------------------------------------------------------------------------------


KEYS = {model.flux_kind: key for key, model in SOURCE_KINDS.items()}
"""The key of a source by its kind."""


def included(world: World, thing: Thing) -> list[Thing]:
    """The Git repositories that one includes."""
    names = [mapping_at(each, "repository").get("name") for each in mappings_in(thing.spec.get("include"))]
    found = (world.get("GitRepository", thing.namespace, str(name)) for name in names)
    return [each for each in found if each is not None and each is not thing]


def source_entry(world: World, thing: Thing, named: Named, prefix: str = "") -> dict[str, Any]:
    """The entry of a source, with the credentials that it names. prefix: of the names of sources in its place."""
    key = KEYS[thing.kind]
    model = SOURCE_KINDS[key]
    spec = authors_part(world, thing, model, named)
    if not spec.get("ref") and (ref := effective_spec(thing.read.manifest).get("ref")):
        spec["ref"] = ref
    if isinstance(spec.get("include"), list):
        spec["include"] = [_included(world, thing, each, prefix) for each in spec["include"]]
    entry: Block = {key: literal(smallest(spec, as_model(model)))}
    entry |= named.credentials_of(thing)
    if thing.metadata:
        entry["metadata"] = literal(thing.metadata)
    return entry


def _included(world: World, thing: Thing, entry: Any, prefix: str) -> Any:
    """An entry of `include` with the name that the file gives the repository."""
    name = str(mapping_at(entry, "repository").get("name"))
    other = world.get("GitRepository", thing.namespace, name)
    short = (other.source_key if other else "") or name.removeprefix(prefix)
    kept = {key: each for key, each in entry.items() if not (key == "toPath" and each == short)}
    return {**kept, "repository": {"name": short}}


Times = Mapping[str, str]


def tenantrys_own() -> dict[str, str]:
    """The times of a file that says none."""
    settings = TenantSettings()
    return {key: str(getattr(settings, key)) for key in TIMES}


def shared_times(
    apps: Iterable[Thing], charts: Iterable[Thing], baselines: Iterable[Thing], others: Times
) -> dict[str, str]:
    """The times of a tenant in one place.

    Args: charts: those that Tenantry made, which have the tenant's interval. baselines: releases that Tenantry made, which have
          all of the tenant's times. others: what holds where there is no agreement.
    """
    found = dict(others)
    for key in TIMES:
        votes = [_time(baseline, key) for baseline in baselines]
        if not votes and key == "interval":
            votes = [_time(chart, key) for chart in charts]
        votes = votes or [_time(app, key) for app in apps]
        most = Counter(votes).most_common(1)
        if most and most[0][0] and (most[0][1] > 1 or len(votes) == 1):
            found[key] = most[0][0]
    return found


def _time(thing: Thing, key: str) -> str:
    value: Any = thing.spec.get(key)
    if key == "retryInterval" and thing.kind == "HelmRelease":
        ways = [mapping_at(thing.spec, action, "strategy") for action in ("install", "upgrade")]
        values = {str(way.get(key, "")) for way in ways}
        value = values.pop() if len(values) == 1 else ""
    return short_time(value) if isinstance(value, str) else ""
