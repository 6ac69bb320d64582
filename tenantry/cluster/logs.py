"""What Flux's controllers log about certain objects, from their pods on the management cluster, or from files. It never writes."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tenantry.cluster import requests
from tenantry.cluster.controllers import containers_of, controller_of, deployments_of, position_of
from tenantry.cluster.status import moment, one_line
from tenantry.kube.objects import ObjectId, hub_at
from tenantry.messages.data import mapping_at
from tenantry.messages.errors import NOT_ALLOWED, UNREACHABLE, Refused
from tenantry.messages.redact import without_credentials

if TYPE_CHECKING:
    from tenantry.cluster.client import Client

Reading: TypeAlias = Callable[[bool], Iterator[str]]
"""Gives the lines of a log; True: and then those that are written."""


class LogLine(NamedTuple):
    """A line about an object. time: RFC 3339, "" if unknown. level: `info`, `error` or `debug`. message: one line."""

    time: str
    level: str
    id: ObjectId
    message: str


def pods_of_flux(client: Client, seconds: int) -> list[Reading]:
    """The logs of all pods of Flux's controllers, as old as so many seconds; empty if it does not run there in pods.

    Raises: Refused: reading is not allowed; so do the readings.
    """
    readings = []
    for deployment in deployments_of(client):
        if not (controller := controller_of(deployment)):
            continue
        namespace = deployment["metadata"]["namespace"]
        container = containers_of(deployment)[position_of(deployment, controller)]["name"]
        labels = mapping_at(mapping_at(mapping_at(deployment, "spec"), "selector"), "matchLabels")
        selector = ",".join(f"{key}={value}" for key, value in labels.items())
        for pod in requests.every(client, "v1", "Pod", namespace=namespace, selector=selector, metadata_only=True):
            path = f"/api/v1/namespaces/{namespace}/pods/{pod['metadata']['name']}/log"
            readings.append(
                _of_pod(client.at(hub_at(pod)), path, {"container": str(container), "sinceSeconds": str(seconds)})
            )
    return readings


def _of_pod(client: Client, path: str, parameters: dict[str, str]) -> Reading:
    def lines(follow: bool) -> Iterator[str]:  # noqa: FBT001  the form of a Reading
        import httpx2

        # While it follows a log, a server sends nothing for as long as nothing is logged.
        timeout = httpx2.Timeout(requests.ANSWER_TIMEOUT, read=None if follow else requests.ANSWER_TIMEOUT)
        asked = {**parameters, **({"follow": "true"} if follow else {})}
        with client.http.stream("GET", path, params=asked, timeout=timeout) as answer:
            status = answer.status_code
            if status == HTTPStatus.NOT_FOUND:
                return  # the pod is gone
            if status >= HTTPStatus.BAD_REQUEST:
                code = NOT_ALLOWED if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN) else UNREACHABLE
                fix = f"use credentials that may 'get' pods/log in namespace {path.split('/')[4]}"
                raise Refused(f"cannot read the log of pod {path.split('/')[6]}: HTTP {status}", fix, code=code)
            yield from answer.iter_lines()

    return lines


_PAUSE = 0.5


def of_file(path: Path) -> Reading:
    """The log in a file, as the sandbox's controllers write it."""

    def lines(follow: bool) -> Iterator[str]:  # noqa: FBT001  the form of a Reading
        with path.open(encoding="utf-8", errors="replace") as file:
            begun = ""
            while True:
                begun += file.readline()
                if begun.endswith("\n"):
                    yield begun
                    begun = ""
                elif follow:
                    time.sleep(_PAUSE)
                else:
                    return

    return lines


def lines_about(
    readings: Iterable[Reading], ids: Collection[ObjectId], since: datetime, most: int | None = None
) -> list[LogLine]:
    """The lines about objects since a time, in the order of their times. most: only the last so many; None: all."""

    def of_one(reading: Reading) -> deque[LogLine]:
        return deque(_about(reading(False), ids, since), most)  # noqa: FBT003

    found = [line for lines in requests.in_parallel(of_one, readings) for line in lines]
    return sorted(found, key=lambda line: line.time)[-(most or len(found)) :]


def follow(readings: Iterable[Reading], ids: Collection[ObjectId], since: datetime) -> Iterator[LogLine]:
    """The lines about objects as they are written. It ends with the last log.

    Raises: Refused: reading is not allowed. httpx2.RequestError: no answer.
    """
    found: queue.SimpleQueue[LogLine | Exception | None] = queue.SimpleQueue()

    def read(reading: Reading) -> None:
        try:
            for line in _about(reading(True), ids, since):  # noqa: FBT003
                found.put(line)
            found.put(None)
        except Exception as failure:
            # The reader of the queue raises it. After Ctrl-C nobody reads, and the connection is closed meanwhile.
            found.put(failure)

    threads = [threading.Thread(target=read, args=(each,), daemon=True) for each in readings]
    for thread in threads:
        thread.start()
    for _ in threads:
        while (line := found.get()) is not None:
            if isinstance(line, Exception):
                raise line
            yield line


def _about(lines: Iterable[str], ids: Collection[ObjectId], since: datetime) -> Iterator[LogLine]:
    known = {(id.kind, id.namespace, id.name): id for id in ids}
    names = {id.name for id in ids}
    for text in lines:
        # Most lines are about other objects, and are not worth parsing.
        if any(name in text for name in names) and (line := parsed(text, known)):
            written = moment(line.time)
            if written is None or written >= since:
                yield line


def parsed(text: str, known: dict[tuple[str, str, str], ObjectId]) -> LogLine | None:
    """A line of a controller's log about a known object, in one of the two forms that the controllers have."""
    said = _mapping(text)
    if said is None:
        parts = text.rstrip("\n").split("\t")
        if len(parts) < len(("time", "level", "message", "content")):
            return None
        time, level, *_, message, content = parts
        said = {**(_mapping(content) or {}), "ts": time, "level": level.lower(), "msg": message}
    id = known.get((str(said.get("controllerKind")), str(said.get("namespace")), str(said.get("name"))))
    if id is None:
        return None
    message = ": ".join(str(part) for part in (said.get("msg"), said.get("error")) if part)
    return LogLine(
        _second(str(said.get("ts"))), one_line(str(said.get("level"))), id, one_line(without_credentials(message))
    )


def _mapping(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _second(time: str) -> str:
    found = moment(time)
    return found.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if found else ""
