"""`tenantry cluster register`: a cluster that no tool registers, its token, and how that is renewed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import click

from tenantry.cli.commands import Command
from tenantry.cli.duration import seconds
from tenantry.cli.edit.apply import How
from tenantry.cli.edit.apply import apply as write
from tenantry.cli.edit.arguments import file_to
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management
from tenantry.cli.options import cluster_name
from tenantry.cli.options import environment as environment_option
from tenantry.cli.options import group as group_option
from tenantry.cli.output import as_text, data, say, working
from tenantry.cluster import prepare
from tenantry.cluster.apply_bootstrap import Outcome
from tenantry.cluster.connect import answering, connect
from tenantry.cluster.inventory import identity, unmarked
from tenantry.cluster.register import (
    SHORTEST,
    USUAL,
    Registrar,
    Registration,
    Renewed,
    Renewer,
    address_of,
    kubeconfig_of,
    registered,
)
from tenantry.cluster.requests import in_parallel
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit, add
from tenantry.edit.subjects.names import Kind
from tenantry.fleet.fleet import Fleet, hub_of, platform_account, remotes_of
from tenantry.load import load_fleet
from tenantry.messages.errors import UNKNOWN_NAME, Refused, Severity, refuse
from tenantry.messages.progress import counting
from tenantry.messages.text import counted, listed
from tenantry.model import SecretKey
from tenantry.plan.bootstrap import bootstrap
from tenantry.plan.plan import plan
from tenantry.plan.registration import renewal
from tenantry.preflight.kubeconfig import check_kubeconfig, is_loopback
from tenantry.render import to_yaml

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

_KEY = "value"
_NIGHTLY = "17 3 * * *"


class _Hub(NamedTuple):
    """How the management cluster is reached."""

    kubeconfig: Path | None
    context: str | None


@click.command(
    "register",
    cls=Command,
    short_help="give Flux access to a cluster, and renew the token",
    epilog="""\
Examples:
  tenantry cluster register edge-1 -e prod --context edge-1-admin --dry-run
  tenantry cluster register edge-1 -e prod --context edge-1-admin
  tenantry cluster register edge-1 --group edge --context edge-1-admin \\
    --server https://10.1.0.5:6443 --to clusters.d/edge.yaml
  tenantry cluster register edge-1 --renew
  tenantry cluster register --all --renew -e prod
  tenantry cluster register --all --cronjob IMAGE -e prod | kubectl apply -f -

Exit codes:
  0  success
  1  with --renew: at least one token was not renewed; the others are
  2  the request is refused; what was made before an error is left, and the
     next run goes on from there
