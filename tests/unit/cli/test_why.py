"""`tenantry why` against a management cluster and a remote in memory."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tenantry.cluster import connect as connecting
from tenantry.cluster.client import Client
from tenantry.cluster.kubeconfig import Access
from tenantry.cluster.requests import path_of
from tenantry.kube.objects import KubeObject, ObjectId
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.preflight.clusters import ADDRESS, SECRET, SELF, TOKEN, kubeconfig, secret
from tests.unit.texts import planned, rocky

APPS = """\
db: {kustomize: {source: manifests, path: ./db}}
web: {dependsOn: [db], kustomize: {source: manifests, path: ./web}}
shop: {clusters: {names: [hub]}, helm: {source: charts, chart: shop, version: 1.x}}
idle: {state: paused, kustomize: {source: manifests}}
"""
pytestmark = pytest.mark.usefixtures("hub")
TEXT = rocky(APPS, "clusters: {all: true}\nquota: {pods: 3}\nrole: edit")
LISTS = ("apps/v1/%s/deployments", "apps/v1/%s/replicasets", "v1/%s/pods", "v1/%s/events", "v1/%s/resourcequotas")
WEB = ObjectId("apps/v1", "Deployment", "rocky", "web")
SOURCE = "/apis/source.toolkit.fluxcd.io/v1/namespaces/kamaji/gitrepositories/rocky.manifests.62305212"
LISTED = {
    "Namespace": "/api/v1/namespaces",
    "Kustomization": "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations",
    "HelmRelease": "/apis/helm.toolkit.fluxcd.io/v2/helmreleases",
}
EDGE = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/kamaji/kustomizations/edge-rocky-web"
DB = EDGE.replace("web", "db")
ACCOUNT = "system:serviceaccount:kamaji:rocky"
QUOTA = 'pods "web-1-x" is forbidden: exceeded quota: tenantry, requested: pods=1, used: pods=3, limited: pods=3'
PASSWORD = "hunter2hunter2"


class Hub(Memory):
    """Lists hold the objects that requests for single ones find."""

    def client(self, server: str = "https://hub.example.com") -> Any:
        for kind, path in LISTED.items():
            found = [each for each in self.objects.values() if each.get("kind") == kind]
            self.objects[path] = {"metadata": {}, "items": found}
        return super().client(server)


def live(each: KubeObject) -> dict[str, Any]:
    metadata = {**each.manifest["metadata"], "generation": 1, "uid": f"uid-{each.id.name}"}
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    return {**each.manifest, "metadata": metadata, "status": {"observedGeneration": 1, "conditions": [ready]}}


class Cluster(Memory):
    """The app's cluster. seen: as whom somebody who impersonates is seen; as: the users of the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = ""
        self.users: list[str] = []
        self.refusals["POST", SELF] = self._self

    def _self(self, request: httpx2.Request) -> httpx2.Response:
        user = request.headers["Impersonate-User"]
        return httpx2.Response(201, json={"status": {"userInfo": {"username": self.seen or user}}})

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.users.append(request.headers.get("Impersonate-User", ""))
        return super()._answer(request)

    def put(self, manifest: dict[str, Any]) -> None:
        """Hold an object, alone and in the list of its kind."""
        metadata = manifest["metadata"]
        path = path_of(ObjectId(manifest["apiVersion"], manifest["kind"], metadata["namespace"], metadata["name"]))
        self.objects[path] = manifest
        items = self.objects.setdefault(path.rpartition("/")[0], {"metadata": {}, "items": []})["items"]
        items[:] = [each for each in items if each["metadata"]["name"] != metadata["name"]] + [manifest]


def thing(kind: str, name: str, version: str = "v1", owner: str = "", **more: Any) -> dict[str, Any]:
    owned = {"ownerReferences": [{"uid": f"uid-{owner}"}]} if owner else {}
    metadata = {"name": name, "namespace": "rocky", "uid": f"uid-{name}", "generation": 1, **owned}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **more}


