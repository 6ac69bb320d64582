"""The example of the course: TEST and PROD on OPS's cluster CLOUDY, with places of their own for ROCKY and MOVY."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tenantry_sandbox.content import commit
from tests.e2e.clusters import Cluster, cluster_of
from tests.e2e.project import Project, example
from tests.e2e.webhook import signed_push
from tests.forge import forge
from tests.pipeline import OF_A_FLEET, Pipeline
from tests.project.pipelines.repository import commit as commit_change
from tests.project.pipelines.repository import publish, pull_request, push

pytestmark = pytest.mark.e2e

TOKEN = "the-token-of-rockys-webhook"
IMAGES = {
    "test": {"rocky": "registry.example.com/rocky/web:2.2.0-rc.1", "movy": "registry.example.com/movy/web:1.3.0-rc.1"},
    "prod": {"rocky": "registry.example.com/rocky/web:2.1.0", "movy": "registry.example.com/movy/web:1.2.0"},
}
REPLICAS = {
    "test": {"rocky": 1, "movy": 1},
    "prod": {"rocky": 4, "movy": 3},
}
HOSTS = {
    "test": {"rocky": "rocky.test.example.com", "movy": "movy.test.example.com"},
    "prod": {"rocky": "rocky.example.com", "movy": "movy.example.com"},
}
both = pytest.mark.parametrize("cloudy", ["test", "prod"], ids=["in TEST", "in PROD"], indirect=True)
in_test = pytest.mark.parametrize("cloudy", ["test"], ids=["in TEST"], indirect=True)


@dataclass(frozen=True, slots=True)
class Cloudy:
    """One environment, up and ready, and its cluster."""

    project: Project
    environment: str
    cluster: Cluster

    def namespace(self, tenant: str) -> str:
        return f"{tenant}-{self.environment}"


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with example(tmp_path_factory.mktemp("teams") / "project", "teams") as made:
        made.tenantry("validate").ok()
        made.start("test")
        for environment in ("test", "prod"):
            made.make_stack(environment)
            made.set_secrets(environment, {"credentials.rocky.hook.token": TOKEN})
            made.deploy(environment)
        yield made


cluster = cluster_of("teams", "cloudy")


@pytest.fixture
def cloudy(teams: Project, cluster: Cluster, request: pytest.FixtureRequest) -> Cloudy:
    return Cloudy(teams, request.param, cluster)


@both
def test_the_teams_apps_are_ready(cloudy: Cloudy) -> None:
    assert apps(cloudy.project, cloudy.environment) - ADD_ONS == {
        ("rocky", "Kustomization", f"{cloudy.namespace('rocky')}/web", "ready"),
        ("movy", "HelmRelease", f"{cloudy.namespace('movy')}/web", "ready"),
    }


def apps(project: Project, environment: str) -> set[tuple[str | None, str, str, str]]:
    """The apps of an environment with their status."""
    listed = json.loads(project.tenantry("status", "--environment", environment, "--output", "json").ok().out)["apps"]
    return {
        (app["tenant"], app["id"]["kind"], f"{app['id']['namespace']}/{app['id']['name']}", app["status"])
        for app in listed
    }


ADD_ONS = {
    (None, "HelmRelease", "tenantry-system/ingress", "ready"),
    (None, "Kustomization", "tenantry-system/dashboards", "ready"),
}


def test_the_add_ons_of_ops_are_on_the_cluster_once(teams: Project, cluster: Cluster) -> None:
    assert apps(teams, "test") & ADD_ONS == ADD_ONS
    assert apps(teams, "prod") & ADD_ONS == set()
    assert cluster.ready("Deployment", "ingress", "ingress") == 2
    assert cluster.ready("Deployment", "dashboards", "dashboards") == 1


@both
def test_each_environment_runs_what_is_meant_for_it(cloudy: Cloudy) -> None:
    environment, cluster = cloudy.environment, cloudy.cluster
    assert {tenant: image(cloudy, tenant) for tenant in ("rocky", "movy")} == IMAGES[environment]
    assert {
        "rocky": cluster.ready("Deployment", cloudy.namespace("rocky"), "web"),
        "movy": cluster.ready("Deployment", cloudy.namespace("movy"), "web"),
    } == REPLICAS[environment]
    assert {tenant: host(cloudy, tenant) for tenant in ("rocky", "movy")} == HOSTS[environment]


def image(cloudy: Cloudy, tenant: str) -> str | None:
    """What a team's app runs."""
    deployment = cloudy.cluster.find("Deployment", cloudy.namespace(tenant), "web")
    return deployment and image_of(deployment)


def image_of(deployment: dict[str, Any]) -> str:
    return str(deployment["spec"]["template"]["spec"]["containers"][0]["image"])


def wait_image(cloudy: Cloudy, tenant: str, wanted: str) -> None:
    """Return once a team's app runs an image."""
    cloudy.cluster.until(
        "Deployment", cloudy.namespace(tenant), "web", lambda found: image_of(found) == wanted, f"{wanted} to run"
    )


def host(cloudy: Cloudy, tenant: str) -> str | None:
    namespace = cloudy.namespace(tenant)
    ingress = cloudy.cluster.get("networking.k8s.io", "v1", "Ingress", "ingresses", "web", namespace)
    return ingress and str(ingress["spec"]["rules"][0]["host"])


