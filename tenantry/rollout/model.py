"""Waves: in which order a change reaches the clusters of an environment."""

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from tenantry.messages.redact import shorten
from tenantry.model.durations import Duration
from tenantry.model.scalars import SHARE, DeclaredCluster, Name, NumberOrShare, number_or_share, refusal
from tenantry.model.selector import Selector, WantedLabels
from tenantry.model.strict import Model, OneOf

Percent = Annotated[int, Field(ge=1, le=100)]
"""A whole number from 1 to 100."""


class Tolerate(Model):
    """How many clusters of a wave may fail or be unreachable: numbers, or shares such as `20%`, rounded down. One alone means each
    of the two.
    """

    failed: NumberOrShare = 0
    """How many may fail."""
    unreachable: NumberOrShare = 0
    """How many Flux may fail to reach for two minutes: nothing that the run changes there is ready, and Flux gets no connection.
    What a cluster refuses, as with an expired certificate, is a failure."""

    @model_validator(mode="before")
    @classmethod
    def _one_for_each(cls, value: Any) -> Any:
        if isinstance(value, dict):
            return value
        limit = number_or_share(value)
        return {"failed": limit, "unreachable": limit}


REST = "rest"
"""The short form of `{all: true}`."""


class RolloutWave(OneOf):
    """Clusters that change together, by name, by labels (all must match), as a share of the rest, or the rest itself. `10%` stands
    for `{percent: 10}`, and `rest` for `{all: true}`.
    """

    one_of = ("names", "labels", "percent", "all")

    name: Name | None = None
    """What messages call the wave, such as `canary`. Default: `wave 1`, `wave 2`, and so on."""
    names: Annotated[list[DeclaredCluster], Field(min_length=1)] | None = None
    """Take these clusters."""
    labels: WantedLabels | None = None
    """Take the clusters that have all of these labels. A list of values means any of them."""
    percent: Percent | None = None
    """Take this share, 1 to 100, of the clusters that no earlier wave takes and no wave chooses itself, rounded up. A hash of the
    name decides which, so that the others stay in their waves when one is added."""
    all: Literal[True] | None = None
    """`true` takes the clusters that no earlier wave takes and no wave chooses itself."""
    soak: Duration | None = None
    """How long the next wave waits after this one was good, such as `2h`. It counts for each app by itself, from the moment when
    the wave was good with the app's content. A run ends before that, and a later one goes on. Default: the next wave follows at
    once."""
    tolerate: Tolerate | None = None
    """How many clusters of this wave may fail or be unreachable. Default: what the environment says."""

    @property
    def selector(self) -> Selector:
        """What the wave selects itself; a share, or the rest, selects nothing by itself."""
        return Selector.model_construct(names=self.names, labels=self.labels)

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if value == REST:
            return {"all": True}
        if re.fullmatch(SHARE, value) and value != "0%":
            return {"percent": int(value.removesuffix("%"))}
        fix = "write a mapping, a share such as 10%, or 'rest'"
        raise refusal("bad-value", f"'{shorten(value)}' is not a wave", fix=fix)


def _is_false(value: Any) -> Any:
    """Refuses waves of an app's own: only environments have waves."""
    if value is not None and value is not False:
        fix = "write 'false', so that it changes on all clusters at the same time, or remove it: it follows the environment's waves"
        raise refusal("bad-value", "an app has no waves of its own", fix=fix)
    return value


NoWaves = Annotated[Literal[False] | None, BeforeValidator(_is_false)]
"""`false`: what has it keeps out of the waves of its environments."""
