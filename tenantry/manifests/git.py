"""Git repositories: resolves a `ref` as Flux does, and fetches one commit. Credentials are those of the user's own Git."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tenantry.manifests import artifact
from tenantry.manifests.cache import Cache
from tenantry.manifests.model import NotFetched, NotRendered, Options, require_url
from tenantry.manifests.programs import DOWNLOAD, NETWORK, OUTPUT, kept, run
from tenantry.versions.semver import highest

_OWN = (
    "HOME", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
    "GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_COUNT",
)  # fmt: skip
"""What Git needs to log in as the user has configured it."""
_SAFE = (
    "-c", "protocol.allow=never", "-c", "protocol.https.allow=always", "-c", "protocol.http.allow=always",
    "-c", "protocol.ssh.allow=always", "-c", "core.hooksPath=/dev/null",
    "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
)  # fmt: skip
_AS_COMMITTED = "* -filter -text -eol -ident -working-tree-encoding -diff -merge\n"
"""Attributes that take precedence over those of a repository."""
_URL = re.compile(r"(?:https?|ssh)://[^\s-][^\s]*")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECONDS = 120


def tags(git: tuple[str, ...], url: str) -> tuple[str, ...]:
    """The names of a repository's tags. Raises: NotFetched."""
    require_url(url, _URL)
    try:
        return _tags_of(_refs(git, url))
    except NotRendered as failed:
        raise NotFetched(f"git: {_cause(str(failed))}") from None


class GitSources:
    """Asks each server once for its refs."""

    def __init__(self, options: Options, cache: Cache) -> None:
        self._git = options.programs["git"]
        self._cache = cache

    def fetch(self, spec: Mapping[str, Any]) -> Path:
        """The files of a GitRepository. Raises: NotFetched."""
        url = spec["url"]
        require_url(url, _URL)
        if spec.get("include"):
            raise NotFetched("it includes other repositories, which is not supported here")
        try:
            wanted, commit = self._resolve(url, spec.get("ref") or {})
            key = f"git {url} {commit} {spec.get('ignore')!r} {bool(spec.get('recurseSubmodules'))}"
            return self._cache.directory(key, lambda into: self._checkout(spec, wanted, commit, into))
        except NotRendered as failed:
            raise NotFetched(f"git: {_cause(str(failed))}") from None

    def _resolve(self, url: str, ref: Mapping[str, str]) -> tuple[str, str]:
        """What to ask the server for, and its commit: commit before name, semver, tag, branch; default: branch master."""
        if commit := ref.get("commit"):
            if not _COMMIT.fullmatch(commit):
                raise NotFetched(f"'{commit}' is not the full hash of a commit")
            return commit, commit
        refs = _refs(self._git, url)
        if semver := ref.get("semver"):
            tag = highest(_tags_of(refs), semver)
            if tag is None:
                raise NotFetched(f"no tag of {url} is in the range '{semver}'")
            name = f"refs/tags/{tag}"
        elif tag := ref.get("tag"):
            name = f"refs/tags/{tag}"
        else:
            name = ref.get("name") or f"refs/heads/{ref.get('branch', 'master')}"
        commit = refs.get(f"{name}^{{}}") or refs.get(name)
        if commit is None:
            raise NotFetched(f"{url} has no {_readable(name)}")
        return name, commit

    def _checkout(self, spec: Mapping[str, Any], wanted: str, commit: str, into: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
            repository, tree, template = (Path(temporary, each) for each in ("repository", "tree", "template"))
            tree.mkdir()

            def git(*arguments: str, most: int = DOWNLOAD) -> bytes:
                places = (f"--git-dir={repository}", f"--work-tree={tree}")
                # Submodules are made from the template too.
                variables = {**_variables(), "GIT_TEMPLATE_DIR": str(template)}
                return run([*self._git, *_SAFE, *places, *arguments], tree, variables, seconds=_SECONDS, most=most)

            # What a repository's own .gitattributes name would run programs of the user's configuration. Flux has no filters.
            (template / "info").mkdir(parents=True)
            (template / "info" / "attributes").write_text(_AS_COMMITTED)
            git("init", "--quiet")
            git("fetch", "--quiet", "--depth=1", "--no-tags", "--", spec["url"], wanted)
            _check_size(git("ls-tree", "-r", "-l", "-z", commit, most=OUTPUT))
            git("-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", commit)
            if spec.get("recurseSubmodules"):
                git("submodule", "--quiet", "update", "--init", "--recursive", "--depth=1")
            artifact.take(tree, into, spec.get("ignore"), self._git)


def _check_size(listed: bytes) -> None:
    """Before anything is written: a few kilobytes of Git's objects can stand for any number of files of any size.

    Args: listed: what `git ls-tree -l -z` says. Raises: NotFetched.
    """
    files = [each.split(b"\t", 1)[0].split() for each in listed.split(b"\0") if each]
    size = sum(int(words[3]) for words in files if words[3].isdigit())  # a submodule has none
    if len(files) > artifact.MOST_FILES or size > artifact.MOST_BYTES:
        raise NotFetched(artifact.TOO_LARGE)


def _refs(git: tuple[str, ...], url: str) -> dict[str, str]:
    """The commit of each ref."""
    listed = run([*git, *_SAFE, "ls-remote", "--", url], Path("/"), _variables(), seconds=_SECONDS)
    lines = (line.split("\t", 1) for line in listed.decode(errors="replace").splitlines() if "\t" in line)
    return {name: commit for commit, name in lines if _COMMIT.fullmatch(commit)}


def _tags_of(refs: Iterable[str]) -> tuple[str, ...]:
    names = (ref.removeprefix("refs/tags/") for ref in refs if ref.startswith("refs/tags/"))
    return tuple(dict.fromkeys(name.removesuffix("^{}") for name in names))


def _variables() -> dict[str, str]:
    own = kept(*_OWN, *NETWORK)
    numbered = (f"GIT_CONFIG_{part}_{number}" for number in range(_count(own)) for part in ("KEY", "VALUE"))
    own |= kept(*numbered)
    own.setdefault("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
    return {**own, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}


def _count(variables: Mapping[str, str]) -> int:
    text = variables.get("GIT_CONFIG_COUNT", "0")
    return min(int(text), 100) if text.isdigit() else 0


def _readable(name: str) -> str:
    for prefix, what in (("refs/heads/", "branch"), ("refs/tags/", "tag")):
        if name.startswith(prefix):
            return f"{what} '{name.removeprefix(prefix)}'"
    return f"ref '{name}'"


def _cause(said: str) -> str:
    """The line with the cause. Git prints it last, behind hints of the server."""
    lines = [line.removeprefix("fatal: ").removeprefix("error: ") for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else said
