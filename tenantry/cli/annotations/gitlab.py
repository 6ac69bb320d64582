"""GitLab's Code Quality report: a JSON list of problems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tenantry.cli.annotations.annotation import file_of, fingerprints, level_of, text_of
from tenantry.messages.errors import Diagnostic, Severity

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor"}


def as_report(diagnostics: Sequence[Diagnostic], *, strict: bool) -> list[dict[str, Any]]:
    """All problems; GitLab expects the list itself, without an envelope."""
    return [
        {
            "description": text_of(each),
            "check_name": each.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[level_of(each, strict=strict)],
            "location": {"path": file_of(each.location.file), "lines": {"begin": each.location.line}},
        }
        for each, fingerprint in zip(diagnostics, fingerprints(diagnostics), strict=True)
    ]
