"""A tenant with kubectl in its own namespace, and one whose credential nobody has set: the next run is the others' all the same.

What the admission policy refuses the tenant, it does here on a cluster without that policy: one that was bootstrapped before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.clusters import Cluster, eventually
from tests.e2e.project import Project, Result
from tests.faults.api import Answer, Api

pytestmark = pytest.mark.e2e

TENANT = "rocky"
USER = f"system:serviceaccount:{TENANT}:{TENANT}"
APPS = f"/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/{TENANT}/kustomizations"
WEB = f"{APPS}/web"
ACCOUNT = f"/api/v1/namespaces/{TENANT}/serviceaccounts/{TENANT}"
REFUSAL = "labels and annotations that begin with 'tenantry/' are the platform's to set"
LABELS = {
    "app.kubernetes.io/managed-by": "tenantry",
    "toolkit.fluxcd.io/tenant": TENANT,
    "tenantry/environment": "dev",
    "tenantry/cluster": "hub-dev",
}


@pytest.fixture(scope="module")
def api(fleet: Project) -> Api:
    return Api(fleet.kubeconfig("hub-dev"))


@pytest.fixture
def edited(fleet: Project) -> Iterator[Project]:
    """The project, whose file is as it was when the test is over."""
    text = fleet.fleet.read_text()
    yield fleet
    fleet.fleet.write_text(text)


@pytest.fixture
def mended(fleet: Project) -> Iterator[Project]:
    """The same, and the clusters too."""
    text = fleet.fleet.read_text()
    yield fleet
    fleet.fleet.write_text(text)
    fleet.up("dev", "--refresh").ok()


POLICY = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/tenantry-labels"


@pytest.fixture(scope="module")
def unpoliced(api: Api, fleet: Project) -> Iterator[Api]:
    """The cluster as it was before the policy."""
    assert not api.ask("DELETE", POLICY).message
    probe = {"metadata": {"annotations": {"tenantry/probe": "a"}}}
    eventually(
        lambda: not api.ask("PATCH", f"{ACCOUNT}?dryRun=All", probe, as_user=USER).message, "the policy to be gone"
    )
    yield api
    fleet.tenantry("bootstrap", "hub-dev", "--kubeconfig", str(fleet.kubeconfig("hub-dev"))).ok()
    eventually(lambda: bool(api.ask("PATCH", f"{ACCOUNT}?dryRun=All", probe, as_user=USER).message), "the policy")


def kustomization(name: str, **labels: str) -> dict[str, Any]:
    spec = {
        "interval": "1h",
        "prune": True,
        "suspend": True,
        "path": "./db",
        "sourceRef": {"kind": "GitRepository", "name": "manifests"},
        "serviceAccountName": TENANT,
        "targetNamespace": TENANT,
    }
    return {
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": TENANT, "labels": labels},
        "spec": spec,
    }


def denied(answer: Answer) -> None:
    assert (answer.status, REFUSAL in answer.message) == (422, True), answer.message or "it was allowed"


def labelled(value: str | None, name: str = "tenantry/environment") -> dict[str, Any]:
    return {"metadata": {"labels": {name: value}}}


TRIED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "relabel": ("PATCH", WEB, labelled("other")),
    "take a label off": ("PATCH", WEB, labelled(None, "tenantry/app")),
    "give its app up": ("PATCH", WEB, labelled("offboarding", "tenantry/state")),
    "relabel its account": ("PATCH", ACCOUNT, labelled("other")),
    "annotate": ("PATCH", ACCOUNT, {"metadata": {"annotations": {"tenantry/leaving": "web"}}}),
    "create": ("POST", APPS, kustomization("more", **LABELS, **{"tenantry/app": "more"})),
    "create another kind": (
        "POST",
        f"/api/v1/namespaces/{TENANT}/configmaps",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "more", "labels": {"tenantry/x": "y"}}},
    ),
}


@pytest.mark.parametrize("tried", TRIED)
def test_a_tenant_sets_none_of_the_fleets_labels(api: Api, tried: str) -> None:
    method, path, body = TRIED[tried]
    denied(api.ask(method, path, body, as_user=USER))


def test_a_tenant_goes_on_to_change_its_objects_in_other_ways(api: Api) -> None:
    asked = {"metadata": {"labels": {"team": "a"}, "annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}}
    assert not api.ask("PATCH", WEB, asked, as_user=USER).message
    assert not api.ask("PATCH", WEB, labelled(None, "team"), as_user=USER).message
    assert not api.ask("PATCH", ACCOUNT, {"imagePullSecrets": [{"name": "a"}]}, as_user=USER).message
    assert not api.ask("PATCH", ACCOUNT, {"imagePullSecrets": None}, as_user=USER).message
    assert not api.ask("POST", APPS, kustomization("own", team="a"), as_user=USER).message
    assert not api.ask("DELETE", f"{APPS}/own", as_user=USER).message


def test_neither_other_labels_nor_four_objects_with_its_own_block_the_next_run(unpoliced: Api, fleet: Project) -> None:
    api = unpoliced
    for path in (WEB, ACCOUNT):
        assert not api.ask("PATCH", path, labelled("other"), as_user=USER).message
    names = [f"forged-{number}" for number in range(4)]
    for name in names:
        forged = kustomization(name, **LABELS, **{"tenantry/app": name})
        assert not api.ask("POST", APPS, forged, as_user=USER).message
    try:
        result = up(fleet).ok()
        assert "4 objects with labels of environment 'dev' where the fleet has no such object" in " ".join(
            result.text.split()
        )
        for path in (WEB, ACCOUNT):
            assert api.ask("GET", path).body["metadata"]["labels"]["tenantry/environment"] == "dev"
        assert [name for name in names if api.state(f"{APPS}/{name}") is None] == []
    finally:
        for name in names:
            api.ask("DELETE", f"{APPS}/{name}")


def test_no_label_lets_the_removal_of_an_app_pass(unpoliced: Api, edited: Project) -> None:
    edited.edit("  dev:\n    management: hub-dev", "  dev:\n    protected: true\n    management: hub-dev")
    before = edited.fleet.read_text()
    start, end = before.index("      web:\n        kustomize:"), before.index("  # Deploys new versions of its chart.")
    edited.fleet.write_text(before[:start] + before[end:])
    there = unpoliced.ask("GET", WEB).body["metadata"]["labels"]
    for name, value in (("tenantry/state", "offboarding"), ("tenantry/app", None)):
        assert not unpoliced.ask("PATCH", WEB, labelled(value, name), as_user=USER).message
        run = edited.engine("preflight", "-e", "dev") if name == "tenantry/app" else edited.up()
        assert run.code != 0
        assert "app 'web' of tenant 'rocky' on hub-dev" in " ".join(run.text.split()), run.text
        assert not unpoliced.ask("PATCH", WEB, labelled(there.get(name), name), as_user=USER).message
    assert unpoliced.state(WEB)


def up(project: Project, *options: str) -> Result:
    return project.engine("up", "--environment", "dev", "--yes", "--skip-preview", *options)


SOURCE = '{url: "{git}/movy/manifests.git", ref: {branch: main}}}\n'


def test_a_credential_that_nobody_has_set_holds_its_own_secret_alone_and_one_that_exists_stays(
    hub: Cluster, mended: Project
) -> None:
    mended.edit(SOURCE, SOURCE.replace("}}\n", "}, credentials: git}\n"))
    mended.edit(
        "  movy:\n    role: edit\n", "  movy:\n    role: edit\n    credentials: {git: {keys: [password, username]}}\n"
    )
    mended.edit(WEBS, WEBS.replace("{DOMAIN", "{OTHERS: change, DOMAIN"))
    result = up(mended)
    text = " ".join(result.text.split())
    assert result.code == 1, result.text
    assert "failed: 2 values missing in the stack's secret config: pulumi config set --stack dev --secret" in text
    assert "needs Secret movy/git: 2 values" in text
    assert "pulumi config set --stack dev --secret --path 'tenantry:credentials.movy.git.password'" in text
    assert hub.find("Secret", "movy", "git") is None
    assert others(hub) == "change"
    status = mended.tenantry("status", "--environment", "dev")
    assert "Secret movy/git" in status.text, status.text

    mended.set_secrets("dev", {"credentials.movy.git.password": "one", "credentials.movy.git.username": "two"})
    mended.up("dev").ok()
    before = hub.find("Secret", "movy", "git")
    assert before
    mended.pulumi("config", "rm", "--stack", "dev", "--path", "tenantry:credentials.movy.git.password").ok()
    mended.edit("OTHERS: change", "OTHERS: more")
    result = up(mended, "--", "--refresh")
    assert result.code == 1, result.text
    assert "failed: 1 value missing in the stack's secret config" in " ".join(result.text.split())
    after = hub.find("Secret", "movy", "git")
    assert after
    assert (after["data"], after["metadata"]["uid"]) == (before["data"], before["metadata"]["uid"])
    assert others(hub) == "more"
    assert mended.up().code != 0
    assert hub.find("Secret", "movy", "git")
    mended.pulumi("config", "rm", "--stack", "dev", "tenantry:credentials").ok()


WEBS = "    postBuild: {substitute: {DOMAIN:"


def others(hub: Cluster) -> str:
    """What the rest of the run has changed."""
    web = hub.find("Kustomization", TENANT, "web")
    assert web
    return str(web["spec"]["postBuild"]["substitute"]["OTHERS"])
