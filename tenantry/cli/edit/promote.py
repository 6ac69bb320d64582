"""`tenantry promote`: the edit, and the evidence that the first environment runs what is promoted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import click

from tenantry.cli.commands import Command
from tenantry.cli.duration import seconds
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import How, apply, edit_options, unwritten
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.management import connect_management, management_options
from tenantry.cli.options import full_name
from tenantry.cli.output import error, say, working
from tenantry.cli.parity import change
from tenantry.cluster.evidence import Evidence, evidence_of
from tenantry.cluster.status import age
from tenantry.edit.editor import Editor
from tenantry.edit.paths import parse_path
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.folding import fold, unfolded
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.promoted import App, unknown_extra
from tenantry.edit.subjects.promoting import promotable, promote, require_own_kept
from tenantry.edit.subjects.references import owner_of, require
from tenantry.explain.parity import Subject, parity
from tenantry.fleet.fleet import Fleet
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import counted, listed, printable
from tenantry.plan.plan import plan
from tenantry.plan.planner import Part
from tenantry.stacks.file import target_of

if TYPE_CHECKING:
    from tenantry.cli.documents.edits import PromotionEvidence

_MOST_SETTINGS, _MOST_PROBLEMS = 12, 5
"""The most that are listed."""


@click.command(
    "promote",
    cls=Command,
    epilog="""\
Examples:
  tenantry promote rocky/web --from dev --to prod --dry-run
  tenantry promote rocky --from dev --to prod
  tenantry promote class:small/web --from dev --to prod
  tenantry promote platform/dns --from staging --to prod
  tenantry promote rocky/web --from dev --to prod --with helm.values.image
  tenantry promote rocky/web --from dev --to prod --require-ready --soak 1h

Exit codes:
  0  success, or there is nothing to promote
  2  the edit cannot be made, and no file is changed
  4  --require-ready or --soak refuses it, and no file is changed
