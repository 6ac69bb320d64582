"""What a document says, setting by setting as `diff` tells it, and how two of these differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from tenantry.compare.fields import Entry, changed_fields, is_same
from tenantry.compare.review.model import Setting
from tenantry.fleet.apps import OF_OTHERS, OF_OTHERS_IN_ADDONS, REPLACED
from tenantry.fleet.settings import TIMES
from tenantry.messages.data import ABSENT
from tenantry.messages.text import counted
from tenantry.model import Addon, Helm, Kustomize
from tenantry.model.document import Tenant
from tenantry.plan.plan import Plan

Path: TypeAlias = tuple[str, ...]
"""Keys of the file, from the part that is described: ("helm", "version")."""


_DEPTHS = {
    "alerts": 4,
    "chart": 3,
    "clusterRoles": 3,
    "configs": 3,
    "credentials": 3,
    "kubeconfig": 3,
    "namespaces": 4,
    "receivers": 3,
    "serviceAccount": 3,
    "source": 3,
}
"""How many keys name one setting, where they are not two: those with entries by name have more."""


_DEFAULTS: dict[Path, Any] = {("helm", "type"): "default"}
"""What is never said, below the last two keys: it says what its absence says."""


def said(document: Mapping[str, Any]) -> dict[Path, Any]:
    """The settings of a document. What it says in a list of people is told person by person."""
    found: dict[Path, Any] = {}
    home = document.get("namespace", "")
    for key, value in document.items():
        if value in ([], {}):
            continue
        match key:
            case "owners":
                for owner in value:
                    _and(found, (key, _person(owner, home)), owner["role"])
            case "namespaces":
                found |= {(key, name): name for name in value}
                _take(found, (key,), value, _DEPTHS[key])
            case _:
                _take(found, (key,), value, _DEPTHS.get(key, 2))
    return found


def _take(found: dict[Path, Any], path: Path, value: Any, depth: int) -> None:
    """Puts a value, or the values below it. An empty mapping says nothing."""
    if isinstance(value, dict) and (len(path) < depth or not value):
        for key, part in value.items():
            _take(found, (*path, str(key)), part, depth)
    elif value is not None and _DEFAULTS.get(path[-2:], ABSENT) != value:
        found[path] = value


def _and(found: dict[Path, Any], path: Path, value: str) -> None:
    """A person can have several roles."""
    found[path] = f"{found[path]}, {value}" if path in found and found[path] != value else value


def _with_people(binding: Mapping[str, Any], home: str) -> dict[str, Any]:
    return {**binding, "subjects": [_person(each, home) for each in binding["subjects"]]}


def _person(subject: Mapping[str, Any], home: str) -> str:
    """Such as `group devs`. home: the namespace of a service account that names none; "" if it is not known."""
    kind, name = next((key, subject[key]) for key in ("group", "user", "serviceAccount") if key in subject)
    if isinstance(name, str):
        return f"{kind} {name}"
    return f"{kind} {name.get('namespace', home)}/{name['name']}".replace(" /", " ")


# --- what is usual ----------------------------------------------------------------------------------------------------

_FLAGS: dict[Path, Any] = {
    (key,): field.default
    for model in (Addon, Tenant)
    for key, field in model.model_fields.items()
    if isinstance(field.default, bool)
}
_ACTION = {"strategy": {"name": "RetryOnFailure"}}
_DRIFT = Helm.model_fields["driftDetection"].default
_USUAL: dict[Path, tuple[Any, ...]] = {
    **{path: (value,) for path, value in _FLAGS.items()},
    **{("kustomize", key): (Kustomize.model_fields[key].default,) for key in ("prune", "wait", "deletionPolicy")},
    ("helm", "driftDetection"): tuple({**_DRIFT, "ignore": others} for others in (OF_OTHERS, OF_OTHERS_IN_ADDONS)),
    ("helm", "install"): (_ACTION,),
    ("helm", "upgrade"): (_ACTION, {**_ACTION, **REPLACED}),
}
"""What an author usually leaves out; a second value is that of an add-on."""


def telling(settings: Mapping[Path, Any]) -> dict[Path, Any]:
    """What one has to know of a part that comes or goes: without times and defaults."""
    return {
        path: value
        for path, value in settings.items()
        if path[-1] not in (*TIMES, "chartInterval") and value not in _USUAL.get(path, ())
    }


def in_one_word(old: dict[Path, Any], new: dict[Path, Any]) -> None:
    """Says `podSecurity: restricted`, unless a side needs the mapping or the word would hide a difference."""
    key = "podSecurity"
    parts = [_below(key, side) for side in (old, new)]
    words = [_pod_security(part) if part else "" for part in parts]
    if None in words or (words[0] == words[1] and parts[0] != parts[1]):
        return
    for side, word in zip((old, new), words, strict=True):
        # The word takes the place of the first of the keys.
        items = [((key,), word) if path[0] == key else (path, value) for path, value in side.items()]
        side.clear()
        side.update(items)


def _below(key: str, settings: Mapping[Path, Any]) -> dict[str, Any]:
    return {path[1]: value for path, value in settings.items() if path[0] == key and len(path) > 1}


def _pod_security(own: dict[str, Any]) -> str | None:
    one_level = own.keys() == {"enforce", "audit", "warn"} and len(set(own.values())) == 1
    return own["enforce"] if one_level or own == {"enforce": "baseline"} else None


# --- what differs -----------------------------------------------------------------------------------------------------


def changed_keys(before: Mapping[Path, Any], after: Mapping[Path, Any]) -> set[str]:
    """The first two keys of every setting that differs: `helm` and `version`."""
    return {
        key
        for path in before.keys() | after.keys()
        if not is_same(before.get(path, ABSENT), after.get(path, ABSENT))
        for key in path[:2]
    }


def changed_settings(before: Mapping[Path, Any], after: Mapping[Path, Any]) -> Iterator[Setting]:
    """The innermost values that differ, in the order of the second; secrets are masked."""
    for path in dict.fromkeys((*after, *before)):
        default = _FLAGS.get(path, ABSENT)
        one, other = before.get(path, default), after.get(path, default)
        if is_same(one, other):
            continue
        if path[-1] == "credentials" or path[0] == "kubeconfig":  # their names, which are no secrets
            yield Setting(key_of(path), one, other)
            continue
        plain = type(one) is type(other) is str and all(type(part) is str for part in path)
        # The same text often changes in thousands of apps.
        yield from _of_texts(path, one, other) if plain else _of_values(path, one, other)


def _of_values(path: Path, before: Any, after: Any) -> Iterator[Setting]:
    # With the keys above it, which tell whether a value is a secret.
    for change in changed_fields(_within(path, before), _within(path, after)):
        yield Setting(key_of(change.path), change.before, change.after)


@lru_cache(maxsize=256)
def _of_texts(path: Path, before: str, after: str) -> tuple[Setting, ...]:
    return tuple(_of_values(path, before, after))


def _within(path: Path, value: Any) -> dict[str, Any]:
    *way, last = path
    data = {} if value is ABSENT else {last: value}
    for key in reversed(way):
        data = {key: data}
    return data


def key_of(path: Iterable[str | int]) -> str:
    """("helm", "values", "env", 0) -> helm.values.env[0]; keys with dots are quoted."""
    text = ""
    for part in path:
        if isinstance(part, int | Entry):
            text += f"[{part}]"
        elif "." in part or "/" in part or not part:
            text += f'["{part}"]'
        else:
            text += f".{part}"
    return text.removeprefix(".")


def content_in_words(plan: Plan) -> str:
    """Such as "3 tenants, 5 apps, 2 add-ons". An app counts once, on however many clusters it is."""
    parts = {(app.tenant, app.name) for app in plan.apps}
    numbers = (
        (len({placement.tenant for placement in plan.placements}), "tenant"),
        (sum(bool(tenant) for tenant, _ in parts), "app"),
        (sum(not tenant for tenant, _ in parts), "add-on"),
    )
    return ", ".join(counted(number, noun) for number, noun in numbers if number) or "empty"
