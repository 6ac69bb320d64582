"""Tenants that are alike become a class with what they share, and clusters a group; each keeps what differs.

Alike are tenants with the same apps and sources, and remote clusters that are reached in the same way, if nobody has to decide
about them. Their names become `{tenant}` and `{cluster}`. The result plans the same objects, which is checked; otherwise they stay
as they are.
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from typing import Any, TypeAlias

from tenantry.importing.alike import plan_the_same, taken_out
from tenantry.importing.model import Draft
from tenantry.importing.overlay import with_placeholder
from tenantry.importing.text import scalars_in
from tenantry.messages.data import mapping_at, with_texts
from tenantry.messages.text import grouped
from tenantry.model.clusters import ClusterGroup
from tenantry.model.document import TenantClass

_FEWEST = 8
"""Values that tenants share, from which on a class is shorter."""
_CLUSTERS = 3
"""Clusters that are alike, from which on a group is shorter."""
_WHOLE = ("clusters", "exclude", "ref", "where")
"""Keys of which a tenant replaces all that its class says."""
_SHARED = TenantClass.model_fields.keys()
Entry: TypeAlias = dict[str, Any]


def with_groups(draft: Draft) -> Draft:
    """The draft with a group for remote clusters that are alike."""
    data = dict(draft.data)
    undecided = {path[1] for path in draft.decisions if path[:1] == ("clusters",)}
    clusters = mapping_at(data, "clusters")
    free = {name: each for name, each in clusters.items() if "kubeconfig" in each and name not in undecided}

    def reached(name: str) -> str:
        return json.dumps(_templated(free[name]["kubeconfig"], name, "{cluster}"))

    for same in grouped(free, reached).values():
        if len(same) >= _CLUSTERS:
            made = _grouped(data, same)
            data = made if plan_the_same(data, made) else data
    return replace(draft, data=data)


def _grouped(data: Entry, names: list[str]) -> Entry:
    """The document in which some clusters have a group."""
    entries = {name: deepcopy(data["clusters"][name]) for name in names}
    for each, entry in entries.items():
        entry["kubeconfig"] = _templated(entry["kubeconfig"], each, "{cluster}")
    shared = taken_out(list(entries.values()), ClusterGroup.model_fields.keys(), _WHOLE)
    taken = mapping_at(data, "clusterGroups")
    name = next(each for each in ("remote", *names) if each not in taken)
    clusters = {
        each: {"group": name, **entries[each]} if each in entries else cluster
        for each, cluster in data["clusters"].items()
    }
    return _placed({**data, "clusters": clusters}, "clusterGroups", {**taken, name: shared}, before="clusters")


def with_classes(draft: Draft) -> Draft:
    """The draft with a class for each group of tenants that are alike."""
    data = dict(draft.data)
    undecided = {path[1] for path in draft.decisions if path[:1] == ("tenants",)}
    free = {name: each for name, each in mapping_at(data, "tenants").items() if name not in undecided}
    for same in grouped(free, lambda name: _shape(free[name])).values():
        if len(same) > 1 and (made := _classed(data, same)) and plan_the_same(data, made):
            data = made
    return replace(draft, data=data)


def _shape(tenant: Entry) -> tuple[tuple[str, ...], ...]:
    """The names and kinds of what a tenant runs."""
    apps = mapping_at(tenant, "apps")
    kinds = (f"{name} {'helm' if 'helm' in app else 'kustomize'}" for name, app in apps.items())
    return tuple(sorted(kinds)), tuple(sorted(mapping_at(tenant, "sources")))


def _classed(data: Entry, names: list[str]) -> Entry | None:
    """The document in which some tenants have a class; None: they share too little."""
    entries = {name: _templated(deepcopy(data["tenants"][name]), name, "{tenant}") for name in names}
    shared = taken_out(list(entries.values()), _SHARED, _WHOLE)
    if not mapping_at(shared, "apps") or scalars_in(shared) < _FEWEST:
        return None
    taken = mapping_at(data, "tenantClasses")
    first = next(iter(shared["apps"]))
    name = next(each for each in (first, f"{first}-team", *names) if each not in taken)
    tenants = {
        each: {"class": name, **entries[each]} if each in entries else tenant
        for each, tenant in data["tenants"].items()
    }
    return _placed({**data, "tenants": tenants}, "tenantClasses", {**taken, name: shared}, before="tenants")


def _placed(data: Entry, key: str, value: Entry, *, before: str) -> Entry:
    """The document with a part that stands before another one."""
    rest = {name: each for name, each in data.items() if name != key}
    at = list(rest).index(before)
    return dict([*list(rest.items())[:at], (key, value), *list(rest.items())[at:]])


def _templated(value: Any, name: str, placeholder: str) -> Any:
    """The value with a placeholder wherever a text holds a name as a word."""
    return with_texts(value, lambda text: with_placeholder(text, name, placeholder))
