"""What all answers have in common: names that have to be declared, who keeps an order, and hidden secrets.

`parity` compares what is explained, and hides secrets itself, so that two different ones look different. So hiding comes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

from tenantry.fleet.fleet import Fleet, clusters_of
from tenantry.fleet.merge import Origin, Value
from tenantry.fleet.placement import in_another_environment
from tenantry.kube.objects import KubeObject, ObjectId
from tenantry.messages.data import value_at
from tenantry.messages.errors import UNKNOWN_NAME, Path, Refused
from tenantry.messages.masking import HIDDEN_VALUE, masked
from tenantry.messages.text import closest


def known(what: str, name: str, declared: Iterable[str], owner: str) -> None:
    names = list(declared)
    if name not in names:
        near = closest(name, names)
        listed = ", ".join(names) or "none"
        fix = f"name '{near}'" if near else "name one of these" if names else ""
        raise Refused(f"{owner} declares no {what} '{name}' (declared: {listed})", fix, code=UNKNOWN_NAME)


def known_cluster(fleet: Fleet, environment: str, cluster: str | None) -> None:
    if cluster is None:
        return
    known("cluster", cluster, fleet.clusters, fleet.source.file)
    if cluster not in (here := clusters_of(fleet, environment)):
        there = fleet.clusters[cluster].environments
        raise Refused(
            in_another_environment(cluster, there, environment), f"name one of: {', '.join(here)}", code=UNKNOWN_NAME
        )


Keeper: TypeAlias = Literal["flux", "pulumi", "nobody"]
"""Who waits for a dependency. Nobody waits for one of the other kind that is paused or leaves."""


def keeper(kind: str, first: ObjectId, planned: KubeObject | None) -> Keeper:
    """Who lets an object of a kind wait for the first one; planned: the first one, if this plan has it."""
    if first.kind == kind:
        return "flux"
    return "pulumi" if planned and planned.ready_within else "nobody"


_T = TypeVar("_T")


def without_secrets(found: _T) -> _T:
    """A result of `explain`, or a part of it, with each secret in its values replaced by "(hidden)"."""
    shown: Any = found
    if isinstance(found, tuple):
        if found and all(isinstance(each, Value) for each in found):
            shown = tuple(_hidden(found))
        elif not hasattr(found, "_fields"):
            shown = tuple(map(without_secrets, found))
    elif isinstance(found, Mapping):
        shown = {key: without_secrets(each) for key, each in found.items()}
    elif isinstance(found, Value):
        (shown,) = _hidden((found,))
    elif is_dataclass(found) and not isinstance(found, type | Origin):
        shown = replace(found, **{field.name: without_secrets(getattr(found, field.name)) for field in fields(found)})
    return shown  # type: ignore[no-any-return]


def tree_of(values: Iterable[tuple[Path, Any]]) -> dict[str, Any]:
    """Values by path as nested mappings, in which an index of a list is a key."""
    tree: dict[str, Any] = {}
    for path, value in values:
        below = tree
        for part in path[:-1]:
            below = below.setdefault(str(part), {})
        below[str(path[-1])] = value
    return tree


def _hidden(values: Iterable[Value]) -> Iterable[Value]:
    """Values that stand beside each other. What a key means is told by those around it."""
    values = tuple(values)
    shown = masked(tree_of((each.path, each.value) for each in values))
    for each in values:
        is_name = each.path[0] == "kubeconfig" or (each.path[-1] == "credentials" and "values" not in each.path)
        value = each.value if is_name else value_at(shown, tuple(map(str, each.path)))
        changed = each.written is not None and value != each.value
        yield replace(each, value=value, written=HIDDEN_VALUE if changed else each.written)
