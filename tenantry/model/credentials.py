"""What Flux reads beside sources and apps: credentials, which hold no value here, and configs, which do."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tenantry.model.scalars import DataKey, RegistryHost, refusal
from tenantry.model.strict import Model, exactly_one


class Credentials(Model):
    """A Secret that sources, apps or alerts may name."""

    keys: Annotated[list[DataKey], Field(min_length=1)] | None = None
    """Keys of the Secret, whose values the stack's secret config holds."""
    registry: RegistryHost | None = None
    """Host of a registry of images or charts, whose `username` and `password` the stack's secret config holds."""
    existing: Literal[True] | None = None
    """The Secret is put there by other means, under the name that the plan expects."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "keys", "registry", "existing")
        if self.keys and len(set(self.keys)) < len(self.keys):
            raise refusal("duplicate", "no two keys may be equal")
        return self


class Config(Model):
    """A ConfigMap that apps may name."""

    data: Annotated[dict[DataKey, str], Field(min_length=1)] | None = None
    """What the ConfigMap holds; placeholders are filled."""
    existing: Literal[True] | None = None
    """The ConfigMap is put there by other means, under the name that the plan expects."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        exactly_one(self, "data", "existing")
        return self
