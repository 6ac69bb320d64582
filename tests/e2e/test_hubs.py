"""An environment on two management clusters, with the real engine and controllers: waves, an outage, a cluster that moves.

The tests are one story: each begins where the one before ended.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.clusters import Cluster
from tests.e2e.project import Project, begun, make_fleet
from tests.e2e.test_leaving import state
from tests.faults.parts import API, without

pytestmark = pytest.mark.e2e

HUBS = ("hub-eu", "hub-us")
WITHOUT = "without hub-us: what environment 'dev' has there stays as it is"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    with begun(make_fleet(tmp_path_factory.mktemp("hubs") / "project", "hubs"), "dev") as made:
        yield made


def _paths(project: Project, *hubs: str) -> dict[str, Any]:
    """What `web` applies, by the management cluster that has it."""
    found: dict[str, Any] = {}
    for hub in hubs:
        with closing(Cluster(project.kubeconfig(hub))) as cluster:
            web = cluster.find("Kustomization", "clusters", f"{hub.replace('hub', 'edge')}-world-web")
            found[hub] = web and web["spec"]["path"]
    return found


def _up(project: Project, *options: str) -> Any:
    return project.engine("up", "--environment", "dev", "--yes", "--skip-preview", *options)


def test_the_second_wave_waits_for_the_first_on_the_other_management_cluster(project: Project) -> None:
    told = _up(project).ok()
    assert "wave 1 of 2 (canary): ready after " in told.text
    assert _paths(project, *HUBS) == {"hub-eu": "./v1", "hub-us": "./v1"}


def test_a_wave_that_fails_on_one_does_not_begin_on_the_other(project: Project) -> None:
    project.edit("path: ./v1", "path: ./v9")
    told = _up(project)
    assert told.code == 1
    assert "wave 1 of 2 (canary) in environment 'dev' failed on 1 cluster of 1" in told.text
    assert _paths(project, *HUBS) == {"hub-eu": "./v9", "hub-us": "./v1"}


def test_one_that_does_not_answer_stops_the_run_unless_it_is_left_out(project: Project) -> None:
    project.edit("path: ./v9", "path: ./v2")
    with without(project, "hub-us", API):
        refused = _up(project)
        assert refused.code == 2
        assert "tenantry up --environment dev --without hub-us" in refused.text
        assert _paths(project, "hub-eu") == {"hub-eu": "./v9"}
        assert WITHOUT in _up(project, "--without", "hub-us").ok().text
        assert _paths(project, "hub-eu") == {"hub-eu": "./v2"}
        status = project.tenantry("status", "--environment", "dev")
        assert status.code == 2
        assert "nothing is known of what hub-us has" in status.text
    assert _paths(project, "hub-us") == {"hub-us": "./v1"}
    assert "the last run left out hub-us" in project.tenantry("status", "--environment", "dev").text
    _up(project).ok()
    assert _paths(project, *HUBS) == {"hub-eu": "./v2", "hub-us": "./v2"}


def test_a_cluster_that_changes_its_management_cluster_is_refused(project: Project) -> None:
    project.edit("edge-us: {group: edge, management: hub-us}", "edge-us: {group: edge, management: hub-eu}")
    refused = _up(project)
    assert refused.code == 4
    assert "cluster 'edge-us' would be managed by 'hub-eu', and 'hub-us' has objects for it" in refused.text
    project.edit("edge-us: {group: edge, management: hub-eu}", "edge-us: {group: edge, management: hub-us}")


def test_destroying_it_leaves_nothing_on_either(project: Project) -> None:
    told = project.engine("destroy", "--environment", "dev", "--yes", "--skip-preview").ok()
    assert "no other object of environment 'dev' is left on hub-eu, hub-us" in told.text


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "several-management-clusters.md"
REGIONS = ("eu", "us")


def divided(text: str) -> str:
    """The file with an environment for each management cluster, which take over the namespaces that the last test has left."""
    text = text.replace("  world:\n", "  world:\n    adopt: true\n").replace(
        "{group: edge, management: hub-", "{group: edge, of: "
    )
    start, end = text.index("  dev:\n"), text.index("clusterGroups:")
    host = next(line for line in text[start:end].splitlines() if "variables" in line).strip()
    ones = "".join(f"  dev-{region}: {{management: hub-{region}, {host}}}\n" for region in REGIONS)
    text = f"{text[:start]}{ones}\n{text[end:]}".replace("    environments: [dev]\n", "")
    for region in REGIONS:
        text = text.replace(f"hub-{region}: {{environments: [dev]}}", f"hub-{region}: {{environments: [dev-{region}]}}")
        text = text.replace(f"{{group: edge, of: {region}}}", f"{{group: edge, environments: [dev-{region}]}}")
    return text


def test_two_environments_become_one_without_being_installed_again(project: Project) -> None:
    """As the page says."""
    joined = project.fleet.read_text().replace("  world:\n", "  world:\n    adopt: true\n")
    project.fleet.write_text(divided(project.fleet.read_text()))
    salt = (project.root / "Pulumi.dev.yaml").read_text().splitlines()[-1]
    for region in REGIONS:
        config = f"config: {{tenantry:kubeconfig: .sandbox/hub-{region}/kubeconfig}}\n{salt}\n"
        (project.root / f"Pulumi.dev-{region}.yaml").write_text(config)
        project.deploy(f"dev-{region}")
    with ExitStack() as opened:
        names = [f"{kind}-{region}" for kind in ("hub", "edge") for region in REGIONS]
        clusters = [opened.enter_context(closing(Cluster(project.kubeconfig(name)))) for name in names]
        before, revisions = state(*clusters), [_revision(cluster) for cluster in clusters[:2]]
        label = next(block for block in PAGE.read_text().split("```") if "kubectl --context eu label" in block)
        for region in REGIONS:
            project.pulumi("stack", "rm", f"dev-{region}", "--yes", "--force", "--preserve-config").ok()
            command = label.split("$ ", 1)[1].replace("--context eu", f"--kubeconfig .sandbox/hub-{region}/kubeconfig")
            command = command.replace("prod-eu", f"dev-{region}").replace("=prod\n", "=dev\n")
            subprocess.run(["bash", "-c", command], cwd=project.root, env=project.environment(), check=True)
        project.fleet.write_text(joined)
        for _ in range(2):
            _up(project).ok()
        project.wait("dev")
        after = state(*clusters)
        # Sources and charts have other names. All else is what it was.
        moved = ("GitRepository", "HelmChart", "HelmRepository")
        lost = {name for name, uid in before.items() if after.get(name) != uid and name.split()[1] not in moved}
        assert {name for name in lost if "tenantry-dev-" not in name} == set()
        assert [_revision(cluster) for cluster in clusters[:2]] == [each + 1 for each in revisions]


def _revision(hub: Cluster) -> int:
    """How often the baselines of a management cluster were installed or upgraded: the label of the environment changes them."""
    releases = [each.split()[1].partition("/") for each in hub.fleet_objects() if each.startswith("HelmRelease ")]
    found = [hub.find("HelmRelease", namespace, name) for namespace, _, name in releases]
    return sum(int(each["status"]["history"][0]["version"]) for each in found if each)
