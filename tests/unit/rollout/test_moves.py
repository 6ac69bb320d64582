"""Which apps move to another source, when that has arrived, and what an app needs that stays."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from tenantry.kube.objects import Manifest, ObjectId
from tenantry.plan.plan import Plan
from tenantry.rollout.moves import Move, is_lost, missing_from, moves_of, stayed
from tenantry.rollout.readiness import Live
from tests.table import table
from tests.unit.rollout.test_judging import CHART, FETCHED, GIT, NOW, REPOSITORY, artifact, live, ready
from tests.unit.texts import FRAME, planned

TENANT = """\
tenants:
  rocky:
    clusters: {names: [edge]}
    credentials: {git: {keys: [token]}, other: {keys: [token]}}
    sources:
      manifests: {git: {url: https://git.example.com/rocky, ref: {tag: v1}}, credentials: git}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      web: {kustomize: {source: manifests, path: ./web}}
      db: {helm: {source: charts, chart: db, version: 1.0.0}}
"""
BEFORE = planned(FRAME + TENANT)
TAG, VERSION, CREDENTIALS = (
    ("tag: v1", "tag: v2"),
    ("version: 1.0.0", "version: 2.0.0"),
    ("credentials: git", "credentials: other"),
)


def after(*edits: tuple[str, str]) -> Plan:
    text = FRAME + TENANT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return planned(text)


def moves(plan: Plan, change: Callable[[Any], None] = lambda _: None) -> dict[str, Move]:
    """The moves from the plan before to another, by name. change: is given what is on the cluster of each object."""
    there: dict[ObjectId, Manifest] = {each.id: copy.deepcopy(dict(each.manifest)) for each in BEFORE.objects}
    for each in there.values():
        change(each)
    changed = [(each, there[each.id]) for each in plan.objects if each.id in there and each.manifest != there[each.id]]
    unplanned = [each for id, each in there.items() if id not in {planned.id for planned in plan.objects}]
    return {each.name: each for each in moves_of(plan, changed, unplanned)}


def test_an_app_moves_whose_source_has_another_version_and_keeps_what_the_plan_has_no_more() -> None:
    move = moves(after(TAG, CREDENTIALS))["rocky/web"]
    [new] = [each.id for each in after(TAG, CREDENTIALS).objects if each.id.kind == "GitRepository"]
    [old] = [each.id for each in BEFORE.objects if each.id.kind == "GitRepository"]
    assert (move.where, move.after, move.before) == ("rocky/web on edge", (new,), ("GitRepository", "kamaji", old.name))
    assert [str(each) for each in move.needs] == ["Secret kamaji/rocky.git", str(old)]


def test_of_a_chart_s_version_the_repository_stays_planned() -> None:
    move = moves(after(VERSION))["rocky/db"]
    assert [each.kind for each in move.after] == ["HelmRepository", "HelmChart"]
    assert [each.kind for each in move.needs] == ["HelmChart"]


@table(
    ("edits", "names"),
    [
        ((), []),
        ((("./web", "./other"),), []),
        (((f"{TAG[0]}}}}}", f"{TAG[0]}}}, interval: 7m}}"),), []),  # the same object at another pace
        ((TAG, VERSION), ["rocky/web", "rocky/db"]),
        ((("url: https://charts.example.com", "url: https://charts.example.org"),), ["rocky/db"]),
        # Nobody needs that an app which leaves goes on.
        ((TAG, ("{source: manifests, path: ./web}}", "{source: manifests, path: ./web}, state: offboarding}")), []),
        ((("source: manifests, path", "source: others, path"), ("manifests: {git", "others: {git")), ["rocky/web"]),
    ],
)
def test_what_else_changes_moves_nothing(edits: tuple[tuple[str, str], ...], names: list[str]) -> None:
    assert sorted(moves(after(*edits))) == sorted(names)


def test_what_is_not_there_or_going_does_not_move() -> None:
    plan = after(TAG)
    assert moves_of(plan, [], [each.manifest for each in BEFORE.objects]) == []
    assert moves(plan, lambda each: each["metadata"].update(deletionTimestamp="now")) == {}


def test_an_app_that_is_paused_moves_too() -> None:
    paused = after(TAG, ("{source: manifests, path: ./web}}", "{source: manifests, path: ./web}, state: paused}"))
    assert moves(paused)["rocky/web"].paused
    assert not moves(after(TAG))["rocky/web"].paused


def test_objects_that_refer_to_each_other_in_a_circle_end() -> None:
    def change(each: Any) -> None:
        if each["kind"] == "GitRepository":
            each["spec"]["include"] = [{"repository": {"name": each["metadata"]["name"]}}]

    assert [each.kind for each in moves(after(TAG), change)["rocky/web"].needs] == ["GitRepository"]


CHARTED = {**live(REPOSITORY, artifact=artifact("1")), **live(CHART, artifact=artifact("1.2.3"))}
ARRIVED = [
    ((GIT,), FETCHED),
    ((REPOSITORY, CHART), CHARTED),
    # Flux has the chart already, whatever becomes of the index.
    ((REPOSITORY, CHART), {**CHARTED, **live(REPOSITORY, ready("False", "no such host"))}),
]
FAILED = {**FETCHED, **live(GIT, ready("False", "no such tag"), artifact=artifact("old"))}
MISSING = [
    ((GIT,), {}, f"{GIT} is not on the management cluster", True),
    ((GIT,), live(GIT, ready("Unknown")), f"{GIT}: Flux says None", False),
    # The artifact is of the spec before.
    ((GIT,), live(GIT, ready(generation=1), observedGeneration=1, artifact=artifact("old")), "not reconciled", False),
    ((GIT,), FAILED, "no such tag", False),
    ((GIT,), live(GIT), f"{GIT} has no artifact yet", False),
    ((GIT,), live(GIT, spec={"suspend": True}), "is suspended by hand", True),
    ((GIT,), live(GIT, ready("False", "bad"), ready(kind="Stalled")), "bad", True),
    ((REPOSITORY, CHART), live(CHART, ready("False", "no index")), f"{REPOSITORY} is not on", True),
    (
        (REPOSITORY, CHART),
        {**live(REPOSITORY, ready("False", "refused")), **live(CHART, ready("False", "no index"))},
        f"{REPOSITORY}: refused",
        False,
    ),
]


@table(("chain", "found"), ARRIVED)
def test_a_source_has_arrived_when_it_has_an_artifact_of_its_present_spec(
    chain: tuple[ObjectId, ...], found: Live
) -> None:
    assert missing_from(chain, found, NOW) is None


@table(("chain", "found", "words", "lost"), MISSING)
def test_otherwise_flux_says_why_not(chain: tuple[ObjectId, ...], found: Live, words: str, *, lost: bool) -> None:
    problem = missing_from(chain, found, NOW)
    assert problem
    assert words in problem.message
    assert is_lost(problem) is lost
    assert is_lost(problem._replace(lasts=True))


def test_a_run_says_which_apps_stay_where_and_why() -> None:
    found = moves(after(TAG, VERSION))
    old = {name: move.before[2] for name, move in found.items()}
    assert stayed({"no such tag": [found["rocky/web"]], "no such chart": [found["rocky/db"]]}) == (
        "2 apps stay on the sources that they have, because their new ones have no artifact\n"
        "  no such tag\n"
        f"    rocky/web on edge (on GitRepository kamaji/{old['rocky/web']})\n"
        "  no such chart\n"
        f"    rocky/db on edge (on HelmChart kamaji/{old['rocky/db']})\n"
        "  fix: correct what Flux says of the source, then run the same command again; or revert the change"
    )
    assert stayed({"no such tag": [found["rocky/web"]]}).startswith(
        "1 app stays on the source that it has, because its new one has no artifact\n"
    )
