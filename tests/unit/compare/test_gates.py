"""What a review says of the gate between environments."""

from __future__ import annotations

import click

from tenantry.cli.diff.terminal import as_text
from tenantry.cli.diff.values import DisplayLimits
from tests.table import table
from tests.unit.compare.review.outline import reviewed
from tests.unit.preflight.test_after import NEWER, TEXT

GATE = "{environment: dev, soak: 1h}"


def told(before: str, after: str) -> str:
    return click.unstyle(as_text(reviewed(before, after), "main", DisplayLimits(), None))


def test_a_change_says_that_it_waits() -> None:
    assert told(TEXT, NEWER) == (
        "against main\n\n"
        "dev: 1 tenant, 1 app on 1 cluster\n"
        "  ~ tenant rocky\n"
        "      ~ app db on hub\n"
        "          ~ helm.version: 1.0.0 -> 1.1.0\n\n"
        "prod: 1 tenant, 1 app on 1 cluster\n"
        "  changes of apps wait until dev runs them and has been ready for 1h\n"
        "  ~ tenant rocky\n"
        "      ~ app db on hub\n"
        "          ~ helm.version: 1.0.0 -> 1.1.0"
    )


@table(
    ("before", "after", "lines"),
    [
        ("dev", GATE, ["~ after: dev -> dev (soak 1h)"]),
        ("dev", "dev", []),
        ("null", "dev", ["+ after: dev"]),
        ("dev", "null", ["- after: dev"]),
        (
            GATE,
            "dev",
            ["! prod: without its gate, changes no longer wait for dev", "~ after: dev (soak 1h) -> dev"],
        ),
        (
            GATE,
            "{environment: dev, soak: 5m}",
            [
                "! prod: changes wait less for dev: dev (soak 1h) -> dev (soak 5m)",
                "~ after: dev (soak 1h) -> dev (soak 5m)",
            ],
        ),
        (
            GATE,
            "{environment: dev}",
            [
                "! prod: changes wait less for dev: dev (soak 1h) -> dev (ready)",
                "~ after: dev (soak 1h) -> dev (ready)",
            ],
        ),
        (GATE, "{environment: dev, soak: 2h}", ["~ after: dev (soak 1h) -> dev (soak 2h)"]),
    ],
)
def test_a_gate_that_changes_is_a_difference(before: str, after: str, lines: list[str]) -> None:
    text = told(TEXT.replace(GATE, before), TEXT.replace(GATE, after))
    assert [each.strip() for each in text.splitlines() if "after" in each or each.startswith("!")] == lines
