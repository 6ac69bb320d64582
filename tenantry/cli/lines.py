"""A review as lines with signs, for a terminal and for a comment of a pull request: sections with changes, objects, places."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import click

from tenantry.cli.explain import place, scalar
from tenantry.facts.changes import Change, ChangedValue, Effect
from tenantry.facts.objects import FieldChange, Status
from tenantry.facts.review import Review, Section, SharedDanger, sections, shared_dangers
from tenantry.kube.objects import ObjectId
from tenantry.messages.data import ABSENT
from tenantry.messages.inert import code, short
from tenantry.messages.redact import MAX_TEXT
from tenantry.messages.text import counted, grouped, listed, printable
from tenantry.rollout.waves import format_waves

SIGNS = {Effect.ADDED: "+", Effect.REMOVED: "-", Effect.CHANGED: "~"}
_STATUS = {Status.KEPT: "", Status.ADDED: "new; ", Status.REMOVED: "no longer declared; "}
_COLOURS = {"!": "magenta", "-": "red", "+": "green", "~": "yellow"}
MOST_OF_VALUE = 60
_MOST_OF_SENTENCE = 500
"""Characters that are shown of a value, and of what is dangerous."""
_MOST_TEXT_LINES = 2_000
"""The most lines of a text that is compared line by line. The comparison takes quadratic time."""


class Line(NamedTuple):
    """sign: "!" warning, "-" removed, "+" added, "~" changed, " " none of these; depth: the indentation; comment: a place."""

    sign: str
    text: str
    depth: int = 0
    comment: str = ""


def danger_lines(dangers: Sequence[SharedDanger]) -> list[Line]:
    """What a reviewer has to look at first."""
    return [
        Line("!", f"{', '.join(danger.environments)}: {shortened(printable(danger.text()), _MOST_OF_SENTENCE)}")
        for danger in dangers
    ]


def section_lines(section: Section) -> Iterator[Line]:
    """The changes of a section."""
    for change in section.changes:
        yield from change_lines(change, section.total)


def change_lines(change: Change, total: int, most: int = MOST_OF_VALUE) -> Iterator[Line]:
    """Whom a change concerns, and its values below. Args: total: how many clusters its environments have."""
    yield Line(SIGNS[change.effect], printable(change.where.text(total)))
    yield from value_lines(change.values, 1, most)


def object_lines(review: Review, most: int = MOST_OF_VALUE) -> Iterator[Line]:
    """How many objects of an environment differ, when they do, and those that no line of the file explains."""
    yield Line(" ", f"{review.environment}: {_summary(review)}")
    for difference in review.objects:
        if not difference.explained:
            yield Line(SIGNS[difference.effect], str(difference.object), 1)
            yield from value_lines(difference.fields, 2, most)


def _summary(review: Review) -> str:
    """Such as `12 added, 3 changed; in 3 waves: 1 cluster (edge-1), then 20, then 479`."""
    counts = Counter(difference.effect for difference in review.objects)
    numbers = ", ".join(f"{counts[effect]} {effect}" for effect in reversed(Effect) if counts[effect])
    parts = [_STATUS[review.status] + (numbers or "no object differs")]
    if review.waves:
        some = f"wave {listed(wave.number for wave in review.waves)} of {review.of_waves}"
        which = counted(review.of_waves, "wave") if len(review.waves) == review.of_waves else some
        parts.append(format_waves(which, [wave.clusters for wave in review.waves]))
    if review.after:
        parts.append(review.after.format_gate())
    return "; ".join(parts)


def changed_objects(changed: Iterable[tuple[ObjectId, Sequence[FieldChange]]]) -> Iterator[Line]:
    """Changed objects and their fields. Objects that change in the same way are together."""
    for group in grouped(changed, lambda change: (change[0].kind, repr(change[1]))).values():
        id, fields = group[0]
        yield Line("~", f"{id.kind} {listed(id.full_name for id, _ in group)}")
        yield from value_lines(fields)


# --- values ------------------------------------------------------------------------------------------------------------


def value_lines(
    values: Sequence[ChangedValue | FieldChange], depth: int = 1, most: int = MOST_OF_VALUE
) -> Iterator[Line]:
    """The values of a change with their places, or the fields of an object. Args: most: characters of a value."""
    for value in values:
        first, *lines = _value(value, depth, most)
        places = value.places if isinstance(value, ChangedValue) else ()
        yield first._replace(comment=", ".join(map(place, places)))
        yield from lines


def _value(value: ChangedValue | FieldChange, depth: int, most: int) -> Iterator[Line]:
    before, after = value.before, value.after
    key = shortened(printable(format_field(value.path)), 2 * most)
    if before is ABSENT:
        yield Line("+", f"{key}: {shortened(shown(after), most)}", depth)
    elif after is ABSENT:
        yield Line("-", f"{key}: {shortened(shown(before), most)}", depth)
    elif isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
        yield Line("~", f"{key}:", depth)
        yield from _text_lines(before, after, depth + 1, most)
    else:
        # Quotes are shown if only they tell the values apart, such as 1 and '1'.
        quoted = type(before) is not type(after)
        old, new = (printable(scalar(side)) if quoted else shown(side) for side in (before, after))
        old, new = around(old, new, most)
        yield Line("~", f"{key}: {old} -> {new}", depth)


def format_field(path: tuple[str | int, ...]) -> str:
    """spec.values.objects[3].spec.hard["requests.cpu"]"""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = short(part)
            text += f'["{key}"]' if "." in key or not key else f".{key}"
    return printable(text.removeprefix("."))


def shown(value: Any) -> str:
    """A value on one line: a text as it is, anything else as YAML."""
    plain = isinstance(value, str) and value == value.strip() != ""
    return printable(value if plain else scalar(value))


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


def around(before: str, after: str, most: int) -> tuple[str, str]:
    """Both values, cut to the part where they differ."""
    if len(before) <= most and len(after) <= most:
        return before, after
    pairs = zip(before, after, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    start = max(same - most // 3, 0)
    lead = "..." if start else ""
    return lead + shortened(before[start:], most), lead + shortened(after[start:], most)


def _text_lines(before: str, after: str, depth: int, most: int) -> Iterator[Line]:
    """The lines that differ between two texts."""
    old, new = before.splitlines(), after.splitlines()
    if old == new:
        yield Line("~", "ends with another line break", depth)
    elif max(len(old), len(new)) > _MOST_TEXT_LINES:
        yield Line("~", f"{len(old)} lines -> {len(new)} lines", depth)
    else:
        for line in islice(difflib.unified_diff(old, new, n=0, lineterm=""), 2, None):
            if not line.startswith("@@"):
                yield Line(line[0], shortened(printable(line[1:]), most), depth)


# --- in a terminal -----------------------------------------------------------------------------------------------------


def as_text(reviews: Sequence[Review], base: str) -> str:
    """Dangers, the changes by environment, the objects behind them, and the environments without a difference."""
    parts = [f"against {printable(base)}"]
    changed, equal = [review for review in reviews if review], [review for review in reviews if not review]
    if dangers := danger_lines(shared_dangers(changed)):
        parts.append(block("", dangers))
    parts += [block(section.heading, section_lines(section)) for section in sections(changed)]
    if changed:
        objects = (line for review in changed for line in object_lines(review))
        parts.append(block("objects", objects))
    if equal:
        parts.append(f"no difference: {', '.join(review.environment for review in equal)}")
    return "\n\n".join(parts)


def block(title: str, lines: Iterable[Line]) -> str:
    """Lines below a title, or at the top without one."""
    shown = [line_text(line, top=not title) for line in lines]
    return "\n".join([click.style(title, bold=True), *shown] if title else shown)


def line_text(line: Line, *, top: bool = False) -> str:
    """The line in the colour of its sign, with its comment behind it."""
    indent = "" if top else "  " + "    " * line.depth
    colour = _COLOURS.get(line.sign)
    text = indent + f"{line.sign} {line.text}".lstrip()
    shown = click.style(text, fg=colour, bold=True if line.sign == "!" else None) if colour else text
    if not line.comment:
        return shown
    return f"{shown}  {click.style(f'# {printable(line.comment)}', dim=True)}"


MARKER = "<!-- tenantry diff -->"
"""The first line of a comment, invisible. A job of a forge finds its own comment by it."""
_MOST_CHARACTERS = 60_000
"""GitHub allows comments of up to 65,536 characters."""
_MOST_DANGERS = 25
_MOST_OPEN = 40
"""Lines of a section that a reader sees without unfolding it."""


def as_markdown(reviews: Sequence[Review], base: str, refusals: Sequence[str]) -> str:
    """Dangers, then the changes by environment. It fits into a comment.

    Args: refusals: the reasons why `tenantry up` would be refused.
    """
    changed, equal = [review for review in reviews if review], [review for review in reviews if not review]
    parts = [f"{MARKER}\n### Fleet: what changes against {code(base)}", *map(_caution, refusals)]
    if dangers := danger_lines(shared_dangers(changed)):
        texts = [code(line.text) for line in dangers[:_MOST_DANGERS]]
        texts += [f"{len(dangers) - len(texts)} more"] if dangers[len(texts) :] else []
        parts.append("\n".join(["> [!WARNING]", *(f"> - {text}" for text in texts)]))
    titled = [(part.heading, list(section_lines(part))) for part in sections(changed)]
    objects = [line for review in changed for line in object_lines(review)]
    titled += [("Objects", objects)] if objects else []
    end = [f"No difference: {', '.join(code(review.environment) for review in equal)}"] if equal else []
    room = _MOST_CHARACTERS - sum(len(part) + 2 for part in (*parts, *end)) - 200
    return "\n\n".join([*parts, *_fitting(titled, room), *end])


def _caution(refusal: str) -> str:
    lines = (line.strip() for line in refusal.splitlines() if line.strip())
    return "\n".join(["> [!CAUTION]", *(f"> {code(line, MAX_TEXT)}" for line in lines)])


def _fitting(titled: Iterable[tuple[str, Sequence[Line]]], room: int) -> Iterator[str]:
    """The sections as far as there is room for their lines."""
    left = 0
    for title, lines in titled:
        kept, text = lines, section(title, lines)
        while kept and len(text) + 2 > room:
            kept = kept[: len(kept) // 2]
            text = section(title, kept)
        left += len(lines) - len(kept)
        if kept:
            room -= len(text) + 2
            yield text
    if left:
        yield f"{left} more lines do not fit into a comment."


def section(title: str, lines: Sequence[Line]) -> str:
    """A title and lines, of which all but the first are folded."""
    parts = [f"#### {code(title)}", _fenced(lines[:_MOST_OPEN])]
    if others := lines[_MOST_OPEN:]:
        summary = f"<summary>{len(others)} more lines</summary>"
        parts.append(f"<details>{summary}\n\n{_fenced(others)}\n\n</details>")
    return "\n\n".join(parts)


def _fenced(lines: Iterable[Line]) -> str:
    """A code block that a forge colours by the first character of each line, where `!` marks a changed line.

    As each line begins with a sign or a space, none of them can end the block.
    """
    inner = "\n".join(
        f"{line.sign.replace('~', '!')} {'  ' * line.depth}{line.text}{f'  # {printable(line.comment)}' if line.comment else ''}"
        for line in lines
    )
    return f"```diff\n{inner}\n```"
