"""Checks the data of a file against the model and reports problems in the author's terms.

A mistake in one app must not hide the mistakes of others. So invalid entries (an app, a source, a tenant or one of its
settings, an add-on) are left out and the rest is checked. `Checked.left_out` names them, so that a reference to one is not
reported as unknown. Several findings that one mistake leads to are joined into one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path as File
from typing import Any

import yaml
from pydantic_core import ValidationError

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
from tenantry.model.walk import fields_of, lacking_at, model_at

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
            return unknown_key_of(place, model_at(model, path[:-1]))
        case "missing":
            above, key = model_at(model, path[:-1]), str(path[-1])
            example = _EXAMPLES.get(key, "")
            if above is Document and key == "environments":
                example = "environments: {NAME: {management: CLUSTER}}"
            elif above and issubclass(above, Oci):
                example = "ref: {tag: ...}"
            return missing_key(place[:-1], key, example)
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
            of_mapping = model_at(model, path)
            fields = fields_of(of_mapping) if of_mapping else {}
            # The keys that its author cannot do without, or the first ones.
            keys = [name for name, field in fields.items() if field.is_required()] or list(fields)[:_SHOWN]
            return wrong_type(place, _EXPECTED[kind], value, keys, fix)
        case _:  # our own refusals carry their code as the type
            text = context.get("text", detail["msg"])
            text = f"{entry_name(place)} {text}" if context.get("of_entry") else text
            if kind == "choose-one" and isinstance(value := value_at(data, path), dict):
                # The second of the keys is where the mistake shows.
                given = [key for key in value if key in context["keys"]]
                place, at_key = ((*place, given[-1]), True) if len(given) > 1 else (place, at_key)
            return Problem(place, kind.replace("_", "-"), text, fix=context.get("fix", ""), at_key=at_key)


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


def unknown_key_of(path: Path, model: type[Model] | None) -> Problem:
    """The finding for a key that its mapping does not take. Args: model: of the mapping."""
    key = str(path[-1])
    if model and (reason := model.owned.get(key)):
        return owned_key(path, reason, FOR_OWNED.get(key, ""))
    lacking = lacking_at(Document, path[:-1])
    known = fields_of(model).keys() - lacking if model else ()
    return unknown_key(path, known, fix_for_former(model, key) if model else "")


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


def without_repeats(findings: tuple[Problem, ...], known: tuple[Problem, ...]) -> Iterator[Problem]:
    """Findings that do not repeat others: a typo of a key that is needed is no missing key, too.

    Args: known: further findings, which are reported.
    """
    meant = {problem.meant for problem in (*known, *findings) if problem.code == "unknown-key"} - {()}
    wrong_keys = {problem.path for problem in findings if problem.at_key}
    for problem in findings:
        if problem.code == "missing-key" and problem.meant in meant:
            continue
        if problem.at_key or not any(problem.path[:depth] in wrong_keys for depth in range(1, len(problem.path) + 1)):
            yield problem


# --- keys that are gone, or that the fleet sets ---------------------------------------------------------------------

FOR_OWNED: Mapping[str, str] = {
    "sourceRef": "write 'source: NAME'",
    "chartRef": "write 'source: NAME'",
    "secretRef": "declare 'credentials:', and name them with 'credentials: NAME'",
    "dependsOn": "write 'dependsOn: [NAME]' beside the block",
}
"""What to write for keys of Flux that the fleet sets from others of ours."""


@cache
def former_keys() -> dict[str, dict[str, str]]:
    """By the model and the key: what to write instead of keys that earlier drafts had."""
    rows: dict[str, dict[str, str]] = yaml.safe_load(File(__file__).with_name("former_keys.yaml").read_bytes())
    return rows


def fix_for_former(model: type[Model], key: str) -> str:
    """What to write instead of the key, of a mapping or, as `key[]`, of a list; "" if neither the model nor its bases had it."""
    bases = (former_keys().get(base.__name__, {}) for base in model.__mro__)
    return next((rows[key] for rows in bases if key in rows), "")
