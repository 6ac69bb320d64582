"""Removals: refused while something refers to the entry, unless the references can go without changing what is left."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from tenantry.edit.editor import Editor
from tenantry.edit.subjects.adding import Edit
from tenantry.edit.subjects.names import If, Kind, Target
from tenantry.edit.subjects.references import Reference, existing, references_to
from tenantry.messages.data import ABSENT, value_at
from tenantry.messages.errors import Path, Refused
from tenantry.messages.text import counted, format_path
from tenantry.source.parsed_file import override_of

_SHOWN = 5


class _Place(NamedTuple):
    """A reference in a file."""

    file: FilePath
    reference: Reference


def remove(editor: Editor, kind: Kind, name: str, *, cascade: bool = False) -> Edit:
    """Raises: Refused: there is no such entry, or something refers to it that cannot go with it."""
    target = existing(editor, kind, name)
    places = _outside(editor, target)
    if held := {place: why for place in places if (why := _why_not(editor, place, places, cascade=cascade))}:
        raise _in_use(editor, target, held, cascade=cascade)
    for place in sorted(places, key=_from_the_end, reverse=True):
        _drop(editor, *place)
    editor.unset(target.path)
    notes = [f"{counted(len(places), 'reference')} removed with it"] if places else []
    empty = [file for file, document in editor.documents.items() if not any(document.data.values())]
    notes += [f"{file} declares nothing any more: delete it" for file in empty if file != editor.main]
    return Edit(f"removed {target}", notes)


def _outside(editor: Editor, target: Target) -> list[_Place]:
    """The references to a target, without those inside of it."""
    places = [_Place(*found) for found in references_to(editor, target)]
    return [place for place in places if place.reference.path[: len(target.path)] != target.path]


def _from_the_end(place: _Place) -> tuple[tuple[int, int | str], ...]:
    """The order in which places stand; they are changed from the end, so that indexes of lists stay right."""
    return tuple((1, part) if isinstance(part, int) else (0, part) for part in place.reference.path)


def _why_not(editor: Editor, place: _Place, places: Sequence[_Place], *, cascade: bool) -> str:
    """Why a reference cannot just go; "" if it can."""
    file, reference = place
    if not cascade:
        return "it is named here"
    if reference.removed is If.REFUSE:
        return "something has to take its place"
    if reference.removed is If.KEEP_OTHERS and reference.path[0] != "include" and not _in_when(reference.path):
        holder = reference.path[:-1]
        names = value_at(editor.documents[file].data, holder)
        if len(names) == sum(other.file == file and other.reference.path[:-1] == holder for other in places):
            return "it is the last entry, and an empty list would be invalid or mean something else"
    return ""


def _in_when(path: Path) -> bool:
    """Whether a path is that of a cluster's name in the `when` of an override, which without names holds nowhere."""
    return path[-6:-5] == ("overrides",) and path[-4:-1] == ("when", "clusters", "names")


def _drop(editor: Editor, file: FilePath, reference: Reference) -> None:
    path = reference.path
    is_last = len(value_at(editor.documents[file].data, path[:-1])) == 1
    replaces = path[-2:-1] == ("dependsOn",) and (
        override_of(path) or (len(path) == 4 and editor.value(("defaults", "dependsOn")) is not ABSENT)
    )
    if path[0] == "include" and is_last:
        editor.unset(path[:2], file=file)  # its files speak of nobody any more
    elif is_last and _in_when(path):
        editor.unset(path[:-4], file=file)
    elif reference.form == "entry" and is_last and replaces:
        editor.set(path[:-1], [], file=file)  # without the list, another one would apply instead
    elif reference.form == "entry" and is_last:
        editor.unset(path[:-1], file=file)
    else:
        editor.unset(path, file=file)


def _in_use(editor: Editor, target: Target, held: dict[_Place, str], *, cascade: bool) -> Refused:
    lines = [
        f"{editor.place(reference.path, file)} {format_path(reference.path)}" + (f" ({why})" if cascade else "")
        for (file, reference), why in list(held.items())[:_SHOWN]
    ]
    more = f"; and {len(held) - _SHOWN} more" if len(held) > _SHOWN else ""
    fix = "change these places first"
    fix += "" if cascade else ", or add --cascade, which removes them where that is safe"
    return Refused(f"{target} is in use: {'; '.join(lines)}{more}", fix)
