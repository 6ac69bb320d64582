"""Texts in Flux's objects with a grammar of their own, which no schema checks: patches, selectors, pointers, expressions, images.

Called by: `conformance`, for each spec that is planned, with its placeholders filled in.
Source: the controllers of Flux 2.9, kustomize's `api/types` and `kyaml`, apimachinery's `labels.Parse`, RFC 6901 and RFC 6902.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import yaml

from tenantry.flux.expressions import OF_OBJECT, Language, Misread, expression_problem, pattern_problem
from tenantry.flux.kinds import check_problems, expression_kinds, target_problems
from tenantry.kube.acceptance import MOST_STORED
from tenantry.kube.names import label_key_problem, label_value_problem
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Path, Problem
from tenantry.messages.problems import shown
from tenantry.messages.redact import shorten

_STATES = ("current", "inProgress", "failed")
_COMMIT_STATUS = Language(("event", "alert", "provider"), yields="STRING")
_REQUEST, _CLAIMS = Language(("req", "res")), Language(("req", "res", "claims"))
_OIDC = ("claims", "vars")
_OF_TARGET = ("group", "version", "kind", "name", "namespace")
"""Fields of a target that are regular expressions."""
_SELECTORS = ("labelSelector", "annotationSelector")


def text_problems(kind: str, spec: Mapping[str, Any], at: Path) -> Iterator[Problem]:
    """What Flux cannot parse in the texts of a spec. Its structure is right."""
    for path, misread in _misread(kind, spec):
        yield Problem((*at, *path), misread.code, misread.message, misread.notes, fix=misread.fix)


def _misread(kind: str, spec: Mapping[str, Any]) -> Iterator[tuple[Path, Misread]]:
    match kind:
        case "Kustomization":
            yield from _components(spec)
            yield from _patches(spec.get("patches"), ("patches",))
            yield from _images(spec.get("images"), ("images",))
            yield from _ignored(spec.get("ignore"), ("ignore",))
            yield from check_problems(spec)
            yield from _health_expressions(spec)
        case "HelmRelease":
            for index, renderer in enumerate(spec.get("postRenderers") or ()):
                at = ("postRenderers", index, "kustomize")
                yield from _patches(mapping_at(renderer, "kustomize").get("patches"), (*at, "patches"))
                yield from _images(mapping_at(renderer, "kustomize").get("images"), (*at, "images"))
            yield from _ignored(mapping_at(spec, "driftDetection").get("ignore"), ("driftDetection", "ignore"))
            yield from _health_expressions(spec)
        case "Provider":
            yield from _expressions(spec, (("commitStatusExpr", _COMMIT_STATUS),))
        case "Receiver":
            yield from _receiver(spec)
        case "Alert":
            for key in ("inclusionList", "exclusionList"):
                for index, text in enumerate(spec.get(key) or ()):
                    yield from _if((key, index), text, pattern_problem)
        case "OCIRepository":
            yield from _if(("ref", "semverFilter"), mapping_at(spec, "ref").get("semverFilter"), pattern_problem)
            for index, identity in enumerate(mapping_at(spec, "verify").get("matchOIDCIdentity") or ()):
                for key in ("issuer", "subject"):
                    yield from _if(("verify", "matchOIDCIdentity", index, key), identity.get(key), pattern_problem)
        case "HelmChart":
            for index, identity in enumerate(mapping_at(spec, "verify").get("matchOIDCIdentity") or ()):
                for key in ("issuer", "subject"):
                    yield from _if(("verify", "matchOIDCIdentity", index, key), identity.get(key), pattern_problem)


def _if(path: Path, text: Any, problem: Callable[[str], Misread | None]) -> Iterator[tuple[Path, Misread]]:
    if isinstance(text, str) and (misread := problem(text)):
        yield path, misread


def _expressions(
    spec: Mapping[str, Any], keys: tuple[tuple[str, Language], ...], at: Path = ()
) -> Iterator[tuple[Path, Misread]]:
    for key, language in keys:
        yield from _if((*at, key), spec.get(key), partial(expression_problem, language=language))


def _health_expressions(spec: Mapping[str, Any]) -> Iterator[tuple[Path, Misread]]:
    yield from expression_kinds(spec)
    for index, entry in enumerate(spec.get("healthCheckExprs") or ()):
        yield from _expressions(entry, tuple((key, OF_OBJECT) for key in _STATES), ("healthCheckExprs", index))


def _receiver(spec: Mapping[str, Any]) -> Iterator[tuple[Path, Misread]]:
    language = _CLAIMS if spec.get("type") == "generic-oidc" else _REQUEST
    yield from _expressions(spec, (("resourceFilter", language),))
    for index, provider in enumerate(spec.get("oidcProviders") or ()):
        for key, yields in (("variables", ""), ("validations", "BOOL")):
            for number, entry in enumerate(provider.get(key) or ()):
                at = ("oidcProviders", index, key, number)
                yield from _expressions(entry, (("expression", Language(_OIDC, yields)),), at)


# --- components of kustomize ------------------------------------------------------------------------------------------

_COMPONENT = re.compile(r"(?:\.{1,2}|[A-Za-z0-9_+=,~-][A-Za-z0-9_.+=,~-]*)(?:/+[A-Za-z0-9_.+=,~-]+)*/*")
_LIKE_A_HOST = re.compile(r"[^./][^/]*\.[A-Za-z][A-Za-z-]+/")
"""The last part of a host's name has letters alone, that of a version such as `v1.2` does not."""


