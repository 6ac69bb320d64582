"""What `up` and `destroy` note in the history that Pulumi's program cannot: how the engine has ended, and what it destroys."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tenantry import __version__
from tenantry.cli.engine.advice import Ended
from tenantry.cli.management import connect_management
from tenantry.cli.output import say
from tenantry.messages.errors import Refused
from tenantry.plan.plan import nothing_of
from tenantry.stacks.outcome import HELD, WAITING

if TYPE_CHECKING:
    from tenantry.cli.engine.checks import Planned


def note_end(
    project: Path, environment: str, entry: tuple[str, str], ended: Ended, without: Collection[str] = ()
) -> None:
    """Note how the engine has ended. Nothing fails if that cannot be written. without: as for `connect_management`."""
    from tenantry.cluster.history import Result, history_on, note

    platform, key = entry
    if ended.is_cancelled:
        result = Result.INTERRUPTED
    elif ended.code:
        result = Result.FAILED
    else:
        result = {HELD: Result.PARTLY, WAITING: Result.WAITING}.get(ended.told, Result.SUCCEEDED)
    try:
        with connect_management(project / "tenants.yaml", environment, None, None, without=without) as client:
            for each in client.each():
                if there := history_on(each, platform, environment).entries.get(key):
                    note(each, platform, environment, key, there.ends(result, datetime.now(UTC)))
    except Refused as refused:
        say(f"the history of '{environment}' does not say how this run ended: {refused}")


def begin_destroy(planned: Planned, run: str) -> tuple[str, str]:
    """Note that everything will be deleted, which no program of Pulumi does. Returns: namespace and key of the entry.

    Raises: Refused: this cannot be read or written.
    """
    from tenantry.cluster.history import Entry, changes_by_tenant, digest_of, key_of, moment, note
    from tenantry.cluster.inventory import owned_on
    from tenantry.cluster.leftovers import leftovers
    from tenantry.cluster.requests import user_of
    from tenantry.cluster.waves import owners_of
    from tenantry.compare.origin import origin_of

    plan, platform, claim = planned.plan, planned.fleet.document.platform.namespace, planned.stack.target.claim
    with planned.connect() as client:
        owned = owned_on(client, plan.environment, [each.id for each in plan.objects])
        owners, going = owners_of(owned), leftovers(nothing_of(plan), owned)
        if not going:
            return "", ""
        first = next(iter(client.each()))
        entry = Entry(
            moment(datetime.now(UTC)),
            claim.stack if claim else "",
            "destroy",
            user=user_of(first)[0],
            version=__version__,
            plan=digest_of(plan),
            changes=changes_by_tenant(deleted=(owners[id] for id in going)),
            **asdict(origin_of(planned.file.resolve().parent, os.environ)),
        )
        note(first, platform, plan.environment, key_of(entry, run), entry)
    return platform, key_of(entry, run)
