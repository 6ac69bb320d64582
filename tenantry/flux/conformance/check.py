"""Checks the spec of one object in the same order as an API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tenantry.flux.conformance.cel import broken_rules
from tenantry.flux.conformance.structure import misfits, misfits_of_part
from tenantry.flux.conformance.walk import completed
from tenantry.flux.schemas import schema_of
from tenantry.messages.errors import Finding, Path


def check_part(kind: str, part: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    """The problems of a part of a spec. Missing keys are no problem, because other layers can add them.

    Args:    part: as written; `null` removes a key.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    if part:  # most blocks have no keys of Flux's own, and a validator takes a while to build
        yield from misfits_of_part(schema, dict(part), at)


def check_spec(kind: str, spec: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    """The problems of the spec of a Flux object.

    CEL rules rely on the structure, so they are checked only if the structure is right.
    Args:    spec: JSON data as it would be sent, without null; defaults may be missing. at: its path in the document.
    Returns: findings at paths below `at`, as if the author had written the spec there.
    Raises:  KeyError: there is no such kind.
    """
    schema = schema_of(kind)
    complete = completed(schema.spec, dict(spec))
    found = False
    for finding in misfits(schema, complete, at):
        found = True
        yield finding
    if not found:
        yield from broken_rules(schema.spec, complete, at)
