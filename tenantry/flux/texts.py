"""Texts in Flux's objects with a grammar of their own, which no schema checks: patches, selectors, pointers, expressions, images.

Called by: `conformance`, for each spec that is planned, with its placeholders filled in.
Source: the controllers of Flux 2.9, kustomize's `api/types` and `kyaml`, apimachinery's `labels.Parse`, RFC 6901 and RFC 6902.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeAlias

import yaml

from tenantry.flux.expressions import OF_OBJECT, Language, expression_problem, pattern_problem
from tenantry.flux.kinds import check_problems, kind_problem, target_problems
from tenantry.kube.acceptance import MOST_STORED
from tenantry.kube.names import label_key_problem, label_value_problem
from tenantry.kube.yaml_text import LOADER
from tenantry.messages.data import mapping_at, values_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import shown
from tenantry.messages.redact import shorten

_Found: TypeAlias = Iterator[Problem]
_Spec: TypeAlias = Mapping[str, Any]


def text_problems(kind: str, spec: _Spec, at: Path) -> Iterator[Problem]:
    """What Flux cannot parse in the texts of a spec. Its structure is right."""
    for where, check in _CHECKS.get(kind, ()):
        for path, value in values_at(spec, where.split(".") if where else ()):
            yield from (problem.below(*at, *path) for problem in check(value, spec))


def _by(problem_of: Callable[[str], Problem | None]) -> Callable[[Any, _Spec], _Found]:
    """The check of a text by itself."""

    def check(text: Any, _: _Spec) -> _Found:
        if isinstance(text, str) and (problem := problem_of(text)):
            yield problem

    return check


def _at(key: str, problems: _Found) -> _Found:
    return (problem.below(key) for problem in problems)


def _expression(*variables: str, yields: str = "BOOL") -> Callable[[Any, _Spec], _Found]:
    return _by(partial(expression_problem, language=Language(variables, yields)))


def _resource_filter(text: Any, spec: _Spec) -> _Found:
    claims = ("claims",) if spec.get("type") == "generic-oidc" else ()
    return _expression("req", "res", *claims)(text, spec)


def _health(entry: _Spec, spec: _Spec) -> _Found:
    """One without a kind is for all of a group."""
    if entry.get("kind") and (problem := kind_problem(str(entry.get("apiVersion") or ""), str(entry["kind"]))):
        yield problem
    for key in ("current", "inProgress", "failed"):
        yield from _at(key, _by(partial(expression_problem, language=OF_OBJECT))(entry.get(key), spec))


# --- components of kustomize ------------------------------------------------------------------------------------------

_COMPONENT = re.compile(r"(?:\.{1,2}|[A-Za-z0-9_+=,~-][A-Za-z0-9_.+=,~-]*)(?:/+[A-Za-z0-9_.+=,~-]+)*/*")
_LIKE_A_HOST = re.compile(r"[^./][^/]*\.[A-Za-z][A-Za-z-]+/")
"""The last part of a host's name has letters alone, that of a version such as `v1.2` does not."""


def _component(component: str, spec: _Spec) -> _Found:
    """Components are relative to the path, so "../shared" is often inside of the source.

    Kustomize takes more than URLs for the address of a repository, such as `github.com/org/repo` and `git@host:repo`.
    """
    is_path = component.startswith("/") or _COMPONENT.fullmatch(component)
    what, path = f"component '{shorten(component)}'", posixpath.join(spec.get("path", "./"), component)
    if not is_path or _LIKE_A_HOST.match(component):
        fix = "write a directory of the source, such as './components/tls'"
        yield Problem((), "bad-path", f"{what} could be the address of a repository", fix=fix)
    elif component.startswith("/") or posixpath.normpath(path).startswith(".."):
        yield Problem((), "bad-path", f"{what} leaves the source")


# --- what a patch or a list of ignored fields is for ------------------------------------------------------------------


def _target(target: Any, spec: _Spec) -> _Found:
    """Its fields are regular expressions, but for the selectors."""
    target = target if isinstance(target, Mapping) else {}
    wrong = [
        problem.below(key)
        for key in ("group", "version", "kind", "name", "namespace")
        for problem in _by(pattern_problem)(target.get(key), spec)
    ]
    yield from wrong
    for key in ("labelSelector", "annotationSelector"):
        yield from _at(key, _by(selector_problem)(target.get(key), spec))
    yield from () if wrong else target_problems(target)


_POINTERS = {
    r"[^/].*|.*~(?![01]).*": "is no JSON pointer",
    r"(?:.*/)?\*\*?(?:/.*)?": "leads nowhere: a JSON pointer has no wildcards",
    r"(?:.*/)?[\w-]*\[(?:\d+|\*)?\](?:/.*)?": "leads nowhere: a JSON pointer has no brackets",
    r".*/metadata/(?:annotations|labels)/[^/]*/.*": "leads nowhere: a '/' in a key is '~1'",
}
"""What no pointer is, and why."""


