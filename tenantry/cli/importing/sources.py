"""The sources that `tenantry import` reads, as they are named on the command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from tenantry.cli.progress import working
from tenantry.importing.documents import MOST_BYTES, Placed, objects_in
from tenantry.importing.reading import objects_below
from tenantry.kube.names import dns_label_problem
from tenantry.messages.errors import Refused

_CONTEXT = "context:"


class Source(NamedTuple):
    """`NAME=SOURCE` of the option `--environment`."""

    environment: str
    text: str


def sources_of(options: Sequence[str]) -> list[Source]:
    """Raises: click.UsageError: an option is malformed."""
    found = [Source(*_named(each, "--environment", "NAME=SOURCE")) for each in options]
    if sum(each.text == "-" for each in found) > 1:
        raise click.UsageError("'-' reads stdin, which can be read once")
    return found


def management_of(options: Sequence[str], sources: Sequence[Source]) -> dict[str, str]:
    """The management cluster of each environment: named like the environment, unless an option names it."""
    found = {each.environment: each.environment for each in sources}
    for option in options:
        environment, cluster = _named(option, "--cluster", "ENVIRONMENT=NAME")
        if environment not in found:
            raise click.UsageError(f"--cluster {option}: '--environment {environment}=SOURCE' is not given")
        found[environment] = cluster
        _check(cluster, "cluster")
    return found


def _named(option: str, name: str, form: str) -> tuple[str, str]:
    key, equals, value = option.partition("=")
    if not (key and equals and value):
        raise click.UsageError(f"{name} {option}: write {form}")
    _check(key, "environment")
    return key, value


def _check(name: str, what: str) -> None:
    if problem := dns_label_problem(name):
        raise click.UsageError(
            f"'{name}' cannot be the name of {'an' if what == 'environment' else 'a'} {what}: {problem}"
        )


def objects_of(source: Source, kubeconfig: Path | None, *, trust: bool) -> list[Placed]:
    """All objects of a source. Args: trust: whether kustomize runs without a cage.

    Raises: Refused: it cannot be read, or is invalid.
    """
    with working(f"reading {source.text}"):
        if source.text == "-":
            return list(objects_in(sys.stdin.buffer.read(MOST_BYTES + 1), "stdin"))
        if source.text.startswith(_CONTEXT):
            return _live(source.text.removeprefix(_CONTEXT) or None, kubeconfig)
        path = Path(source.text).expanduser()
        if path.is_dir():
            root = _root_of(path.resolve())
            return list(objects_below(path, root, lambda directory: _build(root, directory, trust=trust)))
        if path.is_file():
            return list(objects_in(path.read_bytes(), str(path)))
    fix = "name a directory, a file, '-' for stdin, or context:NAME for a context of the kubeconfig"
    raise Refused(f"{source.text}: no such directory", fix)


def _live(context: str | None, kubeconfig: Path | None) -> list[Placed]:
    from tenantry.cluster.connect import answering, connect
    from tenantry.importing.reading import objects_on

    with connect(kubeconfig, context) as client, answering(client.config):
        return list(objects_on(client))


def _root_of(directory: Path) -> Path:
    """The source that a directory is part of: the Git repository around it, else the directory itself."""
    return next((each for each in (directory, *directory.parents) if (each / ".git").exists()), directory)


def _build(root: Path, directory: Path, *, trust: bool) -> bytes:
    """What kustomize builds of a directory. Raises: Refused."""
    from tenantry.cli.diff.manifest_options import cage_for
    from tenantry.manifests.kustomize import build_part
    from tenantry.manifests.model import NotFetched, NotRendered

    try:
        return build_part(root, directory, _kustomize(), cage_for(trust=trust))
    except NotFetched as missing:
        raise Refused(f"{directory} cannot be built: {missing.message}", missing.fix) from None
    except NotRendered as failed:
        fix = "correct it, or name another directory"
        if str(failed).endswith("leaves the source") and not (root / ".git").exists():
            fix = (
                "a source is a Git repository, or the directory itself outside of one: run `git init` in the directory"
                " that holds both"
            )
        raise Refused(f"{directory} cannot be built: {failed}", fix) from None


def _kustomize() -> tuple[str, ...]:
    """kustomize, which kubectl contains too."""
    from tenantry.cli.diff.manifest_options import program

    if path := program("kustomize"):
        return (path, "build")
    if path := shutil.which("kubectl"):
        return (path, "kustomize")
    raise Refused(
        "kustomize is not installed", "install kustomize or kubectl, or run `tenantry sandbox tools kustomize`"
    )
