"""Blocks whose keys are Flux's own."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import ConfigDict

from tenantry.model.strict import Model


class FluxBlock(Model):
    """A block whose keys are those of a Flux kind's spec.

    Fields are the keys that mean more to the fleet than to Flux; all others are Flux's, and checked against its schema by
    a rule (`rules.blocks`), so that a new version of Flux brings its keys along.
    """

    model_config = ConfigDict(extra="allow")

    flux_kind: ClassVar[str]

    @property
    def flux(self) -> dict[str, Any]:
        """What was written of Flux's own keys."""
        return dict(self.model_extra or {})
