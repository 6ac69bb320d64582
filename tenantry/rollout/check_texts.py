"""The texts of checks: an address, and a query of Prometheus. A placeholder is a name alone in braces; a query has other braces."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tenantry.fleet.fleet import Fleet
from tenantry.messages.placeholders import Scalar
from tenantry.rollout.model import By, WaveCheck

_NAME = re.compile(r"\{([A-Za-z][A-Za-z0-9_]*)\}")
"""A placeholder of a check. The braces of a query hold more than a name."""


def check_names(text: str) -> list[str]:
    """The placeholders in a text of a check."""
    return _NAME.findall(text)


def texts_of(check: WaveCheck) -> tuple[str, str]:
    """The address, and the query or ""."""
    if check.prometheus:
        return check.prometheus.url, check.prometheus.query
    assert check.http
    return check.http.url, ""


def check_variables(fleet: Fleet, environment: str, by: By, units: Iterable[str]) -> dict[str, Scalar]:
    """The placeholders of checks that have one value for a wave."""
    return {**fleet.environments[environment].variables, "env": environment, by: "|".join(units)}


def filled(text: str, values: Mapping[str, Scalar]) -> str:
    """The text with the values that are known."""
    return _NAME.sub(lambda found: str(values.get(found[1], found[0])), text)
