"""Which apps the options of a command select."""

from __future__ import annotations

import pytest

from tenantry.cluster.states import select
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.texts import planned, rocky

WEB = "web: {kustomize: {source: manifests}}"


HUB = planned(rocky(WEB, "clusters: {names: [hub]}"))


@table("word", ["nowhere", "edge"])
def test_what_selects_no_app_is_refused(word: str) -> None:
    with pytest.raises(Refused, match=f"has no apps on cluster '{word}'"):
        select(HUB, ["rocky"], clusters=[word])
