"""Additions: a new tenant, app, source, cluster, environment, group or add-on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Target
from tenantry.edit.subjects.subjects import in_words, new, path_of, require
from tenantry.kube.names import ADDON_PREFIX
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import listed

Entry = dict[str, Any]


def add_entry(draft: Draft, kind: Kind, text: str, entry: Mapping[str, Any], file: FilePath | None = None) -> Edit:
    """Add an entry. Its keys without a value are left out. Raises: Refused: the name is taken, or not valid."""
    target = new(draft, kind, text)
    draft.put(path_of(target), given(entry), file)
    return draft.edit(f"added {in_words(target)}" + (f" to {file}" if file else ""))


def put_into(entry: Entry, path: Path, value: Any) -> None:
    """Set a value in an entry that is not in the file yet."""
    for key in path[:-1]:
        entry = entry.setdefault(str(key), {})
    entry[str(path[-1])] = value


def given(entry: Mapping[str, Any]) -> Entry:
    """The keys that have a value, in their order."""
    return {key: value for key, value in entry.items() if value is not None and value != {} and value != []}


def add_tenant(draft: Draft, name: str, frame: Mapping[str, Any], file: FilePath | None) -> Edit:
    """Add a tenant. file: the included file in which the team writes its apps; the main file has the frame."""
    target = new(draft, Kind.TENANT, name)
    _check_names(draft, frame)
    if file is None or file == draft.main:
        draft.put(path_of(target), given(frame), draft.main)
        return draft.edit(f"added {in_words(target)}", _next_steps(draft, name, frame))
    _require_included(draft, file)
    draft.put(path_of(target), given(frame), draft.main)
    draft.put(path_of(target), {}, file)
    return draft.edit(f"added {in_words(target)}, with its apps in {file}")


def _require_included(draft: Draft, file: FilePath | None) -> None:
    if file is not None and file not in draft.documents:
        raise Refused(
            f"{file} is not one of the fleet's files: {listed(draft.documents)}",
            f"create it with the line 'tenants: {{}}' or 'clusters: {{}}', and name it under 'include:' of {draft.main}",
        )


def add_app(draft: Draft, text: str, app: Mapping[str, Any], block: Mapping[str, Any]) -> Edit:
    """Add an app whose Kustomization or release takes its content from a source of the tenant. Raises: Refused."""
    target = new(draft, Kind.APP, text)
    kind, settings = _block(draft, target, block)
    for name in app.get("dependsOn") or ():
        addon = name.startswith(ADDON_PREFIX)
        require(
            draft,
            Target(Kind.ADDON, name.removeprefix(ADDON_PREFIX)) if addon else Target(Kind.APP, name, target.owner),
        )
    _check_names(draft, app)
    entry = given({"clusters": app.get("clusters"), "environments": app.get("environments"), kind: settings})
    draft.put(path_of(target), entry | given({"dependsOn": list(app.get("dependsOn") or ())}))
    return draft.edit(f"added {in_words(target)}")


def _block(draft: Draft, target: Target, block: Mapping[str, Any]) -> tuple[str, Entry]:
    """The block of an app: `helm` if it names a chart, else `kustomize`."""
    name = block.get("source") or _only_source(draft, target)
    require(draft, Target(Kind.SOURCE, name, target.owner))
    source = draft.value(("tenants", target.owner, "sources", name))
    is_helm = block.get("chart") is not None
    if block.get("version") is not None and not is_helm:
        raise Refused("a version is that of a chart", "add --chart NAME")
    if is_helm and block.get("path") is not None:
        raise Refused("a chart and a path exclude each other", "keep --chart for a release, or --path for manifests")
    if "helm" in mapping_at(source) and not is_helm:
        raise Refused(f"source '{name}' is a Helm repository", "add --chart NAME and --version VERSION")
    keys = ("chart", "version") if is_helm else ("path",)
    return "helm" if is_helm else "kustomize", {"source": name} | given({key: block.get(key) for key in keys})


def _only_source(draft: Draft, target: Target) -> str:
    names = draft.names("tenants", target.owner, "sources")
    if len(names) == 1:
        return names[0]
    if not names:
        fix = f"tenantry add source {target.owner}/NAME --git URL --branch main"
        raise Refused(f"tenant '{target.owner}' has no source", fix)
    raise Refused(f"tenant '{target.owner}' has several sources: {', '.join(names)}", "choose one with --source")


def add_source(draft: Draft, text: str, source: Mapping[str, Any]) -> Edit:
    """Add a source to a tenant. Raises: Refused."""
    if (credentials := source.get("credentials")) is not None:
        target = new(draft, Kind.SOURCE, text)
        require(draft, Target(Kind.CREDENTIALS, credentials, target.owner))
    tenant, _, name = text.partition("/")
    content = "--chart NAME --version RANGE" if "helm" in source else "--path DIRECTORY"
    next_step = f"next: tenantry add app {tenant}/NAME --source {name} {content}"
    return replace(add_entry(draft, Kind.SOURCE, text, source), notes=(next_step,))


def source_of(options: Mapping[str, str | None]) -> Entry:
    """A source, of the options of a command. Raises: Refused: it has no kind or several, or a reference of another kind."""
    kinds = [kind for kind in ("git", "helm", "oci", "bucket") if options.get(kind)]
    if len(kinds) != 1:
        found = "none is given" if not kinds else f"{' and '.join(f'--{kind}' for kind in kinds)} are given"
        raise Refused(f"a source needs one of --git, --helm, --oci and --bucket; {found}", "keep one of them")
    kind, address = kinds[0], str(options[kinds[0]])
    refs = {key: value for key in ("branch", "tag", "semver") if (value := options.get(key))}
    _check_refs(kind, refs)
    block: Entry = {"url": address}
    if kind == "git":
        block["ref"] = refs or {"branch": "main"}
    elif kind == "oci":
        block["ref"] = refs or {"tag": "latest"}
    elif kind == "helm" and address.startswith("oci://"):
        block["type"] = "oci"
    elif kind == "bucket":
        endpoint, _, name = address.rpartition("/")
        block = {"bucketName": name, "endpoint": endpoint}
    return given({kind: block, "credentials": options.get("credentials")})


def _check_refs(kind: str, refs: Mapping[str, str]) -> None:
    allowed = {"git": ("branch", "tag", "semver"), "oci": ("tag", "semver")}.get(kind, ())
    if wrong := next((key for key in refs if key not in allowed), None):
        raise Refused(f"--{wrong} does not apply to --{kind}", "remove it")
    if len(refs) > 1:
        raise Refused(f"{' and '.join(f'--{key}' for key in refs)} exclude each other", "keep one of them")


def kubeconfig_of(options: Mapping[str, str | None]) -> Entry | None:
    """Where a kubeconfig is, of the options of a command. Raises: Refused: several are given, or one is malformed."""
    chosen = {kind: text for kind, text in options.items() if text}
    if len(chosen) > 1:
        raise Refused(f"{' and '.join(f'--{kind}' for kind in chosen)} exclude each other", "keep one of them")
    for kind, text in chosen.items():
        namespace, slash, name = text.partition("/")
        name, colon, key = name.partition(":")
        if not slash or not name or bool(colon) != (kind == "secret"):
            form = "NAMESPACE/NAME:KEY" if kind == "secret" else "NAMESPACE/NAME"
            raise Refused(f"--{kind} {text} is not {form}", f"write it as --{kind} {form}")
        named = {"kamaji": "controlPlane", "capi": "cluster"}.get(kind, "name")
        return {kind: {named: name, "namespace": namespace} | ({"key": key} if key else {})}
    return None


def add_cluster(draft: Draft, name: str, cluster: Mapping[str, Any], file: FilePath | None) -> Edit:
    """Add a cluster. Raises: Refused: its group or an environment is not declared, or neither says its environments."""
    _check_names(draft, cluster)
    group = cluster.get("group")
    if group is None and not cluster.get("environments"):
        raise Refused(
            f"cluster '{name}' needs an environment", "add --environment NAME, or --group NAME of a group that has one"
        )
    _require_included(draft, file)
    return add_entry(draft, Kind.CLUSTER, name, cluster, file)


def add_environment(draft: Draft, name: str, environment: Mapping[str, Any]) -> Edit:
    """Add an environment; a management cluster that is not declared yet is declared with it. Raises: Refused."""
    target = new(draft, Kind.ENVIRONMENT, name)
    for key in ("extends", "after"):
        if environment.get(key) is not None:
            require(draft, Target(Kind.ENVIRONMENT, environment[key]))
    draft.put(path_of(target), given(environment))
    notes = _manage(draft, environment["management"], name)
    return draft.edit(f"added {in_words(target)}", (*notes, f"its stack needs a file: Pulumi.{name}.yaml"))


def _manage(draft: Draft, cluster: str, environment: str) -> list[str]:
    """Put the management cluster into its environment."""
    at = ("clusters", cluster)
    if (file := draft.holder(at)) is None:
        draft.put(at, {"environments": [environment]})
        return [f"cluster '{cluster}' is new: it is declared too"]
    if (listed := draft.value((*at, "environments"))) is None:
        raise Refused(
            f"cluster '{cluster}' has its environments from group '{draft.value((*at, 'group'))}'",
            "add the environment to the group first",
        )
    if environment not in listed:
        draft.append((*at, "environments"), environment, file)
        return [f"cluster '{cluster}' belongs to it too"]
    return []


def add_group(draft: Draft, name: str, group: Mapping[str, Any]) -> Edit:
    """Add a group of clusters. Raises: Refused."""
    _check_names(draft, group)
    return add_entry(draft, Kind.GROUP, name, group)


def add_addon(draft: Draft, name: str, addon: Mapping[str, Any], block: Mapping[str, Any]) -> Edit:
    """Add an add-on with its own source. Raises: Refused."""
    _check_names(draft, addon)
    for other in addon.get("dependsOn") or ():
        require(draft, Target(Kind.ADDON, other))
    kind = "helm" if block.get("chart") is not None else "kustomize"
    if kind == "kustomize" and "helm" in mapping_at(addon.get("source")):
        raise Refused("a Helm repository holds charts", "add --chart NAME and --version VERSION")
    entry = {"clusters": addon["clusters"], "environments": addon.get("environments"), "source": addon["source"]}
    return add_entry(
        draft,
        Kind.ADDON,
        name,
        given(entry) | {kind: given(block)} | given({"dependsOn": list(addon.get("dependsOn") or ())}),
    )


def _check_names(draft: Draft, entry: Mapping[str, Any]) -> None:
    """Raises: Refused: a cluster, group or environment that an entry names is not declared."""
    for environment in entry.get("environments") or ():
        require(draft, Target(Kind.ENVIRONMENT, environment))
    if entry.get("group") is not None:
        require(draft, Target(Kind.GROUP, entry["group"]))
    selector = mapping_at(entry.get("clusters"))
    for cluster in (*(selector.get("names") or ()), *(selector.get("exclude") or ())):
        require(draft, Target(Kind.CLUSTER, cluster))


def _next_steps(draft: Draft, name: str, frame: Mapping[str, Any]) -> list[str]:
    notes = [f"next: tenantry add source {name}/NAME --git URL --branch main"]
    if not frame.get("clusters") and draft.value(("defaults", "clusters")) is None:
        notes.append("it has no clusters, and neither have the defaults: each of its apps needs a selector")
    return notes
