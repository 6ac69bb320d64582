"""Says at the end how many hostile fleets were judged, in all processes together."""

from __future__ import annotations

import pytest

from tests.hostile.confinement import Verdicts


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    total = Verdicts()
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, figures in report.user_properties:
            if name == "confinement":
                total.add(Verdicts(**figures))
    if total.drawn:
        terminalreporter.write_line(str(total))
