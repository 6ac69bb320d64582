"""The names by which parts of the file refer to each other, and the finding for one that nobody declares.

The types of the model say which texts are such names (`Refers`), Flux's schemas say it of blocks of Flux's own keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from tenantry.fleet.fleet import Fleet
from tenantry.fleet.templates import is_shared
from tenantry.flux import references as of_flux
from tenantry.kube.names import ADDON_PREFIX, dns_label_problem
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import undeclared
from tenantry.messages.text import listed
from tenantry.model import Document, Model
from tenantry.model.scalars import Refers
from tenantry.model.walk import is_block, parts
from tenantry.source.parsed_file import override_of, without_override

GROUPS: dict[of_flux.Kind, str] = {"Secret": "credentials", "ConfigMap": "configs"}
"""Where the names of each kind are declared."""
OF_THE_FILE = ("clusters", "environments", "tenants")
"""What is declared for all. Of everything else each tenant, and the platform, has its own."""


class Named(NamedTuple):
    """A name that stands at a path, and the key under which the named entry is declared. is_key: it is a key of a mapping."""

    path: Path
    group: str
    name: str
    is_key: bool = False


def names_in(model: type[Model], data: Any, at: Path = ()) -> Iterator[Named]:
    """All names in a part of the file, as written. Parts with the wrong structure are skipped."""
    for path, type_, written, is_key in parts(model, data, at, _holds_names):
        if group := _group(type_):
            if isinstance(written, str):
                yield Named(path, group, written, is_key)
        elif isinstance(written, dict):
            for kind in (type_.flux_kind, *type_.parts):
                named = names_of_spec(kind, written, path)
                # Another rule refuses keys that the author may not set.
                yield from (name for name in named if name.path[len(path)] not in type_.owned)


def names_of_spec(flux_kind: str, spec: dict[str, Any], at: Path = ()) -> Iterator[Named]:
    """Those in Flux's own keys: in a block of the file, or in a planned spec whose names are still those of the file."""
    for reference in of_flux.references(flux_kind, spec):
        yield Named((*at, *reference.path), GROUPS[reference.kind], reference.name)
    for path, name in of_flux.included_sources(flux_kind, spec):
        yield Named((*at, *path), "sources", name)


def _holds_names(type_: Any) -> bool:
    return bool(_group(type_)) or is_block(type_)


@cache
def _group(type_: Any) -> str:
    """The group of the entries to one of which a text of this type refers; "" if it refers to none."""
    return next((mark.group for mark in getattr(type_, "__metadata__", ()) if isinstance(mark, Refers)), "")


def names_are_declared(fleet: Fleet) -> Iterator[Problem]:
    """As written, so that a mistake elsewhere does not hide this one."""
    for path, group, name, is_key in names_in(Document, fleet.source.data):
        if path[:2] == ("templates", "clusters") or (path[0] == "environments" and fleet.source.origin(path) != path):
            continue  # clusters have it from the template; what an environment inherits is reported where it is written
        if path[-1] == "credentials" and dns_label_problem(name):
            continue  # the check of shapes has reported it: what stands there may be a password
        if group == "environments" and fleet.is_frame(name) and (path[0] == "clusters" or path[2:3] == ("after",)):
            message = f"{format_part(path)} names environment '{name}', which is a frame: it has no 'management:'"
            notes = (f"declared: {fleet.source.line_of(('environments', name))}",)
            fix = f"name one that extends it: {listed(fleet.extending(name))}"
            yield Problem(path, "names-a-frame", message, notes, fix)
        elif group in OF_THE_FILE or not _is_of_each_tenant(fleet, path, is_key=is_key):
            yield from undeclared_name(fleet, path, group, name, is_key=is_key)


def _is_of_each_tenant(fleet: Fleet, path: Path, *, is_key: bool) -> bool:
    """Whether a template names an entry of the tenants that are from it: it is looked for in each of them."""
    if is_shared(path):
        return without_override(path)[-2:-1] != ("dependsOn",) or "apps" in path
    # What an override of a template changes may be there in some tenants alone.
    return is_key and path[0] == "tenants" and is_shared(fleet.source.origin(path))