""",
)
@cluster_name(required=False)
@click.option("--all", "every_cluster", is_flag=True, help="All registered clusters of the environment.")
@environment_option(
    "The environment whose management cluster holds the kubeconfig, and which a new cluster joins; default: the"
    " cluster's first."
)
@group_option("A group of a new cluster, instead of --environment; may be repeated.")
@click.option("--namespace", metavar="NAME", help="The namespace of a new kubeconfig; default: clusters.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A kubeconfig of an administrator of the cluster; default: KUBECONFIG, then ~/.kube/config.",
)
@click.option("--context", metavar="NAME", help="Its context. It has to be named.")
@click.option("--server", metavar="URL", help="The address for Flux; default: the one in that kubeconfig.")
@click.option(
    "--valid", metavar="DURATION", callback=seconds, help="How long a token is valid; default: 720h, 30 days."
)
@file_to("The included file for a new cluster.")
@click.option("--renew", is_flag=True, help="Replace the token by a new one. No administrator is needed.")
@click.option(
    "--cronjob",
    metavar="IMAGE",
    help="Print a CronJob that renews the token every night. The image has sh, base64 and kubectl.",
)
@click.option(
    "--hub-kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The kubeconfig of the management cluster; default: the one in Pulumi.<environment>.yaml.",
)
@click.option("--hub-context", metavar="NAME", help="Its context.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
@reads_file
def register(
    file: Path,
    name: str | None,
    environment: str | None,
    kubeconfig: Path | None,
    context: str | None,
    hub_kubeconfig: Path | None,
    hub_context: str | None,
    valid: float | None,
    cronjob: str | None,
    *,
    every_cluster: bool,
    renew: bool,
    dry_run: bool,
    **options: Any,
) -> int:
    """Register cluster NAME: prepare it, make an account there for Flux, and store a kubeconfig with its token.

    The account may act as the service accounts that Flux uses, and nothing else. The kubeconfig becomes a Secret on the
    management cluster. If the file does not declare the cluster yet, its entry is added. What another tool made is never
    replaced, and no token is ever printed.
    """
    if (name is None) != every_cluster or (every_cluster and not (environment and (renew or cronjob))):
        raise click.UsageError("Name a cluster. --all is for --renew and --cronjob, and needs --environment.")
    if renew and cronjob:
        raise click.UsageError("--renew and --cronjob exclude each other.")
    duration = int(valid or USUAL)
    if duration < SHORTEST:
        raise Refused(f"Kubernetes makes no token for less than {SHORTEST} seconds", "--valid 10m, or longer")
    hub = _Hub(hub_kubeconfig, hub_context)
    if renew or cronjob:
        fleet = load_fleet(file)
        chosen = environment_of(fleet, name, environment)
        with _management(file, fleet, chosen, name, hub) as client:
            if cronjob:
                found = [at for _, at in _registered(client, fleet, chosen, name)]
                platform = fleet.document.platform.namespace
                data(to_yaml(renewal(platform, found, cronjob, duration, _NIGHTLY)).rstrip("\n"))
                return 0
            return _renew(client, fleet, chosen, name, duration)
    assert name is not None
    if context is None:
        raise click.UsageError("Name the context of an administrator of the cluster: --context NAME")
    editor = Editor.open(file)
    fleet, done = _with_cluster(file, editor, name, environment, options)
    chosen = environment_of(fleet, name, environment)
    registration = _registration(fleet, chosen, name, duration)
    _register(file, fleet, chosen, registration, hub, connect(kubeconfig, context), options["server"], dry_run=dry_run)
    if done:
        write(editor, How(dry_run, "text"), [done.done], made=done)
    return 0


def environment_of(fleet: Fleet, name: str | None, environment: str | None) -> str:
    """The environment of a command about a cluster, or about all. Raises: Refused: it is not declared."""
    from tenantry.cli.cluster import environment_of as of_cluster

    if name is not None:
        return of_cluster(fleet, name, environment)
    assert environment is not None
    return plan(fleet, environment).environment


# --- a cluster ----------------------------------------------------------------------------------------------------


def _with_cluster(
    file: Path, editor: Editor, name: str, environment: str | None, options: Mapping[str, Any]
) -> tuple[Fleet, Edit | None]:
    """The fleet with the cluster, and the edit that adds it; None: it is declared. Raises: InvalidFleet, Refused."""
    fleet = load_fleet(file)
    entry = ("groups", "namespace", "to")
    if name in fleet.clusters:
        if given := [f"--{each.removesuffix('s')}" for each in entry if options[each]]:
            raise Refused(f"{listed(given)}: cluster '{name}' is declared already", "leave this out")
        return fleet, None
    home = options["namespace"] or ("" if options["groups"] else "clusters")
    entry_options = {
        "environments": [environment] if environment and not options["groups"] else [],
        "group": list(options["groups"]),
        **dict.fromkeys(("kamaji", "capi", "vcluster")),
        "secret": f"{home}/{name}-kubeconfig:{_KEY}" if home else None,
    }
    done = add(editor, Kind.CLUSTER, name, entry_options, options["to"])
    return load_fleet(file, editor.read), done


def _registration(fleet: Fleet, environment: str, name: str, duration: int) -> Registration:
    """Raises: Refused: the cluster's kubeconfig is not this command's to write."""
    declared = fleet.clusters[name].kubeconfig
    if name in fleet.environments[environment].managements or declared is None:
        raise Refused(
            f"'{name}' is a management cluster: Flux runs there, and needs no kubeconfig for it", "name another"
        )
    if declared.secret is None:
        kind = next(each for each in declared.one_of if getattr(declared, each))
        fix = f"have its tool write it; or replace '{kind}' in its entry by 'secret'"
        raise Refused(f"the kubeconfig of cluster '{name}' is not this command's to write: it is '{kind}'", fix)
    if declared.secret.from_:
        stack = declared.secret.from_.stack
        fix = f"tenantry up {environment}; or remove 'from' from its 'secret'"
        raise Refused(f"a run writes the kubeconfig of cluster '{name}': it comes from stack '{stack}'", fix)
    return Registration(
        name,
        declared.secret,
        fleet.document.platform.namespace,
        platform_account(fleet, environment, name),
        duration,
        bootstrap(fleet, environment, name),
    )


def _register(
    file: Path,
    fleet: Fleet,
    environment: str,
    asked: Registration,
    hub: _Hub,
    remote: Client,
    server: str | None,
    *,
    dry_run: bool,
) -> None:
    with remote, _management(file, fleet, environment, asked.cluster, hub) as client, answering(remote):
        say(f"cluster {remote.config.cluster.server}, context '{remote.config.context_name}'")
        address = address_of(remote.config, server)
        if identity(remote) == identity(client) != "":
            raise Refused("this context leads to the management cluster itself", "name another with --context NAME")
        local = is_loopback(urlsplit(client.config.cluster.server).hostname or "")
        would = kubeconfig_of(asked.cluster, address, "token")
        for problem in check_kubeconfig(would, now=datetime.now(UTC), local=local):
            if problem.severity is Severity.ERROR:
                raise Refused(problem.message, f"{problem.fix}; or name another address: --server URL")
            say(as_text(problem))
        registrar = Registrar(asked, remote, client, address, prepare.connect)
        registrar.check()
        for id, outcome in registrar.apply(dry_run=dry_run):
            if outcome is not Outcome.UNCHANGED:
                data(f"{id}: {'would be ' if dry_run else ''}{outcome}")
        secret = f"Secret {asked.reference.namespace}/{asked.reference.name}"
        if dry_run:
            data(f"{secret}: would be written")
            return
        end, proven = registrar.store()
        data(f"{secret}: written{_until(end)}")
        if not proven:
            say(
                "note: the cluster does not answer to the new kubeconfig from here; `tenantry status` says if Flux reaches it"
            )


@contextmanager
def _management(file: Path, fleet: Fleet, environment: str, name: str | None, hub: _Hub) -> Iterator[Client]:
    """A client of the cluster's management cluster, which is the one that the file names, or of all of the environment."""
    hubs = fleet.environments[environment].managements
    own = hub_of(fleet, environment, name) if name else None
    others = [each for each in hubs if own and each != own]
    with connect_management(file, environment, *hub, hubs=hubs, without=others) as client:
        planned = plan(fleet, environment)
        refuse(unmarked(client, fleet, planned.only([own]) if own and len(hubs) > 1 else planned))
        if own:
            (client,) = client.each()
        yield client


