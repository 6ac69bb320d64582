"""The runner of all benchmarks: `python -m bench.run [CASE...]`, or `make bench`.

Prints each table when it is measured. The results are kept in bench/results.json, from which `make reference` writes
docs/performance.md; a case that is run alone replaces its own tables there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bench.cases.sizes import Size
from bench.measure import Failed
from bench.tables import Table, as_data, as_text

RESULTS = Path(__file__).with_name("results.json")
Measure = Callable[[], Iterator[Table]]


@dataclass(frozen=True, slots=True)
class Case:
    """about: one line. minutes: about how long it takes on two cores. tools: whether it needs the programs of `make tools`."""

    about: str
    minutes: float
    settings: Mapping[str, Any]
    quick: Mapping[str, Any]
    tools: bool = False


CASES = {
    "start": Case("the start of commands", 0.5, {"runs": 15}, {"runs": 2}),
    "budget": Case(
        "what commands may take at most", 1, {"runs": 5, "sizes": (1_000, 10_000)}, {"runs": 1, "sizes": (100, 200)}
    ),
    "commands": Case("commands on 10,000 objects", 2, {"runs": 5, "objects": 10_000}, {"runs": 1, "objects": 100}),
    "growth": Case("900 to 90,000 objects", 3, {"sizes": (900, 9_000, 30_000, 90_000)}, {"sizes": (90, 180)}),
    "clusters": Case("500 clusters", 0.3, {"clusters": 500}, {"clusters": 20}),
    "status": Case("status of 10,000 apps", 0.3, {"tenants": 3_334}, {"tenants": 4}),
    "page": Case("the page of a difference", 0.3, {"tenants": 200, "clusters": 500}, {"tenants": 3, "clusters": 4}),
    "engine": Case(
        "Pulumi with 1,000 and 3,000 objects",
        30,
        {"sizes": (Size(100, 3, defaults=True), Size(300, 1, defaults=False))},
        {"sizes": (Size(3, 1, defaults=True),)},
        tools=True,
    ),
    "flux": Case(
        "Flux's controllers",
        4,
        {"tenants": 24, "workers": (1, 20)},
        {"tenants": 2, "workers": (20,)},
        tools=True,
    ),
    "remotes": Case(
        "Flux with 100 remotes that are far away",
        4,
        {"remotes": 100, "workers": (20,), "milliseconds": 50},
        {"remotes": 3, "workers": (4,), "milliseconds": 10},
        tools=True,
    ),
    "backends": Case(
        "state in files and in PostgreSQL", 3, {"tenants": 300, "small": 30}, {"tenants": 4, "small": 2}, tools=True
    ),
    "rollouts": Case(
        "a change on 500 clusters in waves", 5, {"clusters": 500, "rounds": 1}, {"clusters": 6, "rounds": 1}, tools=True
    ),
    "ready": Case("from nothing to 500 apps that are Ready", 2, {"tenants": 125}, {"tenants": 2}, tools=True),
}


def main() -> int:
    options = _options()
    names = options.cases or list(CASES)
    if unknown := [name for name in names if name not in CASES]:
        print(f"there is no case {unknown[0]}; cases: {', '.join(CASES)}", file=sys.stderr)
        return 2
    _tell(f"{', '.join(names)}: about {sum(CASES[name].minutes for name in names):.0f} minutes on two idle cores")
    over: list[str] = []
    try:
        for name in names:
            tables = _measured(name, options)
            over += [f"{row.name} takes {row.seconds:.2f} s" for table in tables for row in table.over_budget()]
            if not options.quick:
                keep({name: tables}, options.results)
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    if not options.quick:
        _tell(f"{options.results}: written; `make reference` writes docs/performance.md from it")
    if over:
        _tell(f"bench: over the budget: {'; '.join(over)}")
    return 1 if over else 0


def _options() -> argparse.Namespace:
    listed = "\n".join(f"  {name:10} {case.about}, {case.minutes:g} min" for name, case in CASES.items())
    parser = argparse.ArgumentParser(
        prog="bench.run",
        description=f"Measure this program. Cases:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="measure this command too, beside `render`; it runs in a directory with tenants.yaml and objects.json",
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny fleets, one run: shows that all cases work; keeps nothing"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE", help="default: bench/results.json")
    return parser.parse_args()


def _measured(name: str, options: argparse.Namespace) -> list[Table]:
    case = CASES[name]
    settings = dict(case.quick if options.quick else case.settings)
    if name == "commands":
        settings["peers"] = dict(each.split("=", 1) for each in options.peer)
    measure: Measure = partial(import_module(f"bench.cases.{name}").measure, **settings)
    tables, started = [], time.monotonic()
    for table in measure():
        print(f"\n{as_text(table)}", flush=True)
        tables.append(table)
    _tell(f"{name}: {(time.monotonic() - started) / 60:.1f} min")
    return tables


def keep(tables: Mapping[str, list[Table]], file: Path) -> None:
    """Put the cases' tables into the file, in the order of CASES, in place of those that it has of the same cases."""
    kept = json.loads(file.read_text())["cases"] if file.exists() else {}
    found = {name: {**_run_facts(), "tables": [as_data(each) for each in of]} for name, of in tables.items()}
    cases = {name: (kept | found)[name] for name in CASES if name in kept | found}
    file.write_text(json.dumps({"cases": cases}, indent=1, ensure_ascii=False) + "\n")


def _run_facts() -> dict[str, Any]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    machine = f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine}


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
