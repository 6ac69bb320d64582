"""The documents of `tenantry explain`: of an app or add-on, a tenant, the platform, and of grants."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import model_validator

from tenantry.cli.documents.common import OMITTED_IF_EMPTY, OMITTED_IF_NULL, Document, Gate, Part, TextOrNull, at
from tenantry.fleet import choice


class Origin(Part):
    """The line that sets a value."""

    level: str
    """Which part of the file it belongs to, such as `defaults` or the tenant."""
    file: str = at("location", "file")
    line: int = at("location", "line")
    column: int = at("location", "column")


class Value(Part):
    """A value and where it comes from."""

    path: list[str | int]
    value: Any
    """`null` if the file removes the value."""
    origin: Origin | None
    """`null` for a default of the program."""
    written: Annotated[Any, OMITTED_IF_NULL] = None
    """The text before placeholders were filled in; omitted without placeholders."""
    removed: Annotated[Origin | None, OMITTED_IF_NULL] = None
    """The `null` that removes a value of an outer level; omitted if there is none."""


class Decision(Part):
    """Why an app is on a cluster, or is not."""

    cluster: str
    placed: bool
    reason: str
    origin: Origin


class Selector(Part):
    """What chooses the clusters, in words."""

    text: str
    origin: Origin


class Choice(Part):
    """On which clusters something is."""

    selector: Selector
    clusters: list[Decision]
    elsewhere: list[str]
    """Clusters of other environments that are selected."""

    @model_validator(mode="before")
    @classmethod
    def _of_choice(cls, made_of: Any) -> Any:
        """`fleet.choice` has the words and the origin of the selector beside the decisions."""
        if not isinstance(made_of, choice.Choice):
            return made_of
        selector = {"text": made_of.selector, "origin": made_of.origin}
        return {"selector": selector, "clusters": made_of.decisions, "elsewhere": made_of.elsewhere}


class PlacedApp(Part):
    """An app on one cluster."""

    object: str
    """The Flux object that stands for it on the management cluster."""
    names: Annotated[dict[str, str], OMITTED_IF_EMPTY] = {}
    """The names that were too long and were shortened, of the object and the release, each with the whole name."""
    values: list[Value]
    order: Annotated[dict[str, str], OMITTED_IF_EMPTY] = {}
    """What it waits for, and who keeps the order: `flux`, `pulumi` or `nobody`; omitted if it waits for nothing."""
    placeholders: list[Value]
    """The variables that its values use."""


class AppWave(Part):
    """A wave with clusters of the app."""

    number: int
    """In the whole rollout, from 1."""
    name: str
    """As written, or `wave 2`."""
    clusters: list[str]
    """Those of the app that the next wave waits for."""
    left_out: list[str]
    """Those of the app for which nothing waits: paused or decommissioned."""
    soak: Annotated[int, OMITTED_IF_EMPTY] = 0
    """Seconds for which the next wave waits after this one was good; omitted if it does not."""
    tolerate: Annotated[str, OMITTED_IF_EMPTY] = ""
    """How many clusters of the wave may go wrong, such as `1%` or `failed 0, unreachable 20%`; omitted if none may."""


class AppRollout(Part):
    """In which waves a change reaches the clusters of an app."""

    of: Literal["environment", "off"]
    """`environment`: the environment's rollout; `off`: the app keeps out of it."""
    origin: Origin
    total: int
    """How many waves the rollout has; 0 if it is off."""
    waves: list[AppWave]
    bypass: str
    """What Flux follows by itself, such as `branch main`: what is new there reaches all clusters at once. Empty if there is
    nothing."""


class ExplainedGate(Gate):
    """The gate of the environment, and where it is written."""

    origin: Origin


class ExplainedApp(Document):
    """An app or an add-on."""

    kind: Literal["Explanation"] = "Explanation"
    tenant: TextOrNull
    """`null` for an add-on."""
    app: str
    environment: str
    selector: Selector
    clusters: list[Decision]
    elsewhere: list[str]
    """Clusters of other environments that are selected."""
    gate: Annotated[ExplainedGate | None, OMITTED_IF_NULL] = None
    """Omitted if the environment has none."""
    rollout: Annotated[AppRollout | None, OMITTED_IF_NULL] = None
    """Omitted if the environment has none."""
    placed: dict[str, PlacedApp]
    """By cluster."""


class ExplainedTenant(Document):
    """A tenant in an environment."""

    kind: Literal["Explanation"] = "Explanation"
    tenant: str
    environment: str
    namespaces: list[Value]
    """The paths are clusters."""
    settings: list[Value]
    differing: Annotated[dict[str, list[Value]], OMITTED_IF_EMPTY] = {}
    """Settings that differ on some clusters, by cluster; omitted if there are none."""
    order: Annotated[dict[str, dict[str, str]], OMITTED_IF_EMPTY] = {}
    """By cluster, the add-ons that everything of the tenant waits for, and who keeps the order; omitted if there are none."""
    apps: dict[str, Choice]
    alerts: list[Value]
    receivers: list[Value]


class ExplainedPlatform(Document):
    """What all add-ons share."""

    kind: Literal["Explanation"] = "Explanation"
    environment: str
    settings: list[Value]
    clusters: dict[str, list[Value]]
    addons: dict[str, Choice]
    alerts: list[Value]


class GrantedCluster(Part):
    """Whether a cluster is granted, and why."""

    cluster: str
    granted: bool
    reason: str
    origin: Origin


class GrantedEnvironment(Part):
    """Whether an environment is granted."""

    environment: str
    granted: bool
    origin: Origin | None
    clusters: list[GrantedCluster]


class GrantedAddress(Part):
    """A pattern of addresses."""

    pattern: str
    origin: Origin
    becomes: dict[str, dict[str, str | None]]
    """With its placeholders filled in, by environment and cluster; `null` where a placeholder is not known."""


class ExplainedGrants(Document):
    """What the included file of a tenant may do: `explain TENANT --grants`."""

    kind: Literal["Explanation"] = "Explanation"
    tenant: str
    file: str
    include: Origin
    """The entry of `include` that takes the file."""
    frame: Value
    always: list[str]
    """The keys that each included file may set."""
    never: list[str]
    """The keys that no included file may set."""
    selector: str
    """In words; empty if the main file selects no clusters."""
    selected: Origin
    environments: list[GrantedEnvironment]
    sources: list[GrantedAddress]
    alerts: list[GrantedAddress]
    settings: list[Value]
    rights: list[Value]
    """What the tenant may do on whole clusters."""


class NoGrants(Document):
    """A tenant without an included file needs no grants."""

    kind: Literal["Explanation"] = "Explanation"
    tenant: str
    file: None = None
    rights: list[Value]
    """What the tenant may do on whole clusters."""
