"""Renames: the entry, every reference to it in all files, and what the rename means for clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath

from tenantry.edit.document import Document
from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.marks import drop_marks
from tenantry.edit.subjects.names import Kind, Target, target_named
from tenantry.edit.subjects.references import Reference, existing, new, references, references_to
from tenantry.edit.tree import Node, comments
from tenantry.fleet.groups import GROUPS, NAMING
from tenantry.fleet.lineages import Lineages
from tenantry.messages.errors import Path, Refused
from tenantry.messages.placeholders import with_stand_ins
from tenantry.messages.text import counted, listed

_BESIDE = (
    "to keep '{old}' until '{new}' runs: undo this, add '{new}' beside it, run `tenantry up`, and remove '{old}' later"
)
_HINTS = {
    Kind.TENANT: "to keep what runs for '{old}': undo this, and type `tenantry transfer tenant {old} {new}`",
    Kind.APP: _BESIDE,
    Kind.ADDON: _BESIDE,
    Kind.CLUSTER: "to keep what runs on '{old}': set 'state: decommissioned' and run `tenantry up` before the rename",
    Kind.ENVIRONMENT: "rename an environment before its first `tenantry up` only; Pulumi.{old}.yaml names it too",
}
"""The safe way, where a new name means new objects. A new name of anything else changes no app."""
_MANAGES = "a management cluster keeps its name after its first `tenantry up`: a marker on '{old}' holds it"
_CONFIG = "values in the stacks' config are still under 'tenantry:credentials.{}': set them under '.{}'"
_MOST = 6
"""The most lines that are listed."""

Found = list[tuple[FilePath, Reference]]


def rename(editor: Editor, kind: Kind, old: str, text: str) -> Edit:
    """Raises: Refused: there is no such entry, the new name is taken or invalid, or an included file is named after it."""
    target = existing(editor, kind, old)
    if len(target.path) == 2:
        editor.refuse_row(target.path)
    if "/" in text and (other := target_named(kind, text)).owner != target.owner:
        fix = f"to move an app: tenantry move app ... {other.owner}"
        raise Refused(f"a rename leaves {target} where it is", fix)
    name = text.rpartition("/")[2]
    new(editor, kind, f"{target.owner}/{name}" if target.owner else name)
    found = references_to(editor, target)
    if kind is Kind.TENANT:
        _require_no_file_named_after(editor, target, found)
    for file, reference in sorted(found, key=lambda each: each[1].form == "key"):
        if reference.form == "key":
            editor.rename(reference.path, name, file=file)
        else:
            editor.set(reference.path, reference.renamed(name), file=file)
    editor.rename(target.path, name)
    unmarked = drop_marks(editor, target._replace(name=name))
    hint = (
        _MANAGES
        if any(each.path[:1] == ("environments",) and each.path[2] == "management" for _, each in found)
        else _HINTS.get(kind)
    )
    return Edit(
        f"renamed {target} to '{name}'",
        (*_followed(found), *unmarked, *_beyond(editor, target, name), *mentions(editor, target)),
        [hint.format(old=target.name, new=name)] if hint else (),
    )


def transfer_tenant(editor: Editor, old: str, new_name: str) -> Edit:
    """Rename a tenant whose namespaces and other objects keep their names. Raises: Refused: as `rename`."""
    done = rename(editor, Kind.TENANT, old, new_name)
    at = ("tenants", new_name, "formerly")
    former: list[str] = editor.value(at, None) or []
    editor.set(at, [*former, *([] if old in former else [old])], file=editor.main)
    hint = (
        f"nothing is installed again: its objects keep '{(former or [old])[0]}' in their names, and their labels change"
    )
    return done._replace(hints=[hint])


def _require_no_file_named_after(editor: Editor, target: Target, found: Found) -> None:
    """An included file may speak of the tenant in its name, unless `of` says otherwise."""
    named = [file for file in editor.files_with(target.path) if file != editor.main and file.stem == target.name]
    if named and not any(reference.path[0] == "include" for _, reference in found):
        fix = f"include: [{{tenants: {named[0]}, of: [{target.name}]}}]"
        raise Refused(
            f"{named[0]} may speak of tenant '{target.name}' because it is named after it",
            f"name the tenants in {editor.main}, then try again: {fix}",
        )


def _followed(found: Found) -> list[str]:
    files = len({file for file, _ in found})
    where = f" in {counted(files, 'file')}" if files > 1 else ""
    return [f"{counted(len(found), 'reference')} changed with it{where}"] if found else []


def _beyond(editor: Editor, target: Target, name: str) -> list[str]:
    """What a rename does not reach: values in the config of stacks, and kubeconfigs that a group names after its clusters."""
    if target.kind is Kind.CREDENTIALS:
        return [_CONFIG.format(f"{target.owner}.{target.name}", f"{target.owner}.{name}")]
    if target.kind is Kind.TENANT and editor.names("tenants", name, "credentials"):
        return [_CONFIG.format(target.name, name)]
    if target.kind is Kind.CLUSTER and (group := _group_with_kubeconfigs(editor, name)):
        return [f"its kubeconfig follows its name: group '{group}' has '{{cluster}}' in it"]
    return []


def _group_with_kubeconfigs(editor: Editor, cluster: str) -> str | None:
    """The group that a cluster has its kubeconfig from, if the kubeconfig is named after the cluster."""
    own, groups = editor.value(("clusters", cluster), None), editor.value((GROUPS,), {})
    above = () if "kubeconfig" in own else reversed(Lineages(NAMING, groups).joined(NAMING.of(own)))
    nearest = next((group for group in above if "kubeconfig" in groups[group]), "")
    return nearest if nearest and "{cluster}" in str(groups[nearest]["kubeconfig"]) else None


# --- where the name still stands in texts and comments, which people want to look at ------------------------------------


def mentions(editor: Editor, target: Target) -> list[str]:
    """A note with the lines of the fleet's files where a name still stands as a word, without placeholders."""
    word = re.compile(rf"(?<![\w-]){re.escape(target.name)}(?![\w-])")
    places = [
        document.place(at).rpartition(":")[0]
        for document in editor.documents.values()
        for at in sorted(_mentioned(document, word, target))
    ]
    unique = list(dict.fromkeys(places))
    return [f"'{target.name}' still stands in text, which is left as it is: {listed(unique, _MOST)}"] if unique else []


def _mentioned(document: Document, word: re.Pattern[str], target: Target) -> Iterator[int]:
    """The places in a file, or in the tenant of the target: elsewhere, the name means something else."""
    start, end = 0, len(document.text)
    if target.owner:
        at = target.path[:2]
        if document.depth(at) < len(at):
            return
        start, end = document.entry(at).start, document.entry(at).end
    names = {reference.path for reference in references(document.data)}
    for path, node in _texts(document.root, ()):
        if path not in names and start <= node.start < end and word.search(with_stand_ins(node.text, "_")):
            yield node.start
    for comment in comments(document.text, document.root.nodes(), start, end):
        if word.search(comment[0]):
            yield comment.start()


def _texts(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """The values of a tree that are no mappings and no lists, with their paths."""
    if node.kind == "scalar":
        yield path, node
    for index, entry in enumerate(node.entries):
        yield from _texts(entry.value, (*path, entry.key.text if entry.key else index))
