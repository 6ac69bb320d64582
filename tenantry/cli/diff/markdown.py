"""A difference as Markdown, for the comment of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tenantry.cli.diff.lines import EVERYTHING, DisplayLimits, Line, counts, meaning, objects
from tenantry.compare.diff import Diff

_MOST_CHARACTERS = 60_000
"""GitHub allows comments of up to 65,536 characters."""


def as_markdown(diffs: Sequence[Diff], base: str, refusals: Sequence[str], limits: DisplayLimits) -> str:
    """A table of all environments, then the changes in each with collapsed objects. It always fits into a comment.

    Args: refusals: the reasons why `pulumi up` would be refused.
    """
    parts = [f"### Fleet against `{base}`", _table(diffs), *map(_caution, refusals)]
    parts += [_meaning(diff, limits) for diff in diffs if diff]
    room = _MOST_CHARACTERS - sum(map(len, parts))
    for diff in diffs:
        folded = _folded(diff, limits)
        if limits is not EVERYTHING and len(folded) > room:
            parts.append(f"The objects of `{diff.environment}` are left out: there are too many for a comment.")
        elif folded:
            parts.append(folded)
            room -= len(folded)
    return "\n\n".join(parts)


def _caution(refusal: str) -> str:
    return "\n".join(["> [!CAUTION]", *(f"> {line.strip()}" for line in refusal.splitlines())])


def _table(diffs: Iterable[Diff]) -> str:
    rows = [
        f"| {each.environment} | {len(each.added.objects)} | {len(each.changed)} | {len(each.removed.objects)} |"
        for each in diffs
    ]
    return "\n".join(["| environment | added | changed | removed |", "|---|---:|---:|---:|", *rows])


def _meaning(diff: Diff, limits: DisplayLimits) -> str:
    lines = meaning(diff, limits)
    parts = [f"#### {diff.environment}"]
    if warnings := [line.text for line in lines if line.sign == "!"]:
        parts.append("\n".join(["> [!WARNING]", *(f"> - {text}" for text in warnings)]))
    for sign, title in (("-", "Removed"), ("+", "Added")):
        if own := [line.text for line in lines if line.sign == sign]:
            parts.append("\n".join([f"**{title}**", "", *(f"- {text}" for text in own)]))
    return (
        "\n\n".join(parts)
        if len(parts) > 1
        else f"{parts[0]}\n\nNothing is added to or removed from clusters; only settings change."
    )


def _folded(diff: Diff, limits: DisplayLimits) -> str:
    lines = objects(diff, limits)
    if not lines:
        return ""
    summary = f"{diff.environment}: {counts(diff)}"
    inner = "\n".join(map(_line, lines))
    return f"<details><summary>{summary}</summary>\n\n```diff\n{inner}\n```\n\n</details>"


def _line(line: Line) -> str:
    """GitHub colours a line of a `diff` block by its first character, and `!` marks a changed line."""
    return f"{line.sign.replace('~', '!')} {'  ' * line.depth}{line.text}"
