"""Runs of Pulumi with state in files and in PostgreSQL, with and without checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial

from bench.clusters import CONTROLLERS, Clusters, clusters
from bench.fleets import on_one_cluster, write
from bench.measure import Used
from bench.postgresql import PROGRAMS, postgresql
from bench.tables import Row, Table
from tenantry.stacks.command import tuned

_QUIET = ("--yes", "--skip-preview", "--suppress-outputs")
_ZSTD = {"PULUMI_DIY_BACKEND_ZSTD": "true"}
_CHECKPOINTS = {"PULUMI_SKIP_CHECKPOINTS": "false"}


def measure(*, tenants: int, small: int) -> Iterator[Table]:
    """Args: tenants: of the fleet that runs without checkpoints; small: of the one that runs with them too."""
    with clusters(on_one_cluster(small)) as made, ExitStack() as servers:
        made.stop(CONTROLLERS)
        servers.callback(partial(made.go_on, CONTROLLERS))
        backends = {"file": {"PULUMI_BACKEND_URL": made.variables()["PULUMI_BACKEND_URL"]}}
        backends["file, zstd"] = backends["file"] | _ZSTD
        if PROGRAMS:
            backends["PostgreSQL"] = {"PULUMI_BACKEND_URL": servers.enter_context(postgresql())}
            backends["PostgreSQL, zstd"] = backends["PostgreSQL"] | _ZSTD
        few = {f"{name}, checkpoints": variables | _CHECKPOINTS for name, variables in list(backends.items())[::2]}
        yield _table(made, small, {**dict(list(backends.items())[::2]), **few})
        yield _table(made, tenants, backends)


def _table(made: Clusters, tenants: int, backends: Mapping[str, Mapping[str, str]]) -> Table:
    write(made.root, on_one_cluster(tenants))
    rows = [_row(made, name, variables) for name, variables in backends.items()]
    objects = tenants * 10
    return Table(
        f"backends-{objects}",
        f"State of {objects:,} objects, by backend",
        "Seconds of the processor of Pulumi, the program and the provider; Flux's controllers stand"
        " still, so that only the API server is in it. The servers run on the same machine. One run each.",
        tuple(rows),
    )


def _row(made: Clusters, name: str, variables: Mapping[str, str]) -> Row:
    def run(*words: str) -> Used:
        return made.pulumi(*words, "--stack", "prod", variables=variables)

    def ours(verb: str, *options: str) -> Used:
        command = tuned(verb, "prod", options)
        return made.pulumi(*command.argv[1:], variables={**command.variables, **variables})

    made.pulumi("stack", "select", "--create", "prod", variables=variables)
    up = ours("up", *_QUIET)
    figures = {"up": up.processor, "preview without change": ours("preview").processor}
    figures["stack export"] = run("stack", "export", "--file", str(made.root / "exported.json")).processor
    figures["destroy"] = ours("destroy", *_QUIET).processor
    made.pulumi("stack", "rm", "prod", "--yes", "--preserve-config", variables=variables)
    return Row(name, more={**figures, "MB of the engine": up.memory})
