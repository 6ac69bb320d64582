"""What an author probably meant by a value of another type than the expected one, as the fix of a finding.

Called by: `shape`, for values of the model.
Never: decides whether something is wrong, or quotes what may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.messages.redact import is_sensitive, kind_of, shorten
from tenantry.messages.text import closest
from tenantry.model import (
    Document,
    Environment,
    Kubeconfig,
    Model,
    Provider,
    Selector,
    Source,
    Tenant,
    When,
)
from tenantry.model.clusters import KubeconfigObject
from tenantry.model.strict import OneOf, fields_of, model_at
from tenantry.model.tenancy import TenantOwner

IN_A_SECRET = (
    "store the kubeconfig in a Secret on the management cluster, and write 'secret:' with 'name: NAME',"
    " 'namespace: NAMESPACE' and 'key: value'"
)
"""How a kubeconfig is declared. `secret: {...}` on one line would be redacted."""
_PLAIN = re.compile(r"[A-Za-z0-9*./][\w.+/@-]{0,59}|https?://[\w.:/-]{1,60}")
"""What needs no quotes in YAML, is short, and holds no user in front of a host."""
_MOST_DIGITS = 6
"""Longer numbers may be passwords."""
_SETTING = re.compile(r"([A-Za-z]{1,40})\s{0,4}[=:]\s{0,4}(.*)", re.DOTALL)
"""A key and its value, with something else than a colon and a space between them."""
_FIRST: Mapping[type[Model], str] = {
    Environment: "management",
    TenantOwner: "user",
    Provider: "type",
}
"""The key that a single word probably stands for, of models that require none."""


def quoted(value: Any, path: Path) -> str:
    """A value as the fix may repeat it; "..." for what is long, needs quotes or may be a secret."""
    if isinstance(value, int | float) and not isinstance(value, bool) and len(str(value)) <= _MOST_DIGITS:
        value = str(value)
    sensitive = any(is_sensitive(part) for part in path[-3:] if isinstance(part, str))
    if sensitive or not isinstance(value, str) or not _PLAIN.fullmatch(value) or kind_of(value):
        return "..."
    return value if value == shorten(value) else "..."


def fix_for_value(expected: str, model: type[Model] | None, path: Path, value: Any) -> str:
    """What to write instead of a value of the wrong type; "" if that is not known.

    Args: expected: with its article; model: of the expected mapping, or of a list's entries, None if it has none.
    """
    match expected:
        case "a mapping":
            return _of_mapping(model, path, value)
        case "a list":
            return _of_list(model, path, value)
        case "a string":
            return _of_text(path, value)
    return ""


def _of_mapping(model: type[Model] | None, path: Path, value: Any) -> str:
    if value is None:
        return _of_nothing(model, path)
    if not value:
        return ""
    if isinstance(value, str) and model and (setting := _SETTING.fullmatch(value)) and setting[1] in fields_of(model):
        given = quoted(setting[2].strip(" \t\u00a0\"'"), (setting[1],))
        return f"write '{setting[1]}: {given}', with a colon and a space after the key"
    if path[-1:] == ("values",) and isinstance(value, str):
        if value.endswith((".yaml", ".yml")):
            return f"write 'valuesFiles: [{quoted(value, ())}]' for a file of the source"
        return "remove the '|' after 'values:'" if "\n" in value else "write 'values: {KEY: VALUE}'"
    return _of_names(path, value) if model is None else _of_model(model, path, value)


def _of_nothing(model: type[Model] | None, path: Path) -> str:
    """A key without a value, whose entries may be indented too little, or which needs no entry."""
    above = model_at(Document, path[:-2])
    if len(path) > 2 and above and path[-1] in fields_of(above):
        return f"indent '{path[-1]}:' like '{path[-2]}:' above it"
    if model is None:
        return ""
    if model is When:
        return "write 'when: {environments: [NAME]}'"
    keys = _required(model) or ([model.one_of[0]] if issubclass(model, OneOf) else [])
    return f"write '{quoted(path[-1], ())}: {{{', '.join(f'{key}: ...' for key in keys)}}}', or remove the key"


def _of_names(path: Path, value: Any) -> str:
    """A mapping of names to entries or texts, written as a list or as text."""
    if path[-1:] == ("ref",) and not isinstance(value, list):
        return f"write {{{'tag' if 'oci' in path else 'branch'}: {quoted(value, path)}}}"
    if path[-1:] == ("quota",) and not isinstance(value, list):
        return "write resources with their limits, such as {requests.cpu: 8}"
    entries = value if isinstance(value, list) and value else [None]
    if isinstance(entries[0], dict) and len(entries[0]) == 1 and "name" not in entries[0]:
        return "write a mapping: remove the '- ' before each key"
    names = [quoted(mapping_at({"": entry}, "").get("name", entry), path) for entry in entries[:3]]
    shown = ", ".join(f"{name}: ..." for name in dict.fromkeys("NAME" if name == "..." else name for name in names))
    return f"write a mapping: '{path[-1]}: {{{shown}}}'"


def _of_model(model: type[Model], path: Path, value: Any) -> str:
    """The keys of the mapping that text or a list probably stands for."""
    shown = quoted(value, path)
    if issubclass(model, Kubeconfig):
        return IN_A_SECRET
    if issubclass(model, Selector):
        several = ", ".join(quoted(member, path) for member in (value if isinstance(value, list) else [value]))
        return f"write {{names: [{several}]}}, {{labels: {{KEY: VALUE}}}} or {{all: true}}"
    if issubclass(model, Source):
        url = shown if "://" in shown else "..."
        return f"write {{git: {{url: {url}, ref: {{branch: main}}}}}}, or another kind: oci, helm, bucket"
    if issubclass(model, KubeconfigObject) and path[-1] == "secret":
        return "write {name: ..., namespace: ..., key: ...}"
    first = next((key for kind, key in _FIRST.items() if issubclass(model, kind)), "")
    keys = [first] if first else _required(model)
    if not keys or not isinstance(value, str):
        return f"write a mapping, with keys such as {names}" if (names := ", ".join(list(fields_of(model))[:4])) else ""
    return (
        f"write {{{keys[0]}: {shown}}}" if len(keys) == 1 else f"write {{{', '.join(f'{key}: ...' for key in keys)}}}"
    )


def _required(model: type[Model]) -> list[str]:
    return [name for name, field in fields_of(model).items() if field.is_required()]


def _of_list(model: type[Model] | None, path: Path, value: Any) -> str:
    """A list of one entry, which was written without the list."""
    if value is None:
        return f"write '{quoted(path[-1], ())}: [...]', or remove the key"
    if isinstance(value, dict) and path[-1] == "overrides":
        return "write where each of them holds: '- {when: {environments: [NAME]}, ...}'"
    if isinstance(value, dict):
        names = ", ".join(quoted(name, path) for name in ([value["name"]] if "name" in value else value))
        return f"write [{names}]" if model is None and names else "begin each entry with '- ': a hyphen and a space"
    if isinstance(value, bool) or any(is_sensitive(part) for part in path if isinstance(part, str)):
        return ""
    if model and (required := _required(model)):
        return f"write [{{{', '.join(f'{name}: ...' for name in required)}}}]"
    shown = quoted(str(value), path)
    key = next((key for kind, key in _FIRST.items() if model and issubclass(model, kind)), "")
    entry = f"{{{key}: {shown}}}" if key else shown if model is None else "..."
    return "" if shown == "..." or entry == "..." else f"write [{entry}]"


def _of_text(path: Path, value: Any) -> str:
    """One word, which was written as a mapping or a list."""
    if isinstance(value, dict) and any(value.values()):  # others may be placeholders without quotes
        name = quoted(value.get("name"), path)
        return "write a single text, such as a name" if name == "..." else f"write '{name}'"
    if isinstance(value, list) and value:
        if path[-1] == "management" and len(value) > 1:
            return "write one of them, and declare an environment for each of the others, which extends this one"
        return f"write '{quoted(value[0], path)}'" if len(value) == 1 else "write one of them"
    return ""


_RESOURCES = (
    *("requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage"),
    *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    *("pods", "services", "services.loadbalancers", "services.nodeports", "configmaps", "secrets"),
    *("persistentvolumeclaims", "replicationcontrollers", "resourcequotas"),
)


def quota_fix(key: str, value: Any) -> str:
    """What to write for a resource that no quota knows."""
    if key in fields_of(Tenant):
        return f"indent '{key}:' less, like 'quota:': it is a key of the tenant"
    if isinstance(value, dict) and value:
        prefix = f"{key}." if key in ("requests", "limits") else ""
        given = ", ".join(f"'{prefix}{quoted(name, ())}: {quoted(str(part), ())}'" for name, part in value.items())
        return f"write {given} right under the quota"
    near = closest(key, _RESOURCES)
    return f"write '{near}'" if near else "write a resource such as 'pods', 'requests.cpu' or 'limits.memory'"
