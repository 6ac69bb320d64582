"""Whatever the fleet yields, a real API server takes: checked by dry runs in which it refuses every field it does not know."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tenantry.kube.objects import SecretValues
from tenantry.kube.secret_values import data_of
from tenantry.load import fleet_of, load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet
from tenantry.plan.plan import Plan
from tenantry.source.parse import parse
from tests.e2e.clusters import KINDS
from tests.e2e.project import REPOSITORY, Project
from tests.strategies import Data, fleets, text_of

pytestmark = pytest.mark.e2e

FLEETS = 500
FILES = sorted(
    [
        REPOSITORY / "tenants.yaml",
        *(REPOSITORY / "examples").glob("*/tenants.yaml"),
        *(file for file in (REPOSITORY / "tests/golden").glob("*/tenants.yaml")),
    ]
)


class Judge:
    """An API server that is asked about objects and keeps none of them."""

    def __init__(self, kubeconfig: Path, scratch: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        files = {}
        for name, data in (("certificate", user["client-certificate-data"]), ("key", user["client-key-data"])):
            files[name] = scratch / name
            files[name].write_bytes(base64.b64decode(data))
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        context = ssl.create_default_context(cadata=authority)
        context.load_cert_chain(files["certificate"], files["key"])
        self.http = httpx2.Client(base_url=cluster["server"], verify=context, timeout=60)
        self.asked = 0
        self.askers = ThreadPoolExecutor(4)

    def refusal(self, manifest: Mapping[str, Any]) -> str | None:
        """What the server has against an object, or None."""
        answer = self.http.patch(
            f"{_path(manifest)}?dryRun=All&fieldValidation=Strict&fieldManager=conformance&force=true",
            content=json.dumps({**manifest, "metadata": {**manifest["metadata"], **_somewhere(manifest)}}),
            headers={"Content-Type": "application/apply-patch+yaml"},
        )
        if answer.status_code < 400:
            return None
        return f"{manifest['kind']} {manifest['metadata']['name']}: {answer.json().get('message', answer.text)}"

    def refusals(self, plan: Plan) -> list[str]:
        manifests = list(_manifests(plan))
        self.asked += len(manifests)
        return [why for why in self.askers.map(self.refusal, manifests) if why]


def _somewhere(manifest: Mapping[str, Any]) -> dict[str, str]:
    """A namespace that is there: dry runs make none."""
    return {"namespace": "default"} if "namespace" in manifest["metadata"] else {}


def _path(manifest: Mapping[str, Any]) -> str:
    group, _, version = manifest["apiVersion"].rpartition("/")
    base = f"/apis/{group}/{version}" if group else f"/api/{version}"
    plural = next((each[3] for each in KINDS if each[2] == manifest["kind"]), "namespaces")
    place = "/namespaces/default" if "namespace" in manifest["metadata"] else ""
    return f"{base}{place}/{plural}/{manifest['metadata']['name']}"


def _manifests(plan: Plan) -> Iterator[Mapping[str, Any]]:
    """All objects, those that a remote's baselines hold included."""
    for planned in plan.objects:
        yield planned.manifest if planned.secret is None else {**planned.manifest, "data": _data(planned.secret)}
        yield from planned.manifest.get("spec", {}).get("values", {}).get("objects", ())


def _data(secret: SecretValues) -> dict[str, str]:
    return data_of(secret, dict.fromkeys(secret.keys, "value"))


@pytest.fixture(scope="module")
def judge(sandbox: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    made = Judge(sandbox.kubeconfig("hub-dev"), tmp_path_factory.mktemp("judge"))
    with made.http, made.askers:
        yield made


def test_the_judge_refuses_what_it_does_not_know(judge: Judge) -> None:
    metadata = {"name": "bad", "namespace": "default"}
    spec = {"interval": "5m", "prune": True, "sourceRef": {"kind": "GitRepository", "name": "a"}, "purge": True}
    refusal = judge.refusal(
        {"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": metadata, "spec": spec}
    )
    assert refusal is not None
    assert "spec.purge" in refusal


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.parent.relative_to(REPOSITORY)))
def test_every_object_of_every_example_is_taken(judge: Judge, file: Path) -> None:
    plans = plan_all(load_fleet(file))
    assert [each for plan in plans.values() for each in judge.refusals(plan)] == []


def test_every_object_of_drawn_fleets_is_taken(judge: Judge, capsys: pytest.CaptureFixture[str]) -> None:
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
    with capsys.disabled():
        print(
            f"\n{len(taken)} drawn fleets with {sum(taken)} planned objects: 0 refused, {judge.asked} requests in all"
        )
    assert len(taken) >= FLEETS * 9 // 10
