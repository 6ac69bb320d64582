"""The gate of an environment: which changes wait for the environment before, and what is said of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tenantry.cluster import connect
from tenantry.cluster.drift import compare
from tenantry.cluster.requests import path_of
from tenantry.kube.objects import Manifest
from tenantry.messages.errors import Refused
from tenantry.plan.plan import plan
from tenantry.preflight.after import waiting
from tenantry.rollout.change import Kind, Lines, Reason, change_of
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


def applied(manifest: Manifest, ready: str = "True", since: str = READY) -> Manifest:
    """An object that Flux has applied."""
    condition = {"type": "Ready", "status": ready, "lastTransitionTime": since, "message": "no such chart"}
    status: dict[str, Any] = {"observedGeneration": 1, "conditions": [condition]}
    status |= {"artifact": {"revision": REVISION, "lastUpdateTime": since}, "lastAppliedRevision": REVISION}
    if manifest["kind"] == "HelmRelease":
        status |= {"history": [{"chartVersion": REVISION}], "lastAttemptedRevision": REVISION}
    metadata = {**manifest["metadata"], "generation": 1}
    metadata["managedFields"] = [{"manager": "pulumi-kubernetes", "time": since, "fieldsV1": {"f:spec": {}}}]
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


def asked(memory: Memory, text: str, project: Path = Path("nowhere"), **options: Any) -> dict[str, Reason]:
    read = fleet(text)
    planned = plan(read, "prod")
    with memory.client() as client:
        differences = compare(client, "prod", planned.objects, others=False).differences
        memory.requests.clear()
        return waiting(client, read, change_of(Lines(planned), differences), project, NOW, **options)


WAITS = "waits until 'dev' runs it, ready for 1h: "


def message(reasons: dict[str, Reason]) -> str:
    """Of the one app that waits."""
    [(name, reason)] = reasons.items()
    assert reason.kind is Kind.WAITING
    return f"{name}: {reason.message.removeprefix(WAITS)}"


def test_what_is_in_somebody_elses_namespace_proves_nothing() -> None:
    memory = hub(dev=NEWER)
    assert asked(memory, NEWER) == {}
    dev = memory.objects["/api/v1/namespaces/dev-rocky"]
    dev["metadata"]["labels"] = {**dev["metadata"]["labels"], "toolkit.fluxcd.io/tenant": "movy"}
    assert message(asked(memory, NEWER)) == "rocky/db: namespace 'dev-rocky' there is not as the file says"


def test_an_app_whose_labels_were_taken_off_is_passed_over() -> None:
    memory = hub(dev=NEWER)
    lists = [each["items"] for each in memory.objects.values() if "items" in each]
    for each in [*memory.objects.values(), *(item for items in lists for item in items)]:
        if each.get("kind") == "HelmRelease" and each["metadata"]["namespace"] == "dev-rocky":
            each["metadata"] = {key: value for key, value in each["metadata"].items() if key != "labels"}
    assert message(asked(memory, NEWER)) == "rocky/db: dev: hub: rocky/db on hub is not applied yet"


def test_a_run_without_changes_asks_nothing() -> None:
    memory = hub(ready="False")
    assert asked(memory, TEXT) == {}
    assert memory.requests == []


@table(
    ("text", "reason"),
    [
        (NEWER, "rocky/db: dev: hub: HelmChart dev-rocky/charts-db-a9a11bb0 is not applied yet"),
        (
            PROD_FIRST,
            "rocky/db: dev has helm.version 1.0.0, not helm.version 1.1.0; `tenantry promote dev prod rocky/db` copies what it has",
        ),
        (TEXT.replace("color: red", "color: green"), "rocky/db: dev: hub: rocky/db on hub is not applied yet"),
        (
            TEXT.replace("COLOR: blue", "COLOR: green"),
            "rocky/web: dev: hub: ConfigMap dev-rocky/settings is not applied yet",
        ),
        (
            TEXT.replace("tag: v1", "tag: v2"),
            "rocky/web: dev: hub: GitRepository dev-rocky/manifests is not applied yet",
        ),
        (
            TEXT.replace("  hub: {env", "  hub: {state: paused, env").replace("replicas: 3", "replicas: 4"),
            "rocky/db: it is paused there, or leaves",
        ),
    ],
    ids=["version", "version of prod alone", "values", "config", "ref", "paused"],
)
def test_a_change_waits_until_dev_runs_it(text: str, reason: str) -> None:
    assert message(asked(hub(), text)) == reason


@pytest.mark.parametrize("state", ["removing", "offboarding"])
def test_a_mark_for_removal_asks_nothing_although_dev_has_it_too(state: str) -> None:
    """Otherwise what leaves both environments could never leave this one."""
    assert asked(hub(), TEXT.replace("  rocky:\n", f"  rocky:\n    state: {state}\n")) == {}


def test_a_change_that_dev_runs_goes_on_after_its_soak() -> None:
    assert asked(hub(dev=NEWER), NEWER) == {}
    [reason] = asked(hub(dev=NEWER, since="2026-01-01T11:48:00Z"), NEWER).values()
    text = "waits until 'dev' runs it, ready for 1h: dev soaks"
    assert reason == Reason(Kind.WAITING, text, datetime(2026, 1, 1, 12, 48, tzinfo=UTC))
    failed = message(asked(hub(dev=NEWER, ready="False"), NEWER))
    assert failed == "rocky/db: dev: hub: rocky/db: HelmRepository dev-rocky/charts: no such chart"
    assert asked(hub(dev=NEWER, since="2026-01-01T11:48:00Z"), NEWER.replace(", soak: 1h", "")) == {}


def test_a_value_of_prod_alone_needs_dev_to_be_ready_only() -> None:
    text = TEXT.replace("replicas: 3", "replicas: 4")
    assert asked(hub(), text) == {}
    assert asked(hub(ready="False"), text).keys() == {"rocky/db"}


def test_a_value_that_is_removed_is_a_change() -> None:
    assert asked(hub(ready="False"), TEXT.replace("color: red, ", "")).keys() == {"rocky/db"}


def test_no_secret_of_dev_is_read() -> None:
    text = TEXT.replace("    configs:", "    credentials: {login: {keys: [username]}}\n    configs:").replace(
        "replicas: 1}}", "replicas: 1}, valuesFrom: [{kind: Secret, name: login, valuesKey: username}]}"
    )
    newer = text.replace("version: 1.0.0, values", "version: 1.1.0, values")
    memory = hub(dev=newer, prod=text)
    assert asked(memory, newer) == {}
    paths = [path for _, path, _ in memory.requests]
    assert any("dev-rocky/helmreleases" in path for path in paths)
    assert not any("secrets" in path for path in paths)


def test_an_app_that_dev_does_not_have_is_not_asked_about() -> None:
    assert asked(hub(), TEXT.replace("chart: own, version: 1.0.0", "chart: own, version: 2.0.0")) == {}


def test_what_follows_a_branch_is_asked_for_readiness_alone() -> None:
    text = TEXT.replace("ref: {tag: v1}", "ref: {branch: main}")
    prod = "overrides: [{when: {environments: [prod]}, sources: {manifests: {git: {ref: {branch: live}}}}}]\n    apps:"
    other = text.replace("apps:", prod, 1)
    assert asked(hub(text, text), other) == {}
    assert asked(hub(text, text, ready="False"), other).keys() == {"rocky/web"}


def test_a_name_alone_asks_for_no_soak() -> None:
    named = NEWER.replace("{environment: dev, soak: 1h}", "dev")
    assert asked(hub(), named) == asked(hub(), named.replace("after: dev", "after: {environment: dev}"))
    assert asked(hub(), named).keys() == {"rocky/db"}


def test_named_lines_are_not_asked_about() -> None:
    memory = hub()
    assert asked(memory, NEWER, ignored={"rocky/db"}) == {}
    assert not any("dev-rocky" in path for _, path, _ in memory.requests)
    assert asked(memory, NEWER, ignored={"rocky/web"}).keys() == {"rocky/db"}


WAVES = TEXT.replace(
    "dev: {management: hub,", "dev: {management: hub, waves: [{names: [a, b]}, rest], tolerate: {failed: 1},"
).replace(
    "  hub: {environments: [dev, prod]}",
    "  hub: {environments: [dev, prod]}\n"
    "  a: {environments: [dev], kubeconfig: {secret: {name: a, namespace: clusters, key: value}}}\n"
    "  b: {environments: [dev], kubeconfig: {secret: {name: b, namespace: clusters, key: value}}}\n"
    "platform: {chart: {helm: {url: 'https://charts.example.com', version: 0.1.0}}}",
)


@table(
    ("failing", "waits"),
    [((), set()), (("a",), set()), (("a", "b"), {"rocky/db"}), (("hub",), {"rocky/db"})],
    ids=["all are ready", "what its wave tolerates", "more than that", "in a wave of one nothing else is ready"],
)
def test_as_many_clusters_fail_as_a_wave_of_dev_tolerates(failing: tuple[str, ...], waits: set[str]) -> None:
    text = WAVES.replace("replicas: 3", "replicas: 4")
    memory = hub(WAVES, WAVES)
    for each in memory.objects.values():
        labels = each.get("metadata", {}).get("labels") or {}
        if labels.get("tenantry/cluster") in failing and labels.get("toolkit.fluxcd.io/tenant") and "status" in each:
            of_dev = labels.get("tenantry/environment") == "dev"
            conditions = [
                {"type": "Ready", "status": "False", "reason": "Failed", "message": "bad", "observedGeneration": 1}
            ]
            conditions.append({**conditions[0], "type": "Stalled", "status": "True"})
            each["status"] = each["status"] | ({"conditions": conditions} if of_dev else {})
    assert asked(memory, text).keys() == waits


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
    with pytest.raises(Refused) as refused:
        asked(hub(dev=TEXT), APART, tmp_path)
    head = "it is not known whether 'dev' runs the change of rocky/db: "
    assert (refused.value.message.startswith(head), refused.value.message.endswith(reason)) == (True, True)
    assert refused.value.fix.startswith("pulumi config set tenantry:kubeconfig FILE --stack dev, ")


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
    assert asked(hub(), APART, tmp_path) == {}
    assert [each[:2] for each in opened] == [(tmp_path / "dev.yaml", "admin")]
    marker["data"] = {"cluster": "hub"}
    with pytest.raises(
        Refused, match="is marked as 'hub', but the management cluster of environment 'dev' is 'hub-dev'"
    ):
        asked(hub(), APART, tmp_path)
