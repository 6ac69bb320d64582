"""`tenantry stacks`: the list in each format, and the objects for Pulumi's operator."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry

FLEET = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub}
  prod: {management: hub-prod, after: dev}
clusters:
  hub: {environments: [dev]}
  hub-prod: {environments: [prod]}
defaults: {clusters: {all: true}}
tenants: {}
"""
STACKS = {
    "dev": {},
    "files": {"environment": "prod", "target": "directory"},
    "live": {"environment": "prod", "kubeconfig": "hub.kubeconfig"},
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for command in (("init", "-q", "-b", "main"), ("remote", "add", "origin", "https://git.example.com/fleet")):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    directory = tmp_path / "eu"
    directory.mkdir()
    (directory / "tenants.yaml").write_text(FLEET)
    (directory / "Pulumi.yaml").write_text("name: fleet\nruntime: python\n")
    for name, settings in STACKS.items():
        config = {f"tenantry:{key}": value for key, value in settings.items()}
        (directory / f"Pulumi.{name}.yaml").write_text(json.dumps({"config": config}))
    monkeypatch.chdir(directory)
    return directory


def test_the_table(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "stacks")
    shown = "".join(f"{line.rstrip()}\n" for line in out.splitlines())
    assert (code, shown, err) == (
        0,
        """\
NAME   ENVIRONMENT  TARGET         KUBECONFIG
dev    dev          hub
files  prod         rendered/prod
live   prod         hub-prod       hub.kubeconfig
""",
        "",
    )


def test_the_document(capsys: Capture) -> None:
    _, out, _ = tenantry(capsys, "stacks", "--environment", "prod", "-o", "json")
    document = json.loads(out)
    assert ("fleet", ["files", "live"]) == (
        document["project"],
        [each["name"] for each in document["stacks"]],
    )
    assert document["stacks"][1] == {
        "name": "live",
        "environment": "prod",
        "target": "cluster",
        "cluster": "hub-prod",
        "kubeconfig": "hub.kubeconfig",
        "context": None,
        "directory": None,
    }


def test_a_project_without_stacks(capsys: Capture, project: Path) -> None:
    for file in project.glob("Pulumi.*.yaml"):
        file.unlink()
    message = "no stacks: a stack is listed if it has a file, Pulumi.NAME.yaml; pulumi stack init NAME makes one\n"
    assert tenantry(capsys, "stacks") == (0, "", message)


OBJECTS = """\
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: tenantry
  namespace: pulumi-kubernetes-operator
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: pulumi-kubernetes-operator:tenantry:auth-delegator
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:auth-delegator
subjects:
- kind: ServiceAccount
  name: tenantry
  namespace: pulumi-kubernetes-operator
---
apiVersion: pulumi.com/v1
kind: Stack
"""


def test_the_objects_name_the_repository_that_git_knows(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "stacks", "-o", "pulumi-operator")
    assert (0, "no object for stacks that write files: files\n") == (code, err)
    assert out.startswith(OBJECTS)
    assert out.count("kind: Stack\n") == 2
    for line in ("  projectRepo: https://git.example.com/fleet", "  branch: main", "  repoDir: eu"):
        assert f"{line}\n" in out


def test_where_all_stacks_write_files_the_message_says_how_to_change_that(capsys: Capture, project: Path) -> None:
    for name in ("dev", "live"):
        (project / f"Pulumi.{name}.yaml").unlink()
    assert tenantry(capsys, "stacks", "-o", "pulumi-operator") == (
        2,
        "",
        "no object for stacks that write files: files\n"
        "error: no stack runs on a cluster\n"
        "  fix: have one do so: pulumi config set tenantry:target cluster --stack files\n",
    )


def test_a_directory_without_a_clone_is_named(capsys: Capture, project: Path) -> None:
    shutil.rmtree(project.parent / ".git")
    assert tenantry(capsys, "stacks", "-o", "pulumi-operator")[2] == (
        f"error: {project} is not in a Git repository\n"
        "  fix: run it in a clone of the fleet's repository: the objects name its directory\n"
    )


REFUSED = {
    "a password in the backend's address": (
        ("--backend", "postgres://pulumi:s3cret@db/state"),
        "error: --backend holds a password, which the objects would show\n"
        "  fix: put the address into the Secret 'pulumi', as PULUMI_BACKEND_URL, and omit --backend\n",
    ),
    "a token in the repository's address": (
        ("--url", "https://ghp_s3cret@git.example.com/fleet"),
        "error: the address of the Git repository holds a user or a password\n"
        "  fix: name the address without it with --url, and the Secret that holds it with --git-secret\n",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_values_of_secrets_never_get_into_the_objects(capsys: Capture, case: str) -> None:
    options, message = REFUSED[case]
    code, out, err = tenantry(capsys, "stacks", "-o", "pulumi-operator", *options)
    assert (2, "", message) == (code, out, err)
    assert "s3cret" not in err


def test_a_branch_that_git_does_not_tell_has_to_be_named(capsys: Capture, project: Path) -> None:
    (project.parent / ".git" / "HEAD").write_text("0" * 40)
    assert tenantry(capsys, "stacks", "-o", "pulumi-operator")[2] == (
        "error: no branch is checked out\n  fix: name one with --branch, or use --commit\n"
    )
    assert tenantry(capsys, "stacks", "-o", "pulumi-operator", "--commit", "0a1b2c")[0] == 0


def test_several_management_clusters_are_reached_by_contexts_of_one_kubeconfig(capsys: Capture, project: Path) -> None:
    several = FLEET.replace("management: hub-prod", "management: [hub-prod, hub-us]")
    (project / "tenants.yaml").write_text(
        several.replace("  hub-prod:", "  hub-us: {environments: [prod]}\n  hub-prod:")
    )
    objects = ("stacks", "prod", "-o", "pulumi-operator", "--branch", "main")
    for hubs, missing in (
        ({}, "hub-prod"),
        ({"hub-prod": {"context": "eu"}, "hub-us": {"kubeconfig": "us"}}, "hub-us"),
    ):
        (project / "Pulumi.live.yaml").write_text(
            json.dumps({"config": {"tenantry:environment": "prod", "tenantry:hubs": hubs}})
        )
        code, out, err = tenantry(capsys, *objects)
        assert (code, out) == (2, "")
        assert f"stack 'live' does not reach management cluster '{missing}' by a context" in err
        assert f"pulumi config set --stack live --path 'tenantry:hubs.{missing}.context' CONTEXT" in err
    hubs = {"hub-prod": {"context": "eu"}, "hub-us": {"context": "us"}}
    (project / "Pulumi.live.yaml").write_text(
        json.dumps({"config": {"tenantry:environment": "prod", "tenantry:hubs": hubs}})
    )
    assert tenantry(capsys, *objects)[0] == 0
