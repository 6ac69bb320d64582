"""Sound fleets of the examples and golden tests, each with one or two things done to it by a seeded chance."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from tenantry.render import to_yaml
from tenantry.source.parse import parse
from tests.hostile.case import Case

ROOT = Path(__file__).resolve().parents[2]
FILES = (*sorted(ROOT.glob("examples/*/tenants.yaml")), *sorted(ROOT.glob("tests/golden/*/tenants.yaml")))
JUNK: tuple[Any, ...] = (
    "",
    "x",
    "a" * 300,
    "A b",
    "{nope}",
    "{",
    "../..",
    "/etc/passwd",
    "\x1b[31m",
    "\u202e",
    "kube-system",
    "flux-system",
    "{{ x }}",
    "https://x",
    None,
    0,
    -1,
    1.5,
    2**53,
    True,
    [],
    {},
    ["x"],
    [None],
    [[]],
    {"x": 1},
    {"": None},
    {"a.b": {}},
    [{}] * 3,
)
Action: TypeAlias = Callable[[random.Random, Any, Any], None]


def fleet_at(file: Path) -> dict[str, Any]:
    """The data of a sound file."""
    return parse(file.read_bytes(), file.name).data


def cases(per_file: int, seed: int = 1) -> Iterator[Case]:
    """As many variants of each file."""
    for file in FILES:
        fleet = fleet_at(file)
        for number in range(per_file):
            chance = random.Random(f"{seed} {file.parent.name} {number}")  # to be repeatable
            name = f"mutation/{file.parent.parent.name}-{file.parent.name}-{number}"
            yield Case(name, to_yaml([mutated(fleet, chance)]).encode(), certain=False)


def mutated(fleet: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A copy of a fleet to which one or two things are done."""
    fleet = copy.deepcopy(fleet)
    for _ in range(chance.randint(1, 2)):
        if not (places := list(_places(fleet))):
            break
        parent, key = chance.choice(places)
        chance.choice(ACTIONS)(chance, parent, key)
    return fleet


def _remove(_: random.Random, parent: Any, key: Any) -> None:
    del parent[key]


def _replace(chance: random.Random, parent: Any, key: Any) -> None:
    parent[key] = copy.deepcopy(chance.choice(JUNK))


def _wrap(chance: random.Random, parent: Any, key: Any) -> None:
    """Another type around the same value."""
    parent[key] = chance.choice(([parent[key]], {"value": parent[key]}, str(parent[key])))


def _rename(chance: random.Random, parent: Any, key: Any) -> None:
    """A slip of the pen in a key or a name."""
    if isinstance(parent, dict) and key:
        at = chance.randrange(len(key))
        parent[chance.choice((key[:at] + key[at + 1 :], key[:at] + key[at] + key[at:], key.upper(), f" {key}"))] = (
            parent.pop(key)
        )


def _refer_to_nowhere(chance: random.Random, parent: Any, key: Any) -> None:
    if isinstance(parent[key], str):
        parent[key] += chance.choice(("x", "-2", "\u200b", "/x", " "))


def _lengthen(_: random.Random, parent: Any, key: Any) -> None:
    if isinstance(parent, dict):
        parent[str(key) * 40] = parent.pop(key)


def _add(chance: random.Random, parent: Any, key: Any) -> None:
    """Something beside it that nobody asked for."""
    if isinstance(parent, dict):
        parent[str(chance.choice(JUNK))] = copy.deepcopy(parent[key])
    else:
        parent.append(copy.deepcopy(chance.choice(JUNK)))


ACTIONS: tuple[Action, ...] = (_remove, _replace, _replace, _wrap, _rename, _refer_to_nowhere, _lengthen, _add)


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every mapping or list with each of its keys or indexes."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in list(items):
        yield data, key
        yield from _places(value)
