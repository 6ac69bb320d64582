"""`tenantry sandbox`."""

from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.commands import Group
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import project_directory, reads_file
from tenantry.cli.output import data, say, table, working
from tenantry.cli.pulumi import foreground
from tenantry.messages.errors import Refused

_ROOT = click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=lambda: project_directory(click.get_current_context()) / ".sandbox",
    envvar="TENANTRY_SANDBOX",
    help="The directory for the sandbox's state, logs and kubeconfigs; default: $TENANTRY_SANDBOX, else .sandbox beside "
    "tenants.yaml.",
)


@click.group("sandbox", cls=Group)
def command() -> None:
    """Run the clusters of an environment as local processes: control planes, Flux, and a server for its sources.

    Pods are simulated: they are scheduled and become ready, but no container runs. Everything listens on loopback only, at
    ports that are free.
    """


@command.command(
    short_help="start it, or update it",
    epilog="""\
Examples:
  tenantry sandbox up
  tenantry sandbox up --environment dev --content my-fleet/content

Exit codes:
  0  all of its processes are running
  2  tenants.yaml is invalid, or something cannot be started
""",
)
@environment_option("The environment to run; default: the first in the file.", argument=True)
@click.option(
    "--content",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A directory with git/<owner>/<repository>, charts/<chart>, oci/<owner>/<name> and buckets/<bucket>, served to sources "
    "at the host sandbox.test; default: content beside tenants.yaml.",
)
@_ROOT
@reads_file
def up(file: Path, environment: str | None, content: Path | None, root: Path) -> int:
    """Start the sandbox, or update it after a change of tenants.yaml. It is safe to run this again.

    `tenantry sandbox tools` builds its programs once. That needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk.
    """
    from tenantry.load import load_fleet
    from tenantry.plan.plan import plan
    from tenantry_sandbox.programs import prepare
    from tenantry_sandbox.spec import spec_of
    from tenantry_sandbox.up import up

    with working(f"planning {file}"):
        fleet = load_fleet(file)
        planned = plan(fleet, environment or next(iter(fleet.environments)))
    spec = spec_of(fleet, planned, content or file.parent / "content")
    up(spec, root, say)
    prepare(root)
    for cluster in spec.clusters:
        say(f"{cluster}: kubeconfig {root / cluster / 'kubeconfig'}")
    return 0


@command.command(
    short_help="show its processes",
    epilog="""\
Exit codes:
  0  all of them are running
  1  at least one is not
  2  there is no sandbox
""",
)
@_ROOT
def status(root: Path) -> int:
    """Show the processes of the sandbox, and the address that takes the webhooks of receivers."""
    from tenantry_sandbox.flux import NOTIFICATION
    from tenantry_sandbox.supervisor import existing

    headings = ("CLUSTER", "PART", "STATUS", "PID", "PORT", "MEMORY")
    rows = []
    _, state = existing(root)
    # Parts that all clusters share come first.
    order = {name: position for position, name in enumerate(state.clusters, start=1)}
    parts = sorted(state.running.values(), key=lambda part: order.get(part.owner, 0))
    alive = {part.process.pid: part.process.find() for part in parts}
    for part in parts:
        found, port = alive[part.process.pid], str(part.ports[0]) if part.ports else ""
        memory = f"{found.memory_info().rss // 2**20} MiB" if found else ""
        cells = (part.owner, part.part, "running" if found else "dead", str(part.process.pid), port, memory)
        rows.append(dict(zip(headings, cells, strict=True)))
    data("\n".join(table(rows, headings)))
    for part in parts:
        if part.part == NOTIFICATION:
            say(f"webhooks of receivers: http://127.0.0.1:{part.ports[0]}")
    return 0 if parts and all(alive.values()) else 1


@command.command(
    short_help="stop it and remove its directory",
    epilog="""\
Exit codes:
  0  it is gone, or there was none
  2  it cannot be removed
""",
)
@_ROOT
def down(root: Path) -> int:
    """Stop the sandbox and remove its directory, including the Pulumi state of stacks that used it."""
    from tenantry_sandbox.up import down

    down(root, say)
    return 0


