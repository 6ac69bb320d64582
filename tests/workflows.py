"""The workflows that an example documents: each an edit of tenants.yaml, with what it changes of the plans.

A section `## N. Title` has one block of `diff`, whose hunks stand apart by `@@` lines, and one of `text` with the changes.
Edits are of the example's own file, or on top of what the section's text says: "on top of workflow 1".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tenantry.plan.plan import Plan

_SECTION = re.compile(r"^## (\d+)\. (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BASE = re.compile(r"on top of\s+workflow (\d+)")


@dataclass(frozen=True, slots=True)
class Workflow:
    """hunks: text that stands in the file once, and what takes its place. base: the workflow before it, or None.

    lines: how many lines the edit adds, changes and removes, in words.
    """

    number: int
    title: str
    hunks: tuple[tuple[str, str], ...]
    changes: str
    base: int | None
    lines: str

    def apply(self, text: str) -> str:
        """A file with the edit made; each of its places has to be there once."""
        lines = f"\n{text}"
        for old, new in self.hunks:
            found = lines.count(f"\n{old}")
            assert found == 1, f"{self.title}: stands {found} times in tenants.yaml:\n{old}"
            lines = lines.replace(f"\n{old}", f"\n{new}")
        return lines.removeprefix("\n")


def workflows(document: str) -> dict[int, Workflow]:
    """All of a document, by their numbers."""
    return {made.number: made for made in map(_workflow, _SECTION.finditer(document))}


def applied(all_of_them: Mapping[int, Workflow], number: int, text: str) -> tuple[str, str]:
    """The file before and after a workflow."""
    workflow = all_of_them[number]
    before = text if workflow.base is None else applied(all_of_them, workflow.base, text)[1]
    return before, workflow.apply(before)


def changes(before: Mapping[str, Plan], after: Mapping[str, Plan]) -> str:
    """What differs, in the words of the documents: whole environments by the number of their objects, else each object."""
    return "".join(f"{line}\n" for name in dict.fromkeys((*before, *after)) for line in _of(name, before, after))


def _of(name: str, before: Mapping[str, Plan], after: Mapping[str, Plan]) -> Iterator[str]:
    old, new = _objects(before.get(name)), _objects(after.get(name))
    if name not in before:
        yield f"{name}: new, with {len(new)} objects"
    elif name not in after:
        yield f"{name}: gone, with {len(old)} objects"
    elif old != new:
        yield f"{name}:"
        yield from (f"  + {each}" for each in new if each not in old)
        yield from (f"  ~ {each}" for each in new if each in old and new[each] != old[each])
        yield from (f"  - {each}" for each in old if each not in new)


def _objects(plan: Plan | None) -> dict[str, object]:
    """By name."""
    return {str(each.id): each.manifest for each in plan.objects} if plan else {}


def _workflow(section: re.Match[str]) -> Workflow:
    number, title, body = section.groups()
    base = _BASE.search(body)
    diff = _block(body, "diff")
    hunks = tuple(_hunk(hunk) for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE) if hunk)
    return Workflow(int(number), title, hunks, _block(body, "text"), int(base[1]) if base else None, _lines(diff))


def _lines(diff: str) -> str:
    """How many lines a diff adds, changes and removes; a removed line with an added one behind it is a changed one."""
    changed, plain = re.subn(r"^-.*\n\+.*\n", "", diff, flags=re.MULTILINE)[::-1]
    counts = {"added": len(re.findall(r"^\+", plain, re.MULTILINE)), "changed": changed}
    counts["removed"] = len(re.findall(r"^-", plain, re.MULTILINE))
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _block(body: str, language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{len(found)} blocks of {language} in:\n{body}"
    return str(found[0])


def _hunk(hunk: str) -> tuple[str, str]:
    """Before and after; an empty line of context may have lost its blank."""
    lines = [(line[:1] or " ", line[1:]) for line in hunk.splitlines()]
    old, new = ("".join(f"{text}\n" for sign, text in lines if sign != absent) for absent in ("+", "-"))
    return old, new
