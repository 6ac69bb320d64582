"""When a run writes the record of its environment, and what is in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import pulumi
import pytest
from pulumi.runtime.proto import resource_pb2

from components.ending import Keeper, Keeping
from components.fleet import Fleet
from components.gates import Gates
from components.run import Run
from tenantry.guard.claims import Claim
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.rollout.readiness import Live
from tenantry.rollout.turns import turns_of
from tenantry.stacks.file import Reach
from tenantry.stacks.record import Record, read
from tests.components.recording import Monitor, record
from tests.components.test_gates import TEXT, _object
from tests.unit.texts import planned

PLAN = planned(TEXT.replace("timeout: 1s", "timeout: 1s, tolerate: 1"))
NAME = "tenantry-system/tenantry-dev.record"


@dataclass
class Flux:
    """What is on the cluster: all that the plan says, and ready but on one cluster. broken: it does not answer."""

    plan: Plan
    stuck: str = ""
    broken: bool = False
    pause: float = 0.001

    async def fresh(self, *_: object) -> Live:
        if self.broken:
            raise Refused("no answer")
        return {each.id: self._live(each.id, dict(each.manifest), each.owner.cluster) for each in self.plan.objects}

    def _live(self, id: Any, manifest: dict[str, Any], cluster: str) -> dict[str, Any]:
        played = _object(id, ready="True", stalled=bool(cluster) and cluster == self.stuck)
        return {**manifest, "metadata": {**manifest["metadata"], "generation": 1}, "status": played["status"]}


def kept(
    plan: Plan, flux: Flux | None, own: Record | None = None, fail: Callable[[str], bool] = lambda _: False
) -> tuple[list[str], dict[str, str] | None, Any]:
    """The names of what the engine is sent, what is in the record, and the stack's output."""
    names: list[str] = []
    runs: list[Keeping] = []

    def build() -> None:
        gates = Gates("dev", turns_of(plan), flux, _raised, to_the_end=True)  # type: ignore[arg-type]
        runs.append(Keeper(plan, "tenantry-system", Claim("dev", "fleet/dev"), own).of_run(gates))
        Fleet("dev", run=Run(plan=plan, target=Reach(), gates=gates, last=runs[0]))
        pulumi.export("record", runs[0].output)

    def register(monitor: Monitor, request: Any) -> Any:
        answer = original(monitor, request)
        names.append(request.name)
        if fail(request.name):
            answer.result = resource_pb2.FAIL
        return answer

    original = Monitor.RegisterResource
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Monitor, "RegisterResource", register)
        recording = record(build)
    sent = [each.inputs["data"] for each in recording.registered if each.key.name == NAME]
    return names, sent[0] if sent else None, runs[0]._answer.result()


def _raised(message: str) -> NoReturn:
    raise pulumi.RunError(message)


def states(data: dict[str, str] | None) -> dict[str, str]:
    found = read(data or {})
    assert found
    return {app: str(each.state) for app, each in found.entries.items()}


def test_the_record_is_sent_last_and_exported() -> None:
    names, data, exported = kept(PLAN, Flux(PLAN))
    assert names[-1] == NAME
    assert names.count(NAME) == 1
    assert exported == data
    assert states(data) == {"rocky/db": "ready", "rocky/web": "ready"}


def test_a_run_without_changes_sends_the_same_again() -> None:
    before = kept(PLAN, Flux(PLAN))[1]
    assert before
    old = {**before, "apps": re.sub(r"20\d\d-", "2020-", before["apps"])}
    assert kept(PLAN, Flux(PLAN), read(old))[1] == old


def test_an_app_that_is_not_ready_where_that_is_tolerated_counts_as_ready() -> None:
    assert states(kept(PLAN, Flux(PLAN, stuck="c"))[1]) == {"rocky/db": "ready", "rocky/web": "ready"}


def test_of_apps_in_no_wave_the_record_knows_nothing() -> None:
    plan = planned(
        TEXT.replace("web: {kustomize: {source: manifests}}", "web: {kustomize: {source: manifests}, rollout: false}")
    )
    assert states(kept(plan, Flux(plan))[1]) == {"rocky/db": "ready", "rocky/web": "unseen"}


def test_a_wave_that_fails_even_the_last_one_leaves_the_record_as_it_is() -> None:
    plan = planned(TEXT)
    with pytest.raises(pulumi.RunError, match=r"^wave 3 of 3 in environment 'dev' failed on 1 cluster of "):
        kept(plan, Flux(plan, stuck="d"))


def test_after_an_error_that_the_engine_passes_over_the_record_stays_as_it_was() -> None:
    plan = planned(
        TEXT.replace(
            "\n    rollout: {waves: [{name: canary, names: [a]}, {names: [b, c]}, {all: true}], timeout: 1s}", ""
        )
    )
    own = read(kept(plan, None)[1] or {})
    assert own
    other = planned(TEXT.partition("      db:")[0].replace("\n    rollout:", "\n    # rollout:"))
    _, data, exported = kept(other, None, own, lambda name: name.endswith("rocky-web"))
    assert data == exported == own.data
    assert kept(other, None, None, lambda name: name.endswith("rocky-web"))[1:] == (None, {})


def test_a_preview_shows_what_will_be_there_if_all_goes_well() -> None:
    assert states(kept(PLAN, None)[1]) == {"rocky/db": "ready", "rocky/web": "ready"}
    ready = kept(PLAN, Flux(PLAN))[1]
    assert ready
    unready = {**ready, "apps": ready["apps"].replace("Z ready", "Z unready")}
    assert kept(PLAN, None, read(unready))[1] == unready
    changed = planned(
        TEXT.replace("db: {kustomize: {source: manifests}}", "db: {kustomize: {source: manifests, path: ./b}}")
    )
    assert states(kept(changed, None, read(unready))[1]) == {"rocky/db": "ready", "rocky/web": "unready"}


def test_a_cluster_that_cannot_be_read_at_the_end_ends_the_run() -> None:
    plan = planned(TEXT)
    with pytest.raises(pulumi.RunError, match="no answer"):
        kept(plan, Flux(plan, broken=True))
