"""How long commands take to start: `python -m bench.start [RUNS]` (default 15).

Prints the processor time of each, as the median, and as a ratio to `python -c "import pydantic, yaml"`. The commands take turns, so
that other load on the machine hits all of them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from statistics import median

PROJECT = Path(__file__).parents[1]
MEASURE = ("-c", "import pydantic, yaml")
COMMANDS = {
    "import pydantic, yaml": MEASURE,
    "--version": ("--version",),
    "--help": ("--help",),
    "completion of a command": (),
    "validate examples/minimal": ("--file", "examples/minimal/tenants.yaml", "validate"),
    "validate tenants.yaml": ("--file", "tenants.yaml", "validate"),
}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    os.chdir(PROJECT)
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(runs + 1):
        for name, words in COMMANDS.items():
            seconds = processor_time(words)
            if number:  # the first run compiles and fills caches
                times[name].append(seconds)
    unit = median(times["import pydantic, yaml"])
    for name, each in times.items():
        print(f"{name:28} {median(each) * 1000:6.0f} ms {median(each) / unit:5.2f} x")


def processor_time(words: tuple[str, ...]) -> float:
    """Seconds that one process takes, and its children."""
    program = [sys.executable] if words is MEASURE else [str(Path(sys.executable).with_name("tenantry"))]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    if not words:
        environment |= {"_TENANTRY_COMPLETE": "bash_complete", "COMP_WORDS": "tenantry val", "COMP_CWORD": "1"}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(program[0], [*program, *words], environment, file_actions=quiet)
    _, status, used = os.wait4(process, 0)
    assert status == 0, words
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
