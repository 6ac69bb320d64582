"""What the engine is sent of a tenant whose app has failed in a wave, and of the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.staying import Staying
from tenantry.kube.objects import ObjectId, Owner
from tenantry.plan.plan import Plan
from tenantry.rollout.authors import Authors
from tenantry.rollout.proven import proven_in
from tenantry.rollout.turns import turns_of
from tenantry.stacks.outcome import HELD, OUTCOME_FILE
from tenantry.stacks.targets import GATE, key_of
from tests.components.recording import Recording
from tests.components.test_gates import TEXT, Played, sent
from tests.components.test_waiting import state_of
from tests.unit.texts import planned

TENANTS = """\
  tammy:
    clusters: {names: [a, b, c, d]}
    sources: {manifests: {git: {url: https://git.example.com/tammy, ref: {branch: main}}}}
    apps: {web: {kustomize: {source: manifests}}}
"""
ADDON = (
    '{clusters: {names: [a, b, c, d]}, source: {git: {url: "https://git.example.com/dns", ref: {branch: main}}},'
    " kustomize: {path: ./dns}}"
)
PLAN = planned(TEXT + TENANTS)
EVERYTHING = frozenset(each.id for each in PLAN.objects)
STATE = state_of(PLAN)


class _Failing(Played):
    """An app of one tenant fails on all clusters that it is sent to."""

    async def fresh(self, wanted: frozenset[ObjectId], patience: float) -> Any:
        live = await super().fresh(wanted, patience)
        for id, found in live.items():
            if id.name.endswith("-rocky-web"):
                found["status"]["conditions"] = [
                    {"type": "Ready", "status": "False", "message": "no such path"},
                    {"type": "Stalled", "status": "True"},
                ]
        return live


def run(
    plan: Plan = PLAN,
    *,
    state: Sequence[dict[str, Any]] = STATE,
    touched: frozenset[ObjectId] = EVERYTHING,
    refused: str = "",
    flux: type[Played] | None = None,
    new: frozenset[ObjectId] = frozenset(),
) -> Recording:
    """refused: the one object that the engine cannot change; "": an app of one tenant fails. new: what does not exist yet."""
    authors = Authors(plan, touched)
    changing = frozenset(wave.number for id in touched if (wave := plan.wave_of(id)))
    urns = {key_of(each["urn"]): each["urn"] for each in state}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("components.ending.resources_in_state", lambda: state)
        recording, _ = sent(
            plan,
            (flux or (Played if refused else _Failing))(turns_of(plan), good_after=0),
            lambda name: name == refused,
            authors=authors,
            proven=[*proven_in(plan, turns_of(plan), touched, new)],
            changing=changing,
            staying=Staying(urns),
        )
    return recording


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a command of ours reads how the run has ended."""
    monkeypatch.setenv(OUTCOME_FILE, str(tmp_path / "outcome"))
    return tmp_path / "outcome"


def apps(recording: Recording) -> dict[str, bool]:
    """Whether all changes of each app are ignored."""
    return {
        each.name.removeprefix("clusters/"): [*each.ignoreChanges] == ["*"]
        for each in recording.requests
        if each.type.endswith(":Kustomization")
    }


def test_a_tenant_whose_app_fails_stays_as_it_is_in_later_waves_and_others_reach_the_end(outcome: Path) -> None:
    recording = run()
    stays = apps(recording)
    assert {name for name, ignored in stays.items() if ignored} == {
        f"{cluster}-rocky-{app}" for cluster in "bcd" for app in ("web", "db")
    }
    assert {f"{cluster}-tammy-web" for cluster in "abcd"} <= stays.keys()
    assert outcome.read_text() == HELD
    order = [each.key.name for each in recording.objects]
    assert order.index("clusters/c-tammy-web") < order.index("clusters/d-tammy-web")


def test_what_does_not_exist_yet_of_such_a_tenant_is_not_sent(outcome: Path) -> None:
    stays = apps(run(state=[each for each in STATE if "-rocky-web" not in each["urn"]]))
    assert {f"{cluster}-rocky-web" for cluster in "bcd"}.isdisjoint(stays)
    assert stays["d-rocky-db"], "it exists, so it stays as it is"
    assert outcome.read_text() == HELD


@pytest.mark.usefixtures("outcome")
def test_what_such_a_tenant_has_and_the_plan_no_longer_does_stays_too() -> None:
    less = planned((TEXT + TENANTS).replace("      db: {kustomize: {source: manifests}}\n", ""))
    gone = {each.id.name for each in PLAN.objects if each.id not in {one.id for one in less.objects}}
    assert gone == {f"{cluster}-rocky-db" for cluster in "abcd"}
    protected = [{**each, "protect": True, "retainOnDelete": True} for each in STATE]
    recording = run(less, state=protected, touched=frozenset(each.id for each in less.objects))
    assert {name for name, ignored in apps(recording).items() if ignored and name.endswith("-db")} == gone
    flags = {(each.protect, each.retainOnDelete) for each in recording.requests if each.name.endswith("-db")}
    assert flags == {(True, True)}, "Pulumi still protects it, and leaves it behind"
    needed = {each["urn"]: {urn for urn in each["dependencies"] if GATE not in urn} for each in STATE}
    for each in recording.objects:
        if each.key.name.endswith("-db"):
            [before] = (needed[urn] for urn in needed if urn.endswith(f"::{each.key.name}"))
            assert {key.name for key in each.depends_on} == {urn.rpartition("::")[2] for urn in before}


def test_bare_pulumi_ends_with_an_error_so_that_nothing_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(OUTCOME_FILE, raising=False)
    with pytest.raises(pulumi.RunError) as raised:
        run()
    assert str(raised.value) == (
        "wave 1 of 3 (canary) in environment 'dev' failed on 1 cluster of 1, so tenant 'rocky' goes no further in this run\n"
        "  a rocky/web: no such path\n"
        "  stays as it is: wave 2 (b, c); wave 3 (d, hub)\n"
        "  fix: correct the file or what the app applies, then run the same command again; or revert the change and run it again:"
        " only the waves that were changed go back"
    )
    assert "clusters/d-tammy-web" in raised.value.__notes__[0]


REFUSED = "clusters/a-rocky-web"


def test_an_object_that_the_engine_cannot_change_stops_its_tenant_and_nothing_is_deleted() -> None:
    with pytest.raises(pulumi.RunError) as raised:
        run(refused=REFUSED)
    assert str(raised.value) == (
        "wave 1 of 3 (canary) in environment 'dev' was not applied completely (Kustomization clusters/a-rocky-web), so tenant"
        " 'rocky' goes no further in this run\n"
        "  stays as it is: wave 2 (b, c); wave 3 (d, hub)\n"
        "  fix: see the errors of Pulumi, correct their cause, then run the same command again"
    )
    assert "clusters/d-tammy-web" in raised.value.__notes__[0]


def test_of_such_a_tenant_nothing_is_changed_in_later_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.ending._tell", lambda *_: None)
    stays = apps(run(refused=REFUSED))
    assert {name for name, ignored in stays.items() if ignored} == {
        f"{cluster}-rocky-{app}" for cluster in "bcd" for app in ("web", "db")
    }


def test_an_object_of_the_platform_that_the_engine_cannot_change_stops_everybody() -> None:
    addon = TEXT.replace("platform: {", "platform: {addons: {dns: " + ADDON + "}, ") + TENANTS
    with pytest.raises(
        pulumi.RunError, match=r"completely \(Kustomization clusters/a-dns\), so the run ends"
    ) as raised:
        run(planned(addon), touched=frozenset(each.id for each in planned(addon).objects), refused="clusters/a-dns")
    assert "clusters/b-tammy-web" not in raised.value.__notes__[0]


def test_an_app_that_fails_and_that_the_run_does_not_change_stops_nobody(outcome: Path) -> None:
    touched = frozenset(id for id in EVERYTHING if "tammy" in id.name)
    assert not any(apps(run(touched=touched)).values())
    assert not outcome.exists()


class _Running(Played):
    """All of one tenant is ready from the beginning, or nothing is; what the others have takes its time."""

    are_ready = True

    async def fresh(self, wanted: frozenset[ObjectId], patience: float) -> Any:
        live = await super().fresh(wanted, patience)
        for id, found in live.items():
            if "-rocky-" in id.name:
                state = "True" if self.are_ready or self.readings > 1 else "Unknown"
                found["status"]["conditions"] = [{"type": "Ready", "status": state}]
        return live


class _Unready(_Running):
    are_ready = False


@pytest.mark.parametrize("flux", [_Running, _Unready])
def test_a_new_cluster_goes_at_once_if_an_earlier_wave_runs_the_same(flux: type[_Running]) -> None:
    new = frozenset(each.id for each in PLAN.objects if each.owner == Owner("rocky", "d"))
    tammys = frozenset(each.id for each in PLAN.objects if each.owner.tenant == "tammy")
    recording = run(touched=new | tammys, new=new, flux=flux)
    order = [each.key.name for each in recording.objects]
    is_early = order.index("clusters/d-rocky-web") < order.index("clusters/b-tammy-web")
    assert is_early is flux.are_ready
    [web] = (each for each in recording.objects if each.key.name == "clusters/d-rocky-web")
    assert any(key.type == GATE for key in web.depends_on) is not is_early
    gates = {each.key.name[:-9]: each.depends_on for each in recording.registered if each.key.type == GATE}
    assert {key.name for key in gates["rocky/db/2"]} >= {"clusters/b-rocky-db", "clusters/c-rocky-db"}


class _Slow(_Failing):
    """Another app of the tenant is never ready."""

    async def fresh(self, wanted: frozenset[ObjectId], patience: float) -> Any:
        live = await super().fresh(wanted, patience)
        for id, found in live.items():
            if id.name.endswith("-rocky-db"):
                found["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
        assert self.readings < 100, "somebody still waits for it"
        return live


def test_nobody_waits_for_a_tenant_that_has_been_stopped(outcome: Path) -> None:
    text = TEXT.replace("timeout: 1s", "timeout: 1h") + TENANTS
    stays = apps(run(planned(text), flux=_Slow))
    assert not stays["d-tammy-web"]
    assert outcome.read_text() == HELD


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    for level in ("info", "warn", "error"):
        monkeypatch.setattr(pulumi.log, level, lambda _: None)
