"""Commands that read a file alone, of an environment on several management clusters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.plan.test_hubs import BOTH


@pytest.fixture(autouse=True)
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tenants.yaml").write_text(BOTH)
    monkeypatch.chdir(tmp_path)


def test_render_writes_a_directory_for_each_hub_and_one_alone(capsys: Capture) -> None:
    assert tenantry(capsys, "render", "-d", "out")[0] == 0
    assert sorted(each.name for each in Path("out/prod").iterdir()) == ["hub-eu", "hub-us"]
    written = Path("out/prod/hub-us/rocky/kustomization-web.yaml")
    assert yaml.safe_load(written.read_text())["spec"]["path"] == "./web/hub-us/hub-us"
    written.unlink()
    before = Path("out/prod/hub-eu/rocky/kustomization-web.yaml").read_text()
    assert tenantry(capsys, "render", "-e", "prod", "--hub", "hub-us", "-d", "out")[0] == 0
    assert written.exists()
    assert Path("out/prod/hub-eu/rocky/kustomization-web.yaml").read_text() == before


def test_render_says_where_each_object_is(capsys: Capture) -> None:
    _, out, err = tenantry(capsys, "render", "-o", "names")
    assert {line.rpartition(" on ")[2] for line in out.splitlines()} == {"hub-eu", "hub-us"}
    assert "these objects are for several management clusters: hub-eu, hub-us; --hub NAME prints those of one" in err
    _, out, _ = tenantry(capsys, "render", "-o", "json")
    found = json.loads(out)
    assert len(found["hubs"]) == len(found["objects"])
    assert {*found["hubs"]} == {"hub-eu", "hub-us"}
    _, out, err = tenantry(capsys, "render", "-o", "names", "--hub", "hub-us")
    assert " on " not in out
    assert "several" not in err


def test_render_refuses_a_cluster_that_is_no_hub(capsys: Capture) -> None:
    code, _, err = tenantry(capsys, "render", "--hub", "hub-use")
    assert code == 2
    assert "'hub-use' is no management cluster of environment prod" in err
    assert "(closest: hub-us)" in err


def test_list_tells_the_hub_of_each_cluster(capsys: Capture) -> None:
    _, out, _ = tenantry(capsys, "list", "clusters", "-o", "json")
    found = {each["name"]: each["hubs"] for each in json.loads(out)["items"]}
    assert found == {
        "hub-eu": ["hub-eu"],
        "edge-1": ["hub-eu"],
        "edge-2": ["hub-eu"],
        "hub-us": ["hub-us"],
        "edge-3": ["hub-us"],
    }
    _, out, _ = tenantry(capsys, "list", "placements")
    assert out.splitlines()[0].split() == ["ENVIRONMENT", "TENANT", "CLUSTER", "HUB", "NAMESPACE", "APPS"]


def test_explain_names_the_line_that_says_which_hub(capsys: Capture) -> None:
    _, out, _ = tenantry(capsys, "explain", "platform", "-e", "prod", "--cluster", "edge-3")
    (line,) = [each for each in out.splitlines() if "management:" in each]
    assert line.split() == ["management:", "hub-us", "#", "tenants.yaml:11:37", "(cluster", "edge-3)"]


def test_a_cluster_is_added_to_a_hub_and_a_hub_is_not_removed(capsys: Capture) -> None:
    assert tenantry(capsys, "add", "cluster", "oslo", "--group", "edge", "--management", "hub-eu")[0] == 0
    found = yaml.safe_load(Path("tenants.yaml").read_text())
    assert found["clusters"]["oslo"] == {"group": "edge", "management": "hub-eu"}
    code, _, err = tenantry(capsys, "remove", "cluster", "hub-us")
    assert code == 2
    assert "management" in err


def test_a_cluster_takes_several_groups_by_command(capsys: Capture) -> None:
    europe = "clusterGroups:\n  europe: {management: hub-eu, labels: {region: eu}}\n"
    Path("tenants.yaml").write_text(Path("tenants.yaml").read_text().replace("clusterGroups:\n", europe))
    assert tenantry(capsys, "add", "cluster", "oslo", "--group", "edge", "--group", "europe")[0] == 0
    found = yaml.safe_load(Path("tenants.yaml").read_text())
    assert found["clusters"]["oslo"] == {"group": ["edge", "europe"]}
    _, out, _ = tenantry(capsys, "list", "clusters", "-o", "json")
    oslo = next(each for each in json.loads(out)["items"] if each["name"] == "oslo")
    assert (oslo["groups"], oslo["hubs"], oslo["labels"]) == (["edge", "europe"], ["hub-eu"], {"region": "eu"})
    _, out, _ = tenantry(capsys, "set", "clusterGroups.europe.labels.region", "eu-1")
    assert tenantry(capsys, "set", "clusterGroups.europe.labels.tier", "far")[0] == 0
    _, out, _ = tenantry(capsys, "set", "clusterGroups.edge.labels.region", "late")
    assert "it is overridden by:\n  clusterGroups.europe.labels.region" in out
