"""What Flux reads beside sources and apps: credentials, which hold no value here, and configs, which do."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from tenantry.model.scalars import DataKey, RegistryHost, refusal
from tenantry.model.strict import OneOf


class Credentials(OneOf):
    """A Secret that sources, apps, alerts and receivers can name."""

    one_of = ("keys", "registry", "existing")

    keys: Annotated[list[DataKey], Field(min_length=1)] | None = None
    """The keys of the Secret. Their values are in the stack's secret config."""
    registry: RegistryHost | None = None
    """The host of a registry of images or charts. Its `username` and `password` are in the stack's secret config."""
    existing: Literal[True] | None = None
    """The Secret already exists, or is created by other means, under the expected name."""

    @model_validator(mode="after")
    def _keys_differ(self) -> Self:
        if self.keys and len(set(self.keys)) < len(self.keys):
            raise refusal("duplicate", "a key is listed twice", fix="remove one of them")
        return self


class Config(OneOf):
    """A ConfigMap that apps can name."""

    one_of = ("data", "existing")

    data: Annotated[dict[DataKey, str], Field(min_length=1)] | None = None
    """The data of the ConfigMap. Placeholders are filled in."""
    existing: Literal[True] | None = None
    """The ConfigMap already exists, or is created by other means, under the expected name."""
