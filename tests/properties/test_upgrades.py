"""`tenantry upgrade`, whatever was edited: edits survive."""

from __future__ import annotations

from hypothesis import strategies as st

from tenantry.scaffold.files import File
from tenantry.scaffold.project import Kind, Record, changes, record_of, upgraded
from tests.drawn import given
from tests.unit.scaffold.test_upgrade import ANSWERS

_TEXTS = st.sampled_from(["one", "two", "three"])


@given(
    old=st.dictionaries(st.sampled_from("abcd"), _TEXTS),
    new=st.dictionaries(st.sampled_from("abcd"), _TEXTS),
    edits=st.dictionaries(st.sampled_from("abcd"), st.none() | _TEXTS),
)
def test_an_upgrade_keeps_edits_and_is_done_after_one_run(
    old: dict[str, str], new: dict[str, str], edits: dict[str, str | None]
) -> None:
    there = {path: text for path, text in {**old, **edits}.items() if text is not None}
    record = record_of(ANSWERS, {path: File(text) for path, text in old.items()})
    written = {path: File(text) for path, text in new.items()}

    def run(record: Record, there: dict[str, str]) -> tuple[Record, dict[str, str], list[Kind]]:
        found = changes(record, written, lambda path: there[path].encode() if path in there else None, lambda _: None)
        made = {each.path: each.after.text for each in found if each.is_written and each.after}
        return upgraded(record, written, found, ()), {**there, **made}, [each.kind for each in found]

    record, after, _ = run(record, there)
    assert {path: text for path, text in after.items() if text != there.get(path)}.items() <= new.items()
    edited = {path for path, text in edits.items() if text != old.get(path)}
    assert {path: after.get(path) for path in edited if path in old} == {
        path: there.get(path) for path in edited if path in old
    }
    again, same, kinds = run(record, after)
    assert (again, same, set(kinds) - {Kind.EDITED}) == (record, after, set())
