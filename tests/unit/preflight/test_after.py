"""The gate of an environment: which changes wait for the environment before, and what is said of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect
from tenantry.cluster.requests import path_of
from tenantry.fleet.fleet import Fleet
from tenantry.kube.objects import Manifest
from tenantry.plan.plan import plan
from tenantry.preflight.after import Answer, Run, ask
from tenantry.rollout.reasons import Kind, Reason
from tests.table import table
from tests.unit.memory import Memory, list_of
from tests.unit.texts import fleet

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
READY = "2026-01-01T10:00:00Z"
REVISION = "1.0.0"
TEXT = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub, namespace: "dev-{tenant}"}
  prod: {management: hub, namespace: "prod-{tenant}", after: {environment: dev, soak: 1h}}
clusters:
  hub: {environments: [dev, prod]}
tenants:
  rocky:
    clusters: {all: true}
    configs: {settings: {data: {COLOR: blue}}}
    sources:
      manifests: {git: {url: https://git.example.com/rocky, ref: {tag: v1}}}
      charts: {helm: {url: https://charts.example.com}}
    apps:
      web:
        kustomize:
          source: manifests
          path: ./web
          postBuild: {substituteFrom: [{kind: ConfigMap, name: settings}]}
      db:
        helm: {source: charts, chart: db, version: 1.0.0, values: {color: red, replicas: 1}}
        overrides: [{when: {environments: [prod]}, helm: {values: {replicas: 3}}}]
      own: {environments: [prod], helm: {source: charts, chart: own, version: 1.0.0}}
"""
NEWER = TEXT.replace("version: 1.0.0, values", "version: 1.1.0, values")
PROD_FIRST = TEXT.replace("[prod]}, helm: {values", "[prod]}, helm: {version: 1.1.0, values")
WAYS = (
    "run it there first and wait: tenantry up --environment dev\n"
    "       in an emergency: tenantry up prod --ignore after rocky/db"
)
DIFFERENT = WAYS.replace("run it there first", "give dev the same version, run it there").replace(
    "\n", "\n       or take what dev has: tenantry promote dev prod rocky/db\n", 1
)


