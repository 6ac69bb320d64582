"""A team's file shows everything that it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet
from tests.table import table

MAIN = """\
apiVersion: tenantry/v1
include: [tenants.d/*.yaml]
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
tenants: {rocky: {}}
"""
TEAM = "tenants:\n  rocky:\n    # %s\n    configs: {c: {data: {A: %s}}}\n"


def codes(tmp_path: Path, team: str) -> list[tuple[str, str]]:
    (tmp_path / "tenants.d").mkdir(exist_ok=True)
    (tmp_path / "tenants.yaml").write_text(MAIN)
    (tmp_path / "tenants.d/rocky.yaml").write_bytes(team.encode())
    try:
        load_fleet(tmp_path / "tenants.yaml")
    except InvalidFleet as invalid:
        return [(each.code, str(each.location).removeprefix(f"{tmp_path}/")) for each in invalid.diagnostics]
    return []


@table(
    ("comment", "value", "place"),
    [
        ("\u202e", "b", "tenants.d/rocky.yaml:3:7"),
        ("a\r    quota: {pods: 9}", "b", "tenants.d/rocky.yaml:3:8"),
        ("a\u2028    quota: {pods: 9}", "b", "tenants.d/rocky.yaml:3:8"),
        ("a", '"b\u200bc"', "tenants.d/rocky.yaml:4:31"),
        ("a", '"b\u3164"', "tenants.d/rocky.yaml:4:31"),
        ("a", r'"b\u202ec"', "tenants.d/rocky.yaml:4:29"),
        ("a", r'"b\rc"', "tenants.d/rocky.yaml:4:29"),
    ],
)
def test_what_a_reviewer_cannot_see_is_refused(tmp_path: Path, comment: str, value: str, place: str) -> None:
    assert codes(tmp_path, TEAM % (comment, value)) == [("hidden-character", place)]


@pytest.mark.parametrize("team", ["\ufeff" + TEAM % ("ä", "ü"), (TEAM % ("ж", "日本")).replace("\n", "\r\n")])
def test_other_writings_a_mark_of_order_and_line_breaks_of_windows_are_seen(tmp_path: Path, team: str) -> None:
    assert codes(tmp_path, team) == []


def test_the_main_file_may_have_them(tmp_path: Path) -> None:
    (tmp_path / "tenants.yaml").write_text(MAIN.replace("include: [tenants.d/*.yaml]", "# \u202e"))
    assert load_fleet(tmp_path / "tenants.yaml")
