"""What is told of a program that failed."""

from __future__ import annotations

from tenantry.importing.kustomize import _cause
from tests.table import table

NOISE = "E1124 01:02:03.000004    1234 memcache.go:265] couldn't get current server API group list\n"
SAID = {
    "klog": (f"{NOISE}{NOISE}error: accumulating resources", "accumulating resources"),
    "warnings": ("# Warning: 'bases' is deprecated.\nError: no such file", "no such file"),
    "noise alone": (NOISE.strip(), NOISE.strip()),
    "several lines": ("Error: one\n  two", "one\n  two"),
}


@table("name", SAID)
def test_what_programs_log_is_not_the_cause(name: str) -> None:
    said, told = SAID[name]
    assert _cause(said) == told