def applied(manifest: Manifest, ready: str = "True", since: str = READY) -> Manifest:
    """An object that Flux has applied."""
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": since, "message": "no\x1b[0m such chart"}
    status: dict[str, Any] = {"observedGeneration": 1, "conditions": [condition]}
    status |= {"artifact": {"revision": REVISION, "lastUpdateTime": since}, "lastAppliedRevision": REVISION}
    if manifest["kind"] == "HelmRelease":
        status |= {"history": [{"chartVersion": REVISION}], "lastAttemptedRevision": REVISION}
    metadata = {**manifest["metadata"], "generation": 1, "managedFields": [{"time": since}]}
    return {**manifest, "metadata": metadata, "status": status}


def hub(dev: str = TEXT, prod: str = TEXT, **changes: str) -> Memory:
    """A management cluster with what two files say. Args: changes: of the status in dev."""
    memory = Memory()
    for environment, text in (("dev", dev), ("prod", prod)):
        for each in plan(fleet(text), environment).objects:
            live = applied(each.manifest, **(changes if environment == "dev" else {}))
            memory.objects[path_of(each.id)] = live
            memory.objects.setdefault(list_of(each.id), {"metadata": {}, "items": []})["items"].append(live)
    return memory


def asked(memory: Memory, text: str, project: Path = Path("nowhere"), **options: Any) -> Answer:
    read: Fleet = fleet(text)
    planned = plan(read, "prod")
    with memory.client() as client:
        there = [each for path, each in memory.objects.items() if "/namespaces/" in path]
        return ask(client, read, Run(plan=planned, project=project, now=NOW, **options), there)


def test_what_is_in_somebody_elses_namespace_proves_nothing() -> None:
    memory = hub(dev=NEWER)
    assert asked(memory, NEWER).problem is None
    dev = memory.objects["/api/v1/namespaces/dev-rocky"]
    dev["metadata"]["labels"] = {**dev["metadata"]["labels"], "toolkit.fluxcd.io/tenant": "movy"}
    assert (
        "HelmRelease dev-rocky/db is in a namespace that is not the place of such an object"
        in told(asked(memory, NEWER))[1]
    )


def test_an_app_whose_labels_were_taken_off_is_passed_over() -> None:
    memory = hub(dev=NEWER)
    lists = [each["items"] for each in memory.objects.values() if "items" in each]
    for each in [*memory.objects.values(), *(item for items in lists for item in items)]:
        if each.get("kind") == "HelmRelease" and each["metadata"]["namespace"] == "dev-rocky":
            each["metadata"] = {key: value for key, value in each["metadata"].items() if key != "labels"}
    severity, message = told(asked(memory, NEWER))
    assert (severity, "rocky/db" in message) == ("warning", True)


def told(answer: Answer) -> tuple[str, str]:
    assert answer.problem
    assert answer.problem.code == "not-proved"
    return str(answer.problem.severity), answer.problem.message


def test_a_run_without_changes_asks_nothing() -> None:
    memory = hub(ready="False")
    assert asked(memory, TEXT) == Answer()
    assert not any("dev-rocky" in path for _, path, _ in memory.requests)


def test_intervals_and_what_the_api_server_adds_are_no_changes() -> None:
    memory = hub(ready="False")
    for each in memory.objects.values():
        if each.get("kind") == "GitRepository":
            each["spec"] |= {"timeout": "60s", "interval": "7m"}
        elif each.get("kind") == "HelmChart":
            each["spec"] |= {"reconcileStrategy": "ChartVersion"}
        elif each.get("kind") == "Kustomization":
            each["spec"] |= {"force": False, "suspend": True}
    assert asked(memory, TEXT) == Answer()


@table(
    ("text", "reason"),
    [
        (NEWER, "rocky/db: it still runs 1.0.0 (on hub)"),
        (PROD_FIRST, "rocky/db: dev has helm.version 1.0.0, not 1.1.0"),
        (
            TEXT.replace("color: red", "color: green"),
            "rocky/db: HelmRelease dev-rocky/db has another values than the file says (on hub)",
        ),
        (
            TEXT.replace("COLOR: blue", "COLOR: green"),
            "rocky/web: ConfigMap dev-rocky/settings has other data than the file says (on hub)",
        ),
        (
            TEXT.replace("tag: v1", "tag: v2"),
            "rocky/web: GitRepository dev-rocky/manifests has ref tag v1, not tag v2 (on hub)",
        ),
        (
            TEXT.replace("  hub: {env", "  hub: {state: paused, env").replace("replicas: 3", "replicas: 4"),
            "rocky/db: it is paused in dev, or leaves",
        ),
    ],
    ids=["version", "version of prod alone", "values", "config", "ref", "paused"],
)
def test_a_change_waits_until_dev_runs_it(text: str, reason: str) -> None:
    answer = asked(hub(), text)
    severity, message = told(answer)
    head = "1 app of 'prod' would change before 'dev' runs the change and has been ready for 1h"
    assert (severity, message) == ("warning", f"{head}\n    {reason}")
    assert answer.problem
    ways = DIFFERENT if "dev has" in reason else WAYS
    name = reason.partition(":")[0]
    assert answer.problem.fix == ways.replace("rocky/db", name)
    assert {each: found.kind for each, found in answer.reasons.items()} == {name: Kind.WAITING}


def test_a_change_that_dev_runs_goes_on_after_its_soak() -> None:
    assert asked(hub(dev=NEWER), NEWER) == Answer()
    young = told(asked(hub(dev=NEWER, since="2026-01-01T11:48:00Z"), NEWER))
    assert young[1].endswith("\n    rocky/db: ready for 12m of 1h (on hub)")
    [reason] = asked(hub(dev=NEWER, since="2026-01-01T11:48:00Z"), NEWER).reasons.values()
    message = "waits until 'dev' runs it, ready for 1h: ready for 12m of 1h (on hub)"
    assert reason == Reason(Kind.WAITING, message, datetime(2026, 1, 1, 12, 48, tzinfo=UTC))
    failed = told(asked(hub(dev=NEWER, ready="False"), NEWER))
    assert "rocky/db: HelmRepository dev-rocky/charts: no\\x1b[0m such chart (on hub)" in failed[1]
    assert asked(hub(dev=NEWER, since="2026-01-01T11:48:00Z"), NEWER.replace(", soak: 1h", "")) == Answer()


def test_a_value_of_prod_alone_needs_dev_to_be_ready_only() -> None:
    text = TEXT.replace("replicas: 3", "replicas: 4")
    assert asked(hub(), text) == Answer()
    assert told(asked(hub(ready="False"), text))[0] == "warning"


def test_a_value_that_is_removed_is_a_change() -> None:
    assert told(asked(hub(ready="False"), TEXT.replace("color: red, ", "")))[0] == "warning"


def test_an_app_that_dev_does_not_have_is_not_asked_about() -> None:
    text = TEXT.replace("chart: own, version: 1.0.0", "chart: own, version: 2.0.0")
    note = "1 changed app is not in 'dev' and may change: rocky/own"
    assert asked(hub(), text) == Answer(None, note)
    answer = asked(hub(), text.replace("version: 1.0.0, values", "version: 1.1.0, values"))
    assert (answer.note, told(answer)[1].endswith(f"\n    {note}")) == ("", True)


def test_what_follows_a_branch_is_asked_for_readiness_alone() -> None:
    text = TEXT.replace("ref: {tag: v1}", "ref: {branch: main}")
    other = text.replace("own: {env", "extra: {kustomize: {source: manifests}}\n      own: {env").replace(
        "path: ./web", "path: ./other"
    )
    assert asked(hub(text, text), other.replace("path: ./other", "path: ./web")).reasons.keys() <= {"rocky/extra"}
    assert "rocky/web" in asked(hub(text, text, ready="False"), other).reasons


def test_a_name_alone_asks_for_no_soak() -> None:
    named = NEWER.replace("{environment: dev, soak: 1h}", "dev")
    assert asked(hub(), named) == asked(hub(), named.replace("after: dev", "after: {environment: dev}"))
    assert asked(hub(), named).reasons.keys() == {"rocky/db"}


def test_named_lines_are_not_asked_about() -> None:
    memory = hub()
    assert asked(memory, NEWER, ignored={"rocky/db"}) == Answer()
    assert not any("dev-rocky" in path for _, path, _ in memory.requests)
    assert asked(memory, NEWER, ignored={"rocky/web"}).reasons.keys() == {"rocky/db"}


APART = NEWER.replace("dev: {management: hub,", "dev: {management: hub-dev,").replace(
    "  hub: {environments: [dev, prod]}", "  hub-dev: {environments: [dev]}\n  hub: {environments: [prod]}"
)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("{}", "environment 'dev' names no kubeconfig in the settings of its stack"),
        ("{tenantry:kubeconfig: nothing.yaml}", "nothing.yaml cannot be read: No such file or directory"),
    ],
)
def test_without_an_answer_a_change_is_refused(settings: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    (tmp_path / "Pulumi.dev.yaml").write_text(f"config: {settings}\n")
    answer = asked(hub(dev=TEXT), APART, tmp_path)
    severity, message = told(answer)
    first, second = message.splitlines()
    assert (severity, first, second.endswith(reason)) == (
        "error",
        "it is not known whether 'dev' runs the change of 1 app of 'prod' (rocky/db)",
        True,
    )
    assert answer.problem
    assert answer.problem.fix.startswith("pulumi config set tenantry:kubeconfig FILE --stack dev, ")


def test_another_management_cluster_is_found_by_the_settings_of_its_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: fleet\n")
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: dev.yaml, tenantry:context: admin}\n")
    other, opened = hub(dev=APART), list[Any]()
    marker = other.objects["/api/v1/namespaces/tenantry-system/configmaps/tenantry"] = {"data": {"cluster": "hub-dev"}}

    def connected(*given: Any) -> Any:
        opened.append(given)
        return other.client()

    monkeypatch.setattr(connect, "connect", connected)
    assert asked(hub(), APART, tmp_path) == Answer()
    assert [each[:2] for each in opened] == [(tmp_path / "dev.yaml", "admin")]
    marker["data"] = {"cluster": "hub"}
    assert (
        "is marked as 'hub', but the management cluster of environment 'dev' is 'hub-dev'"
        in (told(asked(hub(), APART, tmp_path))[1])
    )
