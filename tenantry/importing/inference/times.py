"""The times that apps share, which the file says once for a tenant or for all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tenantry.fleet.settings import TIMES, TenantSettings
from tenantry.importing.inference.durations import short_time
from tenantry.importing.inference.world import Thing
from tenantry.messages.data import mapping_at

Times = Mapping[str, str]


def tenantrys_own() -> dict[str, str]:
    """The times of a file that says none."""
    settings = TenantSettings()
    return {key: str(getattr(settings, key)) for key in TIMES}


def shared_times(
    apps: Iterable[Thing], charts: Iterable[Thing], baselines: Iterable[Thing], others: Times
) -> dict[str, str]:
    """The times of a tenant in one place.

    Args: charts: those that Tenantry made, which have the tenant's interval. baselines: releases that Tenantry made, which have
          all of the tenant's times. others: what holds where there is no agreement.
    """
    found = dict(others)
    for key in TIMES:
        votes = [_time(each, key) for each in baselines]
        if not votes and key == "interval":
            votes = [_time(each, key) for each in charts]
        votes = votes or [_time(each, key) for each in apps]
        if votes and votes[0] and len(set(votes)) == 1:
            found[key] = votes[0]
    return found


def _time(thing: Thing, key: str) -> str:
    value: Any = thing.spec.get(key)
    if key == "retryInterval" and thing.kind == "HelmRelease":
        ways = [mapping_at(thing.spec, action, "strategy") for action in ("install", "upgrade")]
        values = {str(each.get(key, "")) for each in ways}
        value = values.pop() if len(values) == 1 else ""
    return short_time(value) if isinstance(value, str) else ""
