"""Problems in the formats that forges show beside the lines of a pull request: GitHub's commands, SARIF, GitLab's reports.

Called by: the commands, if `--output` names one of the formats. Never decides what is a problem.
"""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.cli.output import data, data_json, report_invalid, report_warnings, say
from tenantry.messages.errors import Diagnostic, InvalidFleet
from tenantry.messages.text import format_count, format_warning_count

FORMATS = ("github", "sarif", "gitlab")


def annotate_invalid(invalid: InvalidFleet, output: str) -> None:
    """Print the problems of an invalid file. The text report is on stderr, unless the format is for a log itself."""
    _annotate(invalid.diagnostics, output)
    if output == "github":
        say(format_count(invalid))
    else:
        report_invalid(invalid)


def annotate_warnings(warnings: Sequence[Diagnostic], output: str, *, strict: bool) -> None:
    """Print the warnings of a valid file. Args: strict: they are errors."""
    _annotate(warnings, output, strict=strict)
    if output != "github":
        report_warnings(warnings)
    elif warnings:
        say(format_warning_count(warnings))


def _annotate(diagnostics: Sequence[Diagnostic], output: str, *, strict: bool = False) -> None:
    # Every command imports this package for the names of the formats.
    from tenantry.cli.annotations import github, gitlab, sarif

    match output:
        case "sarif":
            data_json(sarif.as_sarif(diagnostics, strict=strict))
        case "gitlab":
            data_json(gitlab.as_report(diagnostics, strict=strict))
        case _:
            for each in diagnostics:
                data(github.command_of(each, strict=strict))
