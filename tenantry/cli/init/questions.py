"""The questions of `tenantry init`. An option answers one; on a terminal the others are asked; otherwise they take a default."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tenantry.compare.git import Repository
from tenantry.messages.errors import Refused
from tenantry.scaffold.answers import (
    DEFAULT_ENVIRONMENTS,
    DEFAULT_REPOSITORY,
    DEFAULT_TENANT,
    FORGES,
    Answers,
    parent_of,
    project_name,
    public,
)

NOTHING = "-"
"""What to type for no tenant or no remote clusters, where an empty line means the default."""


@dataclass(frozen=True, slots=True)
class Given:
    """What the options say; None: not given. `tenant` is empty, or `-`, for none."""

    name: str | None
    environments: Sequence[str]
    remotes: Sequence[str]
    repository: str | None
    tenant_repositories: str | None
    tenant: str | None
    forge: str | None
    port: int


def answers(directory: Path, given: Given, *, asks: bool) -> Answers:
    """Raises: Refused: an answer cannot be used."""
    ask = _ask if asks else _take
    origin, prefix = _around(directory)
    environments = _environments(given, ask)
    remotes = _remotes(given, ask, environments[0][0])
    repository = given.repository or ask("URL of this fleet's repository", origin or DEFAULT_REPOSITORY)
    siblings = given.tenant_repositories or ask("Tenants' repositories are below", parent_of(repository))
    tenant = given.tenant if given.tenant is not None else ask(f"First tenant ({NOTHING} for none)", DEFAULT_TENANT)
    return Answers(
        given.name or project_name(directory.absolute().name),
        environments,
        remotes,
        repository.rstrip("/"),
        siblings.rstrip("/"),
        tenant if tenant not in ("", NOTHING) else None,
        _forge(given, ask, repository, prefix),
        given.port,
        prefix,
    )


Ask = Callable[[str, str], str]


def _ask(question: str, default: str) -> str:
    return str(click.prompt(question, default=default, err=True)).strip()


def _take(_: str, default: str) -> str:
    return default


def _environments(given: Given, ask: Ask) -> tuple[tuple[str, str], ...]:
    named = given.environments or _words(
        ask("Environments, in the order in which changes reach them", " ".join(DEFAULT_ENVIRONMENTS))
    )
    pairs = [_pair(each, "environment") for each in named]
    return tuple((name, cluster or ask(f"Management cluster of {name}", f"hub-{name}")) for name, cluster in pairs)


def _remotes(given: Given, ask: Ask, environment: str) -> tuple[tuple[str, str], ...]:
    named = given.remotes
    if not named:
        typed = ask(f"Remote clusters, such as edge-1={environment} ({NOTHING} for none)", NOTHING)
        named = [each for each in _words(typed) if each != NOTHING]
    return tuple(
        (name, of or environment) for name, of in (_pair(each, "remote cluster") for each in named if each != NOTHING)
    )


def _words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _pair(text: str, what: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name:
        raise Refused(
            f"'{text}' does not begin with the name of an {what}".replace("an remote", "a remote"), "write NAME=VALUE"
        )
    return name, value


def _forge(given: Given, ask: Ask, repository: str, prefix: str) -> str:
    if prefix:
        if given.forge not in (None, "none"):
            message = (
                f"this directory is '{prefix}' in its repository, but {given.forge} reads workflows at the top only"
            )
            raise Refused(message, "run it at the top of the repository, or with --forge none")
        return "none"
    return given.forge or ask(f"Pipelines for ({', '.join(FORGES)})", "gitlab" if "gitlab" in repository else "github")


def _around(directory: Path) -> tuple[str, str]:
    """The URL of the repository around a directory, and the directory in it."""
    nearest = next(each for each in (directory.absolute(), *directory.absolute().parents) if each.is_dir())
    try:
        repository = Repository(nearest)
    except Refused:
        return "", ""
    remote = repository.run("remote", "get-url", "origin")
    below = directory.absolute().relative_to(nearest).as_posix()
    prefix = repository.prefix + (f"{below}/" if below != "." else "")
    return (public(remote.stdout.decode(errors="replace").strip()) if remote.returncode == 0 else ""), prefix
