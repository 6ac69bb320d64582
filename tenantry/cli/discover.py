"""`tenantry cluster discover`."""

from __future__ import annotations

import os
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit.apply import print_difference
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import group as group_option
from tenantry.cli.options import output
from tenantry.cli.output import data, data_json, say, working
from tenantry.cluster import discover as search
from tenantry.cluster.declared import Changes, Naming, compare, management_of, managements_of
from tenantry.edit.subjects.discovered import with_clusters
from tenantry.edit.write import write_all
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path as PathIn
from tenantry.source.include import read_all
from tenantry.source.parse import bytes_of, parse
from tenantry.source.parsed_file import ParsedFile, Written

OUTPUT = "clusters.d/discovered.yaml"


@click.command(
    "discover",
    cls=Command,
    short_help="write the clusters that a management cluster knows into a file",
    epilog="""\
Examples:
  tenantry cluster discover -e prod --dry-run
  tenantry cluster discover -e prod --group edge --labels topology.example.com/
  tenantry cluster discover -e prod --secrets cluster=true --key value
  tenantry cluster discover -e prod --check

tenants.yaml includes the file with:
  include: [{clusters: "clusters.d/*.yaml"}]

Exit codes:
  0  the file is written, or it holds all clusters already
  1  with --check: the file is out of date
  2  the file is invalid, or the management cluster does not answer; nothing
     is written
""",
)
@environment_option(
    "The environment whose management cluster is asked, and which new clusters join.", required=True, argument=True
)
@click.option(
    "--output-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"The file to write; default: {OUTPUT} beside tenants.yaml.",
)
@group_option("A group of new clusters; may be repeated. What it says is not repeated in the file.")
@click.option("--labels", metavar="PREFIX", multiple=True, help="Copy labels of the object that begin with PREFIX.")
@click.option("--prefix", metavar="TEXT", default="", help="Put TEXT before the names of new clusters.")
@click.option("--with-namespace", is_flag=True, help="Name new clusters NAMESPACE-NAME.")
@click.option("--secrets", metavar="SELECTOR", help="Also take Secrets that a label selector matches; needs --key.")
@click.option("--key", metavar="KEY", help="The key of the kubeconfig in these Secrets.")
@click.option("--hub", metavar="NAME", default="", help="Which of several management clusters is asked.")
@click.option("--dry-run", is_flag=True, help="Print the changes of the file, and write nothing.")
@click.option("--check", is_flag=True, help="As --dry-run, but exit with code 1 if there are changes.")
@management_options
@output("text", "json", kind="Discovery")
@reads_file
def discover(
    file: Path,
    environment: str,
    output_file: Path | None,
    groups: tuple[str, ...],
    labels: tuple[str, ...],
    prefix: str,
    secrets: str | None,
    key: str | None,
    hub: str,
    kubeconfig: Path | None,
    context: str | None,
    output: str,
    *,
    with_namespace: bool,
    dry_run: bool,
    check: bool,
) -> int:
    """List the clusters that a management cluster knows, and write new ones into a file that tenants.yaml includes.

    These are control planes of Kamaji, Clusters of Cluster API, virtual clusters of vCluster, ClusterProfiles, and Secrets
    with a label of your choice. No kubeconfig is read.

    Entries that exist stay as they are. An entry whose cluster is gone gets 'state: decommissioned' and is never removed:
    review the file, and commit it like any other.
    """
    if (secrets is None) != (key is None):
        raise click.UsageError(
            "--secrets and --key belong together: which Secrets, and where in each the kubeconfig is"
        )
    target = output_file or file.parent / OUTPUT
    created = not target.exists()
    before = b"" if created else bytes_of(target)
    source, own = _declared(read_all(file), target, before)
    management_of(source, environment, hub)
    hubs = managements_of(source, environment)
    without = {each for each in hubs if hub and each != hub}
    naming = Naming(groups, prefix, with_namespace, labels)
    with (
        connect_management(file, environment, kubeconfig, context, hubs=hubs, without=without) as there,
        working(f"looking for clusters on the management cluster of {environment}"),
    ):
        (client,) = there.each()
        found = search.discover(client, {secrets: key} if secrets and key else {})
        changes = compare(source, own, environment, found, naming, lambda each: search.has_secret(client, each), hub)
    after = with_clusters(target, before, changes.added, changes.gone) if changes.added or changes.gone else before
    written = after != before and not (dry_run or check)
    if written:
        write_all({target: (before, after)}, [target] if created else [])
    _print(changes, found.notes, target, output, written=written)
    if after != before and (dry_run or check) and output == "text":
        data("")
        print_difference({target: (before, after)})
    if written and not _is_included(source, file, target):
        say(f'note: {file} does not include {target} yet; add to it: include: [{{clusters: "{_below(target, file)}"}}]')
    return 1 if check and after != before else 0


def _declared(source: ParsedFile, target: Path, raw: bytes) -> tuple[ParsedFile, list[str]]:
    """All files, and the names in the file with discovered clusters, which need not be included yet."""
    if not raw.strip():
        return source, []
    own = parse(raw, str(target))
    clusters = mapping_at(own.data, "clusters")
    whole = {**clusters, **mapping_at(source.data, "clusters")}
    new = clusters.keys() - mapping_at(source.data, "clusters").keys()
    written: dict[PathIn, Written] = {("clusters", each): (own, ("clusters", each)) for each in new}
    return source.joined({**source.data, "clusters": whole}, written), list(clusters)


def _is_included(source: ParsedFile, file: Path, target: Path) -> bool:
    entries = source.data.get("include")
    patterns = (mapping_at(entry).get("clusters") for entry in entries) if isinstance(entries, list) else ()
    return any(isinstance(pattern, str) and fnmatch(_below(target, file), pattern) for pattern in patterns)


def _below(target: Path, file: Path) -> str:
    """The path of the file as tenants.yaml would name it."""
    return Path(os.path.relpath(target, file.parent)).as_posix()


def _print(changes: Changes, notes: tuple[str, ...], target: Path, output: str, *, written: bool) -> None:
    if output == "json":
        from tenantry.cli.documents.lists import Discovery

        data_json(Discovery(file=str(target), written=written, **asdict(changes), notes=notes))
        return
    for note in notes:
        say(f"note: {note}")
    for what in changes.itself:
        say(f"note: {what} has the name of the management cluster, so it is left out")
    for what in changes.tenants:
        say(
            f"note: {what} is in a tenant's namespace, so it is left out; if it is a cluster of the fleet, declare it by hand"
        )
    for name in changes.elsewhere:
        say(f"note: cluster '{name}' is gone; set 'state: decommissioned' where it is declared")
    for name in changes.back:
        say(f"note: cluster '{name}' is decommissioned in the file, but it is on the management cluster")
    for name, what in changes.objects.items():
        data(f"+ {name}: {what}")
    for name in changes.gone:
        data(f"~ {name}: gone, so it gets 'state: decommissioned'")
    counts = f"{len(changes.added)} new, {len(changes.gone)} gone, {len(changes.known)} declared already"
    data(f"{target}: {counts}{'' if written or not (changes.added or changes.gone) else '; not written'}")
