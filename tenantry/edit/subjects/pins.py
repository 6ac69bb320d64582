"""The versions that a fleet's apps are pinned to: where the file writes each, what it is a version of, and who uses it.

A chart's version, and the tag in the ref of a Git or OCI source. Ranges are found too, to be pinned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

from tenantry.edit.subjects.promoted import App, placeholders_of
from tenantry.fleet import walk
from tenantry.fleet.apps import app_layers, kind_of
from tenantry.fleet.fleet import Fleet
from tenantry.fleet.merge import Layer, merge, origin
from tenantry.fleet.placement import placements_of
from tenantry.fleet.settings import variable_at, variables_of_app
from tenantry.fleet.sources import source_layers, source_place
from tenantry.fleet.template import fill
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import ABSENT, mapping_at, value_at
from tenantry.messages.errors import Found, Path
from tenantry.messages.placeholders import Variables
from tenantry.versions.newer import parts
from tenantry.versions.semver import matcher

Kind: TypeAlias = Literal["chart", "oci-chart", "oci", "git"]
"""What has versions: a chart of a Helm repository over HTTP or in a registry, an OCI artifact, a Git repository."""


class Content(NamedTuple):
    """What an app takes. source: what the fleet calls the source, such as `rocky/charts`; chart: in a Helm repository."""

    kind: Kind
    url: str
    chart: str
    source: str
    insecure: bool = False

    @property
    def is_tag(self) -> bool:
        return self.kind in ("oci", "git")

    def __str__(self) -> str:
        return f"tag of source {self.source}" if self.is_tag else f"chart {self.chart}"


class Use(NamedTuple):
    """A version as an app has it in an environment: the text in the file, between head and tail.

    range: what `updates` says, or "".
    """

    app: App
    environment: str
    content: Content
    head: str
    tail: str
    range: str


@dataclass(slots=True)
class Pin:
    """A text in the file that is a version, a tag, or the variable for one. variable: its name, or ""."""

    at: Path
    text: str
    variable: str = ""
    uses: list[Use] = field(default_factory=list)

    def version_of(self, use: Use) -> str:
        """The version or tag that a use makes of the text."""
        return f"{use.head}{self.text}{use.tail}"

    @property
    def apps(self) -> list[App]:
        return list(dict.fromkeys(use.app for use in self.uses))

    @property
    def contents(self) -> list[Content]:
        return list(dict.fromkeys(use.content for use in self.uses))

    @property
    def environments(self) -> list[str]:
        return list(dict.fromkeys(use.environment for use in self.uses))


@dataclass(slots=True)
class Survey:
    """pins: by their place. ranges: texts that Flux reads as a range. left: apps that have neither, by what they have."""

    pins: dict[Path, Pin] = field(default_factory=dict)
    ranges: dict[Path, Pin] = field(default_factory=dict)
    left: dict[str, dict[App, None]] = field(default_factory=dict)


def survey(fleet: Fleet) -> Survey:
    """All versions of apps and add-ons that a cluster of an environment takes."""
    found = _Survey(fleet)
    for at, _, _, _ in walk.apps(fleet):
        for environment, cluster in placements_of(fleet, at):
            found.app(App(at), environment, cluster)
    return found.result


class _Placed(NamedTuple):
    """An app on a cluster of an environment, with the variables there."""

    app: App
    environment: str
    cluster: str
    variables: Variables

    def filled(self, text: Any) -> str:
        """A text with its placeholders filled in, or as it is if planning refuses it."""
        try:
            return str(fill(text, self.variables, ())) if isinstance(text, str) else ""
        except Found:
            return str(text)


class _Survey:
    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.result = Survey()
        self.seen: set[tuple[Any, ...]] = set()

    def app(self, app: App, environment: str, cluster: str) -> None:
        variables = variables_of_app(self.fleet, app.at, environment, cluster)
        placed = _Placed(app, environment, cluster, variables)
        layers = app_layers(self.fleet, app.at, environment, cluster)
        kind = kind_of(self.fleet, app.at)
        name = placed.filled(_last(layers, (kind, "source"))[0])
        of_source = source_layers(self.fleet, source_place(app.at, name or None), environment, cluster)
        declared = merge(of_source)
        owner = app.at[1] if app.at[0] == "tenants" else PLATFORM
        shown = f"{owner}/{name}" if name else str(app)
        if "helm" in declared and kind == "helm":
            self._chart(placed, layers, mapping_at(declared, "helm"), shown)
        elif "git" in declared:
            self._ref(placed, of_source, "git", shown)
        elif "oci" in declared:
            self._ref(placed, of_source, "oci", shown)
        else:
            self._leave(app, "taken from a bucket or an external artifact")

    def _chart(self, placed: _Placed, layers: Sequence[Layer], block: Mapping[str, Any], shown: str) -> None:
        written, at = _last(layers, ("helm", "version"))
        name, range = (placed.filled(_last(layers, ("helm", key))[0]) for key in ("chart", "updates"))
        url = placed.filled(block.get("url"))
        if block.get("type") == "oci":
            content = Content("oci-chart", f"{url.rstrip('/')}/{name}", name, shown, bool(block.get("insecure")))
        else:
            content = Content("chart", url, name, shown)
        self._pin(placed, written, at, content, range)

    def _ref(self, placed: _Placed, layers: Sequence[Layer], kind: Literal["git", "oci"], shown: str) -> None:
        declared = mapping_at(merge(layers), kind)
        ref = mapping_at(declared, "ref")
        url, range = (placed.filled(declared.get(key)) for key in ("url", "updates"))
        content = Content(kind, url, "", shown, bool(declared.get("insecure")))
        fixed = next((key for key in ("commit", "digest") if ref.get(key)), "")
        key = next((key for key in ("semver", "tag") if isinstance(ref.get(key), str)), "")
        if fixed:
            self._leave(placed.app, f"pinned to a {fixed}")
        elif ref.get("semverFilter"):
            self._leave(placed.app, "a range with 'semverFilter'")
        elif key:
            self._pin(placed, ref[key], origin(layers, (kind, "ref", key)), content, range)
        else:
            self._leave(placed.app, "a branch or another moving ref")

    def _pin(self, placed: _Placed, written: str, at: Path, content: Content, range: str) -> None:
        head, variable, tail = _split(written)
        there = variable_at(self.fleet, placed.environment, placed.cluster, variable) if variable else at
        if there is None or variable == MANY or there[-2:-1] == ("labels",):
            self._leave(placed.app, "a version of several placeholders, or of one such as {env}")
            return
        if self.fleet.source.cell_of(there):
            self._leave(placed.app, "a cell of a CSV file")
            return
        there = self.fleet.source.origin(there)
        text = placed.filled(written)
        use = Use(placed.app, placed.environment, content, head, tail, range)
        if (there, use, text) in self.seen:
            return
        self.seen.add((there, use, text))
        inner = text[len(head) : len(text) - len(tail)]
        if parts(text, is_tag=content.is_tag):
            self.result.pins.setdefault(there, Pin(there, inner, variable)).uses.append(use)
        elif at[-1] in ("version", "semver") and not variable and matcher(text):
            self.result.ranges.setdefault(there, Pin(there, inner)).uses.append(use)
        else:
            why = "a range in a variable" if variable and matcher(text) else "a tag that is no version"
            self._leave(placed.app, why)

    def _leave(self, app: App, why: str) -> None:
        self.result.left.setdefault(why, {})[app] = None


MANY = "{}"
"""In place of the name of a variable: there are several."""


def _split(text: str) -> tuple[str, str, str]:
    """What is before a placeholder, its name, and what is behind it; of a text without one, the name is ""."""
    names = placeholders_of(text)
    if not names:
        return "", "", ""
    head, _, tail = text.partition(f"{{{names[0]}}}")
    return (head, names[0], tail) if len(names) == 1 and not set("{}") & set(head + tail) else ("", MANY, "")


def _last(layers: Sequence[Layer], path: Path) -> tuple[str, Path]:
    """The text of the most specific layer that has one, and where it stands."""
    for layer in reversed(layers):
        if (found := value_at(layer.data, path, ABSENT)) is not ABSENT:
            return found if isinstance(found, str) else "", (*layer.path, *path)
    return "", ()


def under(apps: Iterable[App], owners: Sequence[Path]) -> bool:
    """Whether one of the apps is at one of the paths or below it; without paths, always."""
    return not owners or any(app.at[: len(owner)] == owner for app in apps for owner in owners)
