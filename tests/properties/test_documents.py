"""Documents in YAML and JSON say the same data to every reader."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import settings
from hypothesis import strategies as st

from tenantry.kube.yaml_text import ManifestLoader, documents, dumped
from tests.drawn import given
from tests.unit.cli.test_serializer import holds
from tests.unit.kube.test_yaml_text import NASTY, reads

TEXTS = (
    st.sampled_from(NASTY)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.text("ab:#-?!&*|>'\"%@`{}[], \n\t~.=<01eExyn", max_size=10)
)


LEAVES = TEXTS | TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)


DATA = st.recursive(
    LEAVES,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXTS, below, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.dictionaries(TEXTS, DATA, max_size=4), max_size=3))
def test_whatever_the_data_readers_read_it_as_it_is(data: list[Any]) -> None:
    text = documents(data)
    assert repr(reads(text, yaml.SafeLoader)) == repr(data)  # `repr` tells 1, 1.0 and True apart, and the order of keys
    assert repr(reads(text, ManifestLoader)) == repr(data)
    assert text == "".join(map(dumped, data))  # put together as PyYAML does


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()


JSON = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_whatever_the_data_the_document_holds_it(value: Any) -> None:
    holds(value)
