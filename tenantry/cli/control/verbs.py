"""`tenantry reconcile`, `suspend` and `resume`: a table of verbs, and the command that each becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from tenantry.cli.commands import Command
from tenantry.cli.control.reconcile import check, reconciled
from tenantry.cli.control.shared import KIND, Acting, apps_of_tenant, report
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import output, tenant_apps
from tenantry.cli.options import timeout as timeout_option
from tenantry.cluster import control
from tenantry.cluster.control import Done, Outcome, targets

_EXIT_CODES = """\
Exit codes:
  0  it was done, or there was nothing to do
  1  some apps were left out, or are not ready after --wait; the output says why
  2  nothing could be done, or the management cluster does not answer
"""
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Ask the cluster whether it would accept it; change nothing.")


class _Verb(NamedTuple):
    """What a person does to apps between two runs of `tenantry up`.

    act: does it to the live objects. options: those of this verb alone; `act` and `check` get their values by name.
    check: refuses apps and values of options that do not fit, before a cluster is asked. note: what follows, for the terminal.
    """

    name: str
    help: str
    examples: Sequence[str]
    act: Callable[..., list[Outcome]]
    options: Sequence[Callable[..., Any]] = ()
    check: Callable[..., None] = lambda *_, **__: None
    note: str = ""


_VERBS = (
    _Verb(
        "reconcile",
        """\
Have Flux reconcile the apps of a tenant now, instead of at their next interval.

It sets the same annotations as `flux reconcile`, on the Kustomizations and HelmReleases of this environment alone.
""",
        (
            "rocky --environment dev",
            "rocky web --environment dev --with-source --wait",
            "rocky web --environment prod --cluster edge-1 --force",
            "platform cert-controller --environment prod",
        ),
        reconciled,
        (
            click.option(
                "--with-source", is_flag=True, help="Have Flux fetch the sources and charts first, and wait for that."
            ),
            click.option("--force", is_flag=True, help="Install or upgrade Helm releases even if nothing changed."),
            click.option(
                "--reset", is_flag=True, help="Reset the failure counts of Helm releases, so that Flux tries again."
            ),
            click.option(
                "--wait", is_flag=True, help="Wait until Flux is done, and report apps that are not ready then."
            ),
            timeout_option(300, "How long --with-source and --wait each wait."),
        ),
        check,
    ),
    _Verb(
        "suspend",
        """\
Have Flux stop reconciling the apps of a tenant. What it applied stays and keeps running.

Changes that are pushed or applied by `tenantry up` have no effect on a suspended app until it is resumed. `tenantry up`
keeps the suspension, and refuses to remove a suspended app. To pause an app for longer, and for everyone to see,
set `state: paused` in the file instead.
""",
        (
            "rocky web --environment prod",
            "rocky --environment prod --cluster edge-1",
            "rocky --environment prod --dry-run",
            "platform cert-controller --environment prod",
        ),
        lambda acting: control.suspend(acting.client, acting.found, dry_run=acting.dry_run),
        note="Until `tenantry resume`, Flux applies no change to these apps. `tenantry up` keeps them suspended.",
    ),
    _Verb(
        "resume",
        """\
Have Flux reconcile apps again that were suspended by hand, and apply what changed in the meantime.

An app that the file pauses stays paused: change its state in the file.
""",
        (
            "rocky web --environment prod",
            "rocky --environment prod --cluster edge-1",
            "rocky --environment prod --dry-run",
            "platform cert-controller --environment prod",
        ),
        lambda acting: control.resume(acting.client, acting.found, dry_run=acting.dry_run),
    ),
)


def _command(verb: _Verb) -> click.Command:
    def command(
        file: Path,
        tenant: str,
        app: str | None,
        environment: str,
        clusters: tuple[str, ...],
        kubeconfig: Path | None,
        context: str | None,
        output: str,
        *,
        dry_run: bool,
        **own: Any,
    ) -> int:
        planned, apps = apps_of_tenant(file, environment, tenant, app, clusters)
        verb.check(apps, **own)
        with connect_management(file, environment, kubeconfig, context) as client:
            found, refused = targets(client, planned, apps)
            outcomes = verb.act(Acting(client, planned, found, dry_run), **own)
        there = {target.app.id for target in found}
        missing = [app for app in apps if app.id not in there]
        outcomes += [Outcome(app, Done.REFUSED, str(why)) for app, why in zip(missing, refused, strict=True)]
        return report(verb.name, outcomes, output, dry_run=dry_run, note=verb.note)

    examples = "".join(f"  tenantry {verb.name} {words}\n" for words in verb.examples)
    decorators: tuple[Callable[[Any], Any], ...] = (
        click.command(verb.name, cls=Command, help=verb.help, epilog=f"Examples:\n{examples}\n{_EXIT_CODES}"),
        tenant_apps,
        *verb.options,
        _DRY_RUN,
        management_options,
        output("text", "json", kind=KIND),
        reads_file,
    )
    decorated: Any = command
    for decorator in reversed(decorators):
        decorated = decorator(decorated)
    made: click.Command = decorated
    return made


commands = {verb.name: _command(verb) for verb in _VERBS}
