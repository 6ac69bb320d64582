"""The content of a data file of `tenantry/flux/schemas` about one CustomResourceDefinition of Flux."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from docgen.schemas.keywords import json_schema
from tenantry_sandbox.tools.catalog import MODULES, SOURCES, ToolsError


class UnknownOrigin(ToolsError):
    """A definition belongs to no module that is pinned here."""


def record(definition: dict[str, Any], sources: Path = SOURCES) -> dict[str, Any]:
    """The stored version of a definition of Flux, reduced to what `tenantry.flux.schemas` reads.

    Args:    sources: the directory that holds the Go modules.
    Raises:  UnknownKeyword, UnknownOrigin.
    """
    spec = definition["spec"]
    return reduced(definition, _origin(spec["group"], spec["names"]["kind"], sources))


def reduced(
    definition: dict[str, Any], source: dict[str, str], prepared: Callable[[Any], Any] = lambda schema: schema
) -> dict[str, Any]:
    """The stored version of a definition.

    Args:    source: the Go module that it comes from, and its version. prepared: takes away what has no effect.
    Raises:  UnknownKeyword.
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
        "source": source,
        "spec": json_schema(prepared(version["schema"]["openAPIV3Schema"]["properties"]["spec"]), f"{kind}.spec"),
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
    controller = f"{group.partition('.')[0]}-controller"
    for extra in (extra for module in MODULES for extra in module.extras if extra.into == "crds"):
        if extra.dependency.endswith(f"/{controller}"):
            return {
                "module": extra.dependency,
                "version": pinned(extra.dependency, sources / extra.requirer / "go.mod"),
            }
    raise UnknownOrigin(f"no module here brings {kind} of {group}", "add it to tools.yaml")


def pinned(module: str, go_mod: Path) -> str:
    """The version in the go.mod that requires a module; read as text, as Go need not be installed."""
    if found := re.search(rf"^(?:require)?\s*{re.escape(module)} (v\S+)", go_mod.read_text(), re.MULTILINE):
        return found[1]
    raise UnknownOrigin(f"{go_mod.parent.name}/go.mod does not require {module}", "correct one of the two")
