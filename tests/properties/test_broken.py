"""Broken fleets: whatever is done to a file, it is planned or refused with places inside the file."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from tenantry.load import fleet_of, plan_all
from tenantry.messages.errors import InvalidFleet, Problem, Refused
from tenantry.source.parse import parse
from tests.drawn import given
from tests.strategies import fleets, mutated, text_of

YAMLISH = "ab1: -[]{}&*!|>'\"%@`#,?~<=.\n\t\r\\\x00\x85\u2028\ufeffé😀"


@given(st.data())
def test_whatever_is_done_to_a_fleet_it_is_planned_or_refused_with_places_inside_the_file(data: st.DataObject) -> None:
    raw = text_of(data.draw(mutated(data.draw(fleets()))))
    _planned_or_refused(raw)


@given(st.data())
def test_whatever_is_done_to_the_text_it_is_planned_or_refused_with_places_inside_the_file(data: st.DataObject) -> None:
    raw = text_of(data.draw(fleets()))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 40)))
        junk = data.draw(
            st.sampled_from(
                [
                    b"",
                    b"\t",
                    b"\n",
                    b"\r",
                    b": ",
                    b"- ",
                    b"&a ",
                    b"*a",
                    b"{",
                    "é\u2028".encode(),
                    b"\xff",
                    b"\x00",
                    b"<<: ",
                    b"!x ",
                ]
            )
        )
        raw = raw[:start] + junk + raw[end:]
    _planned_or_refused(raw)


@given(st.binary(max_size=40) | st.text(alphabet=YAMLISH, max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused_with_places_inside_the_file(raw: bytes) -> None:
    _planned_or_refused(raw)


def _planned_or_refused(raw: bytes) -> None:
    text = raw.removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", text)
    for diagnostic in _problems(raw):
        place = diagnostic.location
        assert 1 <= place.line <= len(lines), diagnostic
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1, diagnostic


def _problems(raw: bytes) -> tuple[Problem, ...]:
    try:
        plan_all(fleet_of(parse(raw, "tenants.yaml")))
    except Refused:
        return ()
    except InvalidFleet as invalid:
        return invalid.diagnostics
    return ()