@both
def test_a_team_has_a_quota_and_is_isolated_from_the_other(cloudy: Cloudy) -> None:
    quotas = {tenant: quota(cloudy, tenant) for tenant in ("rocky", "movy")}
    assert quotas == {
        "rocky": {"pods": "10", "requests.cpu": "2", "requests.memory": "4Gi"},
        "movy": {"pods": "20", "requests.cpu": "2", "requests.memory": "4Gi"},
    }
    for tenant in ("rocky", "movy"):
        policy = cloudy.cluster.find("NetworkPolicy", cloudy.namespace(tenant), "tenantry-isolated")
        assert policy
        assert policy["spec"]["podSelector"] == {}
        assert policy["spec"]["policyTypes"] == ["Ingress"]
        assert policy["spec"]["ingress"][0]["from"] == [
            {"podSelector": {}},
            {"namespaceSelector": {"matchExpressions": [OTHER_THAN_A_TENANTS]}},
        ]


OTHER_THAN_A_TENANTS = {"key": "toolkit.fluxcd.io/tenant", "operator": "DoesNotExist"}


def quota(cloudy: Cloudy, tenant: str) -> dict[str, str]:
    return quota_of(cloudy.cluster, cloudy.namespace(tenant))


def quota_of(cluster: Cluster, namespace: str) -> dict[str, str]:
    found = cluster.find("ResourceQuota", namespace, "tenantry")
    assert found
    hard: dict[str, str] = found["spec"]["hard"]
    return hard


def test_a_change_goes_through_the_pipelines_from_its_review_to_every_environment(
    teams: Project, cluster: Cluster, tmp_path: Path
) -> None:
    root = teams.root.parents[1]
    deployed = publish(root, "examples/teams/tenants.yaml")
    commit_change(root, "examples/teams/tenants.yaml", "pods: 20", "pods: 25")
    inputs = {
        "setup": "true",
        "directory": "examples/teams",
    }
    with forge() as server:
        server.succeeded(deployed)
        teams.give()
        variables = teams.environment()
        pipeline = Pipeline(root, server, variables, pull_request(), variables=variables, secrets=variables)
        assert pipeline.call("review", {**inputs, "preview": True}), pipeline.record()
        for environment in ("test", "prod"):
            assert pipeline.steps(f"preview ({environment})")[-2:] == [("preflight", 0), ("preview", 0)]
        assert "movy" in server.bodies()[0]
        assert quota_of(cluster, "movy-prod")["pods"] == "20"
        pipeline.event = push()
        pipeline.variables = {**variables, "TENANTRY_DEPLOY": "true"}
        settings = {"SETUP": "true", "DIRECTORY": "examples/teams"}
        assert pipeline.react(OF_A_FLEET / "deploy.yml", settings), pipeline.record()
    (tmp_path / "record.txt").write_text(pipeline.record())
    jobs = dict.fromkeys(each.job for each in pipeline.ran)
    assert list(jobs) == ["review", "preview (test)", "preview (prod)", "plan", "deploy (test)", "deploy (prod)"]
    assert [quota_of(cluster, f"movy-{each}")["pods"] for each in ("test", "prod")] == ["25", "25"]


def test_rocky_alone_may_manage_volumes(teams: Project) -> None:
    asked = ("sandbox", "run", "--", "kubectl", "auth", "can-i", "create", "persistentvolumes")
    accounts = ("rocky-test:rocky", "rocky-prod:rocky", "movy-test:movy")
    told = [teams.tenantry(*asked, f"--as=system:serviceaccount:{each}").out.strip() for each in accounts]
    assert told == ["yes", "yes", "no"]


@in_test
def test_what_rocky_pushes_is_deployed_without_ops(cloudy: Cloudy) -> None:
    push_app(cloudy, {"k8s/test/kustomization.yaml": kustomization("../base", tag="2.2.0-rc.2")}, "Next candidate")
    pushed = "registry.example.com/rocky/web:2.2.0-rc.2"
    wait_image(cloudy, "rocky", pushed)


def push_app(cloudy: Cloudy, changes: dict[str, str], message: str) -> None:
    """Commit to ROCKY's repository, and call ROCKY's webhook as the Git host does."""
    commit(cloudy.project.sandbox, "rocky/app", changes, message)
    assert signed_push(webhook(cloudy), TOKEN) == 200


def webhook(cloudy: Cloudy) -> str:
    """The URL of ROCKY's receiver."""
    address = cloudy.project.webhooks()
    receiver = cloudy.cluster.find("Receiver", cloudy.namespace("rocky"), "push")
    assert receiver
    return f"{address}{receiver['status']['webhookPath']}"


@in_test
def test_a_call_without_rockys_token_is_refused(cloudy: Cloudy) -> None:
    assert signed_push(webhook(cloudy), "a guess") == 400


def kustomization(*resources: str, tag: str) -> str:
    document = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": resources,
        "images": [{"name": "registry.example.com/rocky/web", "newTag": tag}],
    }
    return json.dumps(document)


@in_test
def test_a_chart_that_movy_publishes_is_deployed_without_ops(cloudy: Cloudy) -> None:
    publish_chart(cloudy, "1.3.0")
    published = "registry.example.com/movy/web:1.3.0"
    wait_image(cloudy, "movy", published)


def publish_chart(cloudy: Cloudy, version: str) -> None:
    """Publish a release of MOVY's chart, and have Flux fetch the index now instead of with its interval."""
    charts = cloudy.project.content / "charts"
    made = charts / f"movy-web-{version}"
    shutil.copytree(charts / "movy-web", made)
    chart = made / "Chart.yaml"
    chart.write_text(chart.read_text().replace("version: 1.2.0", f"version: {version}"))
    cloudy.project.start(cloudy.environment)
    cloudy.cluster.reconcile("HelmRepository", cloudy.namespace("movy"), "charts")
