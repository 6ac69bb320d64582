"""The history of an environment: what an entry keeps, what is dropped, and how runs that nobody noted the end of are shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tenantry.cluster import history
from tenantry.cluster.history import Counts, Entry, Result, changes_by_tenant, digest_of, history_on, key_of, note
from tenantry.kube.objects import Owner
from tests.table import table
from tests.unit.memory import Memory
from tests.unit.texts import planned, rocky

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
PATH = "/api/v1/namespaces/ops/configmaps/tenantry-prod.history"
RUN = Entry(
    "2026-11-28T11:02:03Z",
    "fleet/prod",
    user="system:serviceaccount:ci:deployer",
    commit="1" * 40,
    actor="jo",
    ignored=("after",),
    reason="CVE-1",
    changes={"rocky": Counts(1, 2), "platform": Counts(0, 1, 3)},
)


def noted(memory: Memory, *entries: Entry) -> None:
    for number, entry in enumerate(entries):
        note(memory.client(), "ops", "prod", key_of(entry, f"run{number}"), entry)


def test_an_entry_is_read_as_it_was_noted_and_gets_its_end() -> None:
    memory = Memory()
    assert history_on(memory.client(), "ops", "prod").entries == {}
    noted(memory, RUN)
    noted(memory, RUN.ends(Result.SUCCEEDED, NOW))
    found = history_on(memory.client(), "ops", "prod")
    assert found.newest_first() == [replace(RUN, result="succeeded", ended="2026-11-28T12:00:00Z")]
    assert found.of_run("run0") == "2026-11-28T110203Z-run0"
    assert found.newest_first()[0].total == Counts(1, 3, 3)
    assert memory.objects[PATH]["metadata"]["labels"] == {"tenantry/history": "prod"}


def test_runs_are_shown_newest_first_and_one_that_a_later_run_follows_is_not_going_on() -> None:
    memory = Memory()
    first, second = (replace(RUN, began=f"2026-11-28T1{hour}:00:00Z") for hour in (1, 2))
    other = replace(RUN, began="2026-11-28T10:00:00Z", stack="other/prod", changes={"movy": Counts(1)})
    noted(memory, first, second, other)
    found = history_on(memory.client(), "ops", "prod")
    assert [(each.began[11:13], each.result) for each in found.newest_first()] == [
        ("12", "running"),
        ("11", "interrupted"),
        ("10", "running"),
    ]
    assert [each.stack for each in found.newest_first("movy")] == ["other/prod"]
    assert found.newest_first("nobody") == []


def test_what_a_later_version_writes_is_read_and_what_is_malformed_is_named() -> None:
    memory = Memory()
    noted(memory, RUN)
    memory.objects[PATH]["data"] |= {"later": '{"began": "x", "stack": "s", "new": 1}', "broken": "{", "empty": "{}"}
    found = history_on(memory.client(), "ops", "prod")
    assert [*found.entries] == ["2026-11-28T110203Z-run0", "later"]
    assert found.unreadable == ("broken", "empty")


def test_the_oldest_entries_make_room_and_the_new_one_never_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = Memory()
    runs = [replace(RUN, began=f"2026-11-{day}T00:00:00Z") for day in (10, 11, 12)]
    noted(memory, *runs)
    monkeypatch.setattr(history, "_MOST", 700)
    late = replace(RUN, began="2026-11-13T00:00:00Z")
    note(memory.client(), "ops", "prod", "2026-11-13", late)
    kept = {key: text for key, text in memory.objects[PATH]["data"].items() if text}
    assert [*kept] == ["2026-11-12T000000Z-run2", "2026-11-13"]
    monkeypatch.setattr(history, "_MOST", 10)
    note(memory.client(), "ops", "prod", "2026-11-01", late)
    assert [key for key, text in memory.objects[PATH]["data"].items() if text] == ["2026-11-01"]


@table(
    "made, changed, gone, found",
    [
        ((), (), (), {}),
        (
            (Owner("rocky"), Owner("rocky", "edge")),
            (Owner("movy"),),
            (Owner(), Owner("", "edge")),
            {"movy": (0, 1, 0), "platform": (0, 0, 2), "rocky": (2, 0, 0)},
        ),
    ],
)
def test_changes_are_counted_for_whom_the_objects_are(
    made: tuple[Owner, ...], changed: tuple[Owner, ...], gone: tuple[Owner, ...], found: dict[str, object]
) -> None:
    assert changes_by_tenant(made, changed, gone) == found


def test_a_digest_is_the_same_for_the_same_plan_alone() -> None:
    plans = [planned(rocky(f"web: {{kustomize: {{source: manifests, path: ./{path}}}}}")) for path in ("a", "a", "b")]
    same, again, other = map(digest_of, plans)
    assert (same == again, same == other, len(same)) == (True, False, 16)
