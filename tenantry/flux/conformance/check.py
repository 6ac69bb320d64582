"""The check of one object's spec, in the order in which an API server proceeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.flux.conformance.cel import broken_rules
from tenantry.flux.conformance.structure import misfits, misfits_of_part
from tenantry.flux.conformance.walk import completed, described
from tenantry.flux.schemas import schema_of
from tenantry.messages.errors import Finding, Path


def check_part(kind: str, part: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    """What is wrong with a part of a spec by itself; what is missing, other layers may bring.

    Args:    part: as written, with `null` for what is to be removed.
    Raises:  KeyError: there is no such kind.
    """
    yield from misfits_of_part(schema_of(kind), dict(part), at)


def check_spec(kind: str, spec: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    """What is wrong with the spec of an object of a Flux kind, whose place in the document is `at`.

    Rules are looked at only where the structure is right, as they may rely on it.
    Args:    spec: as it would be sent: JSON data, complete but for defaults, without null.
    Returns: findings at paths below `at`, each as if the author had written the spec there.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    complete = completed(schema.spec, dict(spec))
    found = False
    for finding in misfits(schema, complete, at):
        found = True
        yield finding
    if not found:
        yield from broken_rules(schema.spec, described(schema.spec, complete), at)
