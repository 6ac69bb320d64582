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
    """main: the platform's file; included: what the hostile file says. note: the edits, for a message."""

    main: Data
    included: Data
    file: str
    note: tuple[str, ...]

    def write(self, directory: Path) -> Path:
        """Put both files there; returns the path of the main one."""
        for name, data in ((self.file, self.included), ("tenants.yaml", self.main)):
            place = directory / name
            place.parent.mkdir(parents=True, exist_ok=True)
            # JSON is YAML.
            place.write_text(json.dumps(data))
        return directory / "tenants.yaml"


def draw(seed: str) -> Drawn:
    """The fleet of a seed."""
    chance = random.Random(seed)  # to be repeatable
    name = "rocky"
    main, filling = copy.deepcopy((main_file(chance), filling_of(name, chance)))
    note = tuple(edit(filling, chance) for _ in range(chance.choice((0, 1, 1, 1, 1, 1, 1, 2))))
    tenants = {name: filling}
    if chance.random() < 0.015:
        tenants[chance.choice(("movy", "tina", "kube-system", "platform"))] = filling_of("movy", chance)
    return Drawn(main, {"tenants": tenants}, "tenants.d/rocky.yaml", note)
