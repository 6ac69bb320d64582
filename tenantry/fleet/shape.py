"""Checks the data of a file against the model and reports problems in the author's terms.

A mistake in one app must not hide the mistakes of others. So invalid entries (an app, a source, a tenant or one of its
settings, an add-on) are left out and the rest is checked. `Checked.left_out` names them, so that a reference to one is not
reported as unknown. Several findings that one mistake leads to are joined into one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from pydantic_core import ValidationError

from tenantry.fleet.hints import FOR_OWNED, fix_for_former, fix_for_key
from tenantry.fleet.lineages import ENVIRONMENTS
from tenantry.fleet.templates import Once
from tenantry.messages.data import ABSENT, mapping_at, value_at, without
from tenantry.messages.errors import MAX_PROBLEMS, Path, Problem, first_of
from tenantry.messages.problems import (
    empty_list,
    empty_string,
    entry_name,
    missing_key,
    no_match,
    not_allowed,
    out_of_range,
    owned_key,
    unknown_key,
    wrong_type,
)
from tenantry.model import Document, Model, Oci
from tenantry.model.strict import fields_of, lacking_at, model_at

_KEY_MARK = "[key]"
_GROUPS = frozenset({"alerts", "apps", "configs", "credentials", "receivers", "sources"})
"""Keys of a tenant whose entries the rest of the file can be checked without."""
_NEEDED = _GROUPS | {"adopt", "clusters", "namespaces", "state"}
"""Keys of a tenant without which its apps, which refer to them, would seem wrong. The others are settings."""


@dataclass(frozen=True, slots=True)
class Checked:
    """document: None where the frame itself (environments, clusters, ...) is wrong; left_out: paths of broken entries."""

    document: Document | None
    left_out: frozenset[Path]
    findings: tuple[Problem, ...]


def check_shape(data: dict[str, Any], known: tuple[Problem, ...] = (), once: Once | None = None) -> Checked:
    """Fit the data to the model; findings hold every misfit.

    Args: known: what is wrong with entries besides; those are left out too. once: passes over what it has reported of a template.
    """
    checked, missing = _check_whole(data, known, once), tuple(_without_management(data))
    if not missing:
        return checked
    return Checked(None, checked.left_out, tuple(without_repeats((*missing, *checked.findings), ())))


def _without_management(data: dict[str, Any]) -> Iterator[Problem]:
    """An environment without a management cluster is a frame, which others extend."""
    environments = mapping_at(data, ENVIRONMENTS.section)
    extended = {name for environment in environments.values() for name in ENVIRONMENTS.named(environment)}
    for name, environment in environments.items():
        if isinstance(environment, dict) and "management" not in environment and name not in extended:
            yield missing_key((ENVIRONMENTS.section, name), "management", "management: CLUSTER")


def _check_whole(data: dict[str, Any], known: tuple[Problem, ...], once: Once | None) -> Checked:
    findings = known
    try:
        document = Document.model_validate(data)
        if not known:
            return Checked(document, frozenset(), ())
    except ValidationError as error:
        # Each of those that are kept can come with one that repeats it.
        of_error = findings_of(error, Document, data)
        misfits = tuple(islice(once(of_error) if once else of_error, 2 * MAX_PROBLEMS + 2))
        findings += first_of(without_repeats(misfits, known))
        if len(findings) > MAX_PROBLEMS:
            return Checked(None, frozenset(), findings)
    paths = (*(finding.path for finding in findings), *(once.repeated if once else ()))
    broken = frozenset(entry for path in paths if (entry := _entry(path)))
    if any(_entry(finding.path) is None for finding in findings):
        return Checked(None, broken, findings)
    try:
        return Checked(Document.model_validate(without(data, broken)), broken, findings)
    except ValidationError:  # an entry's absence broke its parent
        return Checked(None, broken, findings)


def findings_of(error: ValidationError, model: type[Model], data: Any, at: Path = ()) -> Iterator[Problem]:
    """The findings in pydantic's error about `data`, whose place in the document is `at`."""
    for detail in error.errors(include_url=False, include_input=False):
        path = detail["loc"]
        # pydantic's mark that a key is wrong, unless the author's own key looks like it.
        at_key = path[-1:] == (_KEY_MARK,) and value_at(data, path, ABSENT) is ABSENT
        path = path[:-1] if at_key else path
        yield _finding(dict(detail), at, path, model, data, at_key=at_key)


