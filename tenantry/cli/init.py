"""`tenantry init`: copies the directory that `pulumi new` takes too, and fills in the same placeholders and settings."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import yaml

from tenantry.cli.commands import Command
from tenantry.cli.editors import OF_THE_FLEET, schema_text
from tenantry.cli.options import NAME as FLEET
from tenantry.cli.output import data, say
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted, printable

_TEMPLATES = (Path(__file__).parents[1] / "template", Path(__file__).resolve().parents[2] / "templates" / "pulumi")
"""The template: in a wheel, where hatch_build.py puts it, and in the repository."""
PROJECT, STACK = "Pulumi.yaml", "Pulumi.dev.yaml"
_OF_THE_FLEET = re.compile(r"tenants\.yaml|Pulumi\.\w+\.yaml|content/.*")
"""Files that are of no use beside another tenants.yaml."""
_NEXT = """
Next:
  cd {directory}
  python3 -m venv .venv                    # Pulumi uses it too
  .venv/bin/pip install {wanted}
  . .venv/bin/activate
  tenantry validate                        # check tenants.yaml
  tenantry render dev                      # look at the objects
  tenantry sandbox tools                   # once: about 20 minutes, 17 GB
  tenantry sandbox up                      # real API servers and Flux
  tenantry sandbox run -- pulumi stack select --create dev
  tenantry sandbox run -- tenantry up dev  # apply it, wait until ready

README.md says how to get to real clusters."""


class _Name(click.ParamType[str]):
    """The name of a Pulumi project. A wrong answer is asked for again, without losing the others."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", value):
            self.fail(f"{value!r} is not a name of up to 100 letters, digits, '-', '_' and '.'", param, ctx)
        return str(value)


@click.command(
    "init",
    cls=Command,
    epilog="""\
Examples:
  tenantry init                ask, then write into this directory
  tenantry init fleet --yes    write into fleet/, with the defaults
  tenantry init fleet --kubeconfig hub-dev.kubeconfig

Exit codes:
  0    the project is written
  2    wrong usage, or the project cannot be written; nothing is written
  130  interrupted
""",
)
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="[DIR]")
@click.option("--name", type=_Name(), help="The name of the Pulumi project. Default: that of the directory.")
@click.option("--kubeconfig", metavar="FILE", help="That of dev's management cluster. Default: that of the sandbox.")
@click.option("--context", metavar="NAME", help="The context in it. Default: the current one.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: what no option says takes its default.")
def command(directory: Path, name: str | None, *, yes: bool, **given: str | None) -> int:
    """Write a new project for a fleet: tenants.yaml, the Pulumi project, a chart, pipelines, and content for the sandbox.

    On a terminal it asks what no option answers. Existing files stay as they are. The result runs in the sandbox at once.
    """
    root = next(filter(Path.is_dir, _TEMPLATES))
    template = yaml.safe_load((root / PROJECT).read_text(encoding="utf-8"))["template"]
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not yes
    default = re.sub("[^A-Za-z0-9_.-]+", "-", directory.absolute().name)[:100] or "fleet"
    project = name or (click.prompt("Name of the project", default, type=_Name(), err=True) if asks else default)
    config = dict(_settings(template["config"], given, asks=asks))
    texts = _texts(root, project, template["description"], config)
    kept = [path for path in texts if os.path.lexists(directory / path)]
    if FLEET in kept:
        texts = {path: text for path, text in texts.items() if path in kept or not _OF_THE_FLEET.fullmatch(path)}
    _write(directory, {path: text for path, text in texts.items() if path not in kept})
    sources = filter(None, map(_local_source, ("tenantry", "tenantry-sandbox")))
    wanted = " ".join([*(shlex.quote(str(source)) for source in sources), "-r requirements.txt"])
    next_steps = _NEXT.format(directory=shlex.quote(str(directory)), wanted=wanted).replace("  cd .\n", "")
    data(f"{counted(len(texts) - len(kept), 'file')} in {printable(str(directory.absolute()))}")
    say("".join(f"note: {path} exists and stays as it is\n" for path in kept) + next_steps)
    return 0


def _settings(declared: Mapping[str, Any], given: Mapping[str, str | None], *, asks: bool) -> Iterator[tuple[str, str]]:
    """The settings of stack dev that differ from the template. declared: those that the template asks for."""
    for key, setting in declared.items():
        default, answer = setting.get("default", ""), given[key.removeprefix("tenantry:")]
        if answer is None and asks:
            answer = click.prompt(setting["description"], default, show_default=bool(default), err=True)
        if answer and answer != default:
            yield key, answer


def _texts(root: Path, name: str, description: str, config: Mapping[str, str]) -> dict[str, str]:
    """The files by path, with the placeholders and settings filled in."""
    files = (file for file in root.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    texts = {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in sorted(files)}
    texts[PROJECT] = re.sub(r"^template:\n(?: .*\n)*", "", texts[PROJECT], flags=re.MULTILINE)
    texts[PROJECT] = texts[PROJECT].replace("${DESCRIPTION}", json.dumps(description)).replace("${PROJECT}", name)
    for key, value in config.items():
        others = re.sub(rf"^  {key}: .*\n", "", texts[STACK], flags=re.MULTILINE)
        texts[STACK] = f"{others}  {key}: {json.dumps(value)}\n"
    return {**texts, OF_THE_FLEET: schema_text(OF_THE_FLEET)}


def _write(directory: Path, texts: Mapping[str, str]) -> None:
    """Write new files, all or none. Raises: Refused: they cannot be written, or would lie elsewhere."""
    nearest = next(parent for parent in (directory.absolute(), *directory.absolute().parents) if parent.is_dir())
    try:
        # A full disk is noticed before the first file is in its place.
        with TemporaryDirectory(prefix=".tenantry-init-", dir=nearest) as staged:
            for number, (path, text) in enumerate(texts.items()):
                if not (directory / path).parent.resolve().is_relative_to(directory.resolve()):
                    raise Refused(f"{printable(path)} would lie outside of {directory}", "remove the symbolic link")
                Path(staged, str(number)).write_text(text, encoding="utf-8")
            for path in texts:
                (directory / path).parent.mkdir(parents=True, exist_ok=True)
            for number, path in enumerate(texts):
                shutil.move(Path(staged, str(number)), directory / path)
    except OSError as failure:
        raise Refused(f"{directory} cannot be written: {failure.strerror}", "choose another directory") from None


def _local_source(distribution: str) -> Path | None:
    """The wheel or the checkout on this machine that was installed. None: it came from a package index, or is gone."""
    installed = next(iter(distributions(name=distribution)), None)
    recorded = installed and installed.read_text("direct_url.json")
    address = urlsplit(json.loads(recorded)["url"] if recorded else "")
    path = Path(unquote(address.path))
    return path if address.scheme == "file" and path.exists() else None
