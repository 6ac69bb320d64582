"""Removals: refused while something refers to the entry, unless the references can go without changing what is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import NamedTuple

from tenantry.edit.subjects.draft import Draft, Edit
from tenantry.edit.subjects.names import If, Kind
from tenantry.edit.subjects.references import Reference, Target
from tenantry.edit.subjects.subjects import existing, in_words, path_of
from tenantry.messages.data import value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import counted, format_path

_SHOWN = 5
_MARKS = {
    Kind.TENANT: "offboarding",
    Kind.APP: "offboarding",
    Kind.ADDON: "offboarding",
    Kind.CLUSTER: "decommissioned",
}
"""The state that marks an entry for removal."""


class Held(NamedTuple):
    """A reference that prevents a removal, and why."""

    file: FilePath
    reference: Reference
    why: str


def remove(draft: Draft, kind: Kind, name: str, *, cascade: bool = False) -> Edit:
    """Raises: Refused: there is no such entry, or something refers to it that cannot go with it."""
    target = existing(draft, kind, name)
    state = (draft.value(path_of(target)) or {}).get("state")
    gone = [target]
    if cascade and kind is Kind.ENVIRONMENT:
        gone += _clusters_only_in(draft, target.name)
    held, dropped = [], 0
    for each in gone:
        ours, count = _release(draft, each, gone, cascade=cascade)
        held += ours
        dropped += count
    if held:
        raise _in_use(draft, target, held, cascade=cascade)
    for each in reversed(gone):
        path = path_of(each)
        for file in tuple(draft.holders(path)):
            draft.unset(path, file, keep=_kept(draft, file, path))
    notes = [f"removed {in_words(each)} with it, which is in no other environment" for each in gone[1:]]
    notes += [f"{counted(dropped, 'reference')} removed with it"] if dropped else []
    notes += [f"{file} declares nothing any more: delete it" for file in draft.documents if _is_empty(draft, file)]
    return draft.edit(f"removed {in_words(target)}", notes, _hints(draft, target, state))


def _is_empty(draft: Draft, file: FilePath) -> bool:
    return file != draft.main and not any(draft.data(file).values())


def _kept(draft: Draft, file: FilePath, path: Path) -> int:
    """How many keys of the path to an entry stay without it: a tenant, and the only key of an included file."""
    return len(path) - 2 if path[0] == "tenants" and len(path) > 2 else 0 if file == draft.main else 1


def _release(draft: Draft, target: Target, gone: list[Target], *, cascade: bool) -> tuple[list[Held], int]:
    """Remove the references to a target that can go; returns those that cannot, and how many went."""
    inside = [path_of(each) for each in gone]
    found = [
        (file, each) for file, each in draft.references_to(target) if not any(_below(each.path, at) for at in inside)
    ]
    held = [
        Held(file, each, why)
        for file, each in found
        if (why := "" if cascade else "it is named here") or (why := _why_not(draft, file, each, found))
    ]
    if held:
        return held, 0
    # From the end, so that indexes of lists stay right.
    for file, each in sorted(found, key=lambda one: _order(one[1].path), reverse=True):
        _drop(draft, file, each)
    return [], len(found)


def _order(path: Path) -> tuple[tuple[int, int | str], ...]:
    return tuple((1, part) if isinstance(part, int) else (0, part) for part in path)


def _below(path: Path, at: Path) -> bool:
    return path[: len(at)] == at


def _why_not(draft: Draft, file: FilePath, reference: Reference, found: list[tuple[FilePath, Reference]]) -> str:
    """Why a reference cannot just go; "" if it can."""
    if reference.removed is If.REFUSE:
        return "something has to take its place"
    if reference.removed is If.KEEP_OTHERS and reference.path[0] != "include":
        siblings = value_at(draft.data(file), reference.path[:-1])
        same = sum(1 for other, each in found if other == file and each.path[:-1] == reference.path[:-1])
        if len(siblings) == same:
            return "it is the last entry, and an empty list would be invalid or mean something else"
    return ""


def _drop(draft: Draft, file: FilePath, reference: Reference) -> None:
    path = reference.path
    if path[0] == "include" and len(value_at(draft.data(file), path[:-1])) == 1:
        draft.unset(path[:2], file, keep=0)  # its files speak of nobody any more
    elif reference.form == "key":
        draft.unset(path, file, keep=_owner_length(path))
    elif reference.form == "entry" and len(value_at(draft.data(file), path[:-1])) == 1:
        _empty(draft, file, path[:-1])
    elif reference.form == "value" and "after" in path[-2:]:
        _after_the_one_before(draft, file, reference)
    else:
        draft.unset(path, file, keep=len(path) - 1)


def _empty(draft: Draft, file: FilePath, path: Path) -> None:
    """A list without entries: it goes, unless it replaces another one that would apply instead."""
    if path[-1] == "dependsOn" and (
        "overrides" in path or (len(path) == 3 and draft.value(("defaults", "dependsOn")) is not None)
    ):
        draft.set(path, [], file)
    else:
        draft.unset(path, file, keep=len(path) - 1)


def _after_the_one_before(draft: Draft, file: FilePath, reference: Reference) -> None:
    """The environments stay in their order, and a gate stays a gate."""
    before = draft.value(("environments", reference.target.name, "after"))
    before = before.get("environment") if isinstance(before, dict) else before
    if before is None:
        draft.unset(("environments", reference.path[1], "after"), file, keep=2)
    else:
        draft.set(reference.path, before, file)


def _owner_length(path: Path) -> int:
    """How many keys of a path lead to the entry that has the overrides."""
    return path.index("overrides") if "overrides" in path else len(path) - 1


def _clusters_only_in(draft: Draft, environment: str) -> Iterator[Target]:
    for name in draft.names("clusters"):
        if draft.value(("clusters", name, "environments")) == [environment]:
            yield Target(Kind.CLUSTER, name)


def _in_use(draft: Draft, target: Target, held: list[Held], *, cascade: bool) -> Refused:
    lines = [
        f"{draft.place(each.file, each.reference.path)} {format_path(each.reference.path)}"
        + (f" ({each.why})" if cascade else "")
        for each in held[:_SHOWN]
    ]
    more = f"; and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
    fix = (
        "change these places first"
        if cascade
        else "change these places first, or add --cascade, which removes them where that is safe"
    )
    return Refused(f"{in_words(target)} is in use: {'; '.join(lines)}{more}", fix)


def _hints(draft: Draft, target: Target, state: str | None) -> list[str]:
    """The safe way, if the entry has not been marked for removal in an earlier run."""
    if target.kind is Kind.ENVIRONMENT:
        return [f"no stack removes its objects after this: run `tenantry destroy --environment {target.name}` before"]
    mark = _MARKS.get(target.kind)
    protected = (draft.value(("environments", each, "protected")) for each in draft.names("environments"))
    if mark is None or state == mark or not any(protected):
        return []
    path = format_path((*path_of(target), "state"))
    return [f"a protected environment needs this in a run before: tenantry set {path} {mark}"]
