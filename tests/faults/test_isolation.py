"""A tenant cannot reach other tenants or the platform: attacks from its repository, its Flux objects and its service account.

Everything is real: the command, the API servers, Flux, and the refusals, which are asserted by their words. What is not refused is
here too, with how far it gets.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry_sandbox.content import commit
from tests.e2e.clusters import PATIENCE, eventually
from tests.e2e.project import Project
from tests.faults.api import Answer, Api
from tests.faults.arena import EDGE, HUB, PLACES, REPOSITORY, TENANT, Place, own_file
from tests.faults.commits import COMMITS, Commit
from tests.faults.forgeries import FORGERIES, KUBECONFIG, Forgery, collection
from tests.faults.isolation import source_in
from tests.faults.requests import FOREIGN, REQUESTS, Request
from tests.faults.victims import belongings

pytestmark = pytest.mark.faults
Apis = dict[str, Api]
States = dict[tuple[str, str], dict[str, Any] | None]


def states(apis: Apis, targets: Mapping[Place, set[str]]) -> States:
    """The objects that attacks are after, by cluster and path."""
    wanted = [(place.cluster, path) for place, paths in targets.items() for path in paths]
    return {(cluster, path): apis[cluster].state(path) for cluster, path in wanted}


@pytest.fixture(scope="module", autouse=True)
def before(apis: Apis) -> States:
    """The targets before any attack."""
    targets: dict[Place, set[str]] = {place: set() for place in PLACES}
    for attack in (*COMMITS, *REQUESTS):
        for place in attack.places:
            targets[place].update(attack.targets)
    targets[HUB].update(path for forgery in FORGERIES for path in forgery.targets)
    return states(apis, targets)


@pytest.fixture(scope="module", autouse=True)
def everyone_else(apis: Apis) -> Iterator[None]:
    """What is not the attacker's is the same after all attacks, object by object."""
    others = {name: belongings(api) for name, api in apis.items()}
    yield
    assert others == {name: belongings(api) for name, api in apis.items()}


def unchanged(apis: Apis, before: States, place: Place, targets: tuple[str, ...]) -> None:
    for path in targets:
        assert before[place.cluster, path] == apis[place.cluster].state(path), f"{path} on {place.cluster}"


# --- from the repository ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def told(fleet: Project, apis: Apis) -> Iterator[dict[tuple[str, Place], tuple[str, str]]]:
    """What Flux made of each attack after one push of all: the status of Ready, and its message."""
    content = "http://sandbox.test"
    pushed = {f"{each.name}/{path}": text for each in COMMITS for path, text in each.files.items()}
    sound = {path: _read(fleet.content / "git" / REPOSITORY / path) for path in pushed}
    started = time.monotonic()
    revision = commit(
        fleet.sandbox, REPOSITORY, {path: text.replace("{content}", content) for path, text in pushed.items()}, "Attack"
    )
    fetch(apis)
    waiting = [(each, place) for each in COMMITS for place in each.places]
    found: dict[tuple[str, Place], tuple[str, str]] = {}
    while waiting and time.monotonic() < started + PATIENCE:
        tried = {place: statuses(apis[HUB.cluster], place) for place in {place for _, place in waiting}}
        for attack, place in tuple(waiting):
            status = tried[place].get(f"{place.prefix}{attack.name}", {})
            if (answer := verdict(status, revision)) is not None:
                found[attack.name, place] = answer
                waiting.remove((attack, place))
        time.sleep(0.5)
    yield found
    commit(fleet.sandbox, REPOSITORY, sound, "Repent")
    fetch(apis)


def _read(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def fetch(apis: Apis) -> None:
    """Have Flux look at the attacker's repository now."""
    for place in PLACES:
        path = f"{collection('GitRepository', place.home)}/{source_in(apis[HUB.cluster], place)}"
        annotation = {"reconcile.fluxcd.io/requestedAt": str(time.time_ns())}
        assert apis[HUB.cluster].ask("PATCH", path, {"metadata": {"annotations": annotation}}).message == ""


def statuses(hub: Api, place: Place) -> dict[str, dict[str, Any]]:
    """The status of each app beside the attacker's, by its name."""
    lists = (hub.ask("GET", collection(kind, place.home)).body["items"] for kind in ("Kustomization", "HelmRelease"))
    return {each["metadata"]["name"]: each.get("status", {}) for each in chain.from_iterable(lists)}


def verdict(status: Mapping[str, Any], revision: str) -> tuple[str, str] | None:
    """Status and message of Ready once Flux has tried a revision; None as long as it has not."""
    if revision[:12] not in status.get("lastAttemptedRevision", ""):
        return None
    ready = next((each for each in status.get("conditions", []) if each["type"] == "Ready"), {"status": "Unknown"})
    return None if ready["status"] == "Unknown" else (ready["status"], ready["message"])


@pytest.mark.parametrize(
    ("attack", "place"),
    [pytest.param(each, place, id=f"{each.name}-{place.cluster}") for each in COMMITS for place in each.places],
)
def test_what_a_repository_brings_is_refused(
    told: dict[tuple[str, Place], tuple[str, str]], apis: Apis, before: States, attack: Commit, place: Place
) -> None:
    assert (attack.name, place) in told, f"Flux has not tried {attack.tried}"
    status, message = told[attack.name, place]
    expected = attack.refusal.format(user=place.user)
    assert status == ("False" if expected else "True"), f"{attack.tried}: {attack.effect or expected}: {message}"
    assert expected in message
    unchanged(apis, before, place, attack.targets)


# --- with Flux objects of its own ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forged(apis: Apis) -> Iterator[dict[str, Answer]]:
    """The answers to the attacker's attempts to make each object."""
    hub = apis[HUB.cluster]
    yield {each.name: hub.ask("POST", each.collection, each.manifest, as_user=HUB.user) for each in FORGERIES}
    for each in FORGERIES:
        hub.ask("DELETE", f"{each.collection}/{each.name}")


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda each: each.name)
def test_what_flux_is_asked_for_is_refused(
    forged: dict[str, Answer], fleet: Project, apis: Apis, before: States, forgery: Forgery
) -> None:
    answer = forged[forgery.name]
    if not answer.message:
        eventually(
            lambda: forgery.refusal in complaints(fleet, apis[HUB.cluster], forgery),
            f"a {forgery.kind} with {forgery.tried}: {forgery.refusal}",
        )
    assert answer.message == "" or forgery.refusal in answer.message
    unchanged(apis, before, HUB, forgery.targets)


