"""Which revisions a source or a chart can have: tags and digests of registries, references and commits of Git, versions and ranges.

Flux asks for any text, and finds nothing. It puts tags and digests into the path of a URL, where `../../x` is another repository.
Source: the grammars of OCI's distribution specification, of `git check-ref-format`, and of github.com/Masterminds/semver v3
(constraints.go), which Helm and Flux use.

Called by: the rules, about what is written; the plan, about finished specs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Problem
from tenantry.messages.problems import empty_string, shown
from tenantry.messages.redact import shorten

_PART = r"(?:[0-9]+|[xX*])"
_TAIL = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION = rf"v?{_PART}(?:\.{_PART}){{0,2}}(?:-{_TAIL})?(?:\+{_TAIL})?"
_BOUND = rf"(?:=>|>=|=<|<=|~>|!=|[=<>~^])?\s*{_VERSION}"
_RANGE = re.compile(rf"\s*(?:{_VERSION}\s+-\s+{_VERSION}|{_BOUND}(?:(?:\s+|\s*,\s*){_BOUND})*)\s*")
"""One alternative of a range."""

_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
"""Flux reads no other algorithm, and no capital letters."""
_TAGGED = re.compile(r"[^@]*@(sha256:[0-9a-f]{64})")
_COMMIT = re.compile(r"[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?")
_NOT_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//")
_NAMED = {" ": "space", "\\": "backslash"}
_SHORT_COMMIT = re.compile(r"[0-9a-fA-F]{4,39}")
_STARTS = {"refs/heads/": "branch", "refs/tags/": "tag"}


def revision_problems(kind: str, spec: Mapping[str, Any]) -> Iterator[Problem]:
    """The revisions of a spec that nothing can have."""
    ref = {key: text for key, text in mapping_at(spec, "ref").items() if isinstance(text, str)}
    yield from (empty_string(("ref", key)) for key, text in ref.items() if not text)
    ref = {key: text for key, text in ref.items() if text}
    version, path = (
        (spec.get("version"), ("version",)) if kind == "HelmChart" else (ref.get("semver"), ("ref", "semver"))
    )
    if isinstance(version, str) and not all(map(_RANGE.fullmatch, version.split("||"))):
        fix = "write a version such as '1.2.3', or a range such as '1.x' or '*'"
        yield Problem(path, "no-version", f"{shown(version)} is not a version or a range of versions", fix=fix)
    problems = _of_git(ref) if kind == "GitRepository" else _of_registry(ref) if kind == "OCIRepository" else ()
    yield from (
        Problem(("ref", key), "bad-ref", f"{shown(ref[key])} is {what}", fix=fix) for key, what, fix in problems
    )


_Bad: TypeAlias = tuple[str, str, str]
"""A key of `ref`, what its value is instead, and what to write."""


def _of_registry(ref: Mapping[str, str]) -> Iterator[_Bad]:
    tag, digest = ref.get("tag", "_"), ref.get("digest")
    if not _TAG.fullmatch(tag):
        fix = "write the tag alone"
        if tagged := _TAGGED.fullmatch(tag):
            fix = f"write 'digest: {tagged[1]}' instead of 'tag:'"
        elif "+" in tag and _TAG.fullmatch(spelled := tag.replace("+", "_")):
            fix = f"write '{spelled}': registries take no '+', so `helm push` writes '_' for it"
        yield "tag", "not a tag, which has letters, digits, '_', '.' and '-', at most 128, and no '.' or '-' first", fix
    if digest is not None and not _DIGEST.fullmatch(digest):
        whole = "the whole digest, as `crane digest` or `flux push artifact` prints it"
        fix = f"write {'it in small letters' if _DIGEST.fullmatch(digest.lower()) else whole}"
        yield "digest", "not a digest, which is 'sha256:' and 64 digits from 0 to 9 and a to f", fix


def _of_git(ref: Mapping[str, str]) -> Iterator[_Bad]:
    for start, key in ((start, key) for start, key in _STARTS.items() if key in ref):
        text = ref[key]
        if text.startswith("refs/"):
            why = f"a full reference, and '{key}' takes a name: Flux would look for '{start}{shorten(text)}'"
            of = next((of for of in _STARTS if text.startswith(of)), "")
            meant = f"'{_STARTS[of]}: {text.removeprefix(of)}'" if of else f"'name: {text}'"
            yield key, why, f"write {meant}"
        elif why := _misfit(text):
            yield (
                key,
                f"not the name of a {key}: {why}",
                f"write the {key} as `git ls-remote` prints it after '{start}'",
            )
    if (name := ref.get("name")) is not None and (not name.startswith("refs/") or _misfit(name)):
        why, fix = f": {_misfit(name)}", "write it as `git ls-remote` prints it"
        if not _misfit(name):
            why, fix = ", which begins with 'refs/'", f"write 'branch: {name}', or 'name: refs/heads/{name}'"
        yield "name", f"not a full reference{why}", fix
    if (commit := ref.get("commit")) is not None and not _COMMIT.fullmatch(commit):
        why, fix = "not a commit", "write all 40 digits, or 'branch:' or 'tag:' instead"
        if _SHORT_COMMIT.fullmatch(commit):
            why, fix = "a short commit, for which Flux does not look", f"write what `git rev-parse {commit}` prints"
        yield "commit", why, fix


def _misfit(text: str) -> str:
    """Why Git does not take a text as a part of a reference; "" if it does."""
    if refused := _NOT_IN_REF.search(text):
        return f"Git takes no {_NAMED.get(refused[0], repr(refused[0]))} in it"
    if text.startswith(("-", "/")) or text.endswith(("/", ".")) or text == "@":
        return "Git takes no '-' or '/' at its beginning, no '/' or '.' at its end, and no '@' alone"
    if any(part.startswith(".") or part.endswith(".lock") for part in text.split("/")):
        return "Git takes no '.' at the beginning of a part, and no '.lock' at its end"
    return ""
