"""What `import` writes reads back as the same data."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from tenantry.importing.drafting import text_of
from tests.drawn import given
from tests.unit.importing.test_text import ODD, read

TEXTS = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | TEXTS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS.filter(bool), below, max_size=3),
    max_leaves=12,
)


@settings(max_examples=60)
@given(
    st.dictionaries(st.sampled_from(["tenants", "platform"]), st.dictionaries(TEXTS.filter(bool), VALUES), min_size=1)
)
def test_what_is_written_reads_back(data: dict[str, Any]) -> None:
    assert read(text_of(data)) == data
