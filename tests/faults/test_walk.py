"""A random walk: an edit, a run, and the clusters have to be as planned; a hundred times over.

Data lies in every namespace of every tenant, and stays until its tenant was off-boarded. On the way runs are killed, with the file
reverted or not, and people change objects by hand. Admission policies change what is written: that is no drift, and no run does
it again.

`--steps N` and `--seed N` choose another one. A failure tells both, and all edits up to there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random

import pytest
import yaml

from tests.e2e.project import Project, Result
from tests.faults.api import Api
from tests.faults.compare import settled
from tests.faults.crash import CANCEL, Crash, crashed
from tests.faults.data import Ledger, offboarded
from tests.faults.drift import by_hand
from tests.faults.edits.draw import CLUSTERS
from tests.faults.expected import Data, refusal
from tests.faults.identities import emptied, identities, made_anew
from tests.faults.mutating import OVERWRITTEN, install
from tests.faults.walk import Step, step, text_of

pytestmark = [pytest.mark.e2e, pytest.mark.faults]

UP = ("up", "--stack", "dev", "--yes", "--skip-preview")
DISTURBED = {"": 75, "killed": 7, "reverted": 6, "changed by hand": 12}
"""What happens before a run, and how often of a hundred times."""
STEPS_OF_A_RUN = 40
PREVIEWED = 5
"""Each step that is a multiple of it has a preview too, which takes as long as a run."""


@pytest.fixture(scope="module")
def project(wide: Project, origin: str) -> Project:
    wide.fleet.write_text(origin)
    wide.deploy("dev")
    return wide


@dataclass(slots=True)
class Walk:
    """document: what the clusters are to be like."""

    project: Project
    document: Data
    random: Random
    data: Ledger

    def go(self, next: Step, *, previewed: bool) -> None:
        before = identities(self.project, CLUSTERS)
        words = refusal(self.document, next.document)
        given_up = self.data.given_up()
        assert {namespace for _, namespace in given_up} <= offboarded(self.document)
        self.project.fleet.write_text(text_of(next.document, next.said))
        if not words:
            self._disturb(next)
        ended = self.project.up()
        if words:
            self._stays(ended, words)
        else:
            self._goes_on(ended, next)
        after = identities(self.project, CLUSTERS)
        # What was deleted by hand, or by a killed run that was reverted, is there again as another one.
        assert next.disturbed or made_anew(before, after) == []
        assert not words or after == before
        self.data.check(given_up)
        self.data.put()
        if previewed:
            assert self.project.preview() == {}

    def _disturb(self, next: Step) -> None:
        """Before the run itself: a run is killed, and perhaps the file reverted; or somebody changes objects by hand."""
        if next.disturbed == "killed":
            self._kill()
        elif next.disturbed == "reverted":
            self._kill()
            self.project.fleet.write_text(text_of(self.document, "as it was"))
            self.project.up().ok()
            settled(self.project, "dev", overwritten=OVERWRITTEN)
            self.project.fleet.write_text(text_of(next.document, next.said))
        elif next.disturbed:
            by_hand(Api(self.project.kubeconfig("hub")), self.random)

    def _kill(self) -> None:
        crash = Crash(0, self.random.random(), whole=True, checkpoints=self.random.random() < 0.5, edited=True)
        with crashed(self.project, (*UP, "--refresh"), crash, STEPS_OF_A_RUN):
            self.project.pulumi(*CANCEL).ok()

    def _stays(self, ended: Result, words: str) -> None:
        assert ended.code != 0, f"has to be refused: {words}\n{ended.text}"
        assert words in ended.text
        self.project.fleet.write_text(text_of(self.document, "as it was"))

    def _goes_on(self, ended: Result, next: Step) -> None:
        ended.ok()
        if next.same and not next.disturbed:
            assert re.search(r"Resources:\n +\d+ unchanged\n", ended.text), ended.text
        settled(self.project, "dev", overwritten=OVERWRITTEN)
        for cluster, declared in next.document["clusters"].items():
            if declared["environments"] != ["dev"] and cluster in CLUSTERS:
                emptied(self.project, cluster)
        self.document = next.document


@contextmanager
def told(seed: int, history: list[str], project: Project) -> Iterator[None]:
    """A failure that can be looked into, and tried again."""
    try:
        yield
    except Exception as error:
        said = "\n".join(f"{number:4} {each}" for number, each in enumerate(history, 1))
        kept = project.fleet.with_name("failed.yaml")
        kept.write_text(project.fleet.read_text())
        raise AssertionError(
            f"--seed {seed}, step {len(history)}; the fleet is kept in {kept}\n{said}\n{error}"
        ) from error


def test_after_every_step_of_a_random_walk_the_clusters_are_as_planned(
    project: Project, pytestconfig: pytest.Config
) -> None:
    steps, seed = pytestconfig.getoption("--steps"), pytestconfig.getoption("--seed")
    random, history = Random(seed), []
    ledger = Ledger(project, "hub", CLUSTERS)
    ledger.put()
    for cluster in CLUSTERS:
        install(Api(project.kubeconfig(cluster)))
    # What a disturbance draws leaves the edits that follow as they are.
    walk = Walk(project, yaml.safe_load(project.fleet.read_text()), Random(seed), ledger)
    for number in range(1, steps + 1):
        next = step(walk.document, random)
        next = replace(next, disturbed=random.choices([*DISTURBED], DISTURBED.values())[0])
        history.append(f"{next.said} ({next.disturbed})" if next.disturbed else next.said)
        with told(seed, history, project):
            walk.go(next, previewed=number % PREVIEWED == 0)


def test_destroy_leaves_nothing_of_where_the_walk_has_ended(project: Project) -> None:
    document = yaml.safe_load(project.fleet.read_text())
    active = _active(document)
    project.fleet.write_text(text_of(active, "all is active"))
    project.up().ok()
    settled(project, "dev", overwritten=OVERWRITTEN)
    project.offboard().ok()
    for cluster in CLUSTERS:
        emptied(project, cluster)


def _active(value: Data) -> Data:
    """The fleet with no state of anything: what is suspended leaves behind what it installed."""
    return {key: _active(each) if isinstance(each, dict) else each for key, each in value.items() if key != "state"}
