"""Renames: the entry, every reference to it in all files, and what the rename means for clusters."""

from __future__ import annotations

from pathlib import Path as FilePath

from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.mentions import mentions
from tenantry.edit.subjects.names import Kind
from tenantry.edit.subjects.references import Reference, Target
from tenantry.edit.subjects.subjects import existing, in_words, path_of, require_free, target_named
from tenantry.kube.names import dns_label_problem
from tenantry.messages.errors import Refused
from tenantry.messages.text import counted

_BESIDE = "to keep '{old}' until '{new}' runs: add '{new}' beside it, and remove '{old}' later"
_HINTS = {
    Kind.TENANT: _BESIDE,
    Kind.APP: _BESIDE,
    Kind.ADDON: _BESIDE,
    Kind.CLUSTER: "to keep what runs on '{old}': set 'state: decommissioned' and run `tenantry up` before the rename",
    Kind.ENVIRONMENT: "rename an environment before its first `tenantry up` only; Pulumi.{old}.yaml names it too",
}
"""The safe way, where a new name means new objects. A new name of anything else changes no app."""
_CONFIG = "values in the stacks' config are still under 'tenantry:credentials.{}': set them under '.{}'"


def rename(draft: Draft, kind: Kind, old: str, new: str) -> Edit:
    """Raises: Refused: there is no such entry, the new name is taken or invalid, or an included file is named after it."""
    target = existing(draft, kind, old)
    renamed = _renamed(kind, target, new)
    require_free(draft, renamed)
    if kind is Kind.TENANT:
        _require_no_file_named_after(draft, target)
    found = draft.references_to(target)
    for file, each in sorted(found, key=lambda one: one[1].form == "key"):
        _follow(draft, file, each, renamed.name)
    for file in draft.holders(path := path_of(target)):
        draft.rename(path, renamed.name, file)
    return draft.edit(
        f"renamed {in_words(target)} to '{renamed.name}'",
        (*_followed(found), *_beyond(draft, target, renamed.name), *mentions(draft, target)),
        _hints(draft, target, renamed),
    )


def _hints(draft: Draft, target: Target, renamed: Target) -> list[str]:
    managed = [each for _, each in draft.references_to(renamed) if each.path[-1] == "management"]
    if managed:
        return [
            f"a management cluster keeps its name after its first `tenantry up`: a marker on '{target.name}' holds it"
        ]
    hint = _HINTS.get(target.kind)
    return [hint.format(old=target.name, new=renamed.name)] if hint else []


def _renamed(kind: Kind, target: Target, text: str) -> Target:
    """The target under its new name, which may be written with or without its owner. Raises: Refused."""
    if "/" in text and (other := target_named(kind, text)).owner != target.owner:
        raise Refused(
            f"a rename leaves {in_words(target)} where it is", f"to move an app: tenantry move app ... {other.owner}"
        )
    name = text.rpartition("/")[2]
    if problem := dns_label_problem(name):
        raise Refused(f"name '{name}' {problem}", "choose another name")
    return target._replace(name=name)


def _follow(draft: Draft, file: FilePath, reference: Reference, name: str) -> None:
    if reference.form == "key":
        draft.rename(reference.path, name, file)
    else:
        draft.set(reference.path, reference.renamed(name), file)


def _followed(found: list[tuple[FilePath, Reference]]) -> list[str]:
    files = len({file for file, _ in found})
    where = f" in {counted(files, 'file')}" if files > 1 else ""
    return [f"{counted(len(found), 'reference')} changed with it{where}"] if found else []


def _beyond(draft: Draft, target: Target, name: str) -> list[str]:
    """What a rename does not reach: values in the config of stacks, and kubeconfigs that a group names after its clusters."""
    if target.kind is Kind.CREDENTIALS:
        return [_CONFIG.format(f"{target.owner}.{target.name}", f"{target.owner}.{name}")]
    if target.kind is Kind.TENANT and draft.names("tenants", name, "credentials"):
        return [_CONFIG.format(target.name, name)]
    if target.kind is Kind.CLUSTER and (group := _group_with_kubeconfigs(draft, name)):
        return [f"its kubeconfig follows its name: group '{group}' has '{{cluster}}' in it"]
    return []


def _group_with_kubeconfigs(draft: Draft, cluster: str) -> str | None:
    """The group that a cluster has its kubeconfig from, if the kubeconfig is named after the cluster."""
    at: tuple[str, ...] = ("clusters", cluster)
    seen: set[str] = set()
    while "kubeconfig" not in (entry := draft.value(at) or {}):
        group = entry.get("group")
        if not isinstance(group, str) or group in seen:
            return None
        seen.add(group)
        at = ("clusterGroups", group)
    return at[1] if at[0] == "clusterGroups" and "{cluster}" in str(entry["kubeconfig"]) else None


def _require_no_file_named_after(draft: Draft, target: Target) -> None:
    """An included file may speak of the tenant in its name, unless `of` says otherwise."""
    named = [file for file in draft.holders(path_of(target)) if file != draft.main and file.stem == target.name]
    follows = any(each.path[0] == "include" for _, each in draft.references_to(target))
    if named and not follows:
        raise Refused(
            f"{named[0]} may speak of tenant '{target.name}' because it is named after it",
            f"name the tenants in {draft.main}, then try again: include: [{{tenants: {named[0]}, of: [{target.name}]}}]",
        )
