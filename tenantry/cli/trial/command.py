"""`tenantry try`."""

from __future__ import annotations

import difflib
import webbrowser
from contextlib import chdir
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp

import click

from tenantry.cli.commands import Command
from tenantry.cli.fleet_file import NAME
from tenantry.cli.output import as_json, data, say
from tenantry.cli.trial.steps import BEFORE, EDITS, NEXT, PAGE, STEPS, Step
from tenantry.fleet.json_schema import json_schema
from tenantry.messages.errors import Refused


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
        (directory / "tenants.schema.json").write_text(as_json(json_schema()) + "\n", encoding="utf-8")
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
    return "\n".join(each for each in lines if not each.startswith("@@")) + "\n"
