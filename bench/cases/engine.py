"""Runs of Pulumi, beside a bare program that registers the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

from bench.cases.sizes import Size
from bench.clusters import CONTROLLERS, SERVERS, Clusters, bare_project, clusters, objects_of
from bench.fleets import on_one_cluster, write
from bench.measure import Used
from bench.tables import Row, Table
from tenantry.stacks.command import Command, tuned

OURS = "Tenantry"
FLOOR = "bare program"
_QUIET = ("--yes", "--skip-preview", "--suppress-outputs")
_PHASES = {
    "preview of creates": "preview",
    "up": "up",
    "preview without change": "preview",
    "up without change": "up",
    "preview of one changed tenant": "preview",
    "up of one changed tenant": "up",
    "destroy": "destroy",
}
_CHANGED, _CHANGES = "preview of one changed tenant", ("preview of one changed tenant", "up of one changed tenant")


@dataclass(frozen=True, slots=True)
class Program:
    """bare: it is not Tenantry's. tuned: it runs with the settings of `tenantry up`. variables: what it gets besides."""

    bare: bool
    tuned: bool
    variables: Mapping[str, str] = field(default_factory=dict)


_DEFAULTS = {"PULUMI_SKIP_CHECKPOINTS": "false"}  # the sandbox sets it
_TUNED_PAIR = {
    OURS: Program(bare=False, tuned=True),
    FLOOR: Program(bare=True, tuned=True, variables={"BARE": "tuned"}),
}
_AS_PULUMI_COMES = {
    "Tenantry with Pulumi's settings": Program(bare=False, tuned=False, variables=_DEFAULTS),
    "bare program with them": Program(bare=True, tuned=False, variables=_DEFAULTS),
}


@dataclass(frozen=True, slots=True)
class Spent:
    """used: of the engine, the program and the provider. servers: seconds of the processor of etcd and the API server."""

    used: Used
    servers: float


def measure(*, sizes: tuple[Size, ...]) -> Iterator[Table]:
    for size in sizes:
        with clusters(on_one_cluster(size.tenants)) as made:
            made.stop(CONTROLLERS)
            try:
                yield from _measured(made, size)
            finally:
                made.go_on(CONTROLLERS)


def _measured(made: Clusters, size: Size) -> Iterator[Table]:
    order = [*list(_TUNED_PAIR.items()) * size.rounds, *(_AS_PULUMI_COMES.items() if size.defaults else ())]
    found: dict[str, dict[str, list[Spent]]] = {}
    for name, program in order:
        for phase, spent in _run(made, program, size.tenants):
            found.setdefault(phase, {}).setdefault(name, []).append(spent)
    yield from _tables(found, objects_of(bare_project(made)), size.tenants)


def _run(made: Clusters, program: Program, tenants: int) -> Iterator[tuple[str, Spent]]:
    write(made.root, on_one_cluster(tenants))
    bare = bare_project(made)
    project = bare if program.bare else made.root
    made.pulumi("stack", "select", "--create", "prod", project=project)
    for phase, verb in _PHASES.items():
        if phase in _CHANGES and not program.tuned:
            continue
        if phase == _CHANGED:
            write(made.root, _with_a_changed_tenant(tenants))
            bare_project(made)
        yield phase, _spent(made, partial(_pulumi, made, program, verb, project))


def _with_a_changed_tenant(tenants: int) -> bytes:
    return on_one_cluster(tenants).replace(b"team-0:\n    quota: {pods: 40}", b"team-0:\n    quota: {pods: 50}")


def _pulumi(made: Clusters, program: Program, verb: str, project: Path) -> Used:
    options = () if verb == "preview" else _QUIET
    command = tuned(verb, "prod", options) if program.tuned else Command(("pulumi", verb, "--stack", "prod", *options))
    return made.pulumi(*command.argv[1:], variables={**command.variables, **program.variables}, project=project)


def _spent(made: Clusters, task: Callable[[], Used]) -> Spent:
    before = made.processor_of(SERVERS)
    return Spent(task(), made.processor_of(SERVERS) - before)


def _tables(found: Mapping[str, Mapping[str, list[Spent]]], objects: int, tenants: int) -> Iterator[Table]:
    yield Table(
        f"engine-{objects}",
        f"Runs of Pulumi with {objects:,} objects, in seconds",
        f"{tenants} tenants in {tenants} namespaces on one API server; Flux's controllers are stopped. The bare program registers"
        " the same objects one by one. The programs take turns; medians of their runs. `ratio` compares the first two columns.",
        tuple(Row(phase, more=_seconds(programs)) for phase, programs in found.items()),
    )
    yield Table(
        f"engine-{objects}-processor",
        f"The same with {objects:,} objects, in seconds of the processor",
        "The engine with the program and the provider, and beside them the servers: the API server and etcd.",
        tuple(Row(phase, more=_processor(programs)) for phase, programs in found.items()),
    )


def _seconds(programs: Mapping[str, list[Spent]]) -> dict[str, float]:
    seconds = {name: median(each.used.seconds for each in runs) for name, runs in programs.items()}
    if FLOOR not in seconds:
        return seconds
    ours, floor = seconds.pop(OURS), seconds.pop(FLOOR)
    return {OURS: ours, FLOOR: floor, "ratio": ours / floor, **seconds}


def _processor(programs: Mapping[str, list[Spent]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, runs in programs.items():
        found[name] = median(each.used.processor for each in runs)
        found[f"{name}: servers"] = median(each.servers for each in runs)
    return found
