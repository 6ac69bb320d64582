"""Placeholders: `{env}`, `{tenant}`, `{app}`, `{cluster}`, `{management}` and the variables of the environment and the cluster.

`{{` and `}}` stand for single braces. `${NAME}` is left as it is: Flux substitutes that after building.
An unknown name is an error, never an empty string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tenantry.messages.errors import MAX_PROBLEMS, Found, Path, Problem
from tenantry.messages.placeholders import TOKEN
from tenantry.messages.text import closest, declared

BUILT_IN = ("env", "tenant", "app", "cluster", "management")


def fill(value: Any, variables: Mapping[str, str], at: Path) -> Any:
    """A copy of plain data with the placeholders of all its strings filled in; keys of mappings are left alone.

    Args:   at: the path of the value, for errors.
    Raises: Found: one finding per string that cannot be filled in.
    """
    problems: list[Problem] = []
    filled = _fill(value, variables, at, problems)
    if problems:
        raise Found(problems)
    return filled


def _fill(value: Any, variables: Mapping[str, str], at: Path, problems: list[Problem]) -> Any:
    if isinstance(value, str):
        return _fill_text(value, variables, at, problems) if "{" in value or "}" in value else value
    if isinstance(value, dict):
        return {key: _fill(item, variables, (*at, key), problems) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item, variables, (*at, index), problems) for index, item in enumerate(value)]
    return value


def _fill_text(text: str, variables: Mapping[str, str], at: Path, problems: list[Problem]) -> str:
    def replace(match: re.Match[str]) -> str:
        token = match.group()
        if token.startswith("${"):
            return token
        if token in ("{{", "}}"):
            return token[0]
        name = match.group(1)
        if name in variables:
            return variables[name]
        if len(problems) <= MAX_PROBLEMS:
            problems.append(_problem(token, name, variables, at))
        return token

    return TOKEN.sub(replace, text)


def _problem(token: str, name: str | None, variables: Mapping[str, str], at: Path) -> Problem:
    if name is None:
        return Problem(at, "bad-placeholder", f"a single '{token}'", fix=f"write '{token * 2}' for a brace")
    # What is in braces and is no name is a text of another format, and may hold a secret.
    is_name = re.fullmatch(r"([A-Za-z_][\w.-]{0,62})?", name)
    near = closest(name, variables) if is_name else None
    meant = f"write '{{{near}}}'" if near else "correct the name"
    return Problem(
        at,
        "unknown-placeholder",
        f"placeholder '{{{name}}}' is not known here"
        if is_name
        else "a text in braces is not the name of a placeholder",
        (declared("known", name if is_name else "", variables),),
        fix=f"{meant}, declare it under the 'variables:' of the environment or cluster, or write '{{{{' and '}}}}' for braces",
    )
