"""Additions: a new tenant, app, source, add-on or cluster, from what the options of a command say.

What is written has the keys in the order of the reference. A name that is not declared, or a key that is missing, is found when
the edited fleet is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.paths import assignment, ranks_at
from tenantry.edit.subjects.names import Kind, Target, in_words
from tenantry.edit.subjects.references import file_named, new, require
from tenantry.kube.names import PLATFORM
from tenantry.messages.data import ABSENT, mapping_at
from tenantry.messages.errors import Path, Refused
from tenantry.model.selector import wanted_labels

Options = Mapping[str, Any]
"""What the options of a command say, by their names; None or empty: not given."""
Entry = dict[str, Any]

_SOURCES = {"git": ("branch", "tag", "semver"), "helm": (), "oci": ("tag", "semver"), "bucket": ()}
"""The kinds of sources, and the refs that each can have."""
_REFS = ("branch", "tag", "semver")
_KUBECONFIGS = {"kamaji": "controlPlane", "capi": "cluster", "vcluster": "name", "secret": "name"}
"""The kinds of kubeconfigs, and the key that says whose it is."""
_READ_APART = frozenset(
    {*_SOURCES, *_REFS, *_KUBECONFIGS, "exclude", "groups", "settings", "source", "path", "chart", "version"}
    | {"target_namespace", "credentials"}
)
"""Options that together make a key. Every other option has the name of a key, and its value."""


class Edit(NamedTuple):
    """What an edit did. done: a sentence in the past tense; notes: what else.

    added: the path of a new entry, which nothing uses yet.
    """

    done: str
    notes: Sequence[str] = ()
    added: Path = ()


def add(editor: Editor, kind: Kind, name: str, options: Options, to: FilePath | None = None) -> Edit:
    """Add an entry. to: an included file for it, or of a tenant for its apps. Raises: Refused."""
    target = new(editor, kind, name)
    file = file_named(editor, to) if to else None
    entry = _entry(editor, target, options)
    own_file = kind is Kind.TENANT and file in editor.teams
    _put(editor, target.path, entry, editor.main if own_file else file)
    if own_file:
        _put(editor, target.path, {}, file)
    where = f", with its apps in {file}" if own_file else f" to {file}" if file and file != editor.main else ""
    return Edit(f"added {target}{where}", [] if own_file else _notes(editor, target, entry), added=target.path)


def _put(editor: Editor, path: Path, entry: Entry, file: FilePath | None) -> None:
    *holder, name = path
    editor.add(tuple(holder), str(name), entry, file=file)


def _entry(editor: Editor, target: Target, options: Options) -> Entry:
    """The entry that the options make, with its keys in the order of the reference."""
    entry = {key: value for key, value in options.items() if key not in _READ_APART}
    if clusters := options.get("clusters"):
        entry["clusters"] = selector(clusters, options["exclude"])
    elif "clusters" in options and options["exclude"]:
        raise Refused("--exclude leaves out some of the clusters that --clusters takes", "add --clusters all")
    if len(entry.get("from") or ()) == 1:
        (entry["from"],) = entry["from"]
    if target.kind is Kind.TENANT:
        entry["owners"] = [{"group": group} for group in options["groups"]]
    if target.kind is Kind.SOURCE:
        entry = _source(options)
    if target.kind is Kind.ADDON and options["source"] is None:
        entry["source"] = _source(options)
    elif target.kind is Kind.ADDON and (own := [each for each in _SOURCES if options[each]]):
        raise Refused(f"--source and {_flags(own)} exclude each other", "keep one of them")
    if target.kind is Kind.CLUSTER and not options["environments"] and not options["from"]:
        fix = "add --environments NAME, or --from NAME of a template that has one"
        raise Refused(f"cluster '{target.name}' needs an environment", fix)
    if target.kind is Kind.CLUSTER:
        entry["kubeconfig"] = _kubeconfig(options)
    entry = _given(entry)
    if target.kind in (Kind.APP, Kind.ADDON):
        block, settings = _block(editor, target, options, entry.get("source"))
        entry[block] = settings  # also an empty one, which says what kind of app it is
    ranks = ranks_at(target.path)
    entry = {key: entry[key] for key in sorted(entry, key=lambda key: ranks.get(key, len(ranks)))}
    for text in options.get("settings") or ():
        path, value = assignment(target.path, text)
        _set(entry, path, value)
    return entry


def _given(entry: Entry) -> Entry:
    """The keys that have a value."""
    return {key: value for key, value in entry.items() if value not in (None, "", {}, [], ())}


def _set(entry: Entry, path: Path, value: Any) -> None:
    for key in path[:-1]:
        entry = entry.setdefault(str(key), {})
    entry[str(path[-1])] = value


def selector(text: str, exclude: Sequence[str] = ()) -> Entry:
    """`all`, `hub-dev,edge-1` or `tier=edge,region=eu,region=us` as a selector; a key of labels with several values may have any.

    exclude: names, and labels in the same form. Raises: Refused: names and labels are mixed.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    pairs = [part for part in parts if "=" in part]
    if not parts or len(pairs) not in (0, len(parts)):
        fix = "write 'all', names ('hub-dev,edge-1') or labels ('tier=edge')"
        raise Refused(f"'{text}' does not select clusters", fix)
    chosen: Entry = {"all": True} if parts == ["all"] else {"names": parts}
    if pairs:
        chosen = {"labels": wanted_labels(pairs)}
    without = [each for each in exclude if "=" not in each]
    if labels := wanted_labels(pair for each in exclude if "=" in each for pair in each.split(",")):
        return {**chosen, "exclude": {**({"names": without} if without else {}), "labels": labels}}
    return chosen | ({"exclude": without} if without else {})


