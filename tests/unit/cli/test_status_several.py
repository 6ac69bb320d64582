"""`tenantry status` of several environments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster.client import Client
from tenantry.messages.errors import Refused
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory, hold
from tests.unit.texts import planned, rocky

TEXT = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}").replace(
    "clusters:\n", "  prod: {management: far}\nclusters:\n  far: {environments: [prod]}\n", 1
)
APPS = "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations"
RELEASES = "/apis/helm.toolkit.fluxcd.io/v2/helmreleases"
ASLEEP = Refused("cluster https://far did not answer in time", "start it")


@pytest.fixture
def hubs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Memory]:
    """The management clusters, by environment; nothing of the apps is on that of prod. One that is taken out is asleep."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memories = {"dev": Memory(), "prod": Memory()}
    for environment, memory in memories.items():
        hold(memory, plan := planned(TEXT, environment))
        apps = [each.manifest for each in plan.objects if each.id.kind == "Kustomization" and environment == "dev"]
        status = {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True", "message": "Applied"}]}
        items = [{**app, "metadata": {**app["metadata"], "generation": 1}, "status": status} for app in apps]
        memory.objects |= {APPS: {"metadata": {}, "items": items}, RELEASES: {"metadata": {}, "items": []}}
        (tmp_path / f"Pulumi.{environment}.yaml").write_text(f"config: {{'tenantry:context': {environment}}}\n")

    def connect(_: object, context: str, *__: object) -> Client:
        if context not in memories:
            raise ASLEEP
        return memories[context].client()

    monkeypatch.setattr(connecting, "connect", connect)
    return memories


BOTH = ("status", "dev", "prod")


@pytest.mark.usefixtures("hubs")
def test_each_has_a_section(capsys: Capture) -> None:
    code, out, _ = tenantry(capsys, *BOTH)
    assert code == 1
    lines = out.splitlines()
    assert (lines[0], lines.count("prod"), lines[lines.index("prod") - 1]) == ("dev", 1, "")
    assert "missing" in out.partition("\nprod\n")[2]
    assert "missing  -" not in out.partition("\nprod\n")[0]


@pytest.mark.usefixtures("hubs")
def test_json_says_which_environment_everything_is_of(capsys: Capture) -> None:
    code, out, _ = tenantry(capsys, "status", "-e", "dev", "-e", "prod", "-o", "json")
    found = json.loads(out)
    assert (code, found["unread"]) == (1, [])
    assert [each["environment"] for each in found["environments"]] == ["dev", "prod"]
    assert [(each["environment"], each["cluster"], each["status"]) for each in found["apps"]] == [
        ("dev", "edge", "ready"),
        ("dev", "hub", "ready"),
        ("prod", "far", "missing"),
    ]


def test_what_cannot_be_read_hides_nothing_else(capsys: Capture, hubs: dict[str, Memory]) -> None:
    del hubs["prod"]
    told = f"error: environment 'prod' cannot be read: {ASLEEP}\n"
    code, out, err = tenantry(capsys, *BOTH, "-o", "json")
    found = json.loads(out)
    assert (code, err, len(found["apps"])) == (2, told, 2)
    assert [(each["environment"], each["error"]["message"]) for each in found["unread"]] == [("prod", ASLEEP.message)]
    del hubs["dev"]
    assert tenantry(capsys, *BOTH) == (2, "", f"error: {ASLEEP}\n")


@pytest.mark.usefixtures("hubs")
def test_a_selection_concerns_the_environments_that_have_it(capsys: Capture) -> None:
    _, out, err = tenantry(capsys, *BOTH, "--cluster", "edge", "-o", "json")
    assert (err, [each["environment"] for each in json.loads(out)["environments"]]) == ("", ["dev"])
    code, _, err = tenantry(capsys, *BOTH, "--cluster", "nowhere")
    assert (code, "environment 'dev' has no apps on cluster 'nowhere'" in err) == (2, True)


@table("options", [("--context", "dev"), ("--kubeconfig", "k")])
def test_what_is_for_one_environment_is_refused(capsys: Capture, options: tuple[str, ...]) -> None:
    code, out, err = tenantry(capsys, *BOTH, *options)
    assert (code, out, "one environment" in err) == (2, "", True)
