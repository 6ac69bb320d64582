"""The random walk of tests/faults gives sound fleets, and says of each step what the planner and the guard say of it."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
import yaml

from tenantry.guard.check import RunLimits, check
from tenantry.guard.reading import held
from tenantry.kube.objects import KubeObject, Manifest
from tenantry.load import fleet_of, plan_one
from tenantry.messages.errors import Refused
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.faults.expected import Data, places, refusal
from tests.faults.test_walk import DISTURBED
from tests.faults.walk import Step, step, text_of

START_OF = Path(__file__).parents[2] / "e2e" / "fleets" / "walk" / "tenants.yaml"
START: Data = yaml.safe_load(START_OF.read_text())
SEEDS, STEPS, EACH = 10, 100, 50
"""Planning takes some time, so one step in some is looked at: what is unsound stays so until another edit meets it."""


def walk(seed: int) -> Iterator[tuple[Data, Step]]:
    """Each step with the document it starts from; one that is refused is not taken."""
    document, random = START, Random(seed)
    for _ in range(STEPS):
        next = step(document, random)
        yield document, next
        document = document if refusal(document, next.document) else next.document


@cache
def walked(seed: int) -> tuple[tuple[Data, Step], ...]:
    """The same for several tests, because making it takes longer than looking at it."""
    return tuple(walk(seed))


def plan_of(document: Data) -> Plan:
    return plan_one(fleet_of(parse(text_of(document, "a comment").encode(), "tenants.yaml")), "dev")


def running(planned: KubeObject) -> Manifest:
    """An object once Flux has seen to it: it says where it has put something."""
    namespace = planned.manifest.get("spec", {}).get("targetNamespace")
    return {**planned.manifest, "status": {"inventory": {"entries": [{"id": f"{namespace}_plain__ConfigMap"}]}}}


def said_by_the_guard(before: Plan, after: Data) -> str:
    limits = RunLimits(protected=False, deletions=after["environments"]["dev"].get("maxDeletions", 3))
    try:
        check(plan_of(after), held(map(running, before.objects), "dev"), limits)
    except Refused as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_step_is_a_sound_fleet_that_the_planner_and_the_guard_see_alike(seed: int) -> None:
    for before, next in walked(seed)[EACH - 1 :: EACH]:
        plan = plan_of(before)
        apps = {(each.tenant, each.cluster, each.name) for each in plan.apps}
        assert {(*where, app) for where, place in places(before).items() for app, _ in place.apps} == apps
        namespaces = {(each.tenant, each.cluster): frozenset(each.namespaces) for each in plan.placements}
        assert {where: place.namespaces for where, place in places(before).items() if where[0]} == namespaces
        said, words = said_by_the_guard(plan, next.document), refusal(before, next.document)
        assert words in said, next.said
        assert bool(words) == bool(said), next.said


def test_what_means_nothing_changes_no_plan() -> None:
    same = [(before, next) for seed in range(SEEDS) for before, next in walked(seed) if next.same]
    assert len(same) > SEEDS
    for before, next in same[:SEEDS]:
        assert {each.id: each.manifest for each in plan_of(before).objects} == {
            each.id: each.manifest for each in plan_of(next.document).objects
        }


def test_a_step_leaves_its_document_as_it_is_and_comes_again_with_the_seed() -> None:
    before = copy.deepcopy(START)
    assert [next for _, next in walk(7)] == [next for _, next in walk(7)]
    assert before == START


def test_a_hundred_steps_hold_edits_of_most_sorts_and_some_that_are_refused() -> None:
    for seed in range(SEEDS):
        steps = walked(seed)
        assert len({next.sort for _, next in steps}) > 20
        assert 1 <= sum(bool(refusal(before, next.document)) for before, next in steps) <= 30


def test_the_walk_of_a_build_server_is_disturbed_in_every_way_and_refused() -> None:
    """If it is not, because there are other edits, choose another seed in .ci/run."""
    steps, seed = re.findall(r"(?:STEPS|SEED)=\$\{\w+:-(\d+)\}", (START_OF.parents[4] / ".ci" / "run").read_text())
    document, random, told = START, Random(int(seed)), []
    for _ in range(int(steps)):
        next = step(document, random)
        disturbed = random.choices([*DISTURBED], DISTURBED.values())[0]
        refused = bool(refusal(document, next.document))
        told.append((next.sort, "refused" if refused else disturbed))
        document = document if refused else next.document
    assert {how for _, how in told} == {*DISTURBED, "refused"}
    assert len({sort for sort, _ in told}) >= 0.8 * int(steps)
