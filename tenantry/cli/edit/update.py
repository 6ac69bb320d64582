"""`tenantry update`: asks the sources of apps which versions they have, and raises those that the file pins."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.diff.manifest_options import program
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import How, apply, edit_options, unwritten
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.output import say, working
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.names import Kind, Target
from tenantry.edit.subjects.pins import Content, survey, under
from tenantry.edit.subjects.promoted import planned_of
from tenantry.edit.subjects.raising import Known, in_environment, pin_all, raise_all
from tenantry.edit.subjects.references import owner_of, require
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.manifests.model import NotFetched
from tenantry.manifests.versions import Question, ask_all
from tenantry.messages.redact import presentable
from tenantry.messages.text import counted, grouped, listed, printable

if TYPE_CHECKING:
    from tenantry.cli.documents.common import Part
    from tenantry.edit.subjects.pins import Pin, Survey
    from tenantry.edit.subjects.raising import Raising
    from tenantry.messages.errors import Path
    from tenantry.versions.newer import Level


_KINDS = {"chart": "HelmRepository", "oci-chart": "HelmRepository", "oci": "OCIRepository", "git": "GitRepository"}


@click.command(
    "update",
    cls=Command,
    epilog="""\
Examples:
  tenantry update --dry-run
  tenantry update rocky/web
  tenantry update --tenant rocky --to patch
  tenantry update platform/dns --to major
  tenantry update --environment dev
  tenantry update --pin rocky/web
  tenantry update --check                    in a pipeline

Exit codes:
  0  the versions are raised, or there is nothing newer
  1  with --check: there is something newer; or a source cannot be asked,
     and the versions of the others are raised
  2  the edit cannot be made, and no file is changed
