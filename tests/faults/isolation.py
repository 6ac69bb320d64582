"""What the tests of isolation share."""

from __future__ import annotations

from tests.faults.report import Row, clipped

SECTION = "isolation"


def row(tried: str, where: str, who: str, answer: str, seconds: float, verdict: str = "refused") -> Row:
    """who: a service account by its whole name, or what else the attacker is known by there."""
    account = who.removeprefix("system:serviceaccount:")
    return Row(SECTION, {"what": tried, "where": where, "as": account, "answer": clipped(answer)}, seconds, verdict)
