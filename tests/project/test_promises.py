"""tests/promises.md names the tests of each promise, so that a test which holds one is not deleted unnoticed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from docgen.markdown import prose

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "tests" / "promises.md"
PAGES = {"Guarantees and limits": "guarantees.md", "Lifecycle: remove, pause, adopt": "lifecycle.md"}
"""The headings of the ledger and the pages whose sentences stand below them."""

WITHOUT_TESTS = ("none", "advice")
MOST = 4
"""More tests for one sentence are a list, and nobody sees which of them carries it."""

UNTESTED = [
    "In the last run the new releases take over the namespaces and all else that the former ...",
    "Helm's records of these stay in the former namespace, where nothing reads them.",
    "After that the run ends with an error that names the object.",
]
"""The sentences that no test holds. Another one needs a test, or a reason to stand here."""

_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_HEADING = re.compile(r"(#+) (.+)")
_ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
_END_OF_SENTENCE = re.compile(r"(?<=[.!?]) +(?=[`\"'(\[A-Z^*])")


class Row(NamedTuple):
    quote: str
    """The sentence, or its beginning and ` ...`."""
    held_by: str

    def quotes(self, sentence: str) -> bool:
        beginning = self.quote.removesuffix(" ...")
        return sentence == beginning or (beginning != self.quote and sentence.startswith(beginning))

    @property
    def tests(self) -> list[tuple[str, str]]:
        """The files and names of tests."""
        return _TEST.findall(self.held_by)


def plain(text: str) -> str:
    """The words that a reader sees, on one line, without links in parentheses."""
    text = re.sub(r" *\(\[[^\]]*\]\([^)]*\)\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(text.replace("**", "").replace("`", "").split())


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def blocks(lines: Sequence[str]) -> Iterator[str]:
    """Paragraphs, entries of lists and rows of tables; the cells of a row are joined, and a table's heading is none."""
    block: list[str] = []
    table = 0
    for line in [*lines, ""]:
        table = table + 1 if line.startswith("|") else 0
        if block and (not line.strip() or table or _ITEM.match(line)):
            yield " ".join(block)
            block = []
        if table > 2:
            yield ": ".join(cell for cell in cells(line) if cell)
        elif not table and line.strip():
            block.append(_ITEM.sub("", line, count=1) if _ITEM.match(line) else line)