""",
)
@click.argument("subjects", nargs=-1, metavar="[APP|TENANT]...", shell_complete=arguments.updatable)
@options.tenant_names("Only the apps of this tenant, or 'platform'; repeatable.")
@options.environment("Raise only what this environment takes, and nothing of the others.")
@click.option(
    "--to",
    "level",
    type=click.Choice(("patch", "minor", "major")),
    help="How far a version may go; default: minor, below 1.0.0 patch, or what 'updates' says.",
)
@click.option(
    "--pin", is_flag=True, help="Write the exact version in place of a range, and keep the range as 'updates'."
)
@click.option("--check", is_flag=True, help="Write nothing, and exit with code 1 if there is something newer.")
@edit_options
@reads_file
def command(
    file: FilePath,
    subjects: tuple[str, ...],
    tenants: tuple[str, ...],
    environment: str | None,
    level: Level | None,
    output: str,
    *,
    pin: bool,
    check: bool,
    dry_run: bool,
) -> int:
    """Edit tenants.yaml so that apps get the newest versions within their ranges.

    Asks the sources for newer versions of charts, and for newer tags of Git and OCI sources. APP is TENANT/APP,
    class:NAME/APP or platform/ADDON; default: all. Each version is raised where the file writes it: in an app, an override,
    a source or a variable. Commits, digests and branches stay.

    `updates` beside `version` or `ref` is the range of a version, such as `1.x`. Without it, a version is raised within its
    major, and below 1.0.0 within its minor. Pre-releases are taken only in place of a pre-release.
    """
    named = options.in_one_word(click.get_current_context(), subjects)
    made = _edit(file, (*named, *tenants), environment, level, pin=pin)
    done = made.raising.done
    _warn(made.unasked)
    if done and (dry_run or not check):
        apply(made.raising.editor, How(dry_run, output), done, more=made.document(), made=Edit("", made.notes))
    else:
        unwritten(output, [f"would {edit}" for edit in done] or [made.nothing], made.notes, made.document(), done)
    return 1 if made.unasked or (check and done) else 0


@dataclass(frozen=True, slots=True)
class _Made:
    """What was edited, not written yet. looked: how many versions were compared."""

    raising: Raising
    unasked: list[_Unasked]
    left: dict[str, list[str]]
    looked: int
    pinning: bool

    @property
    def nothing(self) -> str:
        if self.unasked and not self.looked:
            return "nothing is raised: no source could be asked"
        if self.pinning:
            why = "no range selects a version" if self.looked else "no app here follows a range"
            return f"nothing to pin: {why}"
        if not self.looked:
            return "nothing to raise: no app here is pinned to a version"
        stay = "the version is" if self.looked == 1 else f"{self.looked} versions are"
        return f"nothing to raise: {stay} the newest in {'its range' if self.looked == 1 else 'their ranges'}"

    @property
    def notes(self) -> list[str]:
        beyond = (
            f"newer, but out of range: {listed(pin.contents)} {new} for {listed(pin.apps)}"
            for pin, new in self.raising.beyond
        )
        left = (f"left alone, {why}: {listed(apps)}" for why, apps in self.left.items())
        return [*self.raising.notes, *dict.fromkeys(beyond), *left]

    def document(self) -> dict[str, Part]:
        """The key `updates` of the document."""
        from tenantry.cli.documents.edits import LeftApps, RaisedVersion, Updates, VersionBeyond

        raised = [
            RaisedVersion(**_keys(edit.pin), place=edit.place, from_=edit.old, to=edit.new)
            for edit in self.raising.raised
        ]
        beyond = [VersionBeyond(**_keys(pin), version=new) for pin, new in self.raising.beyond]
        left = [LeftApps(reason=why, apps=apps) for why, apps in self.left.items()]
        updates = Updates(raised=raised, beyond=beyond, unasked=self.unasked, left=left, notes=self.raising.notes)
        return {"updates": updates}


def _keys(pin: Pin) -> dict[str, Any]:
    """What all parts about a version say."""
    return {
        "of": list(map(str, pin.contents)),
        "variable": pin.variable or None,
        "apps": list(map(str, pin.apps)),
        "environments": pin.environments,
    }


def _edit(
    file: FilePath, subjects: Collection[str], environment: str | None, level: Level | None, *, pin: bool
) -> _Made:
    editor = Editor.open(file)
    with working(f"reading {file}"):
        fleet = load_fleet(file, editor.read_before)
        if environment:
            require(editor, Target(Kind.ENVIRONMENT, environment))
        owners: list[Path] = [
            at
            for subject in subjects
            for at in (
                [("platform", "addons")] if subject == PLATFORM else planned_of(fleet, owner_of(editor, subject))
            )
        ]
        found = survey(fleet)
    written = found.ranges if pin else found.pins
    taken = {at: in_environment(each, environment).apps for at, each in written.items()}
    pins = [each for at, each in written.items() if taken[at] and under(taken[at], owners)]
    known, unasked = _ask(dict.fromkeys(content for each in pins for content in each.contents))
    made = (
        pin_all(editor, pins, known, environment=environment)
        if pin
        else raise_all(editor, pins, known, level=level, environment=environment)
    )
    looked = sum(all(content in known for content in each.contents) for each in pins)
    return _Made(made, unasked, _left(found, owners, pinning=pin), looked, pin)


def _left(found: Survey, owners: list[Path], *, pinning: bool) -> dict[str, list[str]]:
    """The apps with nothing to raise, by the reason."""
    ranges = [] if pinning else [app for pin in found.ranges.values() for app in pin.apps]
    left = {**found.left, "a range, which --pin replaces by its version": dict.fromkeys(ranges)}
    chosen = {why: [str(app) for app in apps if under([app], owners)] for why, apps in left.items()}
    return {why: apps for why, apps in chosen.items() if apps}


# --- asking the sources -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Unasked:
    """Sources that cannot be asked, for the same reason."""

    kind: str
    sources: tuple[str, ...]
    reason: str
    fix: str


def _ask(contents: Iterable[Content]) -> tuple[Known, list[_Unasked]]:
    """The versions of each source, and the sources that cannot be asked."""
    questions = {content: _question(content) for content in contents}
    programs = {name: (path,) for name in ("git", "helm") if (path := program(name))}
    distinct = dict.fromkeys(questions.values())
    with working(f"asking {counted(len(distinct), 'source')} for newer versions") as tell:
        answers = ask_all(distinct, programs, lambda done, all: tell(f"{done} of {all}"))
    known, failed = {}, []
    for content, question in questions.items():
        answer = answers[question]
        if isinstance(answer, NotFetched):
            failed.append((content, answer))
        else:
            # A tag cannot contain the `+` of a version, so Helm writes `_` in its place.
            is_chart = content.kind == "oci-chart"
            known[content] = frozenset(version.replace("_", "+") for version in answer) if is_chart else answer
    return known, _unasked(failed)


def _question(content: Content) -> Question:
    """What to ask for; the address of a chart in a registry has its name."""
    if content.kind == "oci-chart":
        return Question("oci", content.url, "", content.insecure)
    return Question(content.kind, content.url, content.chart, content.insecure)


def _unasked(failed: Iterable[tuple[Content, NotFetched]]) -> list[_Unasked]:
    def cause(pair: tuple[Content, NotFetched]) -> tuple[str, str, str]:
        content, failure = pair
        first_line = failure.message.strip().split("\n", 1)[0]  # it can quote what the source answered
        return _KINDS[content.kind], printable(presentable(first_line, 300)), failure.fix or _fix(content)

    return [
        _Unasked(kind, tuple(dict.fromkeys(content.source for content, _ in own)), reason, fix)
        for (kind, reason, fix), own in grouped(failed, cause).items()
    ]


def _warn(unasked: Iterable[_Unasked]) -> None:
    """One warning for each reason, on stderr."""
    warning = click.style("warning:", fg="yellow", bold=True)
    for group in unasked:
        names = printable(listed(f"'{source}'" for source in group.sources))
        say(f"{warning} {group.kind} {names} cannot be asked: {group.reason}")
        say(f"  fix: {printable(group.fix)}")


def _fix(content: Content) -> str:
    host = content.url.partition("://")[2].partition("/")[0]
    match content.kind:
        case "git":
            return f"check that this machine can read it: git ls-remote {content.url}"
        case "chart":
            by_hand = "if the repository asks for a password, raise its charts with `tenantry set`"
            return f"check 'url' of the source; {by_hand}"
    return f"check 'url' of the source, and log in if it asks for a password: docker login {host}"
