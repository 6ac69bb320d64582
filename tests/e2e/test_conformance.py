"""Whatever the fleet yields, a real API server takes: checked by dry runs in which it refuses every field it does not know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from docgen.schemas import kubernetes
from docgen.schemas.kubernetes import KINDS
from tenantry.flux.manifests import manifest_problems
from tenantry.kube import acceptance
from tenantry.load import fleet_of, load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.source.parse import parse
from tests.e2e.judge import Judge
from tests.e2e.project import REPOSITORY, Project
from tests.strategies import Data, fleets, text_of

pytestmark = pytest.mark.e2e

FLEETS = int(os.environ.get("FLEETS", 5_000)) // 10
"""A tenth of what tests/hostile draws, because each of their objects is asked about over HTTP."""
FILES = sorted(
    [
        REPOSITORY / "tenants.yaml",
        *(REPOSITORY / "examples").glob("*/tenants.yaml"),
        *(file for file in (REPOSITORY / "tests/golden").glob("*/tenants.yaml")),
    ]
)
SCHEMAS = REPOSITORY / "tenantry/flux/kubernetes.json"
MANIFESTS = yaml.safe_load((REPOSITORY / "tests/e2e/manifests.yaml").read_bytes())


@pytest.fixture(scope="module")
def judge(sandbox: Project) -> Iterator[Judge]:
    with Judge(sandbox.kubeconfig("hub-dev")) as made:
        yield made


def test_the_judge_refuses_what_it_does_not_know(judge: Judge) -> None:
    metadata = {"name": "bad", "namespace": "default"}
    spec = {"interval": "5m", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "a"}, "purge": True}
    refusal = judge.refusal(
        {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata, "spec": spec}
    )
    assert refusal is not None
    assert "spec.purge" in refusal


def test_the_schemas_of_kubernetes_are_those_of_the_server(judge: Judge, *, update_golden: bool) -> None:
    text = kubernetes.text(judge.document)
    if update_golden:
        SCHEMAS.write_text(text)
    assert SCHEMAS.read_text() == text, "stale: run this test with --update-golden"


@pytest.mark.parametrize("verdict", MANIFESTS)
def test_an_object_is_refused_if_the_server_refuses_it(judge: Judge, verdict: str) -> None:
    for part in MANIFESTS[verdict]:
        api, place = KINDS[part["kind"]], {} if part["kind"].startswith("Cluster") else {"namespace": "default"}
        manifest = {"apiVersion": api, "metadata": {"name": "a", **place}, **part}
        problems, refusal = list(manifest_problems(manifest, ())), judge.refusal(manifest)
        assert bool(problems) == (refusal is not None) == (verdict == "refused"), (manifest, problems, refusal)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.parent.relative_to(REPOSITORY)))
def test_every_object_of_every_example_is_taken(judge: Judge, file: Path) -> None:
    plans = plan_all(load_fleet(file))
    assert [each for plan in plans.values() for each in judge.refusals(plan)] == []


def test_every_object_of_drawn_fleets_is_taken(judge: Judge, record_property: Callable[[str, object], None]) -> None:
    taken: list[int] = []

    @settings(
        max_examples=FLEETS,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.shared(fleets()))
    def check(fleet: Data) -> None:
        try:
            plans = plan_all(fleet_of(parse(text_of(fleet), "tenants.yaml")))
        except InvalidFleet:
            return
        assert [each for plan in plans.values() for each in judge.refusals(plan)] == []
        taken.append(sum(len(plan.objects) for plan in plans.values()))

    check()
    told = f"{len(taken)} drawn fleets with {sum(taken)} planned objects: 0 refused; {judge}"
    record_property("told", told)
    assert len(taken) >= FLEETS * 9 // 10


# What `validate` lets through at its bounds is judged by the server: a bound that is too high would stop a run of everybody.
_AT_BOUNDS: dict[str, Data] = {
    "a full ConfigMap": {
        "configs": {"c": {"data": {"A": "x" * acceptance.MOST_DATA}}},
        "apps": {
            "web": {"kustomize": {"source": "m", "postBuild": {"substituteFrom": [{"kind": "ConfigMap", "name": "c"}]}}}
        },
    },
    "full annotations": {
        "annotations": {"a.example.com/x": "x" * (acceptance.MOST_ANNOTATIONS - 300)},
        "apps": {"web": {"kustomize": {"source": "m"}}},
    },
    "many keys": {
        "apps": {
            "web": {
                "helm": {"source": "c", "chart": "c", "version": "1.x", "values": {f"k{n}": n for n in range(10_000)}}
            }
        }
    },
    "the largest quantities": {
        "quota": {
            "requests.cpu": "1M",
            "requests.memory": "1e99",
            "pods": "9" * 15,
            "count/jobs.batch": "1k",
            "requests.hugepages-2Mi": "1Gi",
        },
        "limits": {"min": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}, "default": {"cpu": "1"}, "max": {"cpu": "1"}},
        "apps": {"web": {"kustomize": {"source": "m"}}},
    },
}


@pytest.mark.parametrize("case", _AT_BOUNDS)
def test_what_is_valid_at_its_bounds_is_taken(judge: Judge, case: str) -> None:
    tenant = {
        "clusters": {"all": True},
        "sources": {
            "m": {"git": {"url": "https://git.example.com/rocky/m", "ref": {"branch": "main"}}},
            "c": {"helm": {"url": "https://charts.example.com"}},
        },
        **_AT_BOUNDS[case],
    }
    fleet: Data = {
        "apiVersion": "tenantry/v1",
        "environments": {"dev": {"management": "hub"}},
        "clusters": {"hub": {"environments": ["dev"]}},
        "tenants": {"rocky": tenant},
    }
    plans = plan_all(fleet_of(parse(text_of(fleet), "tenants.yaml")))
    assert [each for plan in plans.values() for each in judge.refusals(plan)] == []
