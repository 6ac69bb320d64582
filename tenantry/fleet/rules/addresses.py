"""Rules about the form of addresses, as they are written. The plan checks them again with their placeholders filled."""

from __future__ import annotations

from collections.abc import Iterator

from tenantry.fleet import walk
from tenantry.fleet.fleet import Fleet
from tenantry.flux.addresses import address_problems
from tenantry.messages.data import value_at
from tenantry.messages.errors import Finding
from tenantry.messages.placeholders import is_unfilled


def addresses_are_read_alike_by_all_programs(fleet: Fleet) -> Iterator[Finding]:
    for kind, at in _with_addresses(fleet):
        spec = fleet.said(*at)
        if is_unfilled(spec.get("type")):
            continue
        for finding in address_problems(kind, spec, at):
            if not is_unfilled(value_at(fleet.source.data, finding.path)):
                yield finding


def _with_addresses(fleet: Fleet) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What has addresses, as Flux's kind and the path of what becomes its spec."""
    for at, source in walk.sources(fleet):
        yield source.block.flux_kind, (*at, source.kind)
    for at, _ in walk.alerts(fleet):
        yield "Provider", (*at, "provider")
    for at, _ in walk.receivers(fleet):
        yield "Receiver", at
