"""Which source an app takes, and what that source is on one cluster: its entry merged with what overrides say of it.

Called by: the plan, and everything that explains, compares, lists or edits what is planned. So all of them see one version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin, with_whole
from tenantry.fleet.resolve import resolved_once
from tenantry.fleet.settings import overrides, variables_of, variables_of_app
from tenantry.fleet.template import fill
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.messages.placeholders import Scalar
from tenantry.model import Source
from tenantry.source.parsed_file import override_of

CHART = ("platform", "chart")
"""Where the chart for baselines stands. It has layers as a source has."""
REFS = (("git", "ref"), ("oci", "ref"))
"""What an override replaces as a whole: half of a `ref` merged into another would name something that nobody wrote."""


def source_place(at: tuple[str, ...], name: str | None) -> tuple[str, ...]:
    """Where the source is declared that the app or add-on at a path takes. name: what it calls it; None: an add-on's own."""
    if at[0] == "platform":
        return ("platform", "sources", name) if name else (*at, "source")
    return (*at[:2], "sources", str(name))


def source_entry(path: Path) -> tuple[str, ...]:
    """The entry of the source that a path of the document lies in, also if that is an override."""
    if at := override_of(path):
        path = (*at[:-2], *path[len(at) :])
    return tuple(map(str, path[: 3 if path[:2] == ("platform", "sources") else 4]))


def source_taken(
    fleet: Fleet, at: tuple[str, ...], layers: Sequence[Layer], environment: str, cluster: str
) -> tuple[str, ...]:
    """The same on one cluster. layers: of the app there."""
    named = (mapping_at(layer.data, kind).get("source") for layer in reversed(layers) for kind in ("kustomize", "helm"))
    variables = variables_of_app(fleet, at, environment, cluster)
    return source_place(at, str(fill(next(filter(None, named), ""), variables, at)))


def effective_source(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> Source:
    """The source at a path of the document as it is on one cluster.

    Raises: Found: a placeholder is unknown, or the levels do not fit together.
    """
    variables = variables_of_source(fleet, at, environment, cluster)
    return resolved_once(fleet, source_layers(fleet, at, environment, cluster), Source, variables)


def source_data(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> dict[str, Any]:
    """The same as it is written, with its placeholders."""
    return merge(source_layers(fleet, at, environment, cluster))


def source_layers(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str | None) -> list[Layer]:
    """The layers of the source at a path on one cluster. At most one of them has a `ref`."""
    return with_whole([Layer(at, fleet.raw(*at)), *_overrides(fleet, at, environment, cluster)], REFS)


def _overrides(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str | None) -> Iterator[Layer]:
    """What overrides say of the source: those of its tenant or of the platform, then those of the add-on whose own it is."""
    owner = at[:2] if at[0] == "tenants" else ("platform",)
    holders = [(owner, at[len(owner) :]), *([(at[:-1], at[-1:])] if at[:2] == ("platform", "addons") else [])]
    for holder, below in holders:
        for layer in overrides(fleet, holder, environment, cluster):
            if said := mapping_at(layer.data, *below):
                yield Layer((*layer.path, *below), said)


def variables_of_source(fleet: Fleet, at: tuple[str, ...], environment: str, cluster: str) -> dict[str, Scalar]:
    """The placeholders that the source at a path can name. The app that takes it is none of them."""
    return variables_of(fleet, environment, cluster, **({"tenant": at[1]} if at[0] == "tenants" else {}))


def source_origin(layers: Sequence[Layer], path: Path) -> Path:
    """Where in the document the value at a path below the source's entry is written: there, or in an override."""
    at, below = layers[0].path, path[len(layers[0].path) :]
    said = below and any(below[0] in layer.data for layer in layers)
    return origin(layers, below) if path[: len(at)] == at and said else path
