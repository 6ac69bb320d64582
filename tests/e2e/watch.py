"""Waits for changes of objects with an API server's watch, so that no test has to poll."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from tests.e2e.credentials import Credentials

_T = TypeVar("_T")
Manifest = dict[str, Any]
PATIENCE = 300
"""Seconds to wait for a state; only a failure takes as long."""
_WATCH = 5
"""Seconds after which the state is read anew: a deletion between reading and watching is not told."""
_TIMEOUT = 30.0


def first(ask: Callable[[], _T | None], changes: Callable[[], Iterator[object]], what: str) -> _T:
    """The first answer that is not empty, asked again at each change; a test fails with `what` if none comes in time."""
    end = time.monotonic() + PATIENCE
    while True:
        if answer := ask():
            return answer
        assert time.monotonic() < end, f"waited {PATIENCE} s for {what}"
        for _ in changes():
            if answer := ask():
                return answer


def changes(credentials: Credentials, collection: str, name: str = "") -> Iterator[Manifest]:
    """Each change of objects in a collection, or of the one of a name, for a few seconds; begins with those that exist."""
    selector = f"&fieldSelector=metadata.name%3D{name}" if name else ""
    connection = credentials.connection(_TIMEOUT)
    try:
        connection.request("GET", f"{collection}?watch=1&timeoutSeconds={_WATCH}{selector}")
        answer = connection.getresponse()
        assert answer.status == 200, answer.read().decode(errors="replace")
        yield from map(json.loads, answer)
    finally:
        connection.close()
