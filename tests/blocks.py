"""The commands that the documentation shows, and how each of them is run.

A comment above a block says what the test has to know; without one, a block of commands is run by the fast tests, in the
project that the page started last:

    <!-- runs: sandbox -->     run by tests/e2e, on the clusters of the repository's environment `dev`
    <!-- runs: tutorial -->    docs/tutorial.md has these commands, and tests/e2e follows it with the package as others install it
    <!-- runs: new-fleet -->   run after that, in the same project
    <!-- runs: at the end -->  run last there
    <!-- runs: leaving -->     run by tests/e2e/test_leaving.py, on the same clusters
    <!-- runs: disaster -->    run by tests/e2e/test_disaster.py, on the same clusters
    <!-- runs: connecting -->  run by tests/e2e/test_clusters.py, on the same clusters
    <!-- runs: adoption -->    run by tests/e2e/test_import.py, on the same clusters; "adoption, back" undoes the block before it
    <!-- not run: REASON -->   nothing here can run it; tests/project/test_blocks.py counts these
    <!-- starts: PROJECT -->   a new project, see tests/project/test_blocks.py
    <!-- exits: CODE -->       what its last command exits with, if it is not 0
    <!-- example: WHAT -->     its output is an example and is not compared
    <!-- merges: FILE -->      the block of YAML is merged into FILE
    <!-- patches: FILE -->     the block, a diff without numbers, is applied to FILE
    <!-- writes: FILE -->      the block is FILE

Several in one comment are parted by semicolons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", *sorted(page.relative_to(ROOT).as_posix() for page in ROOT.glob("docs/**/*.md"))]
SHELLS = ("console", "bash", "sh")
RUNNERS = (
    "here",
    "sandbox",
    "tutorial",
    "new-fleet",
    "at the end",
    "leaving",
    "disaster",
    "connecting",
    "adoption",
    "adoption, back",
)
NOTES = ("runs", "not run", "starts", "exits", "example", "merges", "patches", "writes")

_BLOCK = re.compile(r"(?:^ *<!-- ([^>]*) -->\n)?^( *)```(\w+)\n(.*?)^\2```$", re.MULTILINE | re.DOTALL)
_VARYING = (
    (r"\b[0-9a-f]{7}\b", "COMMIT"),
    (r"\(\d+\.\d+ s\)", "(SECONDS)"),
    (r"\b\d+(s|m|h|d)\b", "AGE"),
    (r"\bin \d+ s\b", "in SECONDS"),
    (r"([-.])[0-9a-f]{8}\b", r"\1HASH"),
    (r"GOMEMLIMIT=\d+GiB", "GOMEMLIMIT=HALF"),
    (r"ended \d+ processes", "ended PROCESSES"),
    (r"\(local: \S*/", "(local: .../"),
    (r"these credentials may not list Secrets, .*\n", ""),
)
"""What differs from run to run, and what is said only to who may not do everything."""


@dataclass(frozen=True, slots=True)
class Block:
    page: str
    line: int
    language: str
    text: str
    notes: Mapping[str, str]

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> str:
        """Who runs its commands, or the reason why nothing does; empty if it has none."""
        return (self.notes.get("not run") or self.notes.get("runs", "here")) if self.has_commands else ""

    @property
    def has_commands(self) -> bool:
        return self.language in SHELLS

    def commands(self) -> Iterator[tuple[str, str]]:
        """Each command with the output below it."""
        if self.language != "console":
            yield self.text, ""
            return
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, output = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", part, re.DOTALL).groups()  # type: ignore[union-attr]
            yield command.rstrip("\n"), output


def blocks(page: str) -> list[Block]:
    """The blocks of a page that a test runs or uses."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        comment, _, language, body = match.groups()
        line = text.count("\n", 0, match.start()) + 1 + bool(comment)
        found.append(Block(page, line, language, dedent(body), _notes(comment or "")))
    return [each for each in found if each.has_commands or each.notes]


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page's output is what was printed. A line of three dots stands for any lines, `, ...` for more words."""
    parts = [re.escape(part) for part in re.split(r"^ *\.\.\.\n", _steady(shown), flags=re.MULTILINE)]
    parts = [part.replace(r",\ \.\.\.", ",.*") for part in parts]
    return re.fullmatch("(?:.*\n)*?".join(parts), _steady(printed)) is not None


def _steady(text: str) -> str:
    for pattern, word in _VARYING:
        text = re.sub(pattern, word, text)
    return "".join(f"{re.sub(' {2,}', '  ', line).rstrip()}\n" for line in text.splitlines())


def _notes(comment: str) -> dict[str, str]:
    if comment.startswith("not run: "):
        return {"not run": comment.removeprefix("not run: ")}
    pairs = (each.partition(": ") for each in comment.split("; "))
    return {key: value for key, _, value in pairs if key in NOTES}