def pointer_problem(text: str) -> Problem | None:
    """What is wrong with a JSON pointer. One that leads nowhere ignores nothing, without a word."""
    for pattern, why in _POINTERS.items():
        if re.fullmatch(pattern, text, re.DOTALL):
            fix = "write it as in '/spec/ports/0/port', with '~1' for '/' in a key and '~0' for '~'"
            return Problem((), "bad-pointer", f"{shown(text)} {why}", fix=fix)
    return None


# --- selectors --------------------------------------------------------------------------------------------------------


_KEY, _VALUE = "[-A-Za-z0-9_./]+", "[-A-Za-z0-9_./]*"
_REQUIREMENT = re.compile(
    rf"\s*(?:!\s*(?P<absent>{_KEY})|(?P<key>{_KEY})(?:\s*(?:(?:==|=|!=)\s*(?P<value>{_VALUE})|[<>]\s*-?[0-9]+)"
    rf"|\s+(?:in|notin)\s*\((?P<values>(?:{_VALUE}|[\s,])*)\))?)\s*(?:,(?=\s*\S)|$)"
)
"""One part of a label selector."""


def selector_problem(text: str) -> Problem | None:
    """What is wrong with a label selector in the form of kubectl's `--selector`."""
    fix = "write it as for kubectl, such as 'tier=web,env in (dev,test),!old'"
    position = 0 if text.strip() else len(text)
    while position < len(text):
        if (part := _REQUIREMENT.match(text, position)) is None:
            return Problem((), "bad-selector", f"{shown(text)} is no label selector", fix=fix)
        position, key = part.end(), part["absent"] or part["key"]
        values = map(str.strip, (part["values"] or part["value"] or "").split(","))
        for name, problem in (
            (key, label_key_problem(key)),
            *((value, label_value_problem(value)) for value in values),
        ):
            if problem:
                return Problem((), "bad-selector", f"'{shorten(name)}' in a selector {problem}", fix=fix)
    return None


# --- patches and images -----------------------------------------------------------------------------------------------

MOST_DEPTH = 100
_OPERATIONS = {
    "add": ("path", "value"),
    "replace": ("path", "value"),
    "test": ("path", "value"),
    "remove": ("path",),
    "move": ("path", "from"),
    "copy": ("path", "from"),
}
"""The operations of RFC 6902, each with what it needs."""


def _patch(entry: _Spec, spec: _Spec) -> _Found:
    target = entry.get("target")
    yield from _at("target", _target(target, spec))
    if isinstance(text := entry.get("patch"), str):
        yield from (_bad_patch(message, fix) for message, fix in patch_problems(text, has_target=bool(target)))


def _bad_patch(message: str, fix: str) -> Problem:
    return Problem(("patch",), "bad-patch", message, fix=fix)


def patch_problems(text: str, *, has_target: bool) -> Iterator[tuple[str, str]]:
    """What is wrong with the text of a patch, each with its fix: the first problem of the YAML, or of each part."""
    if len(text) > MOST_STORED:
        return  # the object is refused as a whole
    documents = yaml_documents(text)
    if isinstance(documents, Problem):
        yield f"the patch {documents.message}", documents.fix
        return
    parts = [document for document in documents if document is not None]
    if not parts:
        yield "the patch is empty", "write a patch, or remove the entry"
    for part in parts:
        if isinstance(part, list):
            if not has_target:
                fix = "write 'target:' beside it, such as {kind: Deployment, name: NAME}"
                yield "a list of operations names no object, and this patch has no 'target:'", fix
            yield from _operations(part)
        elif isinstance(part, dict):
            yield from _merge_patch(part, has_target=has_target)
        else:
            fix = "write the fields of an object, or a list such as [{op: replace, path: /spec/replicas, value: 2}]"
            yield "the patch is neither a mapping nor a list of operations", fix


def _operations(entries: list[Any]) -> Iterator[tuple[str, str]]:
    for index, entry in enumerate(entries):
        which = f"operation {index + 1} of the patch"
        if not isinstance(entry, dict):
            yield f"{which} is no mapping", "write {op: replace, path: /spec/replicas, value: 2}"
        elif entry.get("op") not in _OPERATIONS:
            what = f"has the unknown op {shown(entry['op'])}" if "op" in entry else "has no 'op'"
            yield f"{which} {what}", f"write one of {', '.join(_OPERATIONS)}"
        else:
            for key in (key for key in _OPERATIONS[entry["op"]] if key not in entry):
                yield f"{which} has no '{key}'", f"add '{key}:'"
            if "path" in entry and (problem := pointer_problem(str(entry["path"]))):
                yield f"{which}: {problem.message}", problem.fix


