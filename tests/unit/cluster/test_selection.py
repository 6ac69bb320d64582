"""Which apps the options of a command select."""

from __future__ import annotations

import pytest

from tenantry.cluster.selection import select
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.texts import planned, rocky

WEB = "web: {kustomize: {source: manifests}}"


def in_a_region(text: str) -> str:
    return text.replace("{tier: ", "{region: eu, tier: ")


PLAN = planned(in_a_region(rocky(WEB, "clusters: {all: true}")))
HUB = planned(in_a_region(rocky(WEB, "clusters: {names: [hub]}")))


@table(
    ("words", "clusters"),
    [
        (["tier=edge"], {"edge"}),
        (["region=eu"], {"hub", "edge"}),
        (["region=eu,tier=hub"], {"hub"}),
        (["tier=edge", "hub"], {"hub", "edge"}),
        ([], set()),
    ],
)
def test_clusters_are_selected_by_labels_too(words: list[str], clusters: set[str]) -> None:
    assert select(PLAN, clusters=words).clusters == clusters


def test_labels_select_only_clusters_with_apps_of_the_selection() -> None:
    assert select(HUB, ["rocky"], clusters=["region=eu"]).clusters == {"hub"}


@table("word", ["tier=nope", "tier=edge", "region=eu,tier=edge", "edge"])
def test_what_selects_no_app_is_refused(word: str) -> None:
    with pytest.raises(Refused, match=f"has no apps on cluster '{word}'"):
        select(HUB, ["rocky"], clusters=[word])