def undeclared_name(
    fleet: Fleet, at: Path, group: str, name: str, owner: tuple[str, ...] = (), *, is_key: bool = False
) -> Iterator[Problem]:
    """A finding if nobody declares what a path names. Args: owner: who has the entry, if the path does not say it."""
    tenant = ("tenants", str(at[1])) if at[0] == "tenants" else ("platform",)
    owner = () if group in OF_THE_FILE else owner or tenant
    of_all_apps = at[-2:-1] == ("dependsOn",) and "apps" not in without_override(at)[2:3]
    if group == "apps" and (owner == ("platform",) or of_all_apps or name.startswith(ADDON_PREFIX)):
        group, owner = "addons", ("platform",)
    known = _known(fleet, at, group, owner)
    # A part that is no mapping has a finding of its own.
    if name in known or not isinstance(fleet.raw(*owner).get(group, {}) if owner else {}, dict):
        return
    kind, word = _WORDS.get(group, (group.removesuffix("s"), group.removesuffix("s")))
    word = "Git source" if _is_included(at) else word
    fix = next((f"write '{other}'" for other in known if _plain(other) == _plain(name)), "")
    for other in OF_THE_FILE:
        if group in OF_THE_FILE and name in fleet.names(other):
            fix = f"name one of the {group}: '{name}' is one of the {other}"
    flux_kind = next((kind for kind, entries in GROUPS.items() if entries == group), None)
    why = f"only declared names are allowed: Flux can read any {flux_kind} in the namespace, such as a cluster's kubeconfig"
    message, where = f"{format_part(at)} names {word} '{name}'", ".".join((*owner, group))
    finding = undeclared(at, kind, name, message, known, where, fix=fix, at_key=is_key)
    yield replace(finding, notes=(*finding.notes, why)) if flux_kind else finding


_WORDS = {
    "addons": ("addon", "add-on"),
    "configs": ("configs", "config"),
    "credentials": ("credentials", "credentials"),
}
"""Group -> how the code of a finding ends, and the word for an entry, where it is not the group without `s`."""


def _known(fleet: Fleet, at: Path, group: str, owner: tuple[str, ...]) -> set[str]:
    """The names that may stand at a path. They are gathered once, as a list may name each of hundreds of clusters."""
    if "dependsOn" in at and at[0] != "platform":
        # An app can wait for others of its tenant, all apps of a tenant together for add-ons.
        beside = ("tenants", str(at[1]), "apps") if "apps" in without_override(at)[2:3] else ()
        addons = {f"{ADDON_PREFIX}{name}" for name in fleet.names("platform", "addons")}
        return fleet.once(("dependencies", *beside), (), lambda: addons | (fleet.names(*beside) if beside else set()))
    known = fleet.once(("declared", *owner, group), (), lambda: fleet.names(*owner, group))
    if _is_included(at):
        return {name for name in known if fleet.raw(*owner, group, name).get("git")}
    return known


def _is_included(at: Path) -> bool:
    """Whether a path leads to the name of a source that a Git source includes, which is one too."""
    return at[-2:] == ("repository", "name")


def _plain(name: str) -> str:
    return name.removeprefix(ADDON_PREFIX)


def format_part(path: Path) -> str:
    """The part of the file that a path leads to or into, for messages: app 'web' of tenant 'rocky', an override of add-on 'dns'."""
    if at := override_of(path):
        return f"an override of {format_part(at[:-2])}"
    match path:
        case ("environments", name, "waves", int(index), *_):
            return f"wave {index + 1} of environment '{name}'"
        case ("tenants", name, "apps" | "sources" | "alerts" | "receivers" as group, part, *_):
            return f"{group.removesuffix('s')} '{part}' of tenant '{name}'"
        case ("platform", "addons", name, "source", *_):
            return f"the source of add-on '{name}'"
        case ("platform", "addons", name, *_):
            return f"add-on '{name}'"
        case ("platform", "sources" | "alerts" as group, part, *_):
            return f"{group.removesuffix('s')} '{part}' of the platform"
        case ("templates", _, name, *_):
            return f"template '{name}'"
        case ("environments" | "clusters" | "tenants" as group, name, *_):
            return f"{group.removesuffix('s')} '{name}'"
    return f"'{path[0]}'"