def _finding(detail: dict[str, Any], at: Path, path: Path, model: type[Model], data: Any, *, at_key: bool) -> Problem:
    kind, context = detail["type"], detail.get("ctx", {})
    place = (*at, *path)
    match kind:
        case "extra_forbidden":
            return unknown_key_of(place, model_at(model, path[:-1]), value_at(data, path[:-1]))
        case "missing":
            return missing_key(place[:-1], str(path[-1]), _example(model_at(model, path[:-1]), path))
        case "literal_error":
            allowed = context["expected"].replace("'", "").replace(" or ", ", ")
            return not_allowed(place, value_at(data, path), [allowed.replace("True", "true")])
        case "too_short":
            return empty_list(place)
        case "string_pattern_mismatch":
            value = path[-1] if at_key else value_at(data, path)
            return replace(no_match(place, value, context["pattern"]), at_key=at_key)
        case "string_too_short":
            return empty_string(place)
        case "greater_than_equal" | "less_than_equal":
            bound = context["ge" if kind.startswith("greater") else "le"]
            return out_of_range(place, kind.replace("_", "-"), value_at(data, path), bound)
        case _ if kind in _EXPECTED:
            value = value_at(data, path)
            above = model_at(model, path[:-1]) if isinstance(value, list) else None
            fix = fix_for_former(above, f"{path[-1]}[]") if above else ""
            if path[-1] == "ref":
                fix = f"write '{_EXAMPLES['ref']}'"
            return wrong_type(place, _EXPECTED[kind], value, _keys_to_write(model_at(model, path)), fix)
        case _:  # our own refusals carry their code as the type
            text = context.get("text", detail["msg"])
            text = f"{entry_name(place)} {text}" if context.get("of_entry") else text
            if kind == "choose-one" and isinstance(value := value_at(data, path), dict):
                # The second of the keys is where the mistake shows.
                given = [key for key in value if key in context["keys"]]
                place, at_key = ((*place, given[-1]), True) if len(given) > 1 else (place, at_key)
            return Problem(place, kind.replace("_", "-"), text, fix=context.get("fix", ""), at_key=at_key)


def _keys_to_write(model: type[Model] | None) -> list[str]:
    """The keys of a mapping that its author cannot do without, or the first ones."""
    fields = fields_of(model) if model else {}
    return [name for name, field in fields.items() if field.is_required()] or list(fields)[:_SHOWN]


_SHOWN = 4
_EXAMPLES = {
    "apiVersion": "apiVersion: tenantry/v1",
    "ref": "ref: {branch: main}",
    "environments": "environments: [...]",
    "clusters": "clusters: {...}",
    "when": "when: {environments: [...]}",
}
"""What to add where a key is missing, if more can be said than its name."""

_EXPECTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "list_type": "a list",
    "none_required": "nothing",
}


def _example(model: type[Model] | None, path: Path) -> str:
    """A missing key with a value; "" if nothing can be said."""
    if model is Document and path[-1] == "environments":
        return "environments: {NAME: {management: CLUSTER}}"
    if model and issubclass(model, Oci):
        return "ref: {tag: ...}"
    return _EXAMPLES.get(str(path[-1]), "")


def unknown_key_of(path: Path, model: type[Model] | None, beside: dict[str, Any]) -> Problem:
    """The finding for a key that its mapping does not take. Args: model: of the mapping; beside: the mapping."""
    key = str(path[-1])
    if model and (reason := model.owned.get(key)):
        return owned_key(path, reason, FOR_OWNED.get(key, ""))
    lacking = lacking_at(Document, path[:-1])
    known = fields_of(model).keys() - lacking if model else ()
    return unknown_key(path, known, fix_for_key(model, key, beside))


def _entry(path: Path) -> Path | None:
    """The smallest entry around a path that the rest of the file can be checked without."""
    match path:
        case ("tenants", _, group, _, *_) if group in _GROUPS:
            return path[:4]
        case ("tenants", _, key, *_) if key not in _NEEDED:
            return path[:3]
        case ("defaults", key, *_) if key not in _NEEDED:
            return path[:2]
        case ("tenants", _, *_):
            return path[:2]
        case ("templates", "tenants", _, *_) | ("platform", "addons" | "alerts" | "configs" | "credentials", _, *_):
            return path[:3]
    return None


_MISSING_KEY = re.compile(r"key '([A-Za-z]+)' is missing")
_MEANT_KEY = re.compile(r"write '([A-Za-z]+)(?=[:'])")


def without_repeats(findings: tuple[Problem, ...], known: tuple[Problem, ...]) -> Iterator[Problem]:
    """Findings that do not repeat others: a `branch:` beside `url:` is also a missing `ref:`, a typo the missing key itself.

    Args: known: further findings, which are reported.
    """
    meant = {
        (*problem.path[:-1], key[1])
        for problem in (*known, *findings)
        if problem.code == "unknown-key" and (key := _MEANT_KEY.match(problem.fix))
    }
    wrong_keys = {problem.path for problem in findings if problem.at_key}
    for problem in findings:
        missing = _MISSING_KEY.match(problem.message) if problem.code == "missing-key" else None
        if missing and (*problem.path, missing[1]) in meant:
            continue
        if problem.at_key or not any(problem.path[:depth] in wrong_keys for depth in range(1, len(problem.path) + 1)):
            yield problem


_LOOKED_AT = 500
"""Characters of a text. A text can have millions, and as many problems."""
_ODD = frozenset({"Pi", "Pf", "Ps", "Pd", "Cf", "Zs"})
"""The categories of quotes, dashes and spaces, which word processors, chats and pages put in place of plain ones."""


def typed_plainly(finding: Problem, data: Mapping[str, Any]) -> Problem:
    """The finding about a file's data, which says so where a key or a value has a character that looks like a plain one."""
    text = finding.path[-1] if finding.at_key and finding.path else value_at(data, finding.path)
    for char in text[:_LOOKED_AT] if isinstance(text, str) else "":
        if not char.isascii() and unicodedata.category(char) in _ODD:
            shown = f"'{char}'" if char.isprintable() and not char.isspace() else f"U+{ord(char):04X}"
            fix = finding.fix if finding.fix.startswith("write '") else "type it again, with plain characters"
            note = f"{shown} is not a plain character; YAML takes it as a part of the text"
            return replace(finding, notes=(note,), fix=fix)
    return finding