def deployment(ready: int, *conditions: dict[str, str], wanted: int = 2) -> dict[str, Any]:
    status = {"observedGeneration": 1, "readyReplicas": ready, "updatedReplicas": wanted, "conditions": [*conditions]}
    return thing("Deployment", "web", "apps/v1", spec={"replicas": wanted}, status=status)


def pod(waiting: dict[str, str], **more: Any) -> dict[str, Any]:
    told = {"name": "web", "image": "example.com/web:2", "state": {"waiting": waiting}, **more}
    return thing("Pod", "web-1-x", owner="web-1", status={"phase": "Pending", "containerStatuses": [told]})


def event(kind: str, name: str, reason: str, message: str, at: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    about = {"kind": kind, "namespace": "rocky", "name": name}
    more = {"involvedObject": about, "reason": reason, "message": message, "type": "Warning", "lastTimestamp": at}
    return thing("Event", f"{name}.{reason}{at}", **more)


@pytest.fixture
def edge() -> Cluster:
    """The remote: the Deployment of `web` is ready there."""
    made = Cluster()
    made.put(deployment(2))
    made.put(thing("ReplicaSet", "web-1", "apps/v1", owner="web", spec={"replicas": 2}, status={}))
    return made


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, edge: Cluster) -> Hub:
    """It holds all of the fleet's objects, ready, and the kubeconfig of the remote."""
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    memory = Hub()
    for each in planned(TEXT).objects:
        memory.objects[path_of(each.id)] = live(each)
    for path in (EDGE, EDGE.replace("kamaji", "rocky").replace("edge-rocky-", "")):
        memory.objects[path]["status"]["inventory"] = {"entries": [{"id": "rocky_web_apps_Deployment", "v": "v1"}]}
    memory.objects[SECRET] = secret(kubeconfig())
    memory.refusals["POST", SELF] = lambda request: httpx2.Response(
        201, json={"status": {"userInfo": {"username": request.headers["Impersonate-User"]}}}
    )

    def connect_remote(config: Access) -> Client:
        return edge.client(ADDRESS) if config.cluster.server == ADDRESS else memory.client()

    monkeypatch.setattr(connecting, "connect", lambda *_: memory.client())
    monkeypatch.setattr(connecting, "connect_remote", connect_remote)
    return memory


def fail(hub: Hub, path: str, message: str, reason: str = "Failed") -> None:
    ready = {"type": "Ready", "status": "False", "reason": reason, "message": message, "observedGeneration": 1}
    hub.objects[path]["status"]["conditions"] = [{**ready, "lastTransitionTime": "2026-01-01T00:05:00Z"}]


def why(capsys: Capture, *arguments: str, cluster: str = "edge") -> tuple[int, dict[str, Any]]:
    """The exit code, and the answer about `web` on a cluster."""
    code, out, err = tenantry(
        capsys, "why", f"rocky/{(*arguments, 'web')[0]}", "-e", "dev", "-c", cluster, "-o", "json"
    )
    assert err == ""
    (answer,) = json.loads(out)["apps"]
    return code, answer


def there(more: str = "") -> str:
    """The options with which kubectl reaches the remote. more: those of the verb."""
    template = """'go-template={{index .data "admin.conf" | base64decode}}'"""
    secret = f"kubectl get secret edge-admin-kubeconfig --namespace kamaji --output {template} --context hub"
    return f"--namespace rocky{more} --as {ACCOUNT} --kubeconfig <({secret})"


# --- the app's cluster ----------------------------------------------------------------------------------------------------


def test_an_app_that_is_well_is_called_so(capsys: Capture, edge: Cluster) -> None:
    code, out, err = tenantry(capsys, "why", "rocky/web", "-e", "dev", "-c", "edge")
    assert (code, err) == (0, "")
    first, *rest = out.splitlines()
    assert first.startswith("rocky/web on edge is well since ")
    assert first.endswith("; 1 object on edge: 1 ready")
    assert len(rest) == 2
    assert {*edge.users} == {ACCOUNT}
    assert not [path for _, path, _ in edge.requests if "secrets" in path]