def _components(spec: Mapping[str, Any]) -> Iterator[tuple[Path, Misread]]:
    """Components outside of the source. They are relative to the path, so "../shared" is often inside.

    Kustomize takes more than URLs for the address of a repository, such as `github.com/org/repo` and `git@host:repo`.
    """
    for index, component in enumerate(spec.get("components") or ()):
        at, path = ("components", index), posixpath.join(spec.get("path", "./"), component)
        is_path = component.startswith("/") or _COMPONENT.fullmatch(component)
        if not is_path or _LIKE_A_HOST.match(component):
            message = f"component '{shorten(component)}' could be the address of a repository"
            yield at, Misread("bad-path", message, "write a directory of the source, such as './components/tls'")
        elif component.startswith("/") or posixpath.normpath(path).startswith(".."):
            message = f"component '{shorten(component)}' leaves the source"
            yield at, Misread("bad-path", message, "")


# --- what a patch or a list of ignored fields is for -------------------------------------------------------------------


def _target(target: Any, at: Path) -> Iterator[tuple[Path, Misread]]:
    target = target if isinstance(target, Mapping) else {}
    wrong = False
    for key in _OF_TARGET:
        for misread in _if((*at, key), target.get(key), pattern_problem):
            wrong = True
            yield misread
    for key in _SELECTORS:
        yield from _if((*at, key), target.get(key), selector_problem)
    if not wrong:
        yield from (((*at, key), misread) for key, misread in target_problems(target))


def _ignored(entries: Any, at: Path) -> Iterator[tuple[Path, Misread]]:
    for index, entry in enumerate(mappings_in(entries)):
        yield from _target(entry.get("target"), (*at, index, "target"))
        for number, pointer in enumerate(entry.get("paths") or ()):
            yield from _if((*at, index, "paths", number), pointer, pointer_problem)


_OF_METADATA = ("annotations", "labels")


def pointer_problem(text: str) -> Misread | None:
    """What is wrong with a JSON pointer. One that leads nowhere ignores nothing, without a word."""
    code, quoted = "bad-pointer", shown(text)
    if text and not text.startswith("/"):
        return Misread(code, f"{quoted} is no JSON pointer, which begins with '/'", "write it as in /spec/replicas")
    if re.search(r"~(?![01])", text):
        return Misread(
            code,
            f"{quoted} is no JSON pointer: '~' stands before 0 or 1 there",
            "write '~0' for '~', and '~1' for '/' in a key",
        )
    parts = text.split("/")[1:]
    if any(part in ("*", "**") for part in parts):
        return Misread(
            code,
            f"{quoted} leads nowhere: a JSON pointer has no wildcards",
            "write one path for each entry, such as '/spec/ports/0'",
        )
    if any(re.fullmatch(r"[\w-]*\[(\d+|\*)?\]", part) for part in parts):
        fix = "write the number of the entry as a part of its own, such as '/spec/ports/0'"
        return Misread(code, f"{quoted} leads nowhere: a JSON pointer has no brackets", fix)
    for index, part in enumerate(parts):
        if part in _OF_METADATA and index and parts[index - 1] == "metadata" and len(parts) > index + 2:
            message = f"{quoted} leads nowhere: values of {part} hold nothing, and a '/' in a key is '~1'"
            return Misread(code, message, "write '~1' for each '/' in the key")
    return None


