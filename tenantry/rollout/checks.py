"""Asks the checks of a wave: queries of Prometheus, and addresses that have to answer. No message repeats an address."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.text import printable
from tenantry.rollout.waves import Check

_SECONDS = 10.0
_ATTEMPTS = 3
_PAUSE = 5.0
"""Seconds until a check that does not pass is asked again."""
_OK = range(200, 300)


def failed_checks(checks: Iterable[Check], transport: Any = None, pause: float = _PAUSE) -> list[tuple[str, str]]:
    """The names of the checks that do not pass, and why. transport: answers in place of a network."""
    import httpx2

    found = []
    with httpx2.Client(timeout=_SECONDS, transport=transport) as client:
        for check in checks:
            for attempt in range(_ATTEMPTS):
                if attempt:
                    time.sleep(pause)
                if not (problem := _problem(client, check)):
                    break
            else:
                found.append((check.name, printable(problem)))
    return found


def _problem(client: Any, check: Check) -> str:
    import httpx2

    url = f"{check.url.rstrip('/')}/api/v1/query" if check.query else check.url
    try:
        answer = client.get(url, params={"query": check.query} if check.query else None)
    except httpx2.HTTPError as error:
        return f"does not answer ({type(error).__name__})"
    if answer.status_code not in _OK:
        return f"answers with HTTP {answer.status_code}"
    if not check.query:
        return ""
    try:
        return _compared(check, answer.json())
    except (ValueError, AttributeError):
        return "answers with something else than Prometheus does"


def _compared(check: Check, answer: Any) -> str:
    data = mapping_at(answer, "data")
    match data.get("resultType"):
        case "vector":
            values = [float(each["value"][1]) for each in mappings_in(data.get("result"))]
        case "scalar":
            values = [float(data["result"][1])]
        case _:
            raise ValueError
    if not values:
        return "has no result"
    for value in values:
        if check.below is not None and not value < check.below:
            return f"{value:g} is not below {check.below:g}"
        if check.above is not None and not value > check.above:
            return f"{value:g} is not above {check.above:g}"
    return ""
