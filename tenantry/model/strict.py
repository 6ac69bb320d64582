"""What all parts of tenants.yaml's model have in common: no value is converted silently, no unknown key is taken."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from tenantry.model.scalars import refusal


class Model(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", hide_input_in_errors=True)

    owned: ClassVar[dict[str, str]] = {}
    """Keys that Flux knows but the fleet sets itself, each with the reason given to who tries to set it."""


def exactly_one(model: Model, *keys: str) -> None:
    """Raises: PydanticCustomError: none of the keys is given, or more than one."""
    given = [key for key in keys if getattr(model, key) is not None]
    if len(given) != 1:
        found = "none is given" if not given else f"{' and '.join(given)} are given"
        raise refusal("choose-one", f"exactly one of {', '.join(keys)} is needed, {found}")
