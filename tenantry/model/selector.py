"""Which clusters something takes: by name, by labels, or all of them, but for some.

`fleet.templates` fills in the placeholders of tenants' selectors before they become models; `fleet.placement` asks them and
explains the answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, reduce
from operator import or_
from types import GenericAlias, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeAlias, Union, get_args, get_origin

from pydantic import Field, model_validator

from tenantry.model.scalars import (
    DeclaredCluster,
    EnvironmentName,
    LabelKey,
    LabelValue,
    OwnAppName,
    SourceName,
    refusal,
)
from tenantry.model.strict import As, ByShape, Fillable, Keys, Model, OneOf, Partial, declared_type, derived

WantedLabels: TypeAlias = Annotated[
    dict[LabelKey, Annotated[LabelValue | Annotated[list[LabelValue], Field(min_length=1)], ByShape()]],
    Field(min_length=1),
]
FilledLabels: TypeAlias = Annotated[
    dict[
        LabelKey,
        Annotated[Fillable[LabelValue] | Annotated[list[Fillable[LabelValue]], Field(min_length=1)], ByShape()],
    ],
    Field(min_length=1),
]
"""The same, in which placeholders of a tenant may stand."""


def any_of(value: str | Sequence[str]) -> tuple[str, ...]:
    """The values of which any is wanted: one alone, or a list."""
    return (value,) if isinstance(value, str) else tuple(value)


def missed(wanted: Mapping[str, str | Sequence[str]], labels: Mapping[str, str]) -> Iterator[str]:
    """The keys of wanted labels that a cluster lacks, or has with another value."""
    return (key for key, value in wanted.items() if labels.get(key) not in any_of(value))


def has_labels(wanted: Mapping[str, str | Sequence[str]], labels: Mapping[str, str]) -> bool:
    return next(missed(wanted, labels), None) is None


def wanted_labels(words: Iterable[str]) -> dict[str, str | list[str]]:
    """Labels as commands take them, such as `tier=edge`; those of one key are the values of which any is wanted."""
    by_key: dict[str, list[str]] = {}
    for word in words:
        key, _, value = word.partition("=")
        by_key.setdefault(key, []).append(value)
    return {key: values[0] if len(values) == 1 else values for key, values in by_key.items()}


def format_labels(wanted: Mapping[str, str | Sequence[str]]) -> str:
    """Such as: region=eu or us, tier=edge"""
    return ", ".join(f"{key}={' or '.join(any_of(value))}" for key, value in wanted.items())


class Excluded(Model):
    """Clusters to leave out: those with one of the names, and those with all of the labels."""

    names: list[DeclaredCluster] | None = None
    """The clusters with these names."""
    labels: FilledLabels | None = None
    """The clusters that have all of these labels. A list of values means any of them: `{region: [eu, us]}`. A tenant's selector can
    use `{tenant}` and the tenant's variables."""