# --- selectors ----------------------------------------------------------------------------------------------------------

_REQUIREMENT = re.compile(
    r"\s*(?:!\s*(?P<absent>[^\s=!<>(),]+)"
    r"|(?P<key>[^\s=!<>(),]+)\s*(?:(?:==|=|!=)\s*(?P<value>[^\s=!<>(),]*)|\s(?:in|notin)\s*\((?P<values>[^()=!<>]*)\)|[<>]\s*-?\d+)?)\s*"
)
_COMMAS = re.compile(r",(?![^(]*\))")


def selector_problem(text: str) -> Misread | None:
    """What is wrong with a label selector in the form of kubectl's `--selector`."""
    if not text.strip():
        return None
    fix = "write it as for kubectl, such as 'tier=web,env in (dev,test),!old'"
    for part in _COMMAS.split(text):
        match = _REQUIREMENT.fullmatch(part)
        if not match:
            return Misread("bad-selector", f"{shown(text)} is no label selector", fix)
        if problem := label_key_problem(key := match["absent"] or match["key"]):
            return Misread("bad-selector", f"'{shorten(key)}' in a selector {problem}", fix)
        values = [match["value"] or "", *(match["values"] or "").split(",")]
        for value in map(str.strip, values):
            if problem := label_value_problem(value):
                return Misread("bad-selector", f"'{shorten(value)}' in a selector {problem}", fix)
    return None


# --- patches and images -------------------------------------------------------------------------------------------------

MOST_DEPTH = 100
_OPERATIONS = {"add": "value", "replace": "value", "test": "value", "remove": "", "move": "from", "copy": "from"}
"""The operations of RFC 6902, each with what it needs besides its path."""


def _patches(entries: Any, at: Path) -> Iterator[tuple[Path, Misread]]:
    for index, entry in enumerate(mappings_in(entries)):
        target = entry.get("target")
        yield from _target(target, (*at, index, "target"))
        if isinstance(text := entry.get("patch"), str):
            yield from (((*at, index, "patch"), misread) for misread in patch_problems(text, has_target=bool(target)))


def patch_problems(text: str, *, has_target: bool) -> Iterator[Misread]:
    """What is wrong with the text of a patch: the first problem of the YAML, or of each part."""
    code = "bad-patch"
    if len(text) > MOST_STORED:
        return  # the object is refused as a whole
    documents = yaml_documents(text)
    if isinstance(documents, Misread):
        yield documents._replace(code=code, message=f"the patch {documents.message}")
        return
    parts = [document for document in documents if document is not None]
    if not parts:
        yield Misread(code, "the patch is empty", "write a patch, or remove the entry")
    for part in parts:
        if isinstance(part, list):
            if not has_target:
                fix = "write 'target:' beside it, such as {kind: Deployment, name: NAME}"
                yield Misread(code, "a list of operations names no object, and this patch has no 'target:'", fix)
            yield from _operations(part)
        elif isinstance(part, dict):
            yield from _merge_patch(part, has_target=has_target)
        else:
            fix = "write the fields of an object, or a list such as [{op: replace, path: /spec/replicas, value: 2}]"
            yield Misread(code, "the patch is neither a mapping nor a list of operations", fix)


