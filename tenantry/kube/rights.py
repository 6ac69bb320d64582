"""Rules of roles in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple


class Right(NamedTuple):
    """One verb for one resource. resource: `ingressclasses.networking.k8s.io`, with the names of objects if only they are meant."""

    verb: str
    resource: str


def rights_of_rules(rules: Iterable[Mapping[str, Any]]) -> Iterator[Right]:
    """Every right that the rules give, in their order."""
    for rule in rules:
        only = f" {', '.join(rule['resourceNames'])}" if rule.get("resourceNames") else ""
        for group in rule["apiGroups"] or ("",):
            for resource in rule["resources"]:
                yield from (Right(verb, resource + (f".{group}" if group else "") + only) for verb in rule["verbs"])


def in_words(rights: Iterable[Right]) -> str:
    """`get, list persistentvolumes; get nodes`"""
    by_resource: dict[str, dict[str, None]] = {}
    for each in rights:
        by_resource.setdefault(each.resource, {})[each.verb] = None
    by_verbs: dict[str, list[str]] = {}
    for resource, verbs in by_resource.items():
        by_verbs.setdefault(", ".join(verbs), []).append(resource)
    return "; ".join(f"{verbs} {', '.join(resources)}" for verbs, resources in by_verbs.items())
