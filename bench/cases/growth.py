"""How time and memory grow with the fleet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.fleets import OBJECTS_OF_A_TENANT, text_of, with_another_interval, write
from bench.measure import TENANTRY, Used, run
from bench.tables import Row, Table

_COMMANDS = {
    "validate": ("validate",),
    "render": ("render", "-e", "prod"),
    "diff": ("diff", "other.yaml"),
    "explain one app": ("explain", "team-7", "web", "-e", "prod", "-c", "edge"),
}


def measure(*, sizes: tuple[int, ...]) -> Iterator[Table]:
    used: dict[str, list[Row]] = {name: [] for name in _COMMANDS}
    for objects in sizes:
        with TemporaryDirectory() as name:
            directory, text = Path(name), text_of(max(8, objects // OBJECTS_OF_A_TENANT))
            write(directory, text)
            write(directory, with_another_interval(text), "other.yaml")
            for command, words in _COMMANDS.items():
                used[command].append(_row(objects, run([TENANTRY, *words], directory, fine=(0, 1))))
    for command, found in used.items():
        yield Table(
            f"growth-{command.split()[0]}",
            f"Growth of `{command}`",
            f"A management cluster and a remote, {OBJECTS_OF_A_TENANT} objects for each tenant; one run each.",
            tuple(found),
        )


def _row(objects: int, used: Used) -> Row:
    per_thousand = {"ms per 1,000 objects": used.processor * 1_000_000 / objects}
    return Row(f"{objects:,} objects", used.seconds, used.processor, used.memory, per_thousand)
