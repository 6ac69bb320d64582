"""Random names, and random choices among existing entries, for edits."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.faults.expected import Data, kind_of

TENANTS = ("alba", "bora", "cala", "dora")
APPS = ("web", "db", "api")
ADDONS = ("dns", "certs")
NAMESPACES = ("jobs", "builds")
REMOTES = ("edge-1", "edge-2")
CLUSTERS = ("hub", *REMOTES)
COLORS = ("red", "green", "blue")
GIT: Data = {"git": {"url": "{host}/git/walk/manifests.git", "ref": {"branch": "main"}}}
CHARTS: Data = {"helm": {"url": "{host}/charts"}}


def any_selector(random: Random) -> Data:
    return random.choice(
        [
            {"all": True},
            {"names": random.sample(CLUSTERS, random.randint(1, 2))},
            {"labels": {"tier": random.choice(["hub", "edge"])}},
            {"all": True, "exclude": [random.choice(CLUSTERS)]},
        ]
    )


def one(names: Any, random: Random) -> str:
    """Any of them; "" if the list is empty."""
    listed = sorted(names)
    return random.choice(listed) if listed else ""


def unused(names: tuple[str, ...], used: Any, random: Random) -> str:
    return one([name for name in names if name not in used], random)


def leaving_first(parts: Data, random: Random) -> str:
    """One that was given up, if there is such a one."""
    return one([name for name, each in parts.items() if each.get("state") == "offboarding"] or parts, random)


def any_app(document: Data, random: Random) -> tuple[str, str]:
    apps = [(name, app) for name, tenant in document["tenants"].items() for app in tenant["apps"]]
    return random.choice(sorted(apps)) if apps else ("", "")


def blocks(tenant: Data) -> Iterator[Data]:
    for app in tenant["apps"].values():
        kind = kind_of(app)
        yield app[kind]
        yield from (each[kind] for each in app.get("overrides", ()))


def toggle(part: Data, key: str, value: Any, random: Random, what: str) -> str:
    """Set a key, or take away what is there."""
    if key in part and random.random() < 0.5:
        del part[key]
        return f"{what} no longer says {key}"
    part[key] = value
    return f"{what} says {key} {value}"


def is_paused(document: Data) -> bool:
    """Whether anything is. Flux would not move apps from one namespace to another then, nor those that depend on it."""
    return any(each.get("state") == "paused" for each in parts(document))


def parts(document: Data) -> Iterator[Data]:
    """All that has a state."""
    yield from document["clusters"].values()
    yield from document["platform"].get("addons", {}).values()
    for tenant in document["tenants"].values():
        yield from (tenant, *tenant["apps"].values())