def test_a_quota_that_is_used_up_is_the_cause_and_what_flux_waits_for_follows(
    capsys: Capture, hub: Hub, edge: Cluster
) -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": QUOTA}
    edge.put(deployment(1, failure))
    edge.put(event("ReplicaSet", "web-1", "FailedCreate", f"Error creating: {QUOTA}"))
    again = QUOTA.replace("web-1-x", "web-1-y")
    edge.put(event("ReplicaSet", "web-1", "FailedCreate", f"Error creating: {again}", "2026-01-01T00:01:00Z"))
    edge.put(thing("ResourceQuota", "tenantry", status={"hard": {"pods": "3"}, "used": {"pods": "3"}}))
    fail(hub, EDGE, "Reconciliation in progress", "Progressing")
    code, answer = why(capsys)
    assert (code, answer["status"]) == (1, "progressing")
    assert answer["cause"] == f"Deployment rocky/web: 1 of 2 pods ready: {QUOTA}"
    first, flux = answer["findings"]
    assert first["advice"] == "3 of 3 pods are used; to raise it, change 'quota' in tenants.yaml:14"
    assert [each["what"] for each in first["evidence"]] == ["Deployment rocky/web", "Event of ReplicaSet web-1"]
    assert first["next"] == [
        "edit tenants.yaml:14",
        "tenantry up -e dev",
        f"kubectl describe deployment web {there()}",
    ]
    assert flux["cause"] == "Flux: Reconciliation in progress"


def test_a_quota_that_the_file_does_not_set_is_not_raised_there(capsys: Capture, hub: Hub, edge: Cluster) -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": QUOTA}
    edge.put(deployment(1, failure))
    edge.put(thing("ResourceQuota", "others", status={"hard": {"pods": "3"}, "used": {"pods": "3"}}))
    fail(hub, EDGE, "Reconciliation in progress", "Progressing")
    assert why(capsys)[1]["findings"][0]["advice"] == ""


def test_a_quota_that_all_tenants_have_is_raised_for_this_one_alone(capsys: Capture, hub: Hub, edge: Cluster) -> None:
    text = TEXT.replace("    quota: {pods: 3}\n", "").replace("tenants:\n", "defaults: {quota: {pods: 3}}\ntenants:\n")
    Path("tenants.yaml").write_text(text)
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": QUOTA}
    edge.put(deployment(1, failure))
    edge.put(thing("ResourceQuota", "tenantry", status={"hard": {"pods": "3"}, "used": {"pods": "3"}}))
    fail(hub, EDGE, "Reconciliation in progress", "Progressing")
    first, *_ = why(capsys)[1]["findings"]
    line = text.splitlines().index("  rocky:") + 1
    assert first["advice"] == f"3 of 3 pods are used; to raise it, change 'quota' in tenants.yaml:{line}"
    assert first["next"][0] == f"edit tenants.yaml:{line}"