def _operations(entries: list[Any]) -> Iterator[Misread]:
    for index, entry in enumerate(entries):
        which = f"operation {index + 1} of the patch"
        if not isinstance(entry, dict):
            yield Misread("bad-patch", f"{which} is no mapping", "write {op: replace, path: /spec/replicas, value: 2}")
            continue
        operation, path = entry.get("op"), entry.get("path")
        if operation not in _OPERATIONS:
            what = f"has the unknown op {shown(operation)}" if "op" in entry else "has no 'op'"
            yield Misread("bad-patch", f"{which} {what}", f"write one of {', '.join(_OPERATIONS)}")
            continue
        if not isinstance(path, str):
            yield Misread(
                "bad-patch", f"{which} has no 'path'", "add 'path:' with a JSON pointer, such as /spec/replicas"
            )
        elif misread := pointer_problem(path):
            yield misread._replace(code="bad-patch", message=f"{which}: {misread.message}")
        if (needed := _OPERATIONS[operation]) and needed not in entry:
            yield Misread("bad-patch", f"{which} has no '{needed}'", f"add '{needed}:', or write another op")


def _merge_patch(part: dict[str, Any], *, has_target: bool) -> Iterator[Misread]:
    """Kustomize wants to know what a patch is for, and with a target it wants a kind and a name all the same."""
    if {"op", "path"} <= part.keys():
        yield Misread("bad-patch", "the patch is a single operation, and no list of them", "begin it with '- '")
        return
    needed = {"apiVersion": (), "kind": (), "metadata.name": ("metadata",)}
    missing = [
        key
        for key, above in needed.items()
        if not (has_target and key == "apiVersion") and not mapping_at(part, *above).get(key.rpartition(".")[2])
    ]
    if missing:
        why = "kustomize wants them with a target, too" if has_target else "kustomize finds the object by them"
        fix = "add apiVersion, kind and metadata.name of the object" + (
            " (any name)" if has_target else ", or a 'target:'"
        )
        yield Misread("bad-patch", f"the patch has no {', '.join(missing)}: {why}", fix)


def yaml_documents(text: str) -> list[Any] | Misread:
    """The documents in a text, as Flux and Helm read it."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in yaml.parse(text, Loader=loader):  # libyaml's composer would overflow the stack
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                return Misread("bad-yaml", f"is nested deeper than {MOST_DEPTH} levels", "write it with fewer levels")
        return list(yaml.load_all(text, Loader=loader))
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place = f" (its line {mark.line + 1})" if mark else ""
        why = shorten(str(getattr(error, "problem", "") or "it cannot be read"))
        return Misread("bad-yaml", f"is no YAML{place}: {why}", "correct the text, which is a file of its own")


_TAGGED = re.compile(r"(.+?)(?::([^/:]+)|@(.+))")
_TAG, _DIGEST = re.compile(r"\w[\w.-]{0,127}", re.ASCII), re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


def _images(entries: Any, at: Path) -> Iterator[tuple[Path, Misread]]:
    """What kustomize writes into manifests as it is; `${NAME}` in it is substituted afterwards."""
    for index, entry in enumerate(mappings_in(entries)):
        given = {key: entry[key] for key in ("newName", "newTag", "digest") if "$" not in str(entry.get(key, "$"))}
        if tagged := _TAGGED.fullmatch(given.get("newName", "")):
            key = "newTag" if tagged[2] else "digest"
            message = f"{shown(given['newName'])} has a tag or a digest of its own, and the image would get two"
            yield (
                (*at, index, "newName"),
                Misread("bad-image", message, f"write 'newName: {shorten(tagged[1])}', and '{key}:' beside it"),
            )
        if "newTag" in given and not _TAG.fullmatch(given["newTag"]):
            yield (
                (*at, index, "newTag"),
                Misread(
                    "bad-image",
                    f"{shown(given['newTag'])} is no tag of an image",
                    "write letters, digits, '_', '.' and '-'",
                ),
            )
        if "digest" in given and not _DIGEST.fullmatch(given["digest"]):
            yield (
                (*at, index, "digest"),
                Misread(
                    "bad-image",
                    f"{shown(given['digest'])} is no digest",
                    "write 'sha256:' and the 64 digits of the image",
                ),
            )
