"""A credential of a tenant without a value holds its own Secret, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import pulumi
import pytest

from components.ending import Check
from components.fleet import Fleet
from components.run import Run
from components.secrets import Holding, SecretConfig, holding, with_secrets
from tenantry.cluster import connect
from tenantry.kube.objects import ObjectId
from tenantry.messages.errors import Refused
from tenantry.stacks.file import Reach
from tenantry.stacks.outcome import HELD, OUTCOME_FILE
from tests.components.recording import Recording, record
from tests.unit.memory import Memory
from tests.unit.texts import FRAME, planned


def tenant(name: str, keys: str) -> str:
    return f"""\
  {name}:
    clusters: {{names: [hub]}}
    credentials: {{git: {{keys: {keys}}}}}
    sources: {{m: {{git: {{url: "https://git.example.com/{name}", ref: {{branch: main}}}}, credentials: git}}}}
    apps: {{web: {{kustomize: {{source: m}}}}}}
"""


PLAN = planned(FRAME + "tenants:\n" + tenant("rocky", "[username, password]") + tenant("movy", "[token]"))
ROCKYS, MOVYS = (ObjectId("v1", "Secret", name, "git") for name in ("rocky", "movy"))
MOVY = {"movy": {"git": {"token": "geheim"}}}
FIX = (
    "  fix: pulumi config set --stack stack --secret --path 'tenantry:credentials.rocky.git.password'\n"
    "       pulumi config set --stack stack --secret --path 'tenantry:credentials.rocky.git.username'"
)


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    return told


def held(
    monkeypatch: pytest.MonkeyPatch, there: Collection[ObjectId], state: Collection[ObjectId], **values: object
) -> Holding:
    memory = Memory()
    for id in there:
        memory.objects[f"/api/v1/namespaces/{id.namespace}/secrets/{id.name}"] = {"metadata": {"name": id.name}}
    monkeypatch.setattr(connect, "connect", lambda *_: memory.client())
    return holding(PLAN, SecretConfig({"credentials": {**MOVY, **values}}), Reach(), state.__contains__)


def registered(found: Holding) -> Recording:
    def program() -> None:
        filled = with_secrets(found.registered(PLAN), SecretConfig({"credentials": MOVY}), found.kept)
        Fleet("dev", run=Run(plan=filled, target=Reach(), kept=found.kept))

    return record(program)


@pytest.mark.parametrize(("there", "state"), [((), ()), ((ROCKYS,), ()), ((), (ROCKYS,))])
def test_what_does_not_exist_or_is_in_no_state_is_left_out_and_everything_else_is_registered(
    monkeypatch: pytest.MonkeyPatch, said: list[str], there: Collection[ObjectId], state: Collection[ObjectId]
) -> None:
    found = held(monkeypatch, there, state)
    assert (found.kept, found.left_out) == (frozenset(), {ROCKYS})
    names = {(each.key.type, each.key.name) for each in registered(found).objects}
    assert ("kubernetes:core/v1:Secret", "rocky/git") not in names
    assert ("kubernetes:core/v1:Secret", "movy/git") in names
    assert len(names) == len(PLAN.objects) - 1
    assert said == [
        "2 values are not in the stack's secret config, so Secret rocky/git is left out; everything else of the run goes through\n"
        + FIX
    ]


def test_what_exists_is_registered_so_that_it_stays_as_it_is(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    found = held(monkeypatch, [ROCKYS, MOVYS], [ROCKYS, MOVYS])
    assert (found.kept, found.left_out) == ({ROCKYS}, frozenset())
    requests = registered(found).requests
    ignored = {each.name: list(each.ignoreChanges) for each in requests if each.ignoreChanges}
    assert ignored == {"rocky/git": ["*"]}
    assert len([each for each in requests if each.type.startswith("kubernetes:")]) == len(PLAN.objects)
    assert "so Secret rocky/git stays as it is; everything else" in said[0]


def test_a_value_of_several_is_enough_to_hold_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    assert held(monkeypatch, [], [], rocky={"git": {"username": "me", "password": ""}}).left_out == {ROCKYS}


def test_nothing_is_read_where_nothing_is_missing(monkeypatch: pytest.MonkeyPatch, said: list[str]) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(connect, "connect", refuse)
    given = {**MOVY, "rocky": {"git": {"username": "me", "password": "geheim"}}}
    assert holding(PLAN, SecretConfig({"credentials": given}), Reach(), refuse) == Holding()
    assert said == []


ADDON = """\
platform:
  chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}
  credentials: {git: {keys: [token]}}
  addons:
    dns:
      clusters: {names: [hub]}
      source: {git: {url: "https://git.example.com/dns", ref: {branch: main}}, credentials: git}
      kustomize: {path: ./dns}
"""


def test_the_platforms_own_credentials_stop_the_run() -> None:
    plan, secrets = planned(FRAME.partition("platform:")[0] + ADDON), SecretConfig({})
    assert holding(plan, secrets, Reach(), lambda _: False) == Holding()
    with pytest.raises(Refused, match=r"pulumi config set --secret --path 'tenantry:platformCredentials.git.token'"):
        with_secrets(plan, secrets)


def test_a_run_that_lacks_the_platforms_values_names_all_at_once(said: list[str]) -> None:
    tenants = "tenants:\n" + tenant("rocky", "[username, password]")
    plan, secrets = planned(FRAME.partition("platform:")[0] + ADDON + tenants), SecretConfig({})
    assert holding(plan, secrets, Reach(), lambda _: False) == Holding()
    assert said == []
    with pytest.raises(Refused, match="3 values that the fleet names") as refused:
        with_secrets(plan, secrets)
    assert "credentials.rocky.git.password" in refused.value.fix


def finished(check: Check) -> None:
    # `asyncio.run` would leave the thread without an event loop, and Pulumi asks for one.
    with closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(check.check({}))


@pytest.mark.parametrize("is_ours", [True, False])
def test_the_end_of_the_run_says_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, is_ours: bool) -> None:
    """Under `tenantry up` by the exit code; a bare `pulumi up` ends with an error, so that it deletes nothing."""
    outcome = tmp_path / "outcome"
    monkeypatch.setenv(OUTCOME_FILE, str(outcome)) if is_ours else monkeypatch.delenv(OUTCOME_FILE, raising=False)
    check = held(monkeypatch, [], []).ending(None)
    assert check is not None
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    finished(check)
    assert not outcome.exists()
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    if is_ours:
        finished(check)
        assert outcome.read_text() == HELD
    else:
        with pytest.raises(pulumi.RunError, match="Secret rocky/git is left out"):
            finished(check)


def test_without_anything_held_the_end_stays_what_it_is() -> None:
    assert Holding().ending(None) is None