@command.command(
    short_help="run a command against it",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="""\
Examples:
  tenantry sandbox run -- tenantry up --environment dev
  tenantry sandbox run -- kubectl get kustomizations --all-namespaces
  tenantry sandbox run --cluster edge-1 -- kubectl get pods --all-namespaces

Exit codes:
  that of COMMAND, or 2 if it cannot be run
""",
)
@click.option(
    "-c", "--cluster", metavar="NAME", help="The cluster that kubectl talks to; default: the management cluster."
)
@_ROOT
@click.argument("arguments", nargs=-1, required=True, metavar="COMMAND...")
def run(root: Path, cluster: str | None, arguments: tuple[str, ...]) -> int:
    """Run a command with the sandbox's pulumi and kubectl.

    Pulumi uses the sandbox's own backend, home and plugins. KUBECONFIG names a cluster of the sandbox.
    """
    from tenantry_sandbox.programs import user_environment

    variables = user_environment(root, cluster)
    try:
        with foreground() as programs:
            return programs.run(arguments, variables)
    except OSError as failure:
        message = f"'{arguments[0]}' cannot be run: {failure.strerror}"
        raise Refused(message, "name a program that is on PATH") from None


@command.command(
    "break",
    short_help="make an app fail, to rehearse what to do then",
    epilog="""\
Examples:
  tenantry sandbox break rocky/web crash
  tenantry sandbox break rocky/web image --cluster edge-1
  tenantry sandbox break rocky/web --repair

Exit codes:
  0  it fails, or is repaired
  2  there is no such app, or it has no pods
""",
)
@click.argument("app", metavar="TENANT/APP")
@click.argument("failure", type=click.Choice(["image", "crash", "quota"]), required=False)
@click.option("-c", "--cluster", metavar="NAME", help="The cluster on which it fails; default: each of its clusters.")
@click.option("--repair", is_flag=True, help="Undo it: other pods take the place of those that fail.")
@_ROOT
@reads_file
def break_(file: Path, app: str, failure: str | None, cluster: str | None, root: Path, *, repair: bool) -> int:
    """Make an app of the sandbox fail as apps fail in production.

    image: its image cannot be pulled. crash: its containers exit again and again. quota: there is no room for its pods.

    Pods that the cluster makes anew are ready again, apart from a quota. So a repair is what repairs the app in production, such as
    a change in its repository, or --repair.
    """
    from tenantry.cluster.states import select
    from tenantry.load import load_fleet
    from tenantry.plan.plan import plan
    from tenantry_sandbox import rehearsal
    from tenantry_sandbox.supervisor import existing

    if repair == bool(failure):
        raise click.UsageError("name a FAILURE, or --repair")
    planned = plan(load_fleet(file), existing(root)[1].environment)
    tenant, _, name = app.partition("/")
    selection = select(planned, [tenant], [name], [cluster] if cluster else [])
    for placed in filter(selection.takes, planned.apps):
        if failure:
            rehearsal.break_app(root, placed, failure)
        else:
            rehearsal.repair(root, placed)
        say(f"{app} on {placed.cluster}: {'repaired' if repair else 'broken'}")
        say(f"  tenantry why {app} -e {planned.environment} -c {placed.cluster}")
    return 0


@command.command(
    short_help="build the programs that it runs",
    epilog="""\
Examples:
  tenantry sandbox tools
  tenantry sandbox tools helm kustomize

Exit codes:
  0    they are there
  2    Go is missing or cannot build one, or there is no such program
  130  interrupted; what is finished is kept
""",
)
@click.argument("names", nargs=-1, metavar="[NAME]...")
def tools(names: tuple[str, ...]) -> int:
    """Build the programs that the sandbox needs, from source with Go.

    Without a NAME, these are all that are not built yet. Building everything takes about 20 minutes on two cores the first
    time, and 17 GB: 16 GB in Go's caches, which `go clean -cache -modcache` empties, and 1 GB for the programs in
    ~/.cache/tenantry ($TENANTRY_CACHE).
    """
    from tenantry_sandbox.tools.build import build

    build(names)
    return 0
