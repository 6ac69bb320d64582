"""`tenantry reconcile`, `suspend` and `resume`: what a person does to apps between two runs of `tenantry up`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tenantry.cli.commands import Command
from tenantry.cli.named_apps import Named, in_words, names_apps
from tenantry.cli.options import timeout as timeout_option
from tenantry.cli.output import data, data_json, say, working
from tenantry.cli.progress import shows_progress
from tenantry.cli.status.table import short_revision
from tenantry.cluster import control, requests
from tenantry.cluster.control import (
    Done,
    Outcome,
    Target,
    now_token,
    own_object,
    request,
    request_source,
    targets,
    wait_until_handled,
)
from tenantry.cluster.report import apps_report
from tenantry.cluster.status import AppStatus, Readiness, one_line
from tenantry.kube.objects import Manifest, ObjectId, object_id
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, listed
from tenantry.plan.engine_order import Chains
from tenantry.plan.plan import Plan
from tenantry.plan.planned_apps import PlannedApp
from tenantry.plan.users import Users

if TYPE_CHECKING:
    from tenantry.cluster.client import Client


_EVERY = 30.0
"""Seconds between two lines that say that a wait goes on."""


class Acting(NamedTuple):
    """What a verb acts on. found: the live objects of the apps that the arguments name; planned: what the environment plans."""

    client: Client
    planned: Plan
    found: Sequence[Target]
    dry_run: bool


# --- reconcile: have Flux fetch and reconcile, and wait until it is done -------------------------------------------------


def _check(apps: Sequence[PlannedApp], *, force: bool, reset: bool, **_: Any) -> None:
    """Raises: Refused: an option is for Helm releases, and there are none."""
    if (force or reset) and all(app.id.kind != "HelmRelease" for app in apps):
        raise Refused(
            "--force and --reset are for Helm releases, and none of these apps is one", "leave the option out"
        )


def _reconciled(
    acting: Acting, *, with_source: bool, force: bool, reset: bool, wait: bool, timeout: int
) -> list[Outcome]:
    """Have Flux reconcile the apps, and wait for what the options say. timeout: in seconds, for each wait."""
    client, planned, found, dry_run = acting
    if with_source:
        _fetch(client, planned, found, timeout, dry_run=dry_run)
    token = now_token()
    outcomes = request(client, found, token, force=force, reset=reset, dry_run=dry_run)
    return _handled(client, planned, outcomes, token, timeout) if wait and not dry_run else outcomes


def _fetch(client: Client, planned: Plan, found: Sequence[Target], timeout: int, *, dry_run: bool) -> None:
    """Have Flux fetch the sources, then the charts that are made from them.

    Raises: Refused: it is not allowed, or Flux did not fetch all of them in time.
    """
    lookup, users = Chains(planned), Users(planned)
    chains = [lookup.of(target.app.id)[:-1] for target in found]
    chosen = {target.app.id for target in found}
    for id in dict.fromkeys(object_id(manifest) for chain in chains for manifest in chain):
        if others := [user for user in users.of(id) if user.id not in chosen]:
            say(f"{id} is fetched for {counted(len(others), 'other app')} too: {users.in_words(id)}")
    for step in range(max(map(len, chains), default=0)):
        live = list(_live(client, [chain[step] for chain in chains if step < len(chain)]))
        _fetch_all(client, live, timeout, dry_run=dry_run)


def _fetch_all(client: Client, live: Sequence[Manifest], timeout: int, *, dry_run: bool) -> None:
    token, ids = now_token(), [object_id(manifest) for manifest in live]
    requests.in_parallel(lambda manifest: request_source(client, manifest, token, dry_run=dry_run), live)
    if dry_run:
        return
    done = _wait(client, ids, token, timeout, counted(len(ids), "source"))
    if late := [id for id in ids if id not in done]:
        raise Refused(
            f"Flux did not fetch {listed(late)} within {timeout} s",
            "look at Flux's message with `tenantry tree`, or allow more time with --timeout",
        )


def _wait(
    client: Client, wanted: Sequence[ObjectId], token: str, timeout: int, what: str
) -> Mapping[ObjectId, Manifest]:
    """What Flux has handled by then. A pipe, where no line on the terminal tells it, gets one at the start, then every 30 s."""
    started, lines = time.monotonic(), bool(wanted) and not shows_progress()
    told = started

    def read() -> list[Manifest]:
        nonlocal told
        if lines and (now := time.monotonic()) - told >= _EVERY:
            told = now
            say(f"still waiting for {what}, for {now - started:.0f} s now")
        live = requests.in_parallel(partial(requests.one, client), wanted)
        return [manifest for manifest in live if manifest is not None]

    if lines:
        say(f"waiting until Flux has handled {what}, at most {timeout} s")
    with working(f"waiting for {what}"):
        done = wait_until_handled(read, wanted, token, timeout)
    if lines:
        say(f"Flux has handled {len(done)} of {what} in {time.monotonic() - started:.0f} s")
    return done


def _live(client: Client, planned: Sequence[Manifest]) -> Iterator[Manifest]:
    """The live objects of planned sources and charts. Those that are suspended or missing are named and left out."""
    for manifest in {object_id(each): each for each in planned}.values():
        live = own_object(client, manifest)
        if live is None:
            say(f"{object_id(manifest)} is not on the management cluster: run `tenantry up`")
        elif mapping_at(live, "spec").get("suspend"):
            say(f"{object_id(manifest)} is suspended and is not fetched")
        else:
            yield live


def _handled(client: Client, planned: Plan, outcomes: Sequence[Outcome], token: str, timeout: int) -> list[Outcome]:
    """The outcomes once Flux is done: with its message for each app that is not ready then."""
    wanted = [outcome.app.id for outcome in outcomes if outcome.done is Done.REQUESTED]
    done = _wait(client, wanted, token, timeout, counted(len(wanted), "app"))
    states = {app.app.id: app for app in apps_report(planned, done.values()).apps}
    return [_after(outcome, states[outcome.app.id], timeout, done=outcome.app.id in done) for outcome in outcomes]


def _after(outcome: Outcome, status: AppStatus, timeout: int, *, done: bool) -> Outcome:
    if outcome.done is not Done.REQUESTED:
        return outcome
    if not done:
        return Outcome(outcome.app, Done.NOT_READY, f"Flux was not done within {timeout} s")
    if status.readiness is Readiness.READY:
        return Outcome(outcome.app, Done.READY, short_revision(status.revision))
    return Outcome(outcome.app, Done.NOT_READY, one_line(status.message))


# --- the verbs ----------------------------------------------------------------------------------------------------------


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
            "rocky/web --environment dev --with-source --wait",
            "rocky/web --environment prod --cluster edge-1 --force",
            "platform/cert-controller --environment prod",
        ),
        _reconciled,
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
        _check,
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
            "rocky/web --environment prod",
            "rocky --environment prod --cluster edge-1",
            "rocky --environment prod --dry-run",
            "platform/cert-controller --environment prod",
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
            "rocky/web --environment prod",
            "rocky --environment prod --cluster edge-1",
            "rocky --environment prod --dry-run",
            "platform/cert-controller --environment prod",
        ),
        lambda acting: control.resume(acting.client, acting.found, dry_run=acting.dry_run),
    ),
)


def _command(verb: _Verb) -> click.Command:
    def command(named: Named, output: str, *, dry_run: bool, **own: Any) -> int:
        verb.check(named.apps, **own)
        with named.connect() as client:
            found, refused = targets(client, named.planned, named.apps)
            outcomes = verb.act(Acting(client, named.planned, found, dry_run), **own)
        there = {target.app.id for target in found}
        missing = [app for app in named.apps if app.id not in there]
        outcomes += [Outcome(app, Done.REFUSED, str(why)) for app, why in zip(missing, refused, strict=True)]
        return _report(verb, named, outcomes, output, dry_run=dry_run)

    examples = "".join(f"  tenantry {verb.name} {words}\n" for words in verb.examples)
    made: click.Command = click.command(
        verb.name, cls=Command, help=verb.help, epilog=f"Examples:\n{examples}\n{_EXIT_CODES}"
    )(names_apps("Actions", *verb.options, _DRY_RUN)(command))
    return made


def _report(verb: _Verb, named: Named, outcomes: Sequence[Outcome], output: str, *, dry_run: bool) -> int:
    """Print what was done to each app, and return the exit code."""
    if output == "json":
        from tenantry.cli.documents.lists import Actions

        data_json(Actions(action=verb.name, dry_run=dry_run, items=outcomes))
    else:
        for outcome in outcomes:
            data(_line(outcome, dry_run=dry_run))
        if (
            verb.note
            and not dry_run
            and any(outcome.done not in (Done.UNCHANGED, Done.REFUSED) for outcome in outcomes)
        ):
            data(verb.note)
    refused = sum(outcome.done is Done.REFUSED for outcome in outcomes)
    if refused == len(outcomes):
        return 2
    return 1 if refused or any(outcome.done is Done.NOT_READY for outcome in outcomes) else 0


def _line(outcome: Outcome, *, dry_run: bool) -> str:
    done = outcome.done
    changed = done not in (Done.UNCHANGED, Done.REFUSED)
    text = f"{'would be ' if dry_run and changed else ''}{done}: {in_words(outcome.app)} ({outcome.app.id})"
    message = "\n  fix: ".join(one_line(part) for part in outcome.message.split("\n  fix: "))
    return f"{text}: {message}" if message else text


commands = {verb.name: _command(verb) for verb in _VERBS}
