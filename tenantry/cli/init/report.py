"""What `tenantry init` prints."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap

from tenantry.messages.text import counted, printable
from tenantry.scaffold.answers import Answers
from tenantry.scaffold.files import SCHEMA


def summary(paths: Sequence[str], directory: Path) -> str:
    """How many files, and where."""
    where = "this directory" if directory == Path() else printable(str(directory))
    names = wrap(", ".join(_grouped(paths)), 78, break_on_hyphens=False)
    return "\n  ".join((f"{counted(len(paths), 'file')} in {where}:", *names))


def _grouped(paths: Sequence[str]) -> list[str]:
    """Files at the top, and directories with a slash."""
    return list(
        dict.fromkeys(f"{first}/" if rest else first for first, _, rest in (each.partition("/") for each in paths))
    )


def shown(contents: Mapping[str, str]) -> str:
    """All files with their content; of the JSON Schema only how long it is."""
    return "\n".join(f"--- {printable(path)}\n{_content(path, text)}" for path, text in contents.items())


def _content(path: str, text: str) -> str:
    if path == SCHEMA:
        return f"({counted(text.count(chr(10)), 'line')})\n"
    return text


def next_steps(directory: Path, answers: Answers) -> list[tuple[str, str]]:
    """Commands in their order, each with what it is for."""
    first = answers.sandboxed
    steps = [(f"cd {shlex.quote(str(directory))}", "")] if directory != Path() else []
    if not (directory / ".venv").exists():
        steps += [
            ("python3 -m venv .venv", ""),
            (".venv/bin/pip install -r requirements.txt", "for Pulumi too"),
        ]
    return [
        *steps,
        (". .venv/bin/activate", ""),
        ("tenantry validate", "check tenants.yaml"),
        (f"tenantry render -e {first}", "look at the objects"),
        ("tenantry sandbox tools", "build the programs, once"),
        ("tenantry sandbox up", "real API servers and Flux"),
        (f"tenantry sandbox run -- pulumi stack select --create {first}", ""),
        (f"tenantry sandbox run -- tenantry up -e {first}", "apply it, wait until ready"),
    ]
