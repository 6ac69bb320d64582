"""From answers to the files of a project. Nothing here reads or writes the project's directory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tenantry import __version__
from tenantry.charts import OBJECTS
from tenantry.fleet.editor_schema import editor_schema
from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet, Refused
from tenantry.scaffold.answers import Answers
from tenantry.scaffold.installed import EXTRAS
from tenantry.scaffold.shared import shared
from tenantry.source.parse import parse

if TYPE_CHECKING:
    from jinja2 import Environment

FLEET = "tenants.yaml"
SCHEMA = "tenants.schema.json"
CHART = "charts/objects"
LOCK = "requirements.lock"
"""The packages that Tenantry needs, with hashes; `make lock` writes the copy beside this module."""
_TEMPLATES = Path(__file__).with_name("templates")
_AS_THEY_ARE = (".gitignore", "__main__.py")
_FILLED = (FLEET, "Pulumi.yaml", "README.md", "pyproject.toml", "requirements.txt", "tenantry.lock")
_OF_FORGE = {"github": (".github/workflows/fleet.yml",), "gitlab": (".gitlab-ci.yml",), "none": ()}


@dataclass(frozen=True, slots=True)
class File:
    """A file to be written, whole."""

    text: str
    executable: bool = False


def files(answers: Answers, *, template: bool = False) -> dict[str, File]:
    """All files of a project by their path, without the record.

    Args:    template: for `pulumi new`, which puts the project's name in.
    Raises:  Refused: the answers make an invalid fleet.
    """
    values = {**_values(answers), "template": template}
    texts = {path: _filled(path, values) for path in (*_AS_THEY_ARE, *_FILLED, *_OF_FORGE[answers.forge])}
    for name, _ in answers.environments:
        texts[f"Pulumi.{name}.yaml"] = _filled("Pulumi.stack.yaml", {**values, "environment": name})
    if answers.tenant:
        for name in ("kustomization.yaml", "web.yaml"):
            texts[f"content/git/{answers.owner}/{answers.tenant}/web/{name}"] = _filled(f"content/{name}", values)
    texts |= {LOCK: Path(__file__).with_name(LOCK).read_text(encoding="utf-8")}
    texts |= {SCHEMA: _schema(), **_chart(), **shared(answers.forge)}
    _check(texts[FLEET])
    return {path: File(texts[path], executable=_is_script(path)) for path in sorted(texts)}


def requirement() -> str:
    """The package that a project needs, in the versions that are compatible with the running one."""
    numbers = [int(number) for number in re.findall(r"\d+", __version__)[:3]]
    following = f"0.{numbers[1] + 1}" if numbers[0] == 0 else str(numbers[0] + 1)
    return f"tenantry[{EXTRAS}]>={__version__},<{following}"


def _values(answers: Answers) -> dict[str, Any]:
    """What the templates name: each answer, and what follows from them."""
    return {
        **{field.name: getattr(answers, field.name) for field in fields(answers)},
        "management": dict(answers.environments),
        "clusters": answers.clusters,
        "owner": answers.owner,
        "fleet": answers.fleet,
        "requirement": requirement(),
        "version": __version__,
    }


def _filled(path: str, values: Mapping[str, Any]) -> str:
    return str(_environment().get_template(f"{path}.j2").render(values))


@cache
def _environment() -> Environment:
    """Jinja, with marks that occur in no file: workflows, Flux and tenants.yaml have braces of their own."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
        autoescape=False,  # the files are not HTML
    )
    made.filters |= {"quoted": json.dumps, "word": _word}
    return made


def _word(name: str) -> str:
    """A name in YAML, in quotes if it would not be text without: `on`, `1e3`."""
    return name if yaml.safe_load(name) == name else json.dumps(name)


@cache
def _schema() -> str:
    return json.dumps(editor_schema(), indent=2) + "\n"


def _chart() -> dict[str, str]:
    """The chart for baselines, which Flux fetches from the fleet's own repository."""
    found = (file for file in OBJECTS.rglob("*") if file.is_file())
    return {f"{CHART}/{file.relative_to(OBJECTS).as_posix()}": file.read_text(encoding="utf-8") for file in found}


def _is_script(path: str) -> bool:
    return path.startswith(".ci/") and "." not in path.removeprefix(".ci/")


def _check(text: str) -> None:
    """Plan the fleet: what no single answer shows, such as a reserved name."""
    try:
        plan_all(fleet_of(parse(text.encode(), FLEET)))
    except InvalidFleet as invalid:
        first = invalid.diagnostics[0]
        raise Refused(f"these answers make an invalid fleet: {first.message}", first.fix) from None
