"""Fleets whose included file a hostile team wrote: mostly sound, with an edit or two that reach for what is not theirs.

Drawn by `random`, not by Hypothesis: nothing needs shrinking, because each fleet is a small change of a sound one, and a seed
gives the same fleet again.
"""

from __future__ import annotations

import copy
import json
import random
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.drawn_filling import filling_of
from tests.hostile.drawn_main import Data, main_file
from tests.hostile.edits import edit


@dataclass(frozen=True, slots=True)
class Drawn:
    """main: the platform's file; included: what the hostile file says. note: the edits, for a message.

    rows: a CSV file of the platform's, or "". overlay: the platform's file for prod, or nothing.
    """

    main: Data
    included: Data
    file: str
    note: tuple[str, ...]
    rows: str = ""
    overlay: Data | None = None

    def write(self, directory: Path) -> Path:
        """Put both files there; returns the path of the main one."""
        for name, data in ((self.file, self.included), ("tenants.yaml", self.main)):
            place = directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # JSON is YAML.
            place.write_text(json.dumps(data))
        (directory / "customers.csv").write_text(self.rows)
        (directory / "prod.json").write_text(json.dumps(self.overlay or {}))
        return directory / "tenants.yaml"


def draw(seed: str) -> Drawn:
    """The fleet of a seed."""
    chance = random.Random(seed)  # to be repeatable
    new = chance.random() < 0.15
    name = (
        chance.choice(
            ("blue-one", "blue-one", "blue-two", "edge", "edge", "movy-web", "certs", "clusters", "monitoring")
        )
        if new
        else "rocky"
    )
    main, filling = copy.deepcopy((main_file(chance, new=new), filling_of(name, chance)))
    note = tuple(edit(filling, chance) for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 2))))
    tenants = {name: filling}
    if chance.random() < 0.015:
        tenants[chance.choice(("movy", "tina", "kube-system", "platform"))] = filling_of("movy", chance)
    rows = ""
    if chance.random() < 0.15:
        rows = _rows(main, name, chance)
    overlay = _overlay(main, name, filling, chance) if chance.random() < 0.15 else None
    return Drawn(main, {"tenants": tenants}, "teams/blue.yaml" if new else "tenants.d/rocky.yaml", note, rows, overlay)


def _overlay(main: Data, hostile: str, filling: Data, chance: random.Random) -> Data:
    """What the platform says of prod alone, in a file of its own: overrides of the main file move there."""
    main["include"].append({"environment": "prod", "files": "prod.json"})
    said: Data = {"environments": {"prod": main["environments"].pop("prod")}, "defaults": {"timeout": "7m"}}
    main["environments"]["prod"] = {"management": said["environments"]["prod"].pop("management")}
    for group in ("tenants", "tenantClasses"):
        for name, entry in (main.get(group) or {}).items():
            over = (entry or {}).get("overrides", {}).get("environments", {})
            if "prod" in over:
                said.setdefault(group, {})[name] = over.pop("prod")
    over = main.get("defaults", {}).get("overrides", {}).get("environments", {})
    said["defaults"] |= over.pop("prod", {})
    own = said.setdefault("tenants", {}).setdefault(hostile, {})
    own |= {"quota": {"pods": 5}} if chance.random() < 0.5 else {}
    for part, said_of_one in (
        ("apps", {"metadata": {"labels": {"platform.example.com/stage": "prod"}}}),
        ("sources", {"metadata": {"annotations": {"platform.example.com/stage": "prod"}}}),
    ):
        names = list(filling.get(part) or {}) if isinstance(filling.get(part), dict) else []
        if names and chance.random() < 0.7:
            own[part] = {chance.choice(names): said_of_one}
    return said


def _rows(main: Data, hostile: str, chance: random.Random) -> str:
    """A table that the main file includes: a tenant of a class, and a row below the tenant that has the hostile file."""
    main["include"].insert(0, {"tenants": "customers.csv", "each": {"class": "{plan}", "labels": {"plan": "{plan}"}}})
    team, room = chance.choice(("rocky", "platform", "")), chance.choice(("in", "out", ""))
    below = "" if hostile.startswith("blue") else f"rocky,,{team},{room}\n"
    return f"name,plan,team,room\ncustomer,{chance.choice(('small', ''))},{team},{room}\n{below}"
