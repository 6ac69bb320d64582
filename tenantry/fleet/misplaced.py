"""Entries that stand in a mapping of something else, such as an app beside `apps:`, and where they belong.

Called by: `shape`, for a key that its mapping does not take.
Never: decides whether something is wrong, or tells anyone to remove an entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tenantry.fleet.hints import quoted
from tenantry.fleet.model_paths import fields_of, model_at
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.model import SOURCE_KINDS, App, Cluster, Document, Environment, Tenant

_GROUPS = {
    "a tenant": "tenants",
    "an app": "apps",
    "a source": "sources",
    "a cluster": "clusters",
    "an environment": "environments",
}
"""Under which key an entry stands, by what it looks like."""
_SOURCES_OWN = frozenset({*SOURCE_KINDS, "credentials"})


class Misplaced(NamedTuple):
    """place: where the entry belongs, so that references to it are not reported; None where that is not certain."""

    fix: str
    place: Path | None


def misplaced(path: Path, value: Any, document: Mapping[str, Any]) -> Misplaced | None:
    """Where an entry belongs that stands at a path; None if it looks like none. Args: document: the whole file."""
    kind = looks_like(value)
    *above, key = path
    overriding = "overrides" in above or any(key in mapping_at(document, each) for each in ("environments", "clusters"))
    if not kind or not isinstance(key, str) or (overriding and kind == "an app"):
        return None
    group, name = _GROUPS[kind], quoted(key, ())
    shown = f"'{name}'" if name != "..." else "this"
    if group in above:
        # One level too deep: the group is further up, and the key below it is the entry that it slipped into.
        depth = len(above) - 1 - above[::-1].index(group)
        if depth + 1 < len(above):
            sibling = above[depth + 1]
            place = (*above[: depth + 1], key)
            return Misplaced(f"{shown} looks like {kind}: indent it less, like '{sibling}:'", place)
        return None
    here = model_at(Document, tuple(above))
    if here and group in fields_of(here):
        place = (*above, group, key)
        written = isinstance(mapping_at(document, *above).get(group), dict)
        where = f"move it under '{group}:'" if written else f"write '{group}:' above it, and indent it under that"
        return Misplaced(f"{shown} looks like {kind}: {where}", place)
    if group in fields_of(Document):
        return Misplaced(f"{shown} looks like {kind}: move it under '{group}:' at the top level", (group, key))
    if above[:1] == ["tenants"] and len(above) > 1:
        place = (*above[:2], group, key)
        return Misplaced(f"{shown} looks like {kind}: move it under 'tenants.{quoted(above[1], ())}.{group}:'", place)
    tenants = [each for each in mapping_at(document, "tenants") if isinstance(each, str)]
    tenant = quoted(tenants[0], ()) if len(tenants) == 1 else "TENANT"
    return Misplaced(f"{shown} looks like {kind}: move it under 'tenants.{tenant}.{group}:'", None)


def looks_like(value: Any) -> str:
    """What kind of entry a value is, with its article, by the keys of the mapping; "" if it looks like none."""
    if not isinstance(value, dict) or not value:
        return ""
    keys = set(value)
    if keys & {"apps", "sources"} and keys <= fields_of(Tenant).keys():
        return "a tenant"
    if any("url" in mapping_at(value, each) for each in SOURCE_KINDS) and not keys - _SOURCES_OWN:
        return "a source"
    if keys & {"kustomize", "helm"} and keys <= fields_of(App).keys():
        return "an app"
    if "management" in keys and keys <= fields_of(Environment).keys():
        return "an environment"
    if {"kubeconfig", "environments"} & keys and keys <= fields_of(Cluster).keys():
        return "a cluster" if keys & {"kubeconfig", "labels", "variables"} or keys == {"environments"} else ""
    return ""


def in_a_list(key: str, value: Any, known: Mapping[str, Any]) -> str:
    """What to write for one name under a key in the singular: `environment: dev`; "" for anything else."""
    names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    shown = ", ".join(quoted(each, ()) for each in names)
    if not names or "..." in shown:
        return ""
    if key in ("environment", "env", "environments") and "environments" in known:
        return f"write 'environments: [{shown}]'"
    if key in ("cluster", "clusters") and "clusters" in known:
        selector = "all: true" if names in (["all"], ["*"]) else f"names: [{shown}]"
        return f"write 'clusters: {{{selector}}}'"
    return ""
