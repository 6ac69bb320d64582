"""The record of an environment, for whoever cannot read its objects."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect
from tenantry.guard.claims import Claim
from tenantry.messages.errors import UNREACHABLE, Refused
from tenantry.preflight import after
from tenantry.preflight.after import read_record
from tenantry.stacks.record import Entry, Record, State, record_object
from tests.unit.memory import Memory
from tests.unit.texts import fleet, rocky

FLEET = fleet(rocky("web: {kustomize: {source: manifests}}"))
ENTRY = Entry("0123456789abcdef", "2026-11-22T23:30:00Z", State.READY, "branch main")
RECORD = Record("dev", {"rocky/web": ENTRY})
MAPS = "/api/v1/namespaces/tenantry-system/configmaps"
NONE = "there is no record of 'dev': a successful `tenantry up --environment dev` leaves one"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: shop\nruntime: python\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: hub}\n")
    return tmp_path


def hub(*records: Record, marker: str = "hub") -> Memory:
    memory = Memory()
    memory.objects[f"{MAPS}/tenantry"] = {"metadata": {}, "data": {"cluster": marker}}
    items = [dict(record_object("tenantry-system", Claim("dev", "shop/dev"), each).manifest) for each in records]
    memory.objects[MAPS] = {"metadata": {}, "items": items}
    return memory


def reached(monkeypatch: pytest.MonkeyPatch, cluster: Memory | None, outputs: Mapping[str, Any] | None = None) -> None:
    """Have a cluster, or none that answers, and outputs by stack."""

    def answer(*_: object) -> Any:
        if cluster is None:
            raise Refused("no answer", code=UNREACHABLE)
        return cluster.client()

    def output(_: Path, stack: str) -> dict[str, Any]:
        if outputs is None:
            raise Refused("`pulumi stack output` failed: no passphrase", "set it")
        return {"record": outputs[stack]} if stack in outputs else {}

    monkeypatch.setattr(connect, "connect", answer)
    monkeypatch.setattr(after, "outputs_of", output)


def test_the_cluster_s_own_record_comes_first(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = hub(RECORD)
    reached(monkeypatch, cluster, {"dev": {"format": "9"}})
    assert read_record(project, FLEET, "dev") == RECORD
    assert cluster.requests[-1][2]["labelSelector"] == "tenantry/record=dev"


@pytest.mark.parametrize("cluster", [None, hub(marker="other")], ids=["silent", "another cluster"])
def test_without_the_cluster_the_outputs_tell(
    project: Path, monkeypatch: pytest.MonkeyPatch, cluster: Memory | None
) -> None:
    reached(monkeypatch, cluster, {"dev": RECORD.data})
    assert read_record(project, FLEET, "dev") == RECORD


def test_a_cluster_whose_config_maps_may_not_be_read_is_as_good_as_none(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = hub(RECORD)
    cluster.refuse("GET", MAPS, 403, "no")
    reached(monkeypatch, cluster, {"dev": RECORD.data})
    assert read_record(project, FLEET, "dev") == RECORD


def test_records_of_several_stacks_prove_nothing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "Pulumi.old.yaml").write_text("config: {tenantry:environment: dev}\n")
    reached(monkeypatch, None, {"dev": RECORD.data, "old": RECORD.data})
    assert read_record(project, FLEET, "dev") == (
        "several stacks have left a record of 'dev', and only one of them can run it"
    )


@pytest.mark.parametrize(
    ("cluster", "outputs", "why"),
    [
        (hub(), {"dev": RECORD.data}, NONE),
        (None, {}, NONE),
        (
            None,
            {"dev": {"format": "2"}},
            "the record of 'dev' was written by another version of Tenantry, or is damaged",
        ),
        (None, None, "`pulumi stack output` failed: no passphrase"),
    ],
    ids=["none on the cluster", "none in the outputs", "another format", "no outputs"],
)
def test_it_says_why_there_is_none(
    project: Path, monkeypatch: pytest.MonkeyPatch, cluster: Memory | None, outputs: Mapping[str, Any] | None, why: str
) -> None:
    reached(monkeypatch, cluster, outputs)
    assert read_record(project, FLEET, "dev") == why


def test_a_project_that_does_not_run_the_environment_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reached(monkeypatch, None, {})
    assert read_record(tmp_path, FLEET, "dev") == "no stack of this project runs 'dev'"
