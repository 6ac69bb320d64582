"""`tenantry update`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli import options
from tenantry.cli.commands import Command
from tenantry.cli.edit import arguments
from tenantry.cli.edit.apply import How, apply, edit_options, unwritten
from tenantry.cli.edit.asking import ask, warn
from tenantry.cli.fleet_file import reads_file
from tenantry.cli.output import data, data_json, working
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.draft import Draft
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.pins import survey, under
from tenantry.edit.subjects.raising import in_environment, pin_all, raise_all
from tenantry.edit.subjects.references import Target
from tenantry.edit.subjects.selecting import owner_of
from tenantry.edit.subjects.subjects import require
from tenantry.kube.names import PLATFORM
from tenantry.load import load_fleet
from tenantry.messages.errors import Refused
from tenantry.messages.text import listed, printable

if TYPE_CHECKING:
    from tenantry.cli.documents.common import Part
    from tenantry.cli.edit.asking import Unasked
    from tenantry.edit.editor import Editor
    from tenantry.edit.subjects.pins import Pin, Survey
    from tenantry.edit.subjects.raising import Raising
    from tenantry.messages.errors import Path
    from tenantry.versions.newer import Level


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

    Asks the sources for newer versions of charts, and for newer tags of Git and OCI sources. APP is TENANT/APP or
    platform/ADDON; default: all. Each version is raised where the file writes it: in an app, an override, a source or a
    variable. Commits, digests and branches stay.

    `updates` beside `version` or `ref` is the range of a version, such as `1.x`. Without it, a version is raised within its
    major, and below 1.0.0 within its minor. Pre-releases are taken only in place of a pre-release.
    """
    made = _edit(file, (*subjects, *tenants), environment, level, pin=pin)
    warn(made.unasked)
    if check and not dry_run:
        return _told(made, output, [f"would {each}" for each in made.raising.done])
    if made.raising.done:
        code = apply(made.editor, How(dry_run, output), made.raising.done, notes=made.notes, more=made.document())
    else:
        code = _told(made, output, [])
    return 1 if made.unasked or (check and made.raising.done) else code


@dataclass(frozen=True, slots=True)
class _Made:
    """What was edited, not written yet. looked: how many versions were compared."""

    editor: Editor
    raising: Raising
    unasked: list[Unasked]
    left: dict[str, list[str]]
    looked: int
    pinning: bool

    @property
    def nothing(self) -> str:
        if self.unasked and not self.looked:
            return "nothing is raised: no source could be asked"
        if self.pinning:
            return "nothing to pin: " + (
                "no app here follows a range" if not self.looked else "no range selects a version"
            )
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
            RaisedVersion(**_keys(each.pin), place=each.place, from_=each.old, to=each.new)
            for each in self.raising.raised
        ]
        beyond = [VersionBeyond(**_keys(pin), version=new) for pin, new in self.raising.beyond]
        left = [LeftApps(reason=why, apps=apps) for why, apps in self.left.items()]
        updates = Updates(raised=raised, beyond=beyond, unasked=self.unasked, left=left, notes=self.raising.notes)
        return {"updates": updates}


def _keys(pin: Pin) -> dict[str, Any]:
    """What all parts about a version say."""
    return {
        "of": [str(each) for each in pin.contents],
        "variable": pin.variable or None,
        "apps": [str(each) for each in pin.apps],
        "environments": pin.environments,
    }


def _edit(
    file: FilePath, subjects: Collection[str], environment: str | None, level: Level | None, *, pin: bool
) -> _Made:
    editor = Editor.open(file)
    with working(f"reading {file}"):
        fleet = load_fleet(file, editor.read_before)
        owners = _owners(editor, subjects, environment)
        found = survey(fleet)
    all_pins = found.ranges if pin else found.pins
    used = ((each, in_environment(each, environment).apps) for each in all_pins.values())
    pins = [each for each, apps in used if apps and under(apps, owners)]
    known, unasked = ask(dict.fromkeys(content for each in pins for content in each.contents))
    made = (
        pin_all(editor, pins, known, environment=environment)
        if pin
        else raise_all(editor, pins, known, level=level, environment=environment)
    )
    looked = sum(all(content in known for content in each.contents) for each in pins)
    return _Made(editor, made, unasked, _left(found, owners, pinning=pin), looked, pin)


def _left(found: Survey, owners: list[Path], *, pinning: bool) -> dict[str, list[str]]:
    """The apps with nothing to raise, by the reason."""
    ranges = [] if pinning else [app for each in found.ranges.values() for app in each.apps]
    left = {
        **{why: list(apps) for why, apps in found.left.items()},
        "a range, which --pin replaces by its version": ranges,
    }
    chosen = {why: [str(each) for each in dict.fromkeys(apps) if under([each], owners)] for why, apps in left.items()}
    return {why: apps for why, apps in chosen.items() if apps}


def _owners(editor: Editor, subjects: Collection[str], environment: str | None) -> list[Path]:
    """Where the named apps and tenants are declared. Raises: Refused: a name is not declared."""
    draft = Draft(editor)
    if environment:
        require(draft, Target(Kind.ENVIRONMENT, environment))
    if "defaults" in subjects:
        raise Refused("'defaults' is no app", "name a tenant, TENANT/APP or platform/ADDON")
    return [("platform", "addons") if each == PLATFORM else owner_of(draft, each)[0] for each in subjects]


def _told(made: _Made, output: str, lines: list[str]) -> int:
    """Print what is found, and write nothing. lines: what would be edited."""
    if output == "json":
        data_json(unwritten(made.document(), made.raising.done))
    else:
        for each in (*(lines or [made.nothing]), *(f"  {note}" for note in made.notes)):
            data(printable(each))
    return 1 if made.unasked or lines else 0
