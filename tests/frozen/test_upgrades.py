"""An upgrade that would replace, delete or change what runs is seen: each is patched in on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from unittest.mock import patch

import pytest

from tenantry.plan.objects import baseline, scope
from tests.frozen.differences import differences
from tests.frozen.store import load

STACK = "repository"
PATCHES: dict[str, tuple[Callable[[], AbstractContextManager[object]], str]] = {
    "a renamed object": (
        lambda: patch.object(
            baseline, "join", lambda first, *parts: "-".join((first.replace("tenantry", "fleet"), *parts))
        ),
        r"states/repository: \S*RoleBinding::rocky/tenantry-reconciler-admin: \{.*\} -> \(nothing\)",
    ),
    "a changed URN": (
        lambda: patch("components.fleet.TENANT", "tenantry:index:Customer"),
        r"states/repository: tenantry:index:Fleet\$tenantry:index:Tenant::\S+: \{.*\} -> \(nothing\)",
    ),
    "a lost annotation": (
        lambda: patch.dict(scope._PROVIDER, clear=True),  # what is patched on purpose
        r'states/repository: .*annotations\.pulumi\.com/patchForce: "true" -> \(nothing\)',
    ),
}


def lines() -> Iterator[str]:
    return differences("states", STACK, load("states", "inputs")[STACK], load("states", "outcomes")[STACK])


@pytest.mark.parametrize("name", PATCHES)
def test_a_change_that_upgrades_would_carry_to_running_fleets_is_seen(name: str) -> None:
    patched, line = PATCHES[name]
    with patched():
        assert any(re.fullmatch(line, shown) for shown in lines()), [*lines()][:5]
    assert not any(re.fullmatch(line, shown) for shown in lines())
