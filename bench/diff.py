"""How long it takes to compare two plans of a large fleet: `python -m bench.diff [TENANTS]` (default 1000).

Prints each step in seconds and as a ratio to one plan. Three cases are timed: nothing changed, one tenant in ten removed
and others added, and a changed setting that every app inherits.
"""

from __future__ import annotations

import sys

from bench.plan import text_of, timed
from tenantry.cli.diff.lines import DisplayLimits
from tenantry.cli.diff.text import as_text
from tenantry.compare.diff import diff
from tenantry.load import fleet_of
from tenantry.plan.plan import Plan, plan
from tenantry.source.parse import parse


def main() -> None:
    tenants = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    text, times = text_of(tenants), dict[str, float]()
    with timed("one plan", times.__setitem__):
        before = _planned(text)
    changes = {
        "nothing": text,
        "tenants": text.replace(b"0:\n    sources", b"x:\n    sources"),
        "interval": text.replace(b"defaults: {", b"defaults: {interval: 7m, "),
    }
    for name, changed in changes.items():
        after = _planned(changed)
        with timed(name, times.__setitem__):
            found = diff(before, after)
            shown = as_text(found, DisplayLimits())
        print(f"{name}: {found.deletions}, {len(found.changed)} objects changed, {len(shown.splitlines())} lines")
    print(f"{tenants} tenants, {len(before.objects)} objects")
    for step, seconds in times.items():
        print(f"{step:8} {seconds:6.2f} s  {seconds / times['one plan']:5.2f} x one plan")


def _planned(text: bytes) -> Plan:
    """From text to plan, as `tenantry diff` does for each side."""
    return plan(fleet_of(parse(text, "tenants.yaml")), "prod")


if __name__ == "__main__":
    main()
