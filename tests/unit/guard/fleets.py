"""Fleets of tests of the guard, and what a cluster holds of them."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.guard.check import RunLimits, check
from tenantry.guard.held import Held
from tenantry.guard.reading import held
from tenantry.messages.errors import Refused
from tests.unit.texts import FRAME, planned

SOURCES = "    sources: {m: {git: {url: https://git.example.com/a, ref: {branch: main}}}}\n"


def tenant(name: str, *apps: str, rest: str = "", where: str = "{all: true}") -> str:
    listed = "".join(f"      {app}: {{kustomize: {{source: m}}}}\n" for app in apps)
    return f"  {name}:\n    clusters: {where}\n{rest}{SOURCES}    apps:\n{listed}"


def fleet(*tenants: str, frame: str = FRAME) -> str:
    return frame + ("tenants:\n" + "".join(tenants) if tenants else "")


def manifests(text: str) -> list[dict[str, Any]]:
    """The objects on the management cluster once a fleet is up."""
    return [dict(each.manifest) for each in planned(text).objects]


def now(text: str, *others: Any) -> Held:
    """What the cluster holds once a fleet is up, and others have added objects."""
    return held([*manifests(text), *others], "dev")


def refusal(before: str, after: str, limits: RunLimits, *others: Any) -> str:
    return refused(after, now(before, *others), limits)


def refused(after: str, there: Held, limits: RunLimits) -> str:
    """The message with which the guard refuses a fleet."""
    with pytest.raises(Refused) as refusal:
        check(planned(after), there, limits)
    return str(refusal.value)
