"""Alerts of the fleet, posted by the real notification-controller to a server of ours, and calls of webhooks that it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project
from tests.e2e.receiver import Post, Receiver, receiving
from tests.e2e.test_fleet import reconcile
from tests.e2e.webhook import signed_push

pytestmark = pytest.mark.e2e

ALERTS = """\
    credentials: {hook: {keys: [address]}, git: {keys: [token]}, calls: {keys: [token]}}
    receivers: {push: {type: github, events: [push], sources: [manifests], credentials: calls}}
    alerts:
      chat: {provider: {type: generic}, credentials: hook, eventSeverity: error}
      commits: {provider: {type: gitlab, address: "URL/rocky/manifests"}, credentials: git, apps: [web]}
"""
PLATFORM = '  alerts: {ops: {provider: {type: generic, address: "URL/ops"}}}\n'
TINA = """\
  tina:
    clusters: {names: [edge-1]}
    sources: {manifests: {git: {url: "{git}/rocky/manifests.git", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: manifests, path: ./nowhere}}}
"""
KUSTOMIZATION = "web/dev/kustomization.yaml"
TOKEN = "glpat-of-a-test"
CALLS = "token-of-a-webhook"
POLLED = '      manifests: {git: {url: "{git}/rocky/manifests.git", ref: {branch: main}}}\n'
RECEIVERS = {"push": "rocky", "edge-1-rocky-push": "kamaji-edge"}
"""Each receiver with its namespace."""


def source_in(hub: Cluster, namespace: str) -> str:
    """The source of rocky's apps in a namespace."""
    return "manifests" if namespace == "rocky" else hub.shared("GitRepository", namespace, "rocky.manifests")


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="module")
def alerting(fleet: Project, hub: Cluster, edge: Cluster, receiver: Receiver) -> Iterator[Project]:
    """The project with alerts of a tenant and of the platform, and a second tenant whose app cannot succeed."""
    files = [fleet.fleet, fleet.root / "Pulumi.dev.yaml"]
    texts = [file.read_text() for file in files]
    fleet.edit("platform:\n", f"platform:\n{PLATFORM.replace('URL', receiver.url)}")
    fleet.edit("  rocky:\n", f"{TINA}  rocky:\n{ALERTS.replace('URL', receiver.url)}")
    fleet.edit(POLLED, POLLED.replace("}}}", "}, interval: 1h}}"))
    values = {"hook.address": f"{receiver.url}/rocky", "git.token": TOKEN, "calls.token": CALLS}
    fleet.set_secrets("dev", {f"credentials.rocky.{key}": value for key, value in values.items()})
    up(fleet)
    yield fleet
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    up(fleet)
    assert not {
        each for each in hub.fleet_objects() if each.startswith(("Alert ", "Provider ", "Receiver ", "Secret "))
    }
    edge.remove_namespaces("tina")


def up(project: Project) -> None:
    project.up().ok()


@pytest.fixture(scope="module")
def broken(alerting: Project, hub: Cluster) -> str:
    """The commit with which the app `web` of rocky cannot be built any more."""
    return push(alerting, hub, "resources: [missing.yaml]\n", "Break web")


def push(project: Project, hub: Cluster, text: str, message: str) -> str:
    """Commit what `web` is made of, and have Flux fetch it for both clusters."""
    made = commit(project.sandbox, "rocky/manifests", {KUSTOMIZATION: text}, message)
    for namespace in RECEIVERS.values():
        reconcile(hub, namespace, source_in(hub, namespace))
    return made


def first(receiver: Receiver, path: str, involved: str) -> Post:
    """The first post to a path about an object, such as `Kustomization/rocky/web`."""
    return eventually(
        lambda: next((post for post in receiver.posts(path) if about(post) == involved), None),
        f"a post to {path} about {involved}",
    )


def about(post: Post) -> str:
    return "/".join(post.body["involvedObject"][key] for key in ("kind", "namespace", "name"))


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("involved", "cluster"),
    [("Kustomization/rocky/web", "hub-dev"), ("Kustomization/kamaji-edge/edge-1-rocky-web", "edge-1")],
)
def test_a_failing_app_is_told_to_its_tenant_with_the_cluster_it_fails_on(
    receiver: Receiver, involved: str, cluster: str
) -> None:
    post = first(receiver, "/rocky", involved)
    assert (post.body["severity"], post.body["reason"]) == ("error", "BuildFailed"), post.body["message"]
    assert "missing.yaml" in post.body["message"]
    told = {key: post.body["metadata"][key] for key in ("environment", "tenant", "cluster")}
    assert told == {"environment": "dev", "tenant": "rocky", "cluster": cluster}


