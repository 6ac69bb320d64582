"""Any kubeconfig is checked without an exception."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.drawn import given
from tests.unit.preflight.test_kubeconfig import SOUND, problems


@given(
    st.dictionaries(st.sampled_from([*SOUND, "name"]), st.recursive(st.text("marker:-[]{}"), st.lists, max_leaves=4))
)
def test_no_kubeconfig_is_so_wrong_that_it_can_not_be_told(content: dict[str, Any]) -> None:
    assert problems({**content, "marker": 1})
