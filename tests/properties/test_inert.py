"""Any text in Markdown, read by a real parser: nothing of it comes alive."""

from __future__ import annotations

from hypothesis import strategies as st

from tenantry.messages.inert import code, fence, prose
from tests.drawn import given
from tests.markdown import alive, blocks, html, texts
from tests.unit.messages.test_inert import HOSTILE, in_every_place

DRAWN = st.lists(
    st.sampled_from([*HOSTILE[:44], *"`|@#<>[]()!*_~-+=:/\\&'\" \n\t", "a", "1", "tenant", "https://", "'web'"]),
    max_size=12,
).map("".join)


@given(DRAWN)
def test_drawn_text_stays_text(text: str) -> None:
    for document in in_every_place(text):
        assert not alive(document), document


@given(DRAWN)
def test_a_table_keeps_its_cells(text: str) -> None:
    for cell in (code(text, in_table=True), prose(text, in_table=True)):
        shown = html(f"| a | b |\n|---|---|\n| {cell} | end |")
        assert shown.count("<td") == 2
        assert "<td>end</td>" in shown


@given(DRAWN)
def test_a_block_of_code_ends_where_it_ends(text: str) -> None:
    assert blocks(f"x\n\n{fence(text.splitlines(), 'diff')}\n\ny") == ["paragraph", "fence", "paragraph"]


@given(DRAWN.filter(lambda text: "\n" not in text and "\t" not in text))
def test_what_is_shown_reads_as_what_was_written(text: str) -> None:
    # A sentence may give up its own marks of code: quotes and backticks.
    for shown, marks in ((texts(code(text)), "'"), (texts(prose(text)), "'`")):
        without = str.maketrans("", "", marks)
        written = text.translate(without).encode("unicode_escape").decode()
        assert shown.translate(without).split() == written.split() or (not text.isprintable() or "\\" in text)
