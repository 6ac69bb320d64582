"""Additions: a new tenant, app, source, add-on or cluster, from the settings that a command names.

A name that is not declared, or a key that is missing, is found when the edited fleet is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.names import Kind, Target, file_named, new
from tenantry.edit.paths import assignment, ranks_at
from tenantry.kube.names import PLATFORM
from tenantry.messages.errors import Path, Refused
from tenantry.model.selector import wanted_labels

Entry = dict[str, Any]


class Edit(NamedTuple):
    """What an edit did. done: sentences in the past tense; notes: what else.

    added: the path of a new entry, which nothing uses yet.
    """

    done: Sequence[str]
    notes: Sequence[str] = ()
    added: Path = ()


def add(editor: Editor, kind: Kind, name: str, settings: Sequence[str], to: FilePath | None = None) -> Edit:
    """Add an entry. settings: `quota.pods=40`, in the order of the keys below; to: an included file for it, or of a tenant for
    its apps. Raises: Refused.
    """
    target = new(editor, kind, name)
    file = file_named(editor, to) if to else None
    entry: Entry = {}
    for text in settings:
        (*above, key), value = assignment(target.path, text)
        holder = entry
        for part in above:
            holder = holder.setdefault(str(part), {})
        holder[str(key)] = value
    ranks = ranks_at(target.path)
    entry = {key: entry[key] for key in sorted(entry, key=lambda key: ranks.get(key, len(ranks)))}
    own_file = kind is Kind.TENANT and file in editor.teams
    editor.set(target.path, entry, file=editor.main if own_file else file)
    if own_file:
        editor.set(target.path, {}, file=file)
    where = f", with its apps in {file}" if own_file else f" to {file}" if file and file != editor.main else ""
    return Edit([f"added {target}{where}"], [] if own_file else _notes(target, entry), added=target.path)


def _notes(target: Target, entry: Entry) -> list[str]:
    """What to type next."""
    if target.kind is Kind.TENANT and "from" not in entry:
        return [
            f"tenant '{target.name}' has no apps yet; its namespaces, rights and quota are created with the first one",
            f"next: tenantry add source {target.name}/NAME git.url=URL git.ref.branch=main",
        ]
    if target.kind is Kind.SOURCE:
        block, rest = (
            ("helm", "helm.chart=NAME helm.version=RANGE")
            if "helm" in entry
            else ("kustomize", "kustomize.path=DIRECTORY")
        )
        what = "addon NAME clusters.all=true" if target.owner == PLATFORM else f"app {target.owner}/NAME"
        return [f"next: tenantry add {what} {block}.source={target.name} {rest}"]
    if target.kind is Kind.CLUSTER and ("kubeconfig" in entry or "from" in entry):
        return [
            f"next: tenantry bootstrap {target.name} --kubeconfig FILE",
            f"next: tenantry preflight --cluster {target.name}",
        ]
    return []


def selector(text: str) -> Entry:
    """`all`, `hub-dev,edge-1` or `tier=edge,region=eu,region=us` as a selector; a key of labels with several values may have any.

    Raises: Refused: names and labels are mixed.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    pairs = [part for part in parts if "=" in part]
    if not parts or len(pairs) not in (0, len(parts)):
        fix = "write 'all', names ('hub-dev,edge-1') or labels ('tier=edge')"
        raise Refused(f"'{text}' does not select clusters", fix)
    if pairs:
        return {"labels": wanted_labels(pairs)}
    return {"all": True} if parts == ["all"] else {"names": parts}