@table(
    ("found", "cause", "next"),
    [
        (
            pod({"reason": "ImagePullBackOff", "message": "Back-off pulling image: ErrImagePull: not found"}),
            "image 'example.com/web:2' cannot be pulled (ImagePullBackOff: not found)",
            "kubectl describe pod web-1-x",
        ),
        (
            pod(
                {"reason": "CrashLoopBackOff"},
                restartCount=4,
                lastState={"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            ),
            "container 'web' keeps crashing (4 restarts): exit code 137, OOMKilled",
            "kubectl logs web-1-x",
        ),
    ],
)
def test_a_pod_is_the_cause_although_flux_calls_the_app_ready(
    capsys: Capture, edge: Cluster, found: dict[str, Any], cause: str, next: str
) -> None:
    edge.put(deployment(0))
    edge.put(found)
    code, answer = why(capsys)
    assert (code, answer["status"], answer["cause"]) == (1, "ready", f"Deployment rocky/web: {cause}")
    assert (
        answer["findings"][0]["next"][0] == f"{next} {there(' --container web --previous' if 'logs' in next else '')}"
    )


def test_an_object_that_somebody_deleted_is_missing(capsys: Capture, edge: Cluster) -> None:
    edge.objects.clear()
    code, answer = why(capsys)
    assert (code, answer["cause"]) == (1, "Deployment rocky/web, which Flux applied, is not on edge")


def test_what_a_role_does_not_include_is_told_and_the_rest_is_read(capsys: Capture, edge: Cluster) -> None:
    edge.put(deployment(0))
    edge.put(pod({"reason": "ErrImagePull"}))
    for kind in ("events", "limitranges"):
        edge.refuse("GET", f"/api/v1/namespaces/rocky/{kind}", 403, "no")
    _, answer = why(capsys)
    assert answer["unread"] == ["events in rocky, limitranges in rocky: HTTP 403"]
    assert "cannot be pulled" in answer["cause"]


def test_the_cause_comes_first(capsys: Capture, edge: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenantry.cli.why.age", lambda since, _: "5m" if since else "")
    monkeypatch.setattr("tenantry.cli.why._kubectl", lambda _: ())
    edge.put(deployment(0))
    edge.put(pod({"reason": "ImagePullBackOff", "message": "Back-off pulling image: ErrImagePull: not found"}))
    edge.put(event("Pod", "web-1-x", "Failed", "Failed to pull image"))
    edge.refuse("GET", "/api/v1/namespaces/rocky/limitranges", 403, "no")
    code, out, _ = tenantry(capsys, "why", "rocky/web", "-e", "dev", "-c", "edge")
    assert code == 1
    assert out.splitlines()[:-4] == [
        "rocky/web on edge is not well",
        "cause   Deployment rocky/web: image 'example.com/web:2' cannot be pulled (ImagePullBackOff: not found)",
        "fix     correct the image in the app's manifests or chart values; see the source at tenants.yaml:18",
        "",
        "  Deployment rocky/web  failed  5m",
        "    0 of 2 pods ready",
        "  Pod rocky/web-1-x  ImagePullBackOff  5m",
        "    Back-off pulling image: ErrImagePull: not found",
        "  Event of Pod web-1-x  Failed  5m",
        "    Failed to pull image",
        "",
        f"trail, read as {ACCOUNT}",
        "  GitRepository kamaji/rocky.manifests.62305212  ready  5m",
        "  Kustomization kamaji/edge-rocky-web  ready  5m",
        "  1 object on edge  1 failed",
    ]
    assert out.splitlines()[-4:-2] == ["", "next"]
    assert out.splitlines()[-1] == "unread  limitranges in rocky: HTTP 403"


# --- a cluster that cannot be read ----------------------------------------------------------------------------------------


def raises(error: Exception) -> Any:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise error

    return answer


@table(
    ("error", "said"),
    [
        (httpx2.ConnectError(f"{ADDRESS}: [Errno 111] Connection refused"), "it refuses the connection"),
        (httpx2.ConnectTimeout(ADDRESS), "it did not answer within 5 seconds"),
        (httpx2.ConnectError(f"{ADDRESS} {TOKEN}"), "it cannot be reached from here"),
    ],
)
def test_a_cluster_that_does_not_answer_is_a_cause_of_its_own(
    capsys: Capture, edge: Cluster, error: Exception, said: str
) -> None:
    edge.refusals["POST", SELF] = raises(error)
    code, answer = why(capsys)
    assert (code, answer["cause"]) == (1, f"cluster 'edge' does not answer: {said}; Flux found the app ready before")
    assert answer["findings"][0]["next"] == ["tenantry preflight --cluster edge -e dev"]
    assert TOKEN not in json.dumps(answer)
    assert ADDRESS not in json.dumps(answer)


def test_flux_that_does_not_reach_it_either_is_evidence(capsys: Capture, hub: Hub, edge: Cluster) -> None:
    edge.refusals["POST", SELF] = raises(httpx2.ConnectError("connection refused"))
    fail(hub, EDGE, "ConfigMap/rocky/web dry-run failed: dial tcp 127.0.0.1:1: connect: connection refused")
    _, answer = why(capsys)
    assert answer["cause"] == "cluster 'edge' does not answer: it refuses the connection; Flux does not reach it either"
    assert [each["what"] for each in answer["findings"][0]["evidence"]] == ["Kustomization kamaji/edge-rocky-web"]


def test_a_kubeconfig_that_is_missing_broken_or_may_not_impersonate_is_told(
    capsys: Capture, hub: Hub, edge: Cluster
) -> None:
    there = "there is no Secret kamaji/edge-admin-kubeconfig"
    found = hub.objects.pop(SECRET)
    assert why(capsys)[1]["cause"] == f"cluster 'edge' cannot be read: {there}; Flux found the app ready before"
    hub.objects[SECRET] = secret(b"nothing")
    assert "the kubeconfig that Flux uses is incomplete" in why(capsys)[1]["cause"]
    hub.objects[SECRET] = found
    edge.refuse("POST", SELF, 403, "no")
    assert f"its kubeconfig may not impersonate '{ACCOUNT}', as Flux does" in why(capsys)[1]["cause"]
    assert {*edge.users} == {ACCOUNT}


def test_a_proxy_that_drops_impersonation_is_not_read_through(capsys: Capture, edge: Cluster) -> None:
    edge.seen = "admin"
    assert "is seen as somebody else" in why(capsys)[1]["cause"]
    assert [method for method, _, _ in edge.requests] == ["POST"]


def test_a_cluster_that_does_not_say_as_whom_it_would_be_read_is_not_read(capsys: Capture, edge: Cluster) -> None:
    for status, told, cause in (
        (404, {}, "nobody knows as whom it is read"),
        (201, {"status": {}}, "seen as somebody else"),
    ):
        edge.refusals["POST", SELF] = lambda _, status=status, told=told: httpx2.Response(status, json=told)
        edge.requests.clear()
        assert cause in why(capsys)[1]["cause"]
        assert [method for method, _, _ in edge.requests] == ["POST"]


def test_who_may_not_impersonate_on_the_management_cluster_reads_with_the_own_rights(capsys: Capture, hub: Hub) -> None:
    hub.refuse("POST", SELF, 403, "no")
    deployments = "/apis/apps/v1/namespaces/rocky/deployments"
    hub.objects[deployments] = {"items": [deployment(2)]}
    code, answer = why(capsys, cluster="hub")
    assert (code, answer["well"], answer["readAs"]) == (0, True, None)
    assert answer["unread"] == [
        "read with your own rights, because you may not impersonate 'system:serviceaccount:rocky:rocky'"
    ]


# --- the management cluster -----------------------------------------------------------------------------------------------


@table(
    ("message", "reason", "cause"),
    [
        (
            "kustomization path not found: stat /tmp/kustomization-1/web: no such file or directory",
            "ArtifactFailed",
            "Flux: path './web' does not exist in the source",
        ),
        (
            f'ClusterRole/x dry-run failed: User "{ACCOUNT}" cannot create resource "clusterroles" in API group'
            ' "rbac.authorization.k8s.io" at the cluster scope',
            "ReconciliationFailed",
            f'Flux: ClusterRole/x dry-run failed: User "{ACCOUNT}" cannot create resource "clusterroles" in API group'
            ' "rbac.authorization.k8s.io" at the cluster scope',
        ),
        (
            f"failed to fetch https://me:{PASSWORD}@example.com",
            "ReconciliationFailed",
            "Flux: failed to fetch https://(a secret?)@example.com",
        ),
    ],
)
def test_what_flux_refuses_is_the_cause(capsys: Capture, hub: Hub, message: str, reason: str, cause: str) -> None:
    fail(hub, EDGE, message, reason)
    code, answer = why(capsys)
    assert (code, answer["status"], answer["cause"]) == (1, "failed", cause)
    advice = "check what the app applies, and its settings in tenants.yaml:18"
    assert answer["findings"][0]["advice"] == advice
    assert PASSWORD not in json.dumps(answer)


def test_a_source_is_the_cause_of_what_it_keeps_from_being_ready(capsys: Capture, hub: Hub) -> None:
    fail(hub, SOURCE, "unable to list remote: repository not found: ", "GitOperationFailed")
    told = "the source cannot be fetched: unable to list remote: repository not found"
    assert why(capsys)[1]["cause"] == f"{told}; the app runs what was fetched before"
    fail(hub, EDGE, "Source artifact not found", "ArtifactFailed")
    code, answer = why(capsys)
    assert (code, answer["status"], answer["cause"]) == (1, "failed", told)
    assert answer["findings"][0]["advice"] == "check the source in tenants.yaml:11"
    del hub.objects[SOURCE]
    assert why(capsys)[1]["cause"] == "GitRepository kamaji/rocky.manifests.62305212 is not on the management cluster"


def test_an_app_that_it_waits_for_is_named_with_the_command_that_asks_about_it(capsys: Capture, hub: Hub) -> None:
    fail(hub, EDGE, "dependency 'kamaji/edge-rocky-db' is not ready", "DependencyNotReady")
    fail(hub, DB, "no", "BuildFailed")
    _, answer = why(capsys)
    assert answer["cause"] == "it waits for rocky/db on edge: no"
    assert answer["findings"][0]["next"] == ["tenantry why rocky/db -e dev -c edge"]
    assert answer["trail"][1]["message"] == "waits for rocky/db: no"


def test_that_an_app_is_suspended_is_told_and_the_file_has_its_line(capsys: Capture, hub: Hub) -> None:
    hub.objects[EDGE]["spec"] = {**hub.objects[EDGE]["spec"], "suspend": True}
    code, answer = why(capsys)
    assert (code, answer["cause"]) == (1, "it is suspended by hand, so Flux applies no change")
    assert answer["findings"][0]["next"] == [
        "flux resume kustomization edge-rocky-web --namespace kamaji --context hub"
    ]
    assert (
        why(capsys, "idle")[1]["cause"] == "the file says 'state: paused' in tenants.yaml:20, so Flux applies no change"
    )


def test_an_app_that_is_being_deleted_and_a_chart_that_is_not_there_are_told(capsys: Capture, hub: Hub) -> None:
    chart = next(
        each.id for each in planned(TEXT).objects if each.id.kind == "HelmChart" and each.id.namespace == "rocky"
    )
    fail(hub, path_of(chart), "no 'shop' chart with version matching '1.x' found", "InvalidChartReference")
    _, answer = why(capsys, "shop", cluster="hub")
    told = "the chart cannot be fetched: no 'shop' chart with version matching '1.x' found"
    assert answer["cause"] == f"{told}; the app runs what was fetched before"
    assert answer["findings"][0]["advice"] == "check the chart in tenants.yaml:19"
    hub.objects[EDGE]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert why(capsys)[1]["cause"] == "Kustomization kamaji/edge-rocky-web is being deleted"


def test_an_app_that_no_run_has_made_is_missing(capsys: Capture, hub: Hub) -> None:
    del hub.objects[EDGE]
    code, answer = why(capsys)
    assert (code, answer["cause"]) == (1, "Kustomization kamaji/edge-rocky-web is not on the management cluster")
    assert answer["findings"][0]["next"] == ["tenantry preview -e dev", "tenantry up -e dev"]


def test_what_somebody_changed_by_hand_is_told(capsys: Capture, hub: Hub) -> None:
    found = deepcopy(hub.objects[EDGE])
    found["spec"]["interval"] = "1m"
    wrote = {"manager": "kubectl-edit", "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:spec": {"f:interval": {}}}}
    found["metadata"]["managedFields"] = [wrote]
    hub.objects[EDGE] = found
    assert why(capsys)[1]["cause"] == "changed by hand: spec.interval, by kubectl-edit at 2026-01-01T00:00:00Z"


def test_objects_that_own_each_other_end(capsys: Capture, edge: Cluster) -> None:
    edge.put(deployment(0))
    edge.put(thing("ReplicaSet", "web-1", "apps/v1", owner="web-1", spec={"replicas": 2}, status={}))
    edge.put(thing("ReplicaSet", "web-2", "apps/v1", owner="web", spec={"replicas": 2}, status={}))
    assert why(capsys)[1]["cause"] == "Deployment rocky/web: 0 of 2 pods ready"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("rokcy/web",),
            "tenants.yaml declares no tenant 'rokcy' (declared: rocky, platform)\n  fix: name 'rocky'",
        ),
        (
            ("rocky/webb",),
            "environment 'dev' has no app 'webb' of rocky\n  fix: name one of these: db, idle, shop, web (closest: web)",
        ),
    ],
)
def test_wrong_names_are_refused(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    assert tenantry(capsys, "why", *arguments, "-e", "dev") == (2, "", f"error: {message}\n")


def test_hostile_texts_and_an_inventory_with_hostile_names_cannot_reach_the_terminal_or_another_path(
    capsys: Capture, hub: Hub, edge: Cluster
) -> None:
    hostile = "\x1b]0;x\x07\x1b[2J"
    names = ("../../kube-system/pods/a", "--server=https:__example.com", f"web{hostile}", "web?x")
    entries = [{"id": f"rocky_{name}_apps_Deployment", "v": "v1"} for name in names]
    hub.objects[EDGE]["status"]["inventory"]["entries"] += [*entries, {"id": "../x_web_apps_Deployment", "v": "v1"}]
    edge.put(deployment(0))
    edge.put(pod({"reason": "ErrImagePull", "message": f"pull https://me:{PASSWORD}@example.com/{hostile}: not found"}))
    edge.put(event("Pod", "web-1-x", f"Unhealthy{hostile}", f"probe: password={PASSWORD}{hostile}"))
    fail(hub, EDGE, f"Flux says {hostile} https://me:{PASSWORD}@example.com")
    for form in ("text", "json"):
        code, out, err = tenantry(capsys, "why", "rocky/web", "-e", "dev", "-c", "edge", "-o", form)
        assert code == 1
        assert not {*"\x1b\x07"} & {*out, *err}
        assert PASSWORD not in out + err
        assert "kubectl describe deployment --server" not in out
    # Only the last segment differs between the objects of the app.
    assert {path.rpartition("/")[0] for _, path, _ in edge.requests if "deployments/" in path} <= {
        "/apis/apps/v1/namespaces/rocky/deployments"
    }


# --- the way from the source to the objects ---------------------------------------------------------------------------------


def test_a_step_that_is_missing_or_without_the_fleets_labels_is_told(capsys: Capture, hub: Hub) -> None:
    del hub.objects[SOURCE]
    hub.objects[EDGE]["metadata"]["labels"] = {}
    source, app = why(capsys)[1]["trail"][:2]
    assert (source["state"], source["message"]) == ("missing", "not on the management cluster: run `tenantry up`")
    assert app["state"] == "outdated"
    assert app["message"].startswith("not applied yet: metadata.labels.app.kubernetes.io/managed-by, ")


def test_the_trail_says_of_an_app_what_status_says(capsys: Capture, hub: Hub) -> None:
    fail(hub, SOURCE, "repository not found: ")
    fail(hub, EDGE, "source is not ready", "SourceNotReady")
    _, answer = why(capsys)
    assert answer["status"] == "failed"
    assert [each["state"] for each in answer["trail"][:2]] == ["failed", "failed"]
