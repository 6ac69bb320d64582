"""The options of `tenantry diff --manifests`, and the rendering that they ask for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tenantry.cli import completers
from tenantry.cli.options import trust_sources
from tenantry.cli.output import working
from tenantry.compare.diff import Diff
from tenantry.manifests.cache import default_root
from tenantry.manifests.cage import OPEN, working_cage
from tenantry.manifests.changed import changed_apps
from tenantry.manifests.model import Options, Outcome
from tenantry.manifests.run import compare_manifests
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan, nothing_of

if TYPE_CHECKING:
    from tenantry.manifests.cage import Cage

_F = TypeVar("_F", bound=Callable[..., Any])
MOST = 10
"""For how many different values a release is rendered, without `--all`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of a command. None of them does anything without `--manifests`."""

    manifests: bool
    local: Mapping[str, Path]
    local_before: Mapping[str, Path]
    trust: bool


def options(command: _F) -> _F:
    """`--manifests` and the options about it, as one argument `wanted`."""
    for option in (
        trust_sources,
        click.option(
            "--source-before",
            "sources_before",
            multiple=True,
            metavar="NAME=DIR",
            shell_complete=completers.sources,
            help="The same for the side before the change alone.",
        ),
        click.option(
            "--source",
            "sources",
            multiple=True,
            metavar="NAME=DIR",
            shell_complete=completers.sources,
            help="Render from this directory instead of fetching the source NAME, such as rocky/manifests or"
            " platform/ingress; can be repeated.",
        ),
        click.option(
            "--manifests",
            is_flag=True,
            help="Also render what each changed app applies, before and after: fetches its sources, and needs"
            " kustomize and helm.",
        ),
    ):
        command = option(command)
    return command


def wanted(
    formats: Sequence[str],
    *,
    manifests: bool,
    sources: Sequence[str],
    sources_before: Sequence[str],
    trust_sources: bool,
) -> Wanted:
    """Raises: Refused: an option is malformed, or does nothing."""
    if (sources or sources_before) and not manifests:
        raise Refused("--source does nothing without --manifests", "add --manifests")
    if trust_sources and not manifests:
        raise Refused("--trust-sources does nothing without --manifests", "add --manifests")
    if manifests and not set(formats) & {"text", "markdown", "json"}:
        raise Refused(f"--output {formats[0]} cannot show manifests", "use --output text, markdown or json")
    return Wanted(manifests, dict(map(_named, sources)), dict(map(_named, sources_before)), trust_sources)


def _named(text: str) -> tuple[str, Path]:
    name, equals, directory = text.partition("=")
    owner, slash, source = name.partition("/")
    if not (equals and slash and owner and source and directory):
        raise Refused(f"'{text}' does not name a source", "write TENANT/SOURCE=DIRECTORY or platform/ADDON=DIRECTORY")
    path = Path(directory).expanduser()
    if not path.is_dir():
        raise Refused(f"{directory}: no such directory", "name the root of a local copy of the source")
    return name, path


def outcome(
    diffs: Iterable[Diff], before: Mapping[str, Plan], after: Mapping[str, Plan], wanted: Wanted, *, everything: bool
) -> Outcome | None:
    """Render both sides of all changed apps; None: nobody asked for it."""
    if not wanted.manifests:
        return None
    also = wanted.local_before.keys()
    apps = [
        app
        for diff in diffs
        for old, new in [_sides(diff.environment, before, after)]
        for app in changed_apps(diff, old, new, also)
    ]
    chosen = Options(
        cache=default_root(),
        programs=_programs(),
        cage=cage_for(trust=wanted.trust),
        local=wanted.local,
        local_before=wanted.local_before,
        workers=2 * (os.cpu_count() or 1),
        most=None if everything else MOST,
    )
    inside = f"in a cage ({chosen.cage.name})" if chosen.cage.name else "without a cage"
    with working(f"rendering changed apps {inside}") as tell:
        return compare_manifests(apps, chosen, lambda done, all: tell(f"{done:,} of {all:,} apps"))


def cage_for(*, trust: bool) -> Cage:
    """The cage that works here. Args: trust: whether to use none. Raises: Refused: none works."""
    return OPEN if trust else working_cage()


def _sides(name: str, before: Mapping[str, Plan], after: Mapping[str, Plan]) -> tuple[Plan, Plan]:
    old, new = before.get(name), after.get(name)
    known = new or old
    assert known
    return old or nothing_of(known), new or nothing_of(known)


def _programs() -> dict[str, tuple[str, ...]]:
    """The programs on PATH, else those that `tenantry sandbox tools` has built."""
    found: dict[str, tuple[str, ...]] = {name: (path,) for name in ("git", "helm") if (path := program(name))}
    if build := kustomize():
        found["kustomize"] = build
    if "git" not in found:
        raise Refused("the command 'git' is not installed", "install Git")
    return found


def kustomize() -> tuple[str, ...]:
    """The command that builds a directory; kubectl contains a kustomize. Empty: there is none."""
    if path := program("kustomize"):
        return (path, "build")
    kubectl = shutil.which("kubectl")
    return (kubectl, "kustomize") if kubectl else ()


def program(name: str) -> str | None:
    """The path of a program: on PATH, or as `tenantry sandbox tools` has built it."""
    if path := shutil.which(name):
        return str(Path(path).absolute())
    try:
        from tenantry.tools import locate
        from tenantry.tools.errors import ToolsError
    except ImportError:
        return None
    try:
        return str(locate.path_of(name))
    except ToolsError:
        return None
