"""Commands on a fleet of 10,000 objects, beside the time that PyYAML needs to write the same objects."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.fleets import OBJECTS_OF_A_TENANT, write_versions
from bench.measure import TENANTRY, Used, in_turns, rows, run
from bench.tables import Row, Table

FLOOR = "PyYAML's C dumper"
_FLOOR = (
    "import gc, json, sys, time, yaml; gc.disable(); documents = json.load(open('objects.json'))['objects'];"
    " start = time.process_time(); yaml.dump_all(documents, sys.stdout, yaml.CSafeDumper, sort_keys=False, explicit_start=True);"
    " open('floor.txt', 'w').write(str(time.process_time() - start))"
)
COMMANDS = {
    "validate": ("validate",),
    "render": ("render", "-e", "prod"),
    "diff of nothing": ("diff", "same.yaml"),
    "diff of an interval that all apps inherit": ("diff", "other.yaml"),
    "explain one app": ("explain", "team-7", "web", "-e", "prod", "-c", "edge"),
    "list tenants": ("list", "tenants"),
}
_COMPLETION = {"_TENANTRY_COMPLETE": "bash_complete", "COMP_WORDS": "tenantry explain team-7 ", "COMP_CWORD": "3"}


def measure(*, runs: int, objects: int, peers: Mapping[str, str]) -> Iterator[Table]:
    """Args: peers: commands of other tools by name; they run in a directory with tenants.yaml and objects.json."""
    with TemporaryDirectory() as name:
        directory = Path(name)
        tenants = max(8, objects // OBJECTS_OF_A_TENANT)
        _prepare(directory, tenants)
        tasks = {
            FLOOR: partial(_floor, directory),
            **{name: partial(run, [TENANTRY, *words], directory, fine=(0, 1)) for name, words in COMMANDS.items()},
            "completion of an app's name": partial(run, [TENANTRY], directory, _COMPLETION),
            **{name: partial(run, shlex.split(command), directory) for name, command in peers.items()},
        }
        found = rows(in_turns(tasks, runs))
    yield Table(
        "commands",
        "Commands on a large fleet",
        f"A fleet of {tenants} tenants on a management cluster and a remote, {tenants * OBJECTS_OF_A_TENANT + 3} objects. The"
        " floor is PyYAML's C dumper, as it writes the same objects from memory; reading them, and starting Python, is not counted."
        f" Each figure is the median of {runs} runs, in which all take turns.",
        tuple(_without_memory(row) if row.name == FLOOR else row for row in found),
        FLOOR,
        "processor",
    )


def _prepare(directory: Path, tenants: int) -> None:
    write_versions(directory, tenants)
    objects = directory / "objects.json"
    run(["sh", "-c", f"{shlex.quote(TENANTRY)} render -e prod --output json > {objects.name}"], directory)


def _floor(directory: Path) -> Used:
    run([sys.executable, "-c", _FLOOR], directory)
    seconds = float((directory / "floor.txt").read_text())
    return Used(seconds, seconds, 0)


def _without_memory(row: Row) -> Row:
    return Row(row.name, row.seconds, row.processor)
