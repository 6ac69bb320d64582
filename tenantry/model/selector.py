"""Which clusters something takes: by name, by labels, or all of them, but for some.

`fleet.templates` fills in the placeholders of tenants' selectors before they become models; `fleet.placement` asks them and
explains the answers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from tenantry.model.scalars import LabelKey, LabelValue, Name, refusal
from tenantry.model.strict import ByShape, Fillable, Model, OneOf

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
    """Clusters to leave out: those with one of these names, and those with these labels. A list of names is the short form."""

    names: list[str] = []
    """Leave out these clusters."""
    labels: FilledLabels | None = None
    """Leave out the clusters that have all of these labels. A list of values means any of them. A tenant's selector can use
    `{tenant}` and the tenant's variables here too."""


class Selector(OneOf):
    """Selects clusters by name, by labels (all must match), or all of them. `exclude` removes some from the result."""

    one_of = ("names", "labels", "all")

    names: list[str] | None = None
    """Select these clusters."""
    labels: FilledLabels | None = None
    """Select the clusters that have all of these labels. A list of values means any of them: `{region: [eu, us]}`. A tenant's
    selector can use `{tenant}` and the tenant's variables."""
    all: Literal[True] | None = None
    """`true` selects every cluster of the environment."""
    exclude: Annotated[list[str] | Excluded, ByShape()] = []
    """Clusters to leave out: a list of names, or `{labels: {tier: edge}}`."""

    @property
    def excluded(self) -> Excluded:
        """What is left out, whichever form it is written in."""
        return self.exclude if isinstance(self.exclude, Excluded) else Excluded.model_construct(names=self.exclude)

    def takes(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a cluster is taken, by its name and its labels."""
        if self.exclude:
            excluded = self.excluded
            if name in excluded.names or (excluded.labels and has_labels(excluded.labels, labels)):
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
        left = [*excluded.names, *([format_labels(excluded.labels)] if excluded.labels else [])]
        return taken + (f", except {', '.join(left)}" if left else "")


class When(Model):
    """Where an override holds. Of `environments` and `clusters` at least one is given; both have to hold."""

    environments: Annotated[list[Name], Field(min_length=1)] | None = None
    """In these environments, and in those that extend them."""
    clusters: Selector | None = None
    """On these clusters, such as `{labels: {tier: edge}}`."""

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        if self.environments is None and self.clusters is None:
            raise refusal("when-nothing", "needs 'environments:' or 'clusters:'", fix="add one of them, or both")
        return self

    @classmethod
    def everywhere(cls) -> When:
        """Of what stands below another override, which says where both hold."""
        return cls.model_construct()

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
