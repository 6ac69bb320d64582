"""What an author probably meant by a value of another type than the expected one, as the fix of a finding.

Called by: `shape`, for values of the model.
Never: decides whether something is wrong, or quotes what may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tenantry.fleet.hints import IN_A_SECRET, quoted
from tenantry.fleet.model_paths import fields_of, model_at
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path
from tenantry.messages.redact import is_sensitive
from tenantry.messages.text import closest
from tenantry.model import (
    App,
    Cluster,
    Credentials,
    Document,
    Git,
    GitRef,
    HelmPatch,
    Kubeconfig,
    KustomizePatch,
    Model,
    OciRef,
    Overrides,
    Provider,
    Selector,
    SettingsOverrides,
    Source,
)
from tenantry.model.clusters import Capi, Kamaji, SecretKey, Vcluster
from tenantry.model.strict import OneOf
from tenantry.model.tenancy import TenantOwner

_PAIR = re.compile(r"([A-Za-z0-9][\w./-]{0,60})=([\w.-]{1,60})")
"""A label as a command line takes it: `tier=edge`."""
_SETTING = re.compile(r"([A-Za-z]{1,40})\s{0,4}[=:]\s{0,4}(.*)", re.DOTALL)
"""A key and its value, with something else than a colon and a space between them."""
_FIRST: dict[type[Model], str] = {
    TenantOwner: "user",
    GitRef: "branch",
    OciRef: "tag",
    Provider: "type",
    KustomizePatch: "path",
    HelmPatch: "chart",
}
"""The key that a single word probably stands for, of models that require none."""
_OF_EMPTY = (("namespaces",),)
"""Ends of paths of mappings whose entries need not say anything."""
_DASHES = ("\u2013", "\u2014")
"""What some editors make of a hyphen."""
_GIT_REF = "ref: {branch: main}"


def fix_for_value(expected: str, model: type[Model] | None, path: Path, value: Any, document: Mapping[str, Any]) -> str:
    """What to write instead of a value of the wrong type; "" if that is not known.

    Args: expected: with its article; model: of the expected mapping, or of a list's entries, None if it has none.
    """
    match expected:
        case "a mapping":
            return _of_mapping(model, path, value, document)
        case "a list":
            return _of_list(model, path, value)
        case "a string":
            return _of_text(path, value)
    return ""


def _of_mapping(model: type[Model] | None, path: Path, value: Any, document: Mapping[str, Any]) -> str:
    if value is None:
        return _of_nothing(model, path, document)
    if not value or not isinstance(value, str | list | int | float):
        return ""
    if isinstance(value, str) and model and (setting := _SETTING.fullmatch(value)) and setting[1] in fields_of(model):
        given = quoted(setting[2].strip(" \t\u00a0\"'"), (setting[1],))
        return f"write '{setting[1]}: {given}', with a colon and a space after the key"
    if (
        isinstance(value, str)
        and path[:2] == ("platform", "addons")
        and path[3:] == ("source",)
        and value in mapping_at(document, "platform", "sources")
    ):
        block = "helm" if "helm" in mapping_at(document, *path[:3]) else "kustomize"
        return f"name a source of the platform in the block: '{block}: {{source: {quoted(value, ())}}}'"
    if path[-1:] == ("values",) and isinstance(value, str):
        if value.endswith((".yaml", ".yml")):
            return f"write 'valuesFiles: [{quoted(value, ())}]' for a file of the source"
        return "remove the '|' after 'values:'" if "\n" in value else "write 'values: {KEY: VALUE}'"
    if model is None:
        return _of_names(path, value)
    if not isinstance(value, str | list):
        return ""
    if issubclass(model, Kubeconfig):
        return f"store it in a Secret on the management cluster, and {IN_A_SECRET}"
    meant = _meant(model, path, value, document)
    return f"write {{{meant}}}" if meant else ""


def _of_nothing(model: type[Model] | None, path: Path, document: Mapping[str, Any]) -> str:
    """A key without a value, whose entries may be indented too little, or which needs no entry."""
    above = model_at(Document, path[:-2])
    if len(path) > 2 and above and path[-1] in fields_of(above):
        return f"indent '{path[-1]}:' like '{path[-2]}:' above it"
    if model is None:
        return ""
    required = [f"{name}: {_example(model, name)}" for name, field in fields_of(model).items() if field.is_required()]
    choice = [f"{model.one_of[0]}: ..."] if issubclass(model, OneOf) else []
    if issubclass(model, App) and path[0] == "tenants":
        sources = mapping_at(document, *map(str, path[:2]), "sources")
        source = quoted(next(iter(sources), ""), ())
        if sources and all("helm" in mapping_at(sources, each) for each in sources):
            choice = [f"helm: {{source: {source}, chart: ..., version: ...}}"]
        elif len(sources) == 1:
            choice = [f"kustomize: {{source: {source}, path: ...}}"]
    return f"write '{quoted(path[-1], ())}: {{{', '.join(required or choice)}}}', or remove the key"


def _example(model: type[Model], name: str) -> str:
    return "[...]" if issubclass(model, Cluster) and name == "environments" else "..."


def _of_names(path: Path, value: Any) -> str:
    """A mapping of names to entries or texts, written as a list or as text."""
    pairs = [_PAIR.fullmatch(each) for each in _several(value) if isinstance(each, str)]
    if pairs and all(pairs):
        return f"write {{{', '.join(f'{pair[1]}: {quoted(pair[2], path)}' for pair in pairs if pair)}}}"
    if path[-1:] == ("quota",) and not isinstance(value, list):
        return "write resources with their limits, such as {requests.cpu: 8}"
    entries = value if isinstance(value, list) else []
    first = entries[0] if entries else None
    if isinstance(first, dict) and len(first) == 1 and "name" not in first:
        return "write a mapping: remove the '- ' before each key"
    if path[-1:] in _OF_EMPTY and isinstance(value, str):
        entries = [name.strip() for name in value.split(",")]
    names = [quoted(mapping_at({"": each}, "").get("name", each), path) for each in entries[:3]]
    names = ["NAME" if name == "..." else name for name in names or ["..."]]
    entry = "{}" if path[-1:] in _OF_EMPTY and names != ["NAME"] else "..."
    return f"write a mapping: '{path[-1]}: {{{', '.join(f'{name}: {entry}' for name in dict.fromkeys(names))}}}'"


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _meant(model: type[Model], path: Path, value: Any, document: Mapping[str, Any]) -> str:
    """The keys and values of the mapping that text or a list probably stands for."""
    one = quoted(value, path)
    several = ", ".join(quoted(each, path) for each in _several(value))
    if issubclass(model, Selector):
        labels = [_PAIR.fullmatch(each) for each in _several(value) if isinstance(each, str)]
        if labels and all(labels):
            return f"labels: {{{', '.join(f'{each[1]}: {each[2]}' for each in labels if each)}}}"
        return "all: true" if value in ("all", "*", ["*"], ["all"]) else f"names: [{several}]"
    if issubclass(model, Cluster):
        return f"environments: [{several}]"
    if issubclass(model, Credentials):
        return "keys: [username, password]"
    if issubclass(model, Source):
        return _source(path, value, document)
    if issubclass(model, Overrides | SettingsOverrides):
        return _overrides(value)
    if isinstance(value, list):
        return ""
    if issubclass(model, App):
        sources = list(mapping_at(document, *path[:2], "sources")) if path[0] == "tenants" else []
        source = quoted(sources[0], ()) if len(sources) == 1 else "NAME"
        return f"kustomize: {{source: {source}, path: {one}}}"
    if issubclass(model, Git):
        return f"url: {one}, {_GIT_REF}"
    if issubclass(model, Capi | Kamaji | SecretKey | Vcluster) and one.count("/") == 1:
        namespace, _, one = one.partition("/")
        return ", ".join(
            f"{name}: {namespace if name == 'namespace' else one if number == 0 else '...'}"
            for number, name in enumerate(_required(model))
        )
    for kind, key in _FIRST.items():
        if issubclass(model, kind):
            return f"{key}: {one}"
    first, *rest = _required(model) or [""]
    return ", ".join([f"{first}: {one}", *(f"{name}: ..." for name in rest)]) if first else ""


def _required(model: type[Model]) -> list[str]:
    return [name for name, field in model.model_fields.items() if field.is_required()]


def _source(path: Path, value: Any, document: Mapping[str, Any]) -> str:
    """The source of an address, or of an add-on that names one."""
    one = quoted(value, path)
    url = one if "://" in one else "..."
    if url.startswith("oci://"):
        return f"oci: {{url: {url}, ref: {{tag: ...}}}}"
    if path[:2] == ("platform", "addons") and "helm" in mapping_at(document, *path[:-1]):
        return f"helm: {{url: {url}}}"
    return f"git: {{url: {url}, {_GIT_REF}}}"


def _overrides(value: Any) -> str:
    """Overrides as a list of entries that hold what they are for."""
    first = value[0] if isinstance(value, list) and isinstance(value[0], dict) else {}
    for key, group in (("environment", "environments"), ("env", "environments"), ("cluster", "clusters")):
        if key in first:
            return f"{group}: {{{quoted(first[key], ())}: {{...}}}}"
    return "environments: {NAME: {...}}"


def _of_list(model: type[Model] | None, path: Path, value: Any) -> str:
    """A list of one entry, which was written without the list."""
    if isinstance(value, str) and value.startswith(_DASHES):
        return "begin each entry with '- ': a hyphen and a space"
    if isinstance(value, dict):
        if any(key.startswith(_DASHES) for key in value):
            return "begin each entry with '- ': a hyphen and a space"
        return _list_of_mapping(model, path, value)
    if value is None:
        return f"write '{quoted(path[-1], ())}: [...]', or remove the key"
    if isinstance(value, bool) or any(is_sensitive(part) for part in path if isinstance(part, str)):
        return ""
    one = quoted(str(value), path)
    if model and (required := _required(model)):
        return f"write [{{{', '.join(f'{name}: ...' for name in required)}}}]"
    if one == "...":
        return ""
    entry = next((key for kind, key in _FIRST.items() if model and issubclass(model, kind)), "")
    if entry:
        return f"write [{{{entry}: {one}}}]"
    return f"write [{one}]" if model is None else ""


def _list_of_mapping(model: type[Model] | None, path: Path, value: dict[str, Any]) -> str:
    if path[-1:] == ("environments",) and any(isinstance(each, dict) and each for each in value.values()):
        return (
            f"move it into 'overrides: {{environments: {{{', '.join(f'{quoted(each, ())}: ...' for each in value)}}}}}'"
        )
    if model is None:
        names = [value["name"]] if set(value) <= {"name", "namespace"} and "name" in value else list(value)
        return f"write [{', '.join(quoted(each, path) for each in names)}]"
    entries = []
    for key, part in value.items():
        single = key if key in fields_of(model) else key.removesuffix("s")
        if single not in fields_of(model):
            return "begin each entry with '- '"
        entries += [f"{{{single}: {quoted(each, path)}}}" for each in _several(part)]
    return f"write [{', '.join(entries)}]" if issubclass(model, OneOf) else "begin each entry with '- '"


def _of_text(path: Path, value: Any) -> str:
    """One word, which was written as a mapping or a list."""
    if isinstance(value, dict):
        if spec := mapping_at(value, "spec"):
            return _of_chart_spec(spec)
        name = value.get("name", value.get("cluster"))
        return f"write '{quoted(name, path)}'" if isinstance(name, str) and quoted(name, path) != "..." else ""
    if isinstance(value, list) and value:
        if path[-1] == "management" and len(value) > 1:
            return "write one of them, and declare an environment for each of the others, which extends this one"
        return f"write '{quoted(value[0], path)}'" if len(value) == 1 else "write one of them"
    return ""


def _of_chart_spec(spec: dict[str, Any]) -> str:
    """A chart as a HelmRelease has it."""
    source = quoted(mapping_at(spec, "sourceRef").get("name"), ())
    given = {"source": source, "chart": quoted(spec.get("chart"), ()), "version": quoted(spec.get("version"), ())}
    return "write " + ", ".join(f"'{key}: {value}'" for key, value in given.items()) + " right under 'helm:'"


def quota_fix(key: str, value: Any) -> str:
    """What to write for a resource that no quota knows."""
    if isinstance(value, dict) and value:
        prefix = f"{key}." if key in ("requests", "limits") else ""
        given = ", ".join(f"'{prefix}{quoted(name, ())}: {quoted(str(part), ())}'" for name, part in value.items())
        return f"write {given} right under the quota"
    near = {"ram": "requests.memory", "mem": "requests.memory", "cores": "requests.cpu"}.get(key) or closest(
        key, _RESOURCES
    )
    return f"write '{near}'" if near else "write a resource such as 'pods', 'requests.cpu' or 'limits.memory'"


_RESOURCES = (
    *("requests.cpu", "requests.memory", "requests.storage", "requests.ephemeral-storage"),
    *("limits.cpu", "limits.memory", "limits.ephemeral-storage"),
    *("pods", "services", "services.loadbalancers", "services.nodeports", "configmaps", "secrets"),
    *("persistentvolumeclaims", "replicationcontrollers", "resourcequotas"),
)