def sections(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """The level and the text of each heading, and the lines up to the next one."""
    level, heading, lines = 0, "", list[str]()
    for line in re.sub(r"<!--.*?-->", "", prose(text), flags=re.DOTALL).splitlines():
        if found := _HEADING.fullmatch(line):
            yield level, heading, lines
            level, heading, lines = len(found[1]), plain(found[2]), []
        else:
            lines.append(line)
    yield level, heading, lines


def sentences(text: str) -> Iterator[tuple[str, str]]:
    """Every sentence of a page, each with the heading above it."""
    for _, heading, lines in sections(text):
        for block in blocks(lines):
            yield from ((heading, plain(sentence)) for sentence in _END_OF_SENTENCE.split(block))


def rows(ledger: str) -> dict[str, dict[str, list[Row]]]:
    """The rows of the ledger, by the page and the heading that stand above them."""
    found: dict[str, dict[str, list[Row]]] = {}
    page = ""
    for level, heading, lines in sections(ledger):
        page = PAGES.get(heading, "") if level == 2 else page
        if level == 3 and page:
            tables = [cells(line) for line in lines if line.startswith("|")][2:]
            found.setdefault(page, {})[heading] = [Row(plain(quote), held_by) for quote, held_by in tables]
    return found


@cache
def functions_in(file: Path) -> frozenset[str]:
    """The names of the functions of a file; none if there is no such file."""
    if not file.is_file():
        return frozenset()
    body = ast.parse(file.read_bytes()).body
    return frozenset(each.name for each in body if isinstance(each, ast.FunctionDef))


def sentence_problems(ledger: str, pages: dict[str, str]) -> Iterator[str]:
    """What differs between the sentences of the pages and the rows below the same headings."""
    quoted = rows(ledger)
    for page, text in pages.items():
        unmatched = {heading: list(found) for heading, found in quoted.get(page, {}).items()}
        for heading, sentence in sentences(text):
            matching = [row for row in unmatched.get(heading, []) if row.quotes(sentence)]
            if not matching:
                yield f"{page}, {heading}: write a row of the ledger for: {sentence}"
            for row in matching[:1]:
                unmatched[heading].remove(row)
        for heading, found in unmatched.items():
            yield from (
                f"{page}, {heading}: the page has no such sentence, delete the row: {row.quote}" for row in found
            )


def row_problems(ledger: str) -> Iterator[str]:
    """Tests that do not exist, and rows in another form than 1 to 4 tests or a word."""
    for page, headings in rows(ledger).items():
        for row in (row for found in headings.values() for row in found):
            missing = [f"{file}::{test}" for file, test in row.tests if test not in functions_in(ROOT / file)]
            yield from (
                f"{page}, {row.quote}: no such test, name another one that holds this: {test}" for test in missing
            )
            written = "<br>".join(f"`{file}::{test}`" for file, test in row.tests)
            if row.held_by not in (written or None, *WITHOUT_TESTS) or len(row.tests) > MOST:
                yield f"{page}, {row.quote}: 1 to {MOST} tests, or {' or '.join(WITHOUT_TESTS)}"


def pages() -> dict[str, str]:
    return {page: (ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES.values()}


def test_every_sentence_of_the_pages_stands_in_the_ledger() -> None:
    assert "\n".join(sentence_problems(LEDGER.read_text(encoding="utf-8"), pages())) == ""


def test_every_row_names_tests_that_exist() -> None:
    assert "\n".join(row_problems(LEDGER.read_text(encoding="utf-8"))) == ""


def test_few_sentences_are_held_by_no_test() -> None:
    pages_of_ledger = rows(LEDGER.read_text(encoding="utf-8")).values()
    every = [row for headings in pages_of_ledger for found in headings.values() for row in found]
    assert [row.quote for row in every if row.held_by == "none"] == UNTESTED


TEXT = """\
# Lifecycle

## Pause

It stops. **Nothing goes.** `flux` [resumes](x.md) it, and all that
was pushed comes:

| state | does |
|---|---|
| `paused` | suspends. Nothing is removed |

- A push waits.
"""
HELD = "`tests/project/test_promises.py::test_the_check_can_fail`"
SOUND = f"""\
## [Lifecycle: remove, pause, adopt](lifecycle.md)

### [Pause](lifecycle.md#pause)

| promise | held by |
|---|---|
| It stops. | {HELD} |
| Nothing goes. `flux` resumes it ... | {HELD}<br>{HELD} |
| `paused`: suspends. | none |
| Nothing is removed | {HELD} |
| A push waits. | advice |
"""


def problems(ledger: str = SOUND, page: str = TEXT) -> list[str]:
    return [*sentence_problems(ledger, {"lifecycle.md": page}), *row_problems(ledger)]


def test_a_sound_ledger_has_no_problems() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("ledger", "page", "problem"),
    [
        (SOUND, TEXT.replace("A push waits", "A push is lost"), "write a row of the ledger for: A push is lost."),
        (SOUND, TEXT.replace("A push waits", "A push is lost"), "delete the row: A push waits."),
        (SOUND, TEXT.replace("It stops.", "It stops. It starts."), "write a row of the ledger for: It starts."),
        (SOUND, TEXT.replace("It stops. ", ""), "delete the row: It stops."),
        (SOUND, TEXT.replace("## Pause", "## Stop"), "Stop: write a row of the ledger for: It stops."),
        (SOUND, TEXT.replace("It stops.", "It stops. It stops."), "write a row of the ledger for: It stops."),
        (SOUND.replace(f"| It stops. | {HELD} |\n", ""), TEXT, "write a row of the ledger for: It stops."),
        (SOUND.replace("can_fail` |", "has_gone` |", 1), TEXT, "It stops.: no such test"),
        (SOUND.replace("test_promises.py", "test_gone.py", 1), TEXT, "holds this: tests/project/test_gone.py::"),
        (SOUND.replace("| none |", "| later |"), TEXT, "1 to 4 tests, or none or advice"),
        (SOUND.replace("| none |", f"| {'<br>'.join([HELD] * 5)} |"), TEXT, "1 to 4 tests, or none or advice"),
        (SOUND.replace("| none |", "| |"), TEXT, "1 to 4 tests, or none or advice"),
    ],
)
def test_the_check_can_fail(ledger: str, page: str, problem: str) -> None:
    assert problem in "\n".join(problems(ledger, page))
