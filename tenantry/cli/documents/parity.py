"""The document of `tenantry parity`."""

from __future__ import annotations

from typing import Any, Literal

from tenantry.cli.documents.common import Document, Part
from tenantry.cli.documents.explanation import Origin


class Subject(Part):
    """An app, an add-on, a tenant, or the environments themselves."""

    tenant: str | None
    """`null` for an add-on and for the environments."""
    app: str | None
    """`null` for a tenant and for the environments."""


class Why(Part):
    """Why something differs."""

    meant: bool
    """Whether the file writes the difference for an environment."""
    reason: str
    origins: list[Origin]
    """The places that decide."""


class MissingApp(Why, Subject):
    """An app or add-on that only one environment has."""

    onlyIn: str
    """The environment that has it."""


class ComparedValue(Part):
    """A value in one environment."""

    value: Any = None
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

    kind: Literal["Parity"]
    environments: list[str]
    """The first and the second."""
    equal: bool
    """Whether nothing differs."""
    apps: ComparedApps
    missing: list[MissingApp]
    differences: list[SettingThatDiffers]
