"""A file shows everything that it says."""

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


@table(
    ("text", "place"),
    [
        ("\u202e", "1:26"),
        ("\u2066a", "1:26"),
        ("\u200f", "1:26"),
        ("\ufeff", "1:26"),
        ("a\u00ad", "1:27"),
        ("a\U000e0041", "1:27"),
        ("a\ufe0f", "1:27"),
        ("\u2699\ufe0f\u200d\u200d", "1:29"),
        ("a\rb", "1:27"),
        ("a\x07", "1:27"),
    ],
)
def test_the_main_file_and_its_pieces_have_none_either(tmp_path: Path, text: str, place: str) -> None:
    for name in ("tenants.yaml", "piece.yaml"):
        (tmp_path / "tenants.yaml").write_text(MAIN.replace("tenants.d/*.yaml", "{files: piece.yaml}"))
        (tmp_path / "piece.yaml").write_text("tenants: {movy: {}}\n")
        written = (tmp_path / name).read_text().split("\n", 1)
        (tmp_path / name).write_bytes(f"{written[0]:23}# {text}\n{written[1]}".encode())
        with pytest.raises(InvalidFleet) as caught:
            load_fleet(tmp_path / "tenants.yaml")
        (problem,) = caught.value.diagnostics
        assert (problem.code, str(problem.location)) == ("hidden-character", f"{tmp_path}/{name}:{place}")
        assert problem.message.endswith("cannot be seen, and who reviews the file would read something else")


def test_symbols_in_colour_and_escapes_of_the_main_file_are_seen(tmp_path: Path) -> None:
    main = MAIN.replace(
        "include: [tenants.d/*.yaml]", "# \u2699\ufe0f \u2699\ufe0f\u200d\u2642\ufe0f \U0001f469\u200d\U0001f4bb"
    )
    (tmp_path / "tenants.yaml").write_text(
        main.replace("rocky: {}", r'rocky: {configs: {c: {data: {A: "\e[0m\u200b"}}}}')
    )
    assert load_fleet(tmp_path / "tenants.yaml")