""",
)
@full_name("subject", "APP|TENANT|class:NAME", arguments.promotable)
@arguments.one("--from", "The environment whose versions are taken.", Kind.ENVIRONMENT, required=True)
@arguments.one("--to", "The environment that gets them.", Kind.ENVIRONMENT, required=True)
@click.option(
    "--with",
    "extra",
    multiple=True,
    metavar="PATH",
    help="Also copy this setting of the app, such as helm.values.image, or 'all' of them; repeatable.",
)
@click.option(
    "--fold/--no-fold",
    "folds",
    default=True,
    show_default=True,
    help="Write a value once, in the app itself, if all environments now have it; --no-fold keeps each override.",
)
@click.option(
    "--evidence/--no-evidence",
    default=None,
    help="Ask the management cluster of --from whether it runs these versions and is ready, or do not;"
    " default: ask if the settings of its stack name a kubeconfig.",
)
@click.option("--require-ready", is_flag=True, help="Refuse, unless --from runs exactly this and is ready.")
@click.option(
    "--soak",
    metavar="DURATION",
    callback=seconds,
    help="Refuse, unless it has been ready for so long, such as 1h or 90m.",
)
@management_options
@edit_options
@reads_file
def command(
    file: FilePath,
    subject: str,
    extra: tuple[str, ...],
    soak: float | None,
    kubeconfig: FilePath | None,
    context: str | None,
    output: str,
    *,
    folds: bool,
    evidence: bool | None,
    require_ready: bool,
    dry_run: bool,
    **between: str,
) -> int:
    """Edit tenants.yaml so that one environment gets the versions that another one has.

    APP is TENANT/APP, class:NAME/APP or platform/ADDON; of a TENANT, class:NAME or `platform`, all apps that both
    environments have are promoted. The app of a class changes for all of its tenants, except what a tenant sets itself.
    Versions of charts and refs of sources are copied, and stay where the file writes them: in an override, a variable, or
    a source. What else differs, such as replicas, stays different and is listed; --with copies it too.

    With --fold, an override that now says what the app itself says is removed, and what the overrides of all environments
    say becomes the app's own value. No cluster gets another value by that.

    The output ends with evidence: whether the environment of --from runs these versions and is ready, and since when. Its
    management cluster is asked for that, with the kubeconfig from the settings of its stack. --require-ready and --soak
    refuse a promotion without this evidence.
    """
    first, second = between["from"], between["to"]
    editor, settings = Editor.open(file), [parse_path(text) for text in extra]
    with working(f"reading {file}"):
        fleet = load_fleet(file, editor.read_before)
        apps = promotable(fleet, _owner(editor, subject, first, second), first, second)
        unknown = list(unknown_extra(fleet, apps, (first, second), settings))
        promoted = promote(editor, fleet, apps, first, second, settings)
        edited = load_fleet(file, editor.read)
        require_own_kept(fleet, edited, apps, second, settings)
        kept = unfolded(editor, edited, apps, second, settings) if folds else []
        folded = fold(editor, edited, apps, second, settings) if folds else []
        different = _different(editor, apps, first, second, settings)
    required = require_ready or soak is not None
    asked = True if required or kubeconfig or context else evidence
    if asked is None:
        asked = target_of(file.resolve().parent, first).kubeconfig is not None
    proof = _Proof(first, (), f"nothing was checked: --evidence asks the management cluster of {first}")
    if asked:
        try:
            planned = plan(fleet, first, Part(_tenant_of(apps)))
            with connect_management(file, first, kubeconfig, context, hubs=planned.hubs) as client:
                wanted = {at for app in apps for at in app.planned}
                own = [app for app in planned.apps if app.at in wanted]
                proof = _Proof(first, evidence_of(client, planned, own))
        except Refused as refused:
            if required:
                raise
            proof = _Proof(first, (), f"nothing was checked: {refused.message}")
    refusal = proof.refusal(soak or 0.0) if required else ""

    from tenantry.cli.documents.edits import Promotion

    more = {"promotion": Promotion(from_=first, to=second, evidence=proof.document(), different=different)}
    if refusal:
        unwritten(output, [], [], more)
        error(printable(refusal))
        for line in proof.lines:
            say(f"  {printable(line)}")
        return 4
    notes = [
        *_jumped(fleet, apps, subject, first, second),
        *unknown,
        *promoted.notes,
        *kept,
        *proof.lines,
        *_left(different, second),
    ]
    if editor.changes():
        return apply(editor, How(dry_run, output), [*promoted.done, *folded], more=more, made=Edit("", notes))
    nothing = f"nothing to promote: {second} has the versions and refs of {first}"
    unwritten(output, ["nothing can be promoted" if promoted.notes else nothing], notes, more)
    return 0


def _owner(editor: Editor, subject: str, first: str, second: str) -> Path:
    """Where the app or the tenant is declared. Raises: Refused: a name is not declared, or both environments are the same."""
    for environment in (first, second):
        require(editor, Target(Kind.ENVIRONMENT, environment))
    if first == second:
        raise Refused("--from and --to are the same environment", "name two environments")
    return (PLATFORM,) if subject == PLATFORM else owner_of(editor, subject)


def _jumped(fleet: Fleet, apps: Sequence[App], subject: str, first: str, second: str) -> list[str]:
    """A warning if the order of environments has others between the two that have the apps."""
    between: list[str] = []
    name = fleet.environments[second].before
    while name is not None and name != first:
        between.insert(0, name)
        name = fleet.environments[name].before
    passed = [each for each in between if any(app.placed(fleet, each) for app in apps)]
    if name is None or not passed:
        return []
    whom = f"{listed(passed)}, which {'is' if len(passed) == 1 else 'are'} between {first} and {second}"
    return [
        f"warning: this passes over {whom} (`after`); promote step by step:",
        f"  tenantry promote {subject} --from {first} --to {passed[0]}",
    ]


def _tenant_of(apps: Sequence[App]) -> str | None:
    """The tenant of the apps; "" for an add-on, None for a class."""
    if apps[0].of_class:
        return None
    return apps[0].at[1] if apps[0].at[0] == "tenants" else ""


def _different(editor: Editor, apps: Sequence[App], first: str, second: str, extra: Sequence[Path]) -> list[str]:
    """The settings of the apps that differ after the edit. Raises: Refused: a setting that was promoted still differs."""
    fleet = load_fleet(editor.main, editor.read)
    if still := promote(editor, fleet, apps, first, second, extra).done:
        raise Refused(
            f"after the edit, this would be left to do: {still[0]}",
            f"see why: tenantry parity {first} {second}; then edit it with `tenantry set`",
        )
    tenant = _tenant_of(apps)
    plans = [plan(fleet, environment, Part(tenant)) for environment in (first, second)]
    tenants = [tenant] if tenant is not None else list(dict.fromkeys(each for app in apps for each in app.tenants))
    found = parity(fleet, plans[0], plans[1], tenants, [app.at[-1] for app in apps])
    names = {at: str(app) for app in apps for at in app.planned}
    lines = (
        f"{_subject(subject, names)}: {change(difference)}"
        for difference in found.differences
        if difference.path[0] in ("kustomize", "helm") and difference.path[1:] != ("source",)
        for subject in difference.subjects
    )
    return list(dict.fromkeys(lines))


def _subject(subject: Subject, names: Mapping[tuple[str, ...], str]) -> str:
    """An app, or the class whose app it is. names: of the promoted apps, by what is planned of them."""
    at = ("tenants", subject.tenant, "apps", subject.app)
    return names.get(at, f"{subject.tenant or 'platform'}/{subject.app}")


def _left(different: Sequence[str], second: str) -> list[str]:
    """The settings that stay different, and how to copy them."""
    if not different:
        return []
    head = f"stays different in {second}; copy it with --with PATH:"
    return [head, *_indented(different, _MOST_SETTINGS)]


def _indented(lines: Sequence[str], most: int) -> list[str]:
    more = [f"and {len(lines) - most} more"] if len(lines) > most else []
    return [f"  {line}" for line in (*lines[:most], *more)]


@dataclass(frozen=True, slots=True)
class _Proof:
    """What the first environment runs of the apps. unchecked: why nothing was checked; "" if it was."""

    environment: str
    found: tuple[Evidence, ...]
    unchecked: str = ""

    def refusal(self, soak: float) -> str:
        """Why the promotion is refused; "" if it is not. soak: for how many seconds the apps have to be ready."""
        now = datetime.now(UTC)
        problems = [
            f"{_name(evidence)}: {told}" for evidence in self.found if (told := evidence.problem_after(soak, now))
        ]
        return (
            f"{self.environment} does not prove this promotion: {listed(problems, _MOST_PROBLEMS)}" if problems else ""
        )

    @property
    def lines(self) -> list[str]:
        """The evidence in words."""
        if self.unchecked:
            return [f"evidence: none, {self.unchecked}"]
        if problems := [f"{_name(evidence)}: {evidence.problem}" for evidence in self.found if evidence.problem]:
            head = f"evidence: {self.environment} does not run this, or is not ready:"
            return [head, *_indented(problems, _MOST_PROBLEMS)]
        youngest = max((evidence.since for evidence in self.found), default="")
        known = all(evidence.since for evidence in self.found)
        since = f", since {age(youngest, datetime.now(UTC))} ({youngest})" if known else ""
        clusters = counted(len({evidence.app.cluster for evidence in self.found}), "cluster")
        return [f"evidence: {self.environment} runs this and is ready on {clusters}{since}"]

    def document(self) -> PromotionEvidence:
        """The key `evidence` of the document."""
        from tenantry.cli.documents.edits import PromotionEvidence

        return PromotionEvidence(checked=not self.unchecked, reason=self.unchecked, apps=self.found)


def _name(evidence: Evidence) -> str:
    return f"{evidence.app.full_name} on {evidence.app.cluster}"
