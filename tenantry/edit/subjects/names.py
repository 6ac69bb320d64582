"""Every field of the model that holds the name of what can be removed, and what a name on the command line means.

A removal looks for what still stands in one of these fields. A test walks the model and fails for a field that can hold a name
and is neither here nor in its own list, so a new key cannot be forgotten.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tenantry.kube.names import PLATFORM
from tenantry.messages.errors import Refused
from tenantry.model import (
    Alert,
    App,
    AppPatch,
    Environment,
    Excluded,
    HelmPatch,
    KustomizePatch,
    Model,
    PlacedSettings,
    PlatformOverride,
    Receiver,
    RolloutWave,
    Selector,
    TenantOverride,
)


class Kind(StrEnum):
    """What a name is the name of, as commands call it."""

    ENVIRONMENT = "environment"
    CLUSTER = "cluster"
    TENANT = "tenant"
    CLUSTER_TEMPLATE = "template of clusters"
    TENANT_TEMPLATE = "template of tenants"
    APP = "app"
    ADDON = "addon"
    SOURCE = "source"

    @property
    def word(self) -> str:
        """The kind in a sentence."""
        return "add-on" if self is Kind.ADDON else self.value

    @property
    def at(self) -> tuple[str, ...]:
        """The mapping with the entries, in which `*` stands for the tenant."""
        return _AT[self]

    @property
    def is_owned(self) -> bool:
        """Whether the name on the command line is `TENANT/NAME`."""
        return "*" in self.at


_AT: dict[Kind, tuple[str, ...]] = {
    Kind.ENVIRONMENT: ("environments",),
    Kind.CLUSTER: ("clusters",),
    Kind.TENANT: ("tenants",),
    Kind.CLUSTER_TEMPLATE: ("templates", "clusters"),
    Kind.TENANT_TEMPLATE: ("templates", "tenants"),
    Kind.APP: ("tenants", "*", "apps"),
    Kind.ADDON: (PLATFORM, "addons"),
    Kind.SOURCE: ("tenants", "*", "sources"),
}


class If(StrEnum):
    """What a removal may do with a place where the removed name stands."""

    DROP = "drop"
    """The place goes: without the removed thing it has no effect."""
    KEEP_OTHERS = "keep others"
    """The name is taken off its list, unless it is the last one: an empty list is invalid, or means something else."""
    EMPTY = "empty"
    """The name is taken off its list, which may be empty afterwards."""
    REFUSE = "refuse"
    """The author has to decide what takes its place."""


class Named(NamedTuple):
    """What a field names, and what a removal does with the place."""

    kind: Kind
    removed: If


NAMES: dict[tuple[type[Model], str], Named] = {
    (Environment, "management"): Named(Kind.CLUSTER, If.REFUSE),
    (Environment, "tenants"): Named(Kind.TENANT, If.KEEP_OTHERS),
    (Selector, "names"): Named(Kind.CLUSTER, If.KEEP_OTHERS),
    (Selector, "exclude"): Named(Kind.CLUSTER, If.EMPTY),
    (Excluded, "names"): Named(Kind.CLUSTER, If.EMPTY),
    (RolloutWave, "names"): Named(Kind.CLUSTER, If.KEEP_OTHERS),
    (TenantOverride, "apps"): Named(Kind.APP, If.DROP),
    (TenantOverride, "sources"): Named(Kind.SOURCE, If.DROP),
    (PlatformOverride, "addons"): Named(Kind.ADDON, If.DROP),
    (PlatformOverride, "sources"): Named(Kind.SOURCE, If.DROP),
    (App, "dependsOn"): Named(Kind.APP, If.EMPTY),
    (AppPatch, "dependsOn"): Named(Kind.APP, If.EMPTY),
    (PlacedSettings, "dependsOn"): Named(Kind.ADDON, If.EMPTY),
    (Alert, "apps"): Named(Kind.APP, If.KEEP_OTHERS),
    (Receiver, "sources"): Named(Kind.SOURCE, If.KEEP_OTHERS),
    (KustomizePatch, "source"): Named(Kind.SOURCE, If.REFUSE),
    (HelmPatch, "source"): Named(Kind.SOURCE, If.REFUSE),
}
"""The fields with names, as a value, as entries of a list, or as keys of a mapping. A field counts for subclasses too.

What a Git source includes follows from Flux's schemas; see `references`.
"""


def in_words(owner: str) -> str:
    """The owner of an app, a source and so on, in a sentence."""
    return "the platform" if owner == PLATFORM else f"tenant '{owner}'"


class Target(NamedTuple):
    """Something with a name. owner: the tenant it belongs to, or `platform`; "" for what is the whole fleet's."""

    kind: Kind
    name: str
    owner: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """Where the entry is, or would be."""
        at = self.kind.at
        if self.owner == PLATFORM and self.kind.is_owned:
            return (PLATFORM, at[-1], self.name)
        return (*(self.owner if part == "*" else part for part in at), self.name)

    def __str__(self) -> str:
        """App 'web' of tenant 'rocky'"""
        if not self.owner:
            return f"{self.kind.word} '{self.name}'"
        return f"{self.kind.word} '{self.name}' of {in_words(self.owner)}"


def target_named(kind: Kind, text: str) -> Target:
    """What an argument such as `rocky/web` names. Raises: Refused."""
    owner, slash, name = text.rpartition("/")
    if kind.is_owned:
        if not owner or not name or "/" in owner:
            raise Refused(f"'{text}' does not say whose {kind.word} it is", "write TENANT/NAME, such as 'rocky/web'")
        if owner == PLATFORM and kind is Kind.APP:
            message = f"'{text}' is not a tenant's {kind.word}"
            raise Refused(message, f"the platform has add-ons: use 'addon {name}'")
        return Target(kind, name, owner)
    if slash and kind is Kind.ADDON and owner == PLATFORM:
        return Target(kind, name)
    if slash:
        raise Refused(f"'{text}' is not the name of a {kind.word}", "write the name alone")
    return Target(kind, text)
