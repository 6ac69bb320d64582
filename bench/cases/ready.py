"""From nothing to a fleet whose apps are all Ready, with Flux's controllers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.clusters import Clusters, clusters
from bench.fleets import APPS_OF_A_TENANT, served
from bench.measure import TENANTRY, Used, run
from bench.tables import Row, Table
from tenantry.stacks.command import tuned

_CONTENT = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: NAME}
data: {greeting: hello}
"""


def measure(*, tenants: int) -> Iterator[Table]:
    with (
        TemporaryDirectory() as name,
        clusters(served(tenants), _content(Path(name))) as made,
    ):
        made.pulumi("stack", "select", "--create", "prod")
        up = _pulumi(made, "up")
        wait = run(
            [TENANTRY, "status", "--environment", "prod", "--wait", "--timeout", "1800"], made.root, made.variables()
        )
        _pulumi(made, "destroy")
    apps = tenants * APPS_OF_A_TENANT
    yield Table(
        "ready",
        f"From nothing to {apps} apps that are Ready",
        f"{tenants} tenants with {APPS_OF_A_TENANT} Kustomizations and a Git repository each, on one cluster with Flux's"
        " controllers, which run on the same machine. One run.",
        (
            Row("`pulumi up`", up.seconds, up.processor, up.memory),
            Row("until all are Ready, after it", wait.seconds, wait.processor, wait.memory),
        ),
    )


def _pulumi(made: Clusters, verb: str) -> Used:
    command = tuned(verb, "prod", ("--yes", "--skip-preview", "--suppress-outputs"))
    return made.pulumi(*command.argv[1:], variables=command.variables)


def _content(root: Path) -> Path:
    """What the sandbox serves: one repository for all tenants, with a directory for each app."""
    for app in ("api", "web", "jobs", "cache"):
        directory = root / "git" / "bench" / "apps" / app
        directory.mkdir(parents=True)
        (directory / "config.yaml").write_text(_CONTENT.replace("NAME", app))
    return root