# --- apps ---------------------------------------------------------------------------------------------------------------


def _block(editor: Editor, target: Target, options: Options, own_source: Entry | None) -> tuple[str, Entry]:
    """The block of an app or add-on: `helm` if it names a chart, else `kustomize`. own_source: of an add-on."""
    is_helm = options["chart"] is not None
    if options["version"] is not None and not is_helm:
        raise Refused("a version is that of a chart", "add --chart NAME")
    if is_helm and options["path"] is not None:
        raise Refused("a chart and a path exclude each other", "keep --chart for a release, or --path for manifests")
    block: Entry = {}
    if own_source is None:
        block["source"] = options["source"] or _only_source(editor, target)
        source = Target(Kind.SOURCE, block["source"], target.owner or PLATFORM)
        require(editor, source)
        own_source = mapping_at(editor.value(source.path))
    if "helm" in own_source and not is_helm:
        which = f"source '{block['source']}'" if block else "the source"
        raise Refused(f"{which} is a Helm repository", "add --chart NAME and --version VERSION")
    keys = ("chart", "version") if is_helm else ("path",)
    named = {key: options[key] for key in keys} | {"targetNamespace": options.get("target_namespace")}
    return "helm" if is_helm else "kustomize", block | _given(named)


def _only_source(editor: Editor, target: Target) -> str:
    names = editor.names(*target.path[:2], "sources")
    if len(names) == 1:
        return names[0]
    if not names:
        fix = f"tenantry add source {target.owner}/NAME --git URL --branch main"
        raise Refused(f"{in_words(target.owner)} has no source", fix)
    raise Refused(f"{in_words(target.owner)} has several sources: {', '.join(names)}", "choose one with --source")


# --- sources and kubeconfigs --------------------------------------------------------------------------------------------


def _source(options: Options) -> Entry:
    """Raises: Refused: the source has no kind or several, or a ref of another kind."""
    kinds = [kind for kind in _SOURCES if options[kind]]
    if len(kinds) != 1:
        found = f"{_flags(kinds)} are given" if kinds else "none is given"
        raise Refused(f"a source needs one of --git, --helm, --oci and --bucket; {found}", "keep one of them")
    kind, address = kinds[0], str(options[kinds[0]])
    refs = {key: options[key] for key in _REFS if options[key]}
    if wrong := next((key for key in refs if key not in _SOURCES[kind]), None):
        raise Refused(f"--{wrong} does not apply to --{kind}", "remove it")
    if len(refs) > 1:
        raise Refused(f"{_flags(refs)} exclude each other", "keep one of them")
    block: Entry = {"url": address}
    if kind in ("git", "oci"):
        block["ref"] = refs or {"git": {"branch": "main"}, "oci": {"tag": "latest"}}[kind]
    elif kind == "helm" and address.startswith("oci://"):
        block["type"] = "oci"
    elif kind == "bucket":
        endpoint, _, name = address.rpartition("/")
        block = {"bucketName": name, "endpoint": endpoint}
    return _given({kind: block, "credentials": options["credentials"]})


def _kubeconfig(options: Options) -> Entry | None:
    """Where a kubeconfig is. Raises: Refused: several places are given, or one is malformed."""
    given = {kind: options[kind] for kind in _KUBECONFIGS if options[kind]}
    if len(given) > 1:
        raise Refused(f"{_flags(given)} exclude each other", "keep one of them")
    for kind, text in given.items():
        namespace, slash, name = text.partition("/")
        name, colon, key = name.partition(":")
        if not slash or not name or bool(colon) != (kind == "secret"):
            form = "NAMESPACE/NAME:KEY" if kind == "secret" else "NAMESPACE/NAME"
            raise Refused(f"--{kind} {text} is not {form}", f"write it as --{kind} {form}")
        return {kind: {_KUBECONFIGS[kind]: name, "namespace": namespace} | ({"key": key} if key else {})}
    return None


def _flags(options: Sequence[str] | Mapping[str, Any]) -> str:
    return " and ".join(f"--{option}" for option in options)


# --- what else an addition means ----------------------------------------------------------------------------------------


def _notes(editor: Editor, target: Target, entry: Entry) -> list[str]:
    if target.kind is Kind.TENANT and "from" in entry:
        return []
    if target.kind is Kind.TENANT:
        first = (
            f"tenant '{target.name}' has no apps yet; its namespaces, rights and quota are created with the first one"
        )
        next_step = f"next: tenantry add source {target.name}/NAME --git URL --branch main"
        selected = entry.get("clusters") or editor.value(("defaults", "clusters")) is not ABSENT
        missing = "it has no clusters, and neither have the defaults: each of its apps needs a selector"
        return [first, next_step] if selected else [first, missing, next_step]
    if target.kind is Kind.SOURCE:
        content = "--chart NAME --version RANGE" if "helm" in entry else "--path DIRECTORY"
        what = "addon NAME --clusters all" if target.owner == PLATFORM else f"app {target.owner}/NAME"
        return [f"next: tenantry add {what} --source {target.name} {content}"]
    if target.kind is Kind.CLUSTER and ("kubeconfig" in entry or "from" in entry):
        return [
            f"next: tenantry bootstrap {target.name} --kubeconfig FILE",
            f"next: tenantry preflight --cluster {target.name}",
        ]
    return []
