"""Edits of drawn fleets in drawn layouts: the data changes as asked, and no byte beside the edit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

import pytest
from hypothesis import assume, reject
from hypothesis import strategies as st

from tenantry.edit.document import Document, inserted, removed, same
from tenantry.edit.editor import assign
from tenantry.edit.splices import Node, after_lines, first_line, tree_of
from tenantry.messages.data import replaced, value_at
from tenantry.messages.errors import LINE_BREAK, Path, Refused
from tenantry.source.parse import parse
from tests.drawn import given
from tests.layouts import written
from tests.strategies import fleets

ROOT = FilePath(__file__).resolve().parents[2]
FILE = FilePath("tenants.yaml")
COMMENT = re.compile(r"#[^\n\r\x85\u2028\u2029]*")
SEEDS = st.integers(0, 2**32)
TEXTS = st.sampled_from(
    ["a", "on", "8", "1.10", "{env}", "./web/{env}", "", " ", "a: b", "#", "it's", 'say "x"', "-", "~"]
)
LINES = st.sampled_from(["one\ntwo", "one\n  two\n", "\n", "one\n\n", "- a\n# b\n", "{x}\n", " a\nb", "a \nb"])
SINGLE = TEXTS | LINES | st.integers(-5, 10**6) | st.booleans() | st.sampled_from([0.5, 1e-9, 1e20])
NAMES = st.sampled_from(["new", "on", "a.b/c", "8", "{env}", "with space", "=", "<<", "null"])
VALUES = st.recursive(
    SINGLE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


def paths(data: Any, at: Path = ()) -> Iterator[Path]:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for part, each in entries:
        yield (*at, part)
        yield from paths(each, (*at, part))


KEYS = NAMES | st.sampled_from(
    ["tenants", "rocky", "apps", "web", "quota", "defaults", "environments", "kustomize", "clusters"]
)
SMALL = st.dictionaries(
    KEYS,
    st.recursive(
        SINGLE,
        lambda inner: st.lists(inner, min_size=1, max_size=4) | st.dictionaries(KEYS, inner, min_size=1, max_size=4),
        max_leaves=12,
    ),
    min_size=1,
    max_size=4,
)
"""Any data: fleets have few levels, and few texts that are hard to write."""


@st.composite
def files(draw: st.DrawFn) -> Document:
    document = Document(FILE, written(draw(SMALL | SMALL | SMALL | fleets()), draw(SEEDS)))
    assert document.after == document.before
    return document


def nodes_in(node: Node) -> Iterator[Node]:
    """A node and all below it, keys included."""
    yield node
    for entry in node.entries:
        if entry.key:
            yield from nodes_in(entry.key)
        yield from nodes_in(entry.value)


def comments(text: str, nodes: Iterable[Node], start: int, end: int) -> Iterator[re.Match[str]]:
    """The comments between two places. nodes: those there, in their order; a `#` in a key or a value begins no comment."""
    at = start
    for node in nodes:
        if node.kind == "scalar":
            # A comment can follow the sign of a text over several lines.
            sign = len(LINE_BREAK.split(text[node.start : node.end], 1)[0]) if node.style in ("|", ">") else 0
            yield from COMMENT.finditer(text, at, min(node.start + sign, end))
            at = max(at, node.end)
    yield from COMMENT.finditer(text, at, end)


def comments_in(text: str) -> Counter[str]:
    """The comments of a text, and how often each is there."""
    root = tree_of(text)
    return Counter(found[0].rstrip() for found in comments(text, nodes_in(root) if root else (), 0, len(text)))


def span(document: Document, path: Path) -> tuple[str, str]:
    """The text above the lines of an entry, and below them."""
    entry = document.entry(path)
    outer = [document.entry(path[:depth]) for depth in range(1, len(path))]
    # What stands in brackets can take commas and line breaks with it, so the lines of the outermost brackets count.
    entry = next((each for each in outer if each.value.flow), entry)
    return document.text[: first_line(document.text, entry)], document.text[after_lines(document.text, entry) :]


def assert_beside(document: Document, beside: tuple[str, str]) -> None:
    above, below = beside
    assert document.text.startswith(above.rstrip())
    assert document.text.rstrip().endswith(below.strip())


@contextmanager
def brackets_with_comments_refused(document: Document, holder: Path) -> Iterator[None]:
    """Reject the example if the edit of brackets is refused because they hold comments, and nothing changed."""
    try:
        yield
    except Refused as refused:
        if "these brackets hold comments" not in refused.message:
            raise
        assert document.node(holder).flow
        assert document.after == document.before
        reject()


@given(st.data(), files(), VALUES)
def test_a_value_is_replaced_and_nothing_beside_it(data: st.DataObject, document: Document, value: Any) -> None:
    path = data.draw(st.sampled_from(list(paths(document.data))))
    expected, beside = replaced(document.data, path, value), span(document, path)
    document.replace(path, value)
    assert same(parse(document.after, "after").data, expected)
    assert_beside(document, beside)


@given(st.data(), files(), NAMES, VALUES)
def test_what_is_added_and_removed_again_leaves_no_trace(
    data: st.DataObject, document: Document, name: str, value: Any
) -> None:
    holders = [each for each in [(), *paths(document.data)] if value_at(document.data, each) not in ({}, [])]
    holder = data.draw(
        st.sampled_from([each for each in holders if isinstance(value_at(document.data, each), dict | list)])
    )
    held = value_at(document.data, holder)
    index = data.draw(st.integers(0, len(held)))
    path = (*holder, name if isinstance(held, dict) else index)
    assume(isinstance(held, list) or name not in held)
    expected = inserted(document.data, path, value, index)
    with brackets_with_comments_refused(document, holder):
        document.insert(path, value, index)
    assert same(parse(document.after, "after").data, expected)
    document.remove(path)
    assert document.after == document.before


@given(st.data(), files())
def test_an_entry_is_removed_with_its_comments_alone(data: st.DataObject, document: Document) -> None:
    deep = [each for each in paths(document.data) if len(each) > 1]
    assume(deep)
    path = data.draw(st.sampled_from(deep))
    expected, beside = removed(document.data, path), span(document, path)
    alone = len(value_at(document.data, path[:-1])) == 1
    end = len(document.text) - len(beside[1])
    own = Counter(each[0].rstrip() for each in comments(document.text, nodes_in(document.root), len(beside[0]), end))
    in_brackets, all_of_them = document.node(path[:-1]).flow, comments_in(document.text)
    with brackets_with_comments_refused(document, path[:-1]):
        document.remove(path)
    assert same(parse(document.after, "after").data, expected)
    if not alone:  # else the comments of the mapping or list go too
        assert_beside(document, beside)
        assert in_brackets or comments_in(document.text) == all_of_them - own


@given(st.data(), files(), VALUES)
def test_assigning_what_was_there_gives_back_the_data(data: st.DataObject, document: Document, value: Any) -> None:
    path, before = data.draw(st.sampled_from(list(paths(document.data)))), document.data
    old = value_at(before, path)
    assign(document, path, value)
    assign(document, path, old)
    assert same(document.data, before)


SHIPPED = [
    ROOT / "tenants.yaml",
    *sorted(ROOT.glob("examples/*/tenants.yaml")),
    *sorted(ROOT.glob("examples/*/*.d/*.yaml")),
]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: str(file.relative_to(ROOT)))
def test_edits_of_the_examples_are_taken_back_byte_by_byte(file: FilePath) -> None:
    before = file.read_bytes()
    document = Document(file, before)
    holders = [each for each in paths(document.data) if isinstance(value_at(document.data, each), dict | list)]
    for holder in holders[:: max(1, len(holders) // 10)]:
        held = value_at(document.data, holder)
        path = (*holder, "new" if isinstance(held, dict) else len(held))
        document.insert(path, {"a": {"b": [1, {"c": "{env}"}]}})
        assert document.after != before
        document.remove(path)
        assert document.after == before
