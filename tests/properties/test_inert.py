"""Any text in Markdown, read by a real parser: nothing of it comes alive."""

from __future__ import annotations

from hypothesis import strategies as st

from tenantry.messages.inert import code
from tests.drawn import given
from tests.markdown import alive, texts
from tests.unit.messages.test_inert import HOSTILE, in_every_place

DRAWN = st.lists(
    st.sampled_from([*HOSTILE[:44], *"`|@#<>[]()!*_~-+=:/\\&'\" \n\t", "a", "1", "tenant", "https://", "'web'"]),
    max_size=12,
).map("".join)


@given(DRAWN)
def test_drawn_text_stays_text(text: str) -> None:
    for document in in_every_place(text):
        assert not alive(document), document


@given(DRAWN.filter(lambda text: "\n" not in text and "\t" not in text))
def test_what_is_shown_reads_as_what_was_written(text: str) -> None:
    shown, written = texts(code(text)), text.encode("unicode_escape").decode()
    assert shown.split() == written.split() or (not text.isprintable() or "\\" in text)
