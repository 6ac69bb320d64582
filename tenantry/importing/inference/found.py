"""An app as it was found in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tenantry.importing.inference.overlay import Place
from tenantry.importing.inference.world import Thing


@dataclass(slots=True)
class FoundApp:
    """tenant: "" for an add-on. key: what the file calls it. main, extra: the tenant's namespaces.

    home, planned: the namespace and the name that Tenantry gives its object. content: what the entry says.
    moves: why it cannot stay what it is; risks: why it is paused.
    """

    thing: Thing
    place: Place
    tenant: str
    key: str
    home: str
    planned: str
    main: str
    extra: tuple[str, ...] = ()
    source: Thing | None = None
    content: dict[str, Any] = field(default_factory=dict)
    times: Mapping[str, str] = field(default_factory=dict)
    moves: list[str] = field(default_factory=list)
    automation: dict[str, Any] = field(default_factory=dict)
    risks: list[str] = field(default_factory=list)

    @property
    def path(self) -> tuple[str, ...]:
        return ("tenants", self.tenant, "apps", self.key) if self.tenant else ("platform", "addons", self.key)

    @property
    def is_there(self) -> bool:
        """Whether the planned object is the one that was found."""
        return (self.thing.namespace, self.thing.name) == (self.home, self.planned)
