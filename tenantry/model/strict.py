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
    if len(given) == 1:
        return
    *others, last = (f"'{key}:'" for key in keys)
    either, none, all_ = ("either", "neither", "both") if len(keys) == 2 else ("exactly one of", "none", "")
    found = none if not given else all_ or " and ".join(f"'{key}:'" for key in given)
    fix = "add one of them" if not given else "keep one of them"
    text = f"needs {either} {', '.join(others)} or {last}; it has {found}"
    raise refusal("choose-one", text, fix=fix, of_entry=True)