def _merge_patch(part: dict[str, Any], *, has_target: bool) -> Iterator[tuple[str, str]]:
    """Kustomize wants to know what a patch is for, and with a target it wants a kind and a name all the same."""
    needed = {"kind": part, "metadata.name": mapping_at(part, "metadata")}
    needed |= {} if has_target else {"apiVersion": part}
    missing = sorted(key for key, above in needed.items() if not above.get(key.rpartition(".")[2]))
    if {"op", "path"} <= part.keys():
        yield "the patch is a single operation, and no list of them", "begin it with '- '"
    elif missing:
        why = "kustomize wants them with a target, too" if has_target else "kustomize finds the object by them"
        beside = " (any name)" if has_target else ", or a 'target:'"
        fix = f"add apiVersion, kind and metadata.name of the object{beside}"
        yield f"the patch has no {', '.join(missing)}: {why}", fix


def yaml_documents(text: str) -> list[Any] | Problem:
    """The documents in a text, as Flux and Helm read it."""
    try:
        depth = 0
        for event in yaml.parse(text, Loader=LOADER):  # libyaml's composer would overflow the stack
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                return Problem(
                    (), "bad-yaml", f"is nested deeper than {MOST_DEPTH} levels", fix="write it with fewer levels"
                )
        return list(yaml.load_all(text, Loader=LOADER))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place = f" (its line {mark.line + 1})" if mark else ""
        why = shorten(str(getattr(error, "problem", "") or "it cannot be read"))
        fix = "correct the text, which is a file of its own"
        return Problem((), "bad-yaml", f"is no YAML{place}: {why}", fix=fix)


_TAGGED = re.compile(r"(.+?)(?::([^/:]+)|@(.+))")
_OF_IMAGE = {
    "newTag": (re.compile(r"\w[\w.-]{0,127}", re.ASCII), "tag of an image", "letters, digits, '_', '.' and '-'"),
    "digest": (
        re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}"),
        "digest",
        "'sha256:' and the 64 digits of the image",
    ),
}


def _image(entry: _Spec, _: _Spec) -> _Found:
    """What kustomize writes into manifests as it is; `${NAME}` in it is substituted afterwards."""
    given = {key: entry[key] for key in ("newName", *_OF_IMAGE) if "$" not in str(entry.get(key, "$"))}
    if tagged := _TAGGED.fullmatch(given.pop("newName", "")):
        message = f"{shown(tagged[0])} has a tag or a digest of its own, and the image would get two"
        fix = f"write 'newName: {shorten(tagged[1])}', and '{'newTag' if tagged[2] else 'digest'}:' beside it"
        yield Problem(("newName",), "bad-image", message, fix=fix)
    for key, value in given.items():
        form, what, written = _OF_IMAGE[key]
        if not form.fullmatch(value):
            yield Problem((key,), "bad-image", f"{shown(value)} is no {what}", fix=f"write {written}")


def _affix(text: str, _: _Spec) -> _Found:
    """Kustomize writes it into names as it is; `${NAME}` in it is substituted afterwards. Names of roles may have a colon."""
    if "$" not in text and not re.fullmatch(r"[a-z0-9.:-]*", text):
        fix = "write small letters, digits and '-'"
        yield Problem((), "bad-name", f"no name of an object can have {shown(text)} in it", fix=fix)


# --- where they stand -------------------------------------------------------------------------------------------------

_IGNORED = (("target", _target), ("paths.*", _by(pointer_problem)))
_PATTERN = _by(pattern_problem)
_SIGNED = tuple((f"verify.matchOIDCIdentity.*.{key}", _PATTERN) for key in ("issuer", "subject"))
_CHECKS: Mapping[str, tuple[tuple[str, Callable[[Any, _Spec], _Found]], ...]] = {
    "Kustomization": (
        ("components.*", _component),
        ("namePrefix", _affix),
        ("nameSuffix", _affix),
        ("patches.*", _patch),
        ("images.*", _image),
        *((f"ignore.*.{where}", check) for where, check in _IGNORED),
        ("", lambda spec, _: check_problems(spec)),
        ("healthCheckExprs.*", _health),
    ),
    "HelmRelease": (
        ("postRenderers.*.kustomize.patches.*", _patch),
        ("postRenderers.*.kustomize.images.*", _image),
        *((f"driftDetection.ignore.*.{where}", check) for where, check in _IGNORED),
        ("healthCheckExprs.*", _health),
    ),
    "Provider": (("commitStatusExpr", _expression("event", "alert", "provider", yields="STRING")),),
    "Receiver": (
        ("resourceFilter", _resource_filter),
        ("oidcProviders.*.variables.*.expression", _expression("claims", "vars", yields="")),
        ("oidcProviders.*.validations.*.expression", _expression("claims", "vars")),
    ),
    "Alert": (("inclusionList.*", _PATTERN), ("exclusionList.*", _PATTERN)),
    "OCIRepository": (("ref.semverFilter", _PATTERN), *_SIGNED),
    "HelmChart": _SIGNED,
}
"""Kind -> where a text stands, and the check of what stands there, which is given the spec too."""
