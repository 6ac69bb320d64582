"""The document of `tenantry parity`."""

from __future__ import annotations

from typing import Literal

from tenantry.cli.documents.common import Document, Part, TextOrNull, ValueOrAbsent, at
from tenantry.cli.documents.explanation import Origin


class Subject(Part):
    """An app, an add-on, a tenant, or the environments themselves."""

    tenant: TextOrNull = at("subject", "tenant")
    """`null` for an add-on and for the environments."""
    app: TextOrNull = at("subject", "app")
    """`null` for a tenant and for the environments."""


class Why(Part):
    """Why something differs."""

    meant: bool = at("reason", "is_meant")
    """Whether the file writes the difference for an environment."""
    reason: str = at("reason", "text")
    origins: list[Origin] = at("reason", "origins")
    """The places that decide."""


class MissingApp(Why, Subject):
    """An app or add-on that only one environment has."""

    only_in: str
    """The environment that has it."""


class ComparedValue(Part):
    """A value in one environment."""

    value: ValueOrAbsent
    """Omitted if nothing sets it. Secrets are hidden."""
    clusters: list[str]
    """The clusters of the first subject that have it."""


class SettingThatDiffers(Why):
    """A setting that differs in the same way for all subjects."""

    path: list[str | int]
    """Keys and indexes of the setting; `source` begins a setting of an app's source, whatever its name."""
    subjects: list[Subject]
    first: list[ComparedValue]
    """What the first environment has: several values where its clusters differ."""
    second: list[ComparedValue]


class ComparedApps(Part):
    """How many apps and add-ons are compared."""

    compared: int
    """Those that both environments have."""
    equal: int


class Parity(Document):
    """What differs between two environments: `tenantry parity`."""

    kind: Literal["Parity"] = "Parity"
    environments: list[str]
    """The first and the second."""
    equal: bool
    """Whether nothing differs."""
    apps: ComparedApps
    missing: list[MissingApp]
    differences: list[SettingThatDiffers]
