"""`tenantry try`: the commands that need no cluster, shown on the example fleet."""

from __future__ import annotations

import difflib
import webbrowser
from contextlib import chdir
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import NAME
from tenantry.cli.output import as_json, data, say
from tenantry.fleet.editor_schema import editor_schema
from tenantry.messages.errors import Refused


class Step(NamedTuple):
    """words: the command line after `tenantry`; code: its exit code; edits: whether the file is edited before it."""

    title: str
    text: str
    words: tuple[str, ...]
    code: int = 0
    edits: bool = False


BEFORE = "before.yaml"
PAGE = "change.html"
EDITS = (
    ("version: 1.x", "version: 2.x"),
    ("us-east-1: {helm: {values: {replicas: 4}}}", "us-east-1: {helm: {values: {replicas: 6}}}"),
    ("clusters: {names: [hub-dev, hub-prod]}", "clusters: {names: [hub-prod]}"),
)
"""Texts of tenants.yaml, and what takes their place."""
STEPS = (
    Step(
        "Check the file",
        "tenants.yaml declares environments, clusters, tenants and their apps. This\n"
        "checks every key and reference, and plans all environments.",
        ("validate",),
    ),
    Step(
        "See what runs where",
        "Apps select clusters by name or label, so no list of placements is written.",
        ("list", "placements"),
    ),
    Step(
        "Render the objects",
        "These are the Flux and Kubernetes objects that `tenantry up` applies, one file\n"
        "for each. You can read, grep and commit them.",
        ("render", "--directory", "rendered"),
    ),
    Step(
        "Ask where a setting comes from",
        "Each value of an app names the line that sets it, after all overrides.",
        ("explain", "movy", "web", "--environment", "prod", "--cluster", "us-east-1"),
    ),
    Step(
        "Change the file and see what the change does",
        "Three lines of tenants.yaml are edited now. A review starts with what would be\n"
        f"deleted, then lists each change with its clusters. {PAGE} shows the same\n"
        "as a page to filter and click through. Exit code 1 means differences.",
        ("diff", BEFORE, "--also", f"html={PAGE}"),
        code=1,
        edits=True,
    ),
)
NEXT = """\
Everything is in {directory}
Edit tenants.yaml there and run the commands again. `tenantry COMMAND --help` has
more examples.

Next:
  tenantry init my-fleet    start a project of your own
  tenantry --help           all commands, with a first session
"""


@click.command(
    "try",
    cls=Command,
    epilog="""\
Examples:
  tenantry try                     in a new temporary directory, which is kept
  tenantry try --directory demo    in ./demo, which must be empty
  tenantry try --open              also open the page about the change

Exit codes:
  0  success
  2  the directory is not empty, or cannot be written
""",
)
@click.option(
    "-d",
    "--directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where to put the example; new or empty. Default: a new temporary directory.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page about the change in a browser.")
@click.pass_context
def command(context: click.Context, directory: Path | None, *, opens: bool) -> int:
    """Show Tenantry on an example fleet, in a few seconds.

    Runs validate, list, render, explain and diff one after the other, with the command line of each. Needs no
    cluster, no Pulumi and no network. The files stay, so you can go on from there.
    """
    directory = _directory(directory).absolute()
    _write_example(directory)
    data(f"The example fleet is in {directory}")
    tenantry = context.find_root().command
    with chdir(directory):
        for number, step in enumerate(STEPS, 1):
            _show(tenantry, number, step)
    data("\n" + NEXT.format(directory=directory).rstrip())
    if opens and not webbrowser.open((directory / PAGE).as_uri()):
        say(f"no browser was found; open {directory / PAGE}")
    return 0


def _directory(given: Path | None) -> Path:
    try:
        if given is None:
            return Path(mkdtemp(prefix="tenantry-try-"))
        given.mkdir(parents=True, exist_ok=True)
        empty = not any(given.iterdir())
    except OSError as failure:
        raise Refused(f"cannot write to {given}: {failure.strerror}", "name another directory") from None
    if not empty:
        raise Refused(f"{given} is not empty", "name a new directory, or omit --directory")
    return given


def _write_example(directory: Path) -> None:
    text = files(__package__).joinpath(NAME).read_text(encoding="utf-8")
    try:
        (directory / NAME).write_text(text, encoding="utf-8")
        (directory / "tenants.schema.json").write_text(as_json(editor_schema()) + "\n", encoding="utf-8")
    except OSError as failure:
        raise Refused(f"cannot write to {directory}: {failure.strerror}", "name another directory") from None


def _show(tenantry: click.Command, number: int, step: Step) -> None:
    data("\n" + click.style(f"{number}. {step.title}", bold=True) + f"\n\n{step.text}\n")
    if step.edits:
        data(_edit())
    data(click.style(f"$ tenantry {' '.join(step.words)}", fg="cyan"))
    name, *rest = step.words
    code = tenantry.main([name, "--file", NAME, *rest], prog_name="tenantry", standalone_mode=False)
    assert code == step.code, f"`tenantry {' '.join(step.words)}` ended with {code}"


def _edit() -> str:
    """Keep the file under another name and edit it; returns the difference."""
    before = after = Path(NAME).read_text(encoding="utf-8")
    for old, new in EDITS:
        assert after.count(old) == 1, f"the example has no single {old!r}"
        after = after.replace(old, new)
    Path(BEFORE).write_text(before, encoding="utf-8")
    Path(NAME).write_text(after, encoding="utf-8")
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), BEFORE, NAME, n=0, lineterm="")
    return "\n".join(line for line in lines if not line.startswith("@@")) + "\n"
