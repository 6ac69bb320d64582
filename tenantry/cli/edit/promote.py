"""`tenantry promote`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import How, apply, edit_options, unwritten
from tenantry.cli.edit.proof import prove
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import management_options
from tenantry.cli.output import data, data_json, error, say, working
from tenantry.cli.parity import change
from tenantry.edit.editor import Editor
from tenantry.edit.paths import parse_path
from tenantry.edit.subjects.draft import Draft
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.promoted import unknown_extra
from tenantry.edit.subjects.promoting import promotable, promote
from tenantry.edit.subjects.references import Target
from tenantry.edit.subjects.selecting import owner_of
from tenantry.edit.subjects.subjects import require
from tenantry.explain.parity import parity
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import printable
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tenantry.cli.documents import common
    from tenantry.cli.edit.proof import Proof
    from tenantry.edit.editor import Editor
    from tenantry.edit.subjects.promoted import App
    from tenantry.edit.subjects.promoting import Promoted
    from tenantry.fleet.fleet import Fleet
    from tenantry.messages.errors import Path

_MOST = 12
"""The most settings that are listed."""


@click.command(
    "promote",
    cls=Command,
    epilog="""\
Examples:
  tenantry promote rocky/web --from dev --to prod --dry-run
  tenantry promote rocky --from dev --to prod
  tenantry promote platform/dns --from staging --to prod
  tenantry promote rocky/web --from dev --to prod --with helm.values.image
  tenantry promote rocky/web --from dev --to prod --require-ready --soak 1h

Exit codes:
  0  success, or there is nothing to promote
  2  the edit cannot be made, and no file is changed
  4  --require-ready or --soak refuses it, and no file is changed