def complaints(fleet: Project, hub: Api, forgery: Forgery) -> str:
    """All that Flux says against an object, in its conditions, in events, and where it says nothing there in its log."""
    status = hub.ask("GET", f"{forgery.collection}/{forgery.name}").body.get("status", {})
    said = [each["message"] for each in status.get("conditions", []) if each["status"] == "False"]
    selector = f"involvedObject.kind={forgery.kind},involvedObject.name={forgery.name},type=Warning"
    events = hub.ask("GET", f"/api/v1/namespaces/{TENANT}/events?fieldSelector={selector}").body["items"]
    log = (fleet.sandbox / "logs" / f"{HUB.cluster}-helm-controller.log").read_text().splitlines()
    logged = [line for line in log if f'"name": "{forgery.name}"' in line]
    return "\n".join([*said, *(event["message"] for event in events), *logged])


# --- as its service account ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def token(apis: Apis) -> str:
    """What the attacker's service account on the management cluster proves itself with."""
    path = f"/api/v1/namespaces/{TENANT}/serviceaccounts/{TENANT}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    return str(apis[HUB.cluster].ask("POST", path, body).body["status"]["token"])


def ask(apis: Apis, token: str, place: Place, request: Request) -> Answer:
    """Ask as the attacker: with its token where it has one, on a remote as Flux plays it."""
    if place is HUB:
        return apis[place.cluster].ask(
            request.method, request.path, request.body, as_user=request.impersonating, token=token
        )
    return apis[place.cluster].ask(request.method, request.path, request.body, as_user=place.user)


@pytest.mark.parametrize(
    ("request_", "place"),
    [pytest.param(each, place, id=f"{each.name}-{place.cluster}") for each in REQUESTS for place in each.places],
)
def test_what_the_service_account_asks_for_is_refused(
    apis: Apis, before: States, token: str, request_: Request, place: Place
) -> None:
    answer = ask(apis, token, place, request_)
    expected = request_.refusal.format(user=place.user)
    assert answer.status in (403, 422), request_.tried
    assert expected in answer.message
    unchanged(apis, before, place, request_.targets)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.cluster)
def test_the_service_account_may_do_nothing_outside_of_its_namespace(apis: Apis, place: Place) -> None:
    asked = [(namespace, verb) for namespace in ("", *FOREIGN) for verb in ("*", "get", "list", "create", "delete")]
    allowed = [each for each in asked if may(apis[place.cluster], place, *each)]
    assert allowed == []
    assert may(apis[place.cluster], place, TENANT, "list")


def may(api: Api, place: Place, namespace: str, verb: str) -> bool:
    """Whether the attacker may do something with Secrets, in all namespaces if none is named."""
    attributes = {"namespace": namespace, "verb": verb, "group": "", "resource": "secrets"}
    review = {"kind": "SelfSubjectAccessReview", "metadata": {}, "spec": {"resourceAttributes": attributes}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    return bool(api.ask("POST", path, review, as_user=place.user).body["status"]["allowed"])


# --- in its part of tenants.yaml: what it may not declare, tests/unit and tests/hostile refuse ------------------------------

EXISTING = f"""\
tenants:
  {TENANT}:
    credentials: {{{KUBECONFIG}: {{existing: true}}}}
    sources: {{manifests: {{git: {{url: "{{git}}/{REPOSITORY}.git", ref: {{branch: main}}}}}}}}
    apps:
      web:
        kustomize: {{source: manifests, postBuild: {{substituteFrom: [{{kind: Secret, name: {KUBECONFIG}}}]}}}}
"""
"""A sound file: credentials that others have put there, which an app takes its variables from."""


def test_credentials_called_like_a_kubeconfig_are_no_kubeconfig(fleet: Project, tmp_path: Path) -> None:
    copied = Project(tmp_path / "project")
    own_file(copied).parent.mkdir(parents=True)
    shutil.copy(fleet.fleet, copied.fleet)
    own_file(copied).write_text(EXISTING)
    rendered = yaml.safe_load_all(copied.tenantry("render", "--environment", "dev").ok().out)
    apps = [each for each in rendered if each["kind"] == "Kustomization" and "postBuild" in each["spec"]]
    own = [each for each in apps if each["metadata"]["labels"]["toolkit.fluxcd.io/tenant"] == TENANT]
    named = {
        each["metadata"]["namespace"]: [ref["name"] for ref in each["spec"]["postBuild"]["substituteFrom"]]
        for each in own
    }
    assert named == {HUB.home: [KUBECONFIG], EDGE.home: [f"{TENANT}.{KUBECONFIG}"]}
