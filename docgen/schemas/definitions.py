"""The content of a data file of `tenantry/flux/schemas` about one CustomResourceDefinition of Flux."""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from docgen.schemas.keywords import json_schema
from tenantry.tools.catalog import CRDS, MODULES, Extra
from tenantry.tools.errors import ToolsError
from tenantry.tools.store import SOURCES

AREAS = {
    "ImagePolicy": "image-reflector",
    "ImageRepository": "image-reflector",
    "ImageUpdateAutomation": "image-automation",
}
"""The controllers of the kinds in group image.toolkit.fluxcd.io. Any other group belongs to one controller."""


class UnknownOrigin(ToolsError):
    """A definition belongs to no module that is pinned here."""


def record(definition: dict[str, Any], sources: Path = SOURCES) -> dict[str, Any]:
    """The stored version of a definition, reduced to what `tenantry.flux.schemas` reads.

    Args:    sources: the directory that holds the Go modules.
    Raises:  UnknownKeyword, UnknownOrigin.
    """
    spec = definition["spec"]
    version = next(version for version in spec["versions"] if version["storage"])
    kind = spec["names"]["kind"]
    return {
        "group": spec["group"],
        "version": version["name"],
        "kind": kind,
        "plural": spec["names"]["plural"],
        "scope": spec["scope"],
        "source": _origin(spec["group"], kind, sources),
        "spec": json_schema(version["schema"]["openAPIV3Schema"]["properties"]["spec"], f"{kind}.spec"),
    }


def file_name(record: dict[str, Any]) -> str:
    return f"{record['group']}_{record['version']}_{record['kind']}.json"


def text_of(record: dict[str, Any]) -> str:
    """A line per keyword, in the order of the alphabet: equal records give equal bytes, and a new version a short diff."""
    return json.dumps(record, indent=1, sort_keys=True) + "\n"


def read(path: Path) -> dict[str, Any]:
    with path.open() as file:
        definition: dict[str, Any] = yaml.load(file, Loader=yaml.CSafeLoader)
    return definition


def _origin(group: str, kind: str, sources: Path) -> dict[str, str]:
    """The module a kind comes from, and its version: those of source.toolkit.fluxcd.io are source-controller's."""
    controller = f"{AREAS.get(kind, group.partition('.')[0])}-controller"
    for extra in (extra for module in MODULES for extra in module.extras if extra.into == CRDS):
        if extra.dependency.endswith(f"/{controller}"):
            return {"module": extra.dependency, "version": _pinned(extra, sources)}
    raise UnknownOrigin(f"no module here brings {kind} of {group}", "add it to tools/catalog.py")


def _pinned(extra: Extra, sources: Path) -> str:
    """The version in the go.mod that requires the dependency; read as text, as Go need not be installed."""
    text = (sources / extra.requirer / "go.mod").read_text()
    if found := re.search(rf"^(?:require)?\s*{re.escape(extra.dependency)} (v\S+)", text, re.MULTILINE):
        return found[1]
    raise UnknownOrigin(f"tools/{extra.requirer}/go.mod does not require {extra.dependency}", "correct one of the two")
