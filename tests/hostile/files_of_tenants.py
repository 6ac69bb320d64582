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

    rows: a CSV file of the platform's, or "".
    """

    main: Data
    included: Data
    file: str
    note: tuple[str, ...]
    rows: str = ""

    def write(self, directory: Path) -> Path:
        """Put both files there; returns the path of the main one."""
        for name, data in ((self.file, self.included), ("tenants.yaml", self.main)):
            place = directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # JSON is YAML.
            place.write_text(json.dumps(data))
        (directory / "customers.csv").write_text(self.rows)
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
    return Drawn(main, {"tenants": tenants}, "teams/blue.yaml" if new else "tenants.d/rocky.yaml", note, rows)


def _rows(main: Data, hostile: str, chance: random.Random) -> str:
    """A table that the main file includes: a tenant of a class, and a row below the tenant that has the hostile file."""
    main["include"].insert(0, {"tenants": "customers.csv", "each": {"class": "{plan}", "labels": {"plan": "{plan}"}}})
    team, room = chance.choice(("rocky", "platform", "")), chance.choice(("in", "out", ""))
    below = "" if hostile.startswith("blue") else f"rocky,,{team},{room}\n"
    return f"name,plan,team,room\ncustomer,{chance.choice(('small', ''))},{team},{room}\n{below}"