class Selector(OneOf):
    """Selects clusters by name, by labels (all must match), or all of them. `exclude` removes some from the result."""

    one_of = ("names", "labels", "all")

    names: list[DeclaredCluster] | None = None
    """The clusters with these names."""
    labels: FilledLabels | None = None
    """The clusters that have all of these labels. A list of values means any of them: `{region: [eu, us]}`. A tenant's selector can
    use `{tenant}` and the tenant's variables."""
    all: Literal[True] | None = None
    """`true` selects every cluster of the environment."""
    exclude: Annotated[list[DeclaredCluster] | Excluded, ByShape()] = []
    """Clusters to leave out: a list of names; or `names`, `labels` such as `{labels: {tier: edge}}`, or both: those with one of the
    names, and those with all of the labels."""

    @property
    def excluded(self) -> Excluded:
        """`names` and `labels` of what is left out, whichever form it is written in."""
        return Excluded.model_construct(names=self.exclude) if isinstance(self.exclude, list) else self.exclude

    def takes(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a cluster is taken, by its name and its labels."""
        if self.exclude:
            excluded = self.excluded
            if name in (excluded.names or ()) or (excluded.labels and has_labels(excluded.labels, labels)):
                return False
        if self.names is not None:
            return name in self.names
        return self.labels is None or has_labels(self.labels, labels)

    @property
    def description(self) -> str:
        """Such as: labels tier=edge, except edge-7"""
        taken = "all"
        if self.names is not None:
            taken = f"names {', '.join(self.names)}"
        elif self.labels is not None:
            taken = f"labels {format_labels(self.labels)}"
        excluded = self.excluded
        left = [*(excluded.names or ()), *([format_labels(excluded.labels)] if excluded.labels else [])]
        return taken + (f", except {', '.join(left)}" if left else "")


class When(Model):
    """Where an override holds. Of `environments` and `clusters` at least one is given; both have to hold."""

    environments: Annotated[list[EnvironmentName], Field(min_length=1)] | None = None
    """In these environments, and in those that extend them."""
    clusters: Selector | None = None
    """On these clusters, such as `{labels: {tier: edge}}`."""

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.environments is None and self.clusters is None:
            raise refusal("when-nothing", "needs 'environments:' or 'clusters:'", fix="add one of them, or both")
        return self

    def holds(self, lineage: Collection[str], cluster: str | None, labels: Mapping[str, str]) -> bool:
        """Whether an override holds. Args: lineage: the environment and those that it extends; cluster: None: on no cluster."""
        if self.environments is not None and not any(name in lineage for name in self.environments):
            return False
        return self.clusters is None or (cluster is not None and self.clusters.takes(cluster, labels))

    @property
    def description(self) -> str:
        """Such as: environment prod, tier=edge; or: cluster edge"""
        words = [f"environment {' or '.join(self.environments)}"] if self.environments else []
        if self.clusters:
            named = "cluster" if len(self.clusters.names or ()) == 1 else "clusters"
            words.append(self.clusters.description.removeprefix("labels ").replace("names ", f"{named} ", 1))
        return ", ".join(words)


class Override(Model):
    """The key that all overrides have."""

    when: When = Field(default_factory=When.model_construct)
    """Where it differs, required in an entry of `overrides`. What stands below such an entry has none of its own."""


class Overridden(Model):
    """What has `overrides`, or what they change in it."""

    differs: ClassVar[tuple[str, ...]]
    """The keys that an override may have, besides `when`. Nothing among them decides placement, names or trust."""
    narrowed: ClassVar[Mapping[str, Any]] = {}
    """The types of those that take less there."""

    if TYPE_CHECKING:

        @property
        def when(self) -> When:
            """Of an override alone."""


@cache
def override_of(model: type[Overridden]) -> type[Overridden]:
    """The model of an override: the keys that may differ, none required, and `when`."""
    base: type[Model] = next(
        base for base in model.__mro__[1:] if issubclass(base, Model) and not issubclass(base, OneOf)
    )
    own = {key: model.model_fields[key] for key in model.differs if key not in base.model_fields}
    types = {key: model.narrowed.get(key) or _in_override(declared_type(field), key) for key, field in own.items()}
    if issubclass(model, OneOf):  # `null` would take the kind away
        types |= {key: get_args(types[key])[0] for key in model.one_of}
    about = "What differs in some environments or on some clusters: keys of what has the override. None but `when` is required."
    return derived(model, f"{model.__name__}Override", (Override, base), types, about)


OVERRIDING = As(override_of)
"""Marks the type of an override. The mark stands on the type of what it changes."""

_REFERRING: dict[str, Any] = {"addons": OwnAppName, "apps": OwnAppName, "sources": SourceName}
"""Entries that an override names, and does not declare."""


def _in_override(declared: Any, key: str = "") -> Any:
    """The type of a value in an override. Of a source a part is enough; an app there is an override, whose `when` is above it."""
    origin, args = get_origin(declared), get_args(declared)
    if origin is dict:
        return GenericAlias(dict, (_REFERRING.get(key, args[0]), _in_override(args[1])))
    if origin in (Union, UnionType):
        return reduce(or_, map(_in_override, args))
    model, *marks = args if origin is Annotated else (declared,)
    if not isinstance(model, type) or not issubclass(model, OneOf):
        return declared
    if not issubclass(model, Overridden):
        return Annotated[model, Partial()]
    refused = {key for mark in marks if isinstance(mark, Keys) for key in mark.without}
    return Annotated[model, OVERRIDING, Keys(without=("when", *sorted(refused)))]