# --- renewal ------------------------------------------------------------------------------------------------------


def _registered(client: Client, fleet: Fleet, environment: str, name: str | None) -> list[tuple[str, SecretKey]]:
    """The registered clusters and their kubeconfigs. Raises: Refused: the cluster is not registered, or none is."""
    kubeconfigs = {
        each: declared.secret
        for each in remotes_of(fleet, environment)
        if (declared := fleet.clusters[each].kubeconfig)
        and declared.secret
        and not declared.secret.from_
        and name in (None, each)
    }
    made = registered(client, {at.namespace for at in kubeconfigs.values()})
    found = [(each, at) for each, at in kubeconfigs.items() if made.get(each) == (at.namespace, at.name)]
    if not found:
        whose = f"cluster '{name}' is not registered" if name else f"no cluster of '{environment}' is registered"
        fix = f"tenantry cluster register {name or 'NAME'} --kubeconfig FILE --context NAME"
        raise Refused(
            f"{whose}: there is no Secret on the management cluster that this command made", fix, code=UNKNOWN_NAME
        )
    return found


def _renew(client: Client, fleet: Fleet, environment: str, name: str | None, duration: int) -> int:
    found = _registered(client, fleet, environment, name)
    hubs = {each.hub: each for each in client.each()}

    def one(cluster: tuple[str, SecretKey]) -> Renewed:
        hub = hubs.get(hub_of(fleet, environment, cluster[0])) or next(iter(hubs.values()))
        return Renewer(hub, fleet.document.platform.namespace, duration, prepare.connect).renew(*cluster)

    with working(f"renewing {counted(len(found), 'token')}") as tell:
        done = in_parallel(counting(one, len(found), "tokens", tell), found)
    for renewed in done:
        if renewed.failure:
            data(f"{renewed.cluster}: not renewed: {renewed.failure.message}\n  fix: {renewed.failure.fix}")
        else:
            data(f"{renewed.cluster}: renewed{_until(renewed.end)}")
    return 1 if any(each.failure for each in done) else 0


def _until(end: datetime | None) -> str:
    return f", valid until {end:%Y-%m-%d %H:%M} UTC" if end else ""
