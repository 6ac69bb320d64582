"""What the models of documents promise to the commands that make them."""

from __future__ import annotations

from enum import StrEnum
from typing import get_args

import pytest
from pydantic import BaseModel, ValidationError

from tenantry.cli.documents import diff, explanation
from tenantry.cli.documents.common import Field, Part
from tenantry.compare.diff import Status
from tenantry.compare.fields import FieldChange
from tenantry.compare.review.model import Effect
from tenantry.fleet.json_schema import subclasses
from tenantry.messages.data import ABSENT

WORDS: list[tuple[type[StrEnum], type[BaseModel], str, set[str]]] = [
    (Effect, diff.Change, "effect", set()),
    (Effect, diff.TenantReview, "effect", set()),
    (Status, diff.ChangedEnvironment, "status", set()),
]
"""A set of words, a key that says one of them, and which other words that key can say."""


def test_a_key_takes_every_word_that_a_command_can_give_it() -> None:
    for words, model, name, others in WORDS:
        assert {each.value for each in words} | others == {*get_args(model.model_fields[name].annotation)}, model


def test_a_part_is_made_of_an_object_with_the_same_names() -> None:
    changed = Field.model_validate(FieldChange(("spec", "path"), ABSENT, None))
    assert changed.model_dump() == {"path": ["spec", "path"], "after": None}


def test_a_part_that_does_not_fit_says_so_without_its_values() -> None:
    with pytest.raises(ValidationError) as caught:
        explanation.Selector(text=b"\xffhunter2", origin="hunter2")
    assert caught.value.error_count() == 2
    assert "hunter2" not in str(caught.value)


def test_all_keys_are_written_in_one_style() -> None:
    for part in subclasses(Part):
        for name, field in part.model_fields.items():
            assert str(field.serialization_alias).isalpha(), (part, name)
