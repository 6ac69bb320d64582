"""Keys that earlier drafts had: the error says what to write."""

from __future__ import annotations

from tenantry.fleet.gone import GONE, fix_for_gone


def test_no_model_has_a_key_that_is_gone() -> None:
    known = [(model.__name__, key) for model, rows in GONE.items() for key in rows if key in model.model_fields]
    assert not known


def test_the_row_of_a_model_holds_for_those_that_extend_it() -> None:
    for model, rows in GONE.items():
        extended = type("Extended", (model,), {})
        assert all(fix_for_gone(extended, key) == fix for key, fix in rows.items())
