"""What an author probably meant by a key that does not fit, as the fix of a finding.

Called by: `shape` for the model's keys, `blocks` for Flux's.
Never: decides whether something is wrong, or quotes what may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.fleet.gone import fix_for_gone
from tenantry.flux.schemas import schema_of
from tenantry.kube.names import limit_name_problem
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Problem
from tenantry.messages.redact import is_sensitive, kind_of, shorten
from tenantry.messages.text import format_path
from tenantry.model import (
    App,
    AppPatch,
    AppWhere,
    ChartDirectory,
    Credentials,
    FluxBlock,
    Git,
    GitRef,
    HelmPatch,
    Kubeconfig,
    KustomizePatch,
    Model,
    ObjectsChart,
    Oci,
    OciRef,
    Overrides,
    RolloutWave,
    Selector,
    SettingsOverrides,
    Tenant,
)
from tenantry.model.clusters import Capi
from tenantry.model.document import SettingsPatch
from tenantry.model.sources import SourceWhere
from tenantry.model.tenancy import Limits, TenantOwner

_SECRETS_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
_PLAIN = re.compile(r"[A-Za-z0-9*./][\w.+/@-]{0,59}|https?://[\w.:/-]{1,60}")
"""What needs no quotes in YAML, is short, and holds no user in front of a host."""
_MOST_DIGITS = 6
"""Longer numbers may be passwords."""
_BLOCKS: dict[str, type[FluxBlock]] = {"kustomize": KustomizePatch, "helm": HelmPatch}
_REFS: dict[type[Model], type[Model]] = {Git: GitRef, Oci: OciRef, ChartDirectory: GitRef}
IN_A_SECRET = "write 'secret:' with 'name: NAME', 'namespace: NAMESPACE' and 'key: value'"
"""How a kubeconfig is declared. `secret: {...}` on one line would be redacted."""
_RESOURCES = ("", "pods", "services", "secrets", "configmaps", "requests", "limits", "count")
"""What keys of a quota begin with; an environment can have such a name."""
_LOGIN = ("username", "password", "token", "identity", "bearerToken")
_ON_THE_APP = "set it on the app itself, because overrides cannot change it"
_MOVED: dict[type[Model], dict[str, str]] = {
    AppPatch: dict.fromkeys(("state", "clusters", "environments"), _ON_THE_APP),
    SettingsPatch: {
        **dict.fromkeys(("kustomize", "helm"), "put it into the overrides of an app: 'apps: {NAME: {overrides: ...}}'"),
        "state": "set it on the tenant, or for one cluster: 'overrides: {clusters: {NAME: {state: offboarding}}}'",
        **dict.fromkeys(
            ("clusters", "environments", "grants"), "set it outside of 'overrides', which cannot change it"
        ),
    },
    Tenant: {
        "kustomize": "put it into an app: 'apps: {NAME: {kustomize: ...}}'",
        "helm": "put it into an app: 'apps: {NAME: {helm: ...}}'",
        "namespace": "set it in the environment, for all tenants: 'namespace: \"{tenant}\"'",
    },
    KustomizePatch: {"namespace": "write 'targetNamespace'"},
    HelmPatch: {
        "namespace": "write 'targetNamespace'",
        "path": "write 'chart', which takes a directory of a Git source",
    },
}


def fix_for_key(
    model: type[Model] | None, key: str, beside: Mapping[str, Any], document: Mapping[str, Any] | None = None
) -> str:
    """Where a key belongs that its mapping does not take; "" if that is not known.

    Args: model: of the mapping; beside: the whole mapping as written; document: the whole file, if it is known.
    """
    if model is None:
        return ""
    if fix := fix_for_gone(model, key):
        return fix
    if issubclass(model, AppWhere | SourceWhere) and key == "labels":
        return f"write '{by_labels(beside[key])}'"
    if fix := next((moved[key] for known, moved in _MOVED.items() if issubclass(model, known) and key in moved), ""):
        return fix
    if fix := _of_names(model, key, document or {}) or _of_several(model, key, beside):
        return fix
    if issubclass(model, Credentials):
        keys = ", ".join(sorted(each for each in beside if each in _LOGIN)) or "username, password"
        return f"values never stand in the file: write 'keys: [{keys}]'"
    if issubclass(model, App | AppPatch):
        return _block_of(key, beside)
    return _of_source(model, key, beside)


def by_labels(labels: Any) -> str:
    """The selector of clusters for labels that stand where it belongs: clusters: {labels: {tier: edge}}"""
    pairs = labels.items() if isinstance(labels, dict) else ()
    return f"clusters: {{labels: {{{', '.join(f'{key}: {quoted(value, (key,))}' for key, value in pairs) or 'KEY: VALUE'}}}}}"


def meant_path(path: Path, document: Mapping[str, Any]) -> Path | None:
    """Where a setting stands that differs in one environment or on one cluster: under the overrides of what it is for.

    Args: path: where somebody wrote it, below the environment, the cluster, or the setting.
    """
    named = {group: mapping_at(document, group) for group in ("environments", "clusters")}
    match path:
        case ("environments" | "clusters" as group, name, "tenants", tenant, *rest) if isinstance(tenant, str) and rest:
            return ("tenants", tenant, "overrides", str(group), name, *rest)
        case ("environments" | "clusters" as group, name, key, *rest) if key in SettingsPatch.model_fields:
            return ("defaults", "overrides", str(group), name, key, *rest)
        case ("tenants", _, "apps", _, *rest):
            holder = path[:4]
        case ("tenants", _, *rest):
            holder = path[:2]
        case ("platform", "addons", _, *rest):
            holder = path[:3]
        case ("defaults", *rest):
            holder = path[:1]
        case _:
            return None
    if "overrides" in rest:
        return None
    if rest[:1] == ["quota"]:  # its keys have dots, and those of Kubernetes come first
        rest = ["quota", *".".join(map(str, rest[1:])).split(".", 1)]
        if rest[1] in _RESOURCES:
            return None
    for at, name in enumerate(rest):
        for kind in (kind for kind, names in named.items() if name in names):
            before = rest[: at - 1] if at and rest[at - 1] == kind else rest[:at]
            return (*holder, "overrides", kind, name, *before, *rest[at + 1 :])
    return None


def fix_for_place(path: Path, document: Mapping[str, Any]) -> str:
    """What to write for a key that stands where it cannot differ by environment or cluster; "" if it is another mistake."""
    match path:
        case ("tenants", _, "apps", _, "overrides", "environments", environment, "state"):
            return (
                "an app is paused in all environments, with 'state: paused' on the app itself; in"
                f" '{quoted(environment, ())}' only, `flux suspend` stops it"
            )
        case ("environments" | "clusters" as group, name, key, *_) if key in SettingsPatch.model_fields:
            below = (*("overrides", str(group), name), key)
            return (
                f"write it under '{_shown(('defaults', *below))}' for all tenants, or under"
                f" '{_shown(('tenants', 'NAME', *below))}' for one"
            )
    meant = meant_path(path, document)
    return f"write it under '{_shown(meant)}'" if meant else ""


def _shown(path: Path) -> str:
    return format_path(tuple(part if isinstance(part, int) else quoted(part, ()) for part in path))


def _of_names(model: type[Model], key: str, document: Mapping[str, Any]) -> str:
    """A name of the fleet, or a label of its clusters, in place of the key that it belongs under."""
    environments, clusters = (mapping_at(document, group) for group in ("environments", "clusters"))
    if issubclass(model, Overrides | SettingsOverrides):
        group = "environments" if key in environments else "clusters" if key in clusters else ""
        return f"write '{group}: {{{quoted(key, ())}: ...}}'" if group else ""
    if issubclass(model, App) and (key in environments or key in clusters):
        group = "environments" if key in environments else "clusters"
        return f"write 'overrides: {{{group}: {{{quoted(key, ())}: ...}}}}'"
    if issubclass(model, RolloutWave) and key in ("clusters", "cluster"):
        return "write 'names: [CLUSTER]'"
    if issubclass(model, Selector):
        if key in clusters:
            return f"write 'names: [{quoted(key, ())}]'"
        labelled = any(key in mapping_at(each, "labels") for each in clusters.values())
        return f"write 'labels: {{{quoted(key, ())}: ...}}'" if labelled else ""
    return ""


def _of_several(model: type[Model], key: str, beside: Mapping[str, Any]) -> str:
    """One mapping for several keys that stand where it belongs."""

    def given(*names: str) -> str:
        return ", ".join(f"{name}: {quoted(beside.get(name), (name,))}" for name in names)

    if issubclass(model, Limits) and limit_name_problem(key) is None:
        return f"write 'default: {{{given(*(each for each in beside if limit_name_problem(each) is None))}}}'"
    if issubclass(model, TenantOwner) and key in ("kind", "name", "namespace", "apiGroup") and "name" in beside:
        kind = {"Group": "group", "ServiceAccount": "serviceAccount"}.get(str(beside.get("kind")), "user")
        name = quoted(beside["name"], ("name",))
        return f"write '{kind}: {f'{{name: {name}}}' if kind == 'serviceAccount' else name}'"
    if issubclass(model, Tenant) and key in ("members", "users", "admins") and isinstance(beside[key], list):
        owners = ", ".join(f"{{user: {quoted(each, ())}}}" for each in beside[key])
        return "" if "..." in owners else f"write 'owners: [{owners}]'"
    if issubclass(model, Tenant) and key == "metadata" and isinstance(beside[key], dict):
        pairs = mapping_at(beside, key, "labels")
        given_labels = ", ".join(f"{name}: {quoted(value, (name,))}" for name, value in pairs.items())
        return f"write 'labels: {{{given_labels or 'KEY: VALUE'}}}' right under the tenant"
    if issubclass(model, TenantOwner) and key in ("email", "username", "name"):
        return f"write 'user: {quoted(beside[key], ())}'"
    if issubclass(model, Git) and key in ("revision", "targetRevision") and "ref" not in beside:
        return f"write 'ref: {{branch: {quoted(beside[key], ())}}}', or 'tag', 'semver' or 'commit' in it"
    if issubclass(model, Kubeconfig) and key in ("name", "namespace", "key"):
        return f"move it under 'secret:', which takes {given('name', 'namespace', 'key')}"
    if issubclass(model, Kubeconfig) and key in (
        "apiVersion",
        "kind",
        "clusters",
        "users",
        "contexts",
        "current-context",
    ):
        return f"store the kubeconfig in a Secret on the management cluster, and {IN_A_SECRET}"
    if issubclass(model, Kubeconfig) and key in ("workloadIdentity", "configMapRef", "provider"):
        return "write 'configMap: {name: NAME, namespace: NAMESPACE, provider: generic}', or another provider: aws, azure, gcp"
    if issubclass(model, ObjectsChart) and key in ("url", "version", "ref", "path"):
        git = "ref" in beside or "path" in beside
        names = ("url", "ref", "path") if git else ("url", "version")
        return f"write '{'git' if git else 'helm'}: {{{given(*names)}}}'"
    if issubclass(model, Capi) and key == "name":
        return f"write 'cluster: {quoted(beside['name'], ())}'"
    return ""


def _block_of(key: str, beside: Mapping[str, Any]) -> str:
    """Under which block a key of an app belongs."""
    written = [name for name in _BLOCKS if name in beside] or list(_BLOCKS)
    for name in (*written, *_BLOCKS):
        if key == "namespace":
            return f"use 'targetNamespace' under '{name}:'"
        block = _BLOCKS[name]
        if key in block.model_fields or key in schema_of(block.flux_kind).spec["properties"]:
            return f"'{key}' belongs under '{name}:'"
    return ""


def _of_source(model: type[Model], key: str, beside: Mapping[str, Any]) -> str:
    for block, ref in _REFS.items():
        if issubclass(model, block) and key in ref.model_fields:
            value = quoted(beside[key], ()) if "ref" not in beside else "..."
            return f"write 'ref: {{{key}: {value}}}'"
    if not issubclass(model, FluxBlock):
        return ""
    if key in _LOGIN:
        return "values never stand in the file: declare 'credentials:', and name them beside the block"
    return "put it beside the block, not into it" if key == "credentials" else ""


def fix_for_owned(key: str, beside: Mapping[str, Any]) -> str:
    """What to write for a key of Flux that the fleet sets from another of ours."""
    value = beside.get(key)
    name = quoted(mapping_at({"": value}, "").get("name"), ("name",))
    if key in ("sourceRef", "chartRef"):
        return f"write 'source: {'NAME' if name == '...' else name}'"
    if key == "secretRef":
        # What no Secret can be called may be the secret itself.
        return f"write 'credentials: {name if _SECRETS_NAME.fullmatch(name) else 'NAME'}' beside the block"
    if key == "dependsOn" and isinstance(value, list):
        names = ", ".join(quoted(each.get("name") if isinstance(each, dict) else each, ()) for each in value)
        return f"write 'dependsOn: [{names}]' beside the block"
    return ""


def without_repeats(found: tuple[Problem, ...], known: tuple[Problem, ...]) -> Iterator[Problem]:
    """Findings that do not repeat others: a `branch:` beside `url:` is also a missing `ref:`, a typo the missing key itself.

    Args: known: further findings, which are told.
    """
    meant = {
        (*each.path[:-1], key[1])
        for each in (*known, *found)
        if each.code == "unknown-key" and (key := _MEANT_KEY.match(each.fix))
    }
    wrong_keys = {each.path for each in found if each.at_key}
    # What follows such a key belongs under it.
    displaced = {each.path for each in found if each.fix.startswith("indent '")}
    in_whole = {each.path for each in known if each.code == "wrong-reference"}
    for each in found:
        if any(each.path[: len(path)] == path for path in in_whole):
            continue
        if any(each.path[: len(path) - 1] == path[:-1] for path in displaced) and each.path not in displaced:
            continue
        missing = _MISSING_KEY.match(each.message) if each.code == "missing-key" else None
        if missing and (*each.path, missing[1]) in meant:
            continue
        if each.at_key or not any(each.path[:depth] in wrong_keys for depth in range(1, len(each.path) + 1)):
            yield each


_MISSING_KEY = re.compile(r"key '([A-Za-z]+)' is missing")
_MEANT_KEY = re.compile(r"write '([A-Za-z]+)(?=[:'])")


def quoted(value: Any, path: Path) -> str:
    """A value as the fix may repeat it; "..." for what is long, needs quotes or may be a secret."""
    if isinstance(value, int | float) and not isinstance(value, bool) and len(str(value)) <= _MOST_DIGITS:
        value = str(value)
    sensitive = any(is_sensitive(part) for part in path[-3:] if isinstance(part, str))
    if sensitive or not isinstance(value, str) or not _PLAIN.fullmatch(value) or kind_of(value):
        return "..."
    return value if value == shorten(value) else "..."