""",
)
@click.argument("subject", metavar="APP|TENANT", shell_complete=arguments.promotable)
@arguments.one("--from", "The environment whose versions are taken.", arguments.ENVIRONMENTS, required=True)
@arguments.one("--to", "The environment that gets them.", arguments.ENVIRONMENTS, required=True)
@click.option(
    "--with",
    "extra",
    multiple=True,
    metavar="PATH",
    help="Also copy this setting of the app, such as helm.values.image, or 'all' of them; repeatable.",
)
@click.option(
    "--evidence/--no-evidence",
    default=None,
    help="Ask the management cluster of --from what it runs; default: if the settings of its stack name a kubeconfig.",
)
@click.option("--require-ready", is_flag=True, help="Refuse, unless --from runs exactly this and is ready.")
@click.option("--soak", metavar="DURATION", help="Refuse, unless it has been ready for so long, such as 1h or 90m.")
@management_options
@edit_options
@reads_file
def command(
    file: FilePath,
    subject: str,
    extra: tuple[str, ...],
    soak: str | None,
    kubeconfig: FilePath | None,
    context: str | None,
    output: str,
    *,
    evidence: bool | None,
    require_ready: bool,
    dry_run: bool,
    **between: str,
) -> int:
    """Edit tenants.yaml so that one environment gets the versions that another one has.

    APP is TENANT/APP or platform/ADDON; of a TENANT, all apps that both environments have are promoted. Versions of
    charts and refs of sources are copied, and stay where the file writes them: in an override, a variable, or a source.
    What else differs, such as replicas, stays different and is listed; --with copies it too.

    The evidence is what the management cluster of --from runs, with its kubeconfig from the settings of the stack.
    """
    made = _edit(file, subject, between["from"], between["to"], _paths(extra))
    required = require_ready or bool(soak)
    asked = True if required or kubeconfig or context else evidence
    proof = prove(
        file, made.fleet, made.apps, made.first, (kubeconfig, context), asked=asked, required=required, soak=soak
    )
    return _finished(made, proof, How(dry_run, output))


@dataclass(frozen=True, slots=True)
class _Edited:
    """What was edited, not written yet. fleet: as it was before. different: the settings that still differ.

    unknown: notes about the settings in `--with` that no app has.
    """

    editor: Editor
    fleet: Fleet
    apps: list[App]
    first: str
    second: str
    promoted: Promoted
    different: list[str]
    unknown: list[str]


def _edit(file: FilePath, subject: str, first: str, second: str, extra: list[Path]) -> _Edited:
    editor = Editor.open(file)
    with working(f"reading {file}"):
        fleet = load_fleet(file, editor.read_before)
        apps = promotable(fleet, _owner(Draft(editor), owner_of, subject, (first, second)), first, second)
        unknown = list(unknown_extra(fleet, apps, (first, second), extra))
        promoted = promote(editor, fleet, apps, first, second, extra)
        different = _check(editor, apps, first, second, extra)
    return _Edited(editor, fleet, apps, first, second, promoted, different, unknown)


def _finished(made: _Edited, proof: Proof, how: How) -> int:
    """Write the files, unless the evidence forbids it or there is nothing to write."""
    from tenantry.cli.documents.edits import Promotion

    about = Promotion(from_=made.first, to=made.second, evidence=proof.document(), different=made.different)
    more = {"promotion": about}
    if proof.refusal:
        return _refused(proof, how.output, more)
    notes = [*made.unknown, *made.promoted.notes, *proof.lines, *_left(made.different, made.second)]
    if made.editor.changes():
        return apply(made.editor, how, made.promoted.done, notes=notes, more=more)
    nothing = f"nothing to promote: {made.second} has the versions and refs of {made.first}"
    return _nothing("nothing can be promoted" if made.promoted.notes else nothing, how.output, notes, more)


def _paths(extra: tuple[str, ...]) -> list[Path]:
    return [parse_path(each) for each in extra]


def _owner(draft: Any, owner_of: Any, subject: str, environments: tuple[str, str]) -> Path:
    """Where the app or the tenant is declared. Raises: Refused: a name is not declared, or both environments are the same."""
    for each in environments:
        require(draft, Target(Kind.ENVIRONMENT, each))
    if environments[0] == environments[1]:
        raise Refused("--from and --to are the same environment", "name two environments")
    if subject == "defaults":
        raise Refused("'defaults' is no app", "name a tenant, TENANT/APP or platform/ADDON")
    path, _ = owner_of(draft, subject)
    found: Path = path
    return found


def _check(editor: Editor, apps: list[App], first: str, second: str, extra: list[Path]) -> list[str]:
    """The settings of the apps that differ after the edit. Raises: Refused: a setting that was promoted still differs."""
    fleet = load_fleet(editor.path, editor.read)
    if still := promote(editor, fleet, apps, first, second, extra).done:
        raise Refused(
            f"after the edit, this would be left to do: {still[0]}",
            f"see why: tenantry parity {first} {second}; then edit it with `tenantry set`",
        )
    return _different(fleet, apps, first, second)


def _different(fleet: Fleet, apps: list[App], first: str, second: str) -> list[str]:
    tenant = apps[0].at[1] if apps[0].at[0] == "tenants" else ""
    plans = [plan(fleet, each, Part(tenant)) for each in (first, second)]
    found = parity(fleet, plans[0], plans[1], [tenant], [each.at[-1] for each in apps])
    return [
        f"{one.tenant or 'platform'}/{one.app}: {change(each)}"
        for each in found.differences
        if each.path[0] in ("kustomize", "helm") and each.path[1:] != ("source",)
        for one in each.subjects
    ]


def _left(different: list[str], second: str) -> list[str]:
    """The settings that stay different, and how to copy them."""
    if not different:
        return []
    more = [f"and {len(different) - _MOST} more"] if len(different) > _MOST else []
    return [
        f"stays different in {second}; copy it with --with PATH:",
        *(f"  {each}" for each in [*different[:_MOST], *more]),
    ]


def _nothing(what: str, output: str, notes: list[str], more: Mapping[str, common.Part]) -> int:
    if output == "json":
        data_json(unwritten(more))
        return 0
    data(what)
    for each in notes:
        data(f"  {_printable(each)}")
    return 0


def _refused(proof: Proof, output: str, more: Mapping[str, common.Part]) -> int:
    if output == "json":
        data_json(unwritten(more))
    error(_printable(proof.refusal))
    for each in proof.lines:
        say(f"  {_printable(each)}")
    return 4


def _printable(text: str) -> str:
    return printable(text)