@pytest.mark.usefixtures("broken")
def test_the_platform_is_told_of_all_tenants_on_a_remote_from_the_first_failure_on(receiver: Receiver) -> None:
    post = first(receiver, "/ops", "Kustomization/kamaji-edge/edge-1-tina-web")
    assert post.body["metadata"]["cluster"] == "edge-1"
    first(receiver, "/ops", "Kustomization/kamaji-edge/edge-1-rocky-web")
    first(receiver, "/ops", "HelmRelease/kamaji-edge/edge-1-tina-baseline")


@pytest.mark.usefixtures("broken")
def test_no_tenant_is_told_of_another(receiver: Receiver) -> None:
    first(receiver, "/ops", "Kustomization/kamaji-edge/edge-1-tina-web")
    told = {about(post) for post in receiver.posts("/rocky")}
    assert {each for each in told if "tina" in each or "movy" in each} == set()


@pytest.mark.parametrize("name", ["web", "edge-1-rocky-web"])
def test_the_commit_is_marked_as_failed_and_the_next_as_fine(
    alerting: Project, hub: Cluster, receiver: Receiver, broken: str, name: str
) -> None:
    failed = status(receiver, broken, name)
    assert (failed.body["state"], failed.headers["Private-Token"]) == ("failed", TOKEN)
    sound = (alerting.content / "git" / "rocky" / "manifests" / KUSTOMIZATION).read_text()
    repaired = push(alerting, hub, f"{sound}# {name}\n", f"Repair {name}")
    assert status(receiver, repaired, name).body["state"] == "success"


def status(receiver: Receiver, revision: str, name: str) -> Post:
    """The first status that was set of a commit for a Kustomization."""
    path = f"/api/v4/projects/rocky%2Fmanifests/statuses/{revision}"
    prefix = f"kustomization/{name}/"
    return eventually(
        lambda: next((post for post in receiver.posts(path) if post.body["name"].startswith(prefix)), None),
        f"a status of {revision} for {name}",
    )


# --- receivers ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def webhooks(alerting: Project, hub: Cluster) -> dict[str, str]:
    """The URL of each receiver, by its name."""
    address = alerting.webhooks()

    def ready() -> dict[str, str] | None:
        found = {name: hub.find("Receiver", namespace, name) for name, namespace in RECEIVERS.items()}
        paths = {name: each.get("status", {}).get("webhookPath", "") for name, each in found.items() if each}
        return {name: address + path for name, path in paths.items()} if all(map(paths.get, RECEIVERS)) else None

    return eventually(ready, "receivers that are ready")


def test_a_signed_push_has_the_source_fetched_at_once_and_a_forged_one_does_not(
    alerting: Project, hub: Cluster, webhooks: dict[str, str]
) -> None:
    assert webhooks.keys() == RECEIVERS.keys()
    pushed = commit(alerting.sandbox, "rocky/manifests", {"web/README.md": "Pushed.\n"}, "Push")
    for name, namespace in RECEIVERS.items():
        source = source_in(hub, namespace)
        before = requested(hub, namespace, source)
        assert signed_push(webhooks[name], "another-token") == 400
        assert requested(hub, namespace, source) == before
        assert signed_push(webhooks[name], CALLS) == 200
        hub.until("GitRepository", namespace, source, fetching(pushed), f"{pushed} in {namespace}/{source}")


def requested(hub: Cluster, namespace: str, source: str) -> str | None:
    """When Flux was last told to fetch a source."""
    found = hub.find("GitRepository", namespace, source)
    assert found
    requested: str | None = found["metadata"].get("annotations", {}).get("reconcile.fluxcd.io/requestedAt")
    return requested


def fetching(commit: str) -> Callable[[dict[str, Any]], bool | None]:
    return lambda found: found["status"]["artifact"]["revision"].endswith(commit) or None
