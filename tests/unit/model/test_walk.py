"""The parts of plain data that have a type of the model."""

from __future__ import annotations

from typing import Any

from tenantry.model import Source, Tenant
from tenantry.model.walk import parts


def _is_source(type_: Any) -> bool:
    return type_ is Source


def test_parts_are_found_wherever_the_model_has_the_type_and_data_of_a_wrong_shape_is_passed_over() -> None:
    data = {"sources": {"a": {"git": {}}, "b": 5}, "overrides": [{"sources": {"a": {}}}, "x"], "apps": 7}
    found = {path: written for path, _, written, _ in parts(Tenant, data, ("tenants", "rocky"), _is_source)}
    assert found == {
        ("tenants", "rocky", "sources", "a"): {"git": {}},
        ("tenants", "rocky", "sources", "b"): 5,
        ("tenants", "rocky", "overrides", 0, "sources", "a"): {},
    }
