"""Receivers: webhooks that make Flux fetch sources at once, instead of at the next interval."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from tenantry.model.flux import FluxBlock
from tenantry.model.scalars import CredentialsName, SourceName, refusal


class Receiver(FluxBlock):
    """A webhook for a Git host or a registry. A call that Flux accepts makes it fetch the sources at once."""

    model_config = ConfigDict(json_schema_extra={"required": ["type"]})

    flux_kind = "Receiver"
    owned = {
        "resources": "the fleet sets it from 'sources'",
        "secretRef": "the fleet sets it from 'credentials'",
    }

    sources: Annotated[list[SourceName], Field(min_length=1)] | None = None
    """Limits the receiver to these sources (for the platform's receivers: add-ons). Default: all sources that are used on the
    cluster."""
    credentials: CredentialsName | None = None
    """The declared credentials with the key `token`, which the sender has too; type `gcr` also needs `email` and `audience`."""

    @model_validator(mode="after")
    def _of_some_type(self) -> Self:
        if self.flux.get("type") is None:
            raise refusal(
                "missing-key", "key 'type' is missing", fix="add 'type:', such as github, gitlab or generic-hmac"
            )
        return self

    @property
    def type(self) -> str:
        """One of Flux's types, such as `github`."""
        return str(self.flux["type"])
