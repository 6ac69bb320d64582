"""How long it takes to compare two plans of a large fleet: `python -m bench.diff [TENANTS]` (default 1000).

Prints each step in seconds and as a ratio to one plan. Three cases are timed: nothing changed, one tenant in ten removed
and others added, and a changed setting that every app inherits.
"""

from __future__ import annotations

import json
import sys

from bench.plan import text_of, timed
from tenantry.cli.diff.comment import as_markdown
from tenantry.cli.diff.objects_data import changed_as_data
from tenantry.cli.diff.review_data import review_as_data
from tenantry.cli.diff.terminal import as_text
from tenantry.cli.diff.values import DisplayLimits
from tenantry.compare.diff import Diff, diff_all
from tenantry.compare.review.build import review
from tenantry.compare.review.model import Review
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
        sides = {"prod": before}, {"prod": after}
        with timed(f"{name}: diff", times.__setitem__):
            (found,) = diff_all(*sides)
        with timed(f"{name}: review", times.__setitem__):
            told = review([found], *sides)
        _formats(name, found, told, times)
    print(f"{tenants} tenants, {len(before.objects)} objects")
    for step, seconds in times.items():
        print(f"{step:20} {seconds:6.2f} s  {seconds / times['one plan']:5.2f} x one plan")


def _formats(name: str, found: Diff, told: Review, times: dict[str, float]) -> None:
    with timed(f"{name}: text", times.__setitem__):
        text = as_text(told, "main", DisplayLimits(), 80)
    with timed(f"{name}: markdown", times.__setitem__):
        comment = as_markdown(told, "main", [], DisplayLimits())
    with timed(f"{name}: json", times.__setitem__):
        data = [[review_as_data(each) for each in told.environments], [changed_as_data(each) for each in found.changed]]
        size = len(json.dumps(data, indent=2))
    print(
        f"{name}: {found.deletions}, {len(found.changed)} objects changed; {len(text.splitlines())} lines,"
        f" {len(comment)} characters of Markdown, {size} of JSON"
    )


def _planned(text: bytes) -> Plan:
    """From text to plan, as `tenantry diff` does for each side."""
    return plan(fleet_of(parse(text, "tenants.yaml")), "prod")


if __name__ == "__main__":
    main()
