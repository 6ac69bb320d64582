"""The command line: data on stdout, messages on stderr, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest
import yaml

from tenantry import __version__
from tenantry.cli import validate as validate_module
from tenantry.cli.app import run
from tests.unit.texts import FRAME, planned, rocky

SOUND = rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}")
BROKEN = SOUND.replace("source: manifests", "source: manifest")
BROKEN_SAYS = (
    "tenants.yaml:15:33: error[unknown-source]: app 'web' of tenant 'rocky' names source 'manifest',"
    " which is not declared\n"
    "    15 |       web: {kustomize: {source: manifest}}\n"
    "       |                                 ^^^^^^^^\n"
    "  at tenants.rocky.apps.web.kustomize.source\n"
    "  declared: charts, manifests (closest: manifests)\n"
    "  fix: write 'manifests', or declare it under 'tenants.rocky.sources:'\n"
    "Found 1 error\n"
)

DOUBTFUL = SOUND.replace("  rocky:\n", "  rocky:\n    variables: {tag: 1.10}\n")
VALID = "tenants.yaml is valid: 2 clusters, 1 tenant; objects: dev 13\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(SOUND)
    Path("broken.yaml").write_text(BROKEN)


def tenantry(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    out, err = capsys.readouterr()
    return code, out, err


Capture = pytest.CaptureFixture[str]


# --- validate ---------------------------------------------------------------------------------------------------


def test_validate_names_the_tenants_that_may_give_cluster_admin(capsys: Capture) -> None:
    text = SOUND.replace("  rocky:\n", "  rocky:\n    clusterAdmin: true\n")
    Path("tenants.yaml").write_text(text)
    assert tenantry(capsys, "validate") == (0, VALID + "1 tenant may give cluster-admin: rocky\n", "")
    assert json.loads(tenantry(capsys, "validate", "--output", "json")[1])["clusterAdmin"] == ["rocky"]
    Path("tenants.yaml").write_text(text + "  movy: {clusterAdmin: true}\n  tina: {}\n")
    out = tenantry(capsys, "validate")[1]
    assert out.splitlines()[1:] == ["2 tenants may give cluster-admin: rocky, movy"]


def test_validate_names_the_tenants_with_rights_on_whole_clusters(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(SOUND.replace("  rocky:\n", "  rocky:\n    clusterRoles: {a: {role: nodes}}\n"))
    assert tenantry(capsys, "validate") == (
        0,
        VALID.replace("13", "14") + "1 tenant has rights on whole clusters: rocky\n",
        "",
    )
    assert json.loads(tenantry(capsys, "validate", "--output", "json")[1])["clusterRoles"] == ["rocky"]


def test_validate_as_json_says_the_same(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(DOUBTFUL)
    code, out, err = tenantry(capsys, "validate", "--output", "json")
    warning = {
        "location": {"file": "tenants.yaml", "line": 10, "column": 22},
        "severity": "warning",
        "code": "number-as-text",
        "message": "'1.10' is a number in YAML, and a program that prints it as text gets 1.1",
        "path": ["tenants", "rocky", "variables", "tag"],
        "notes": [],
        "fix": 'put it in quotes: "1.10"',
    }
    told = {
        "apiVersion": "tenantry/v1",
        "kind": "Validation",
        "valid": True,
        "errors": [],
        "warnings": [warning],
        "objects": {"dev": 13},
        "waves": {},
        "gates": {},
        "clusterAdmin": [],
        "clusterRoles": [],
    }
    assert (0, told, "") == (code, json.loads(out), err)
    assert tenantry(capsys, "validate", "--output", "json", "--strict") == (2, out, "")


# --- render -----------------------------------------------------------------------------------------------------


def test_render_writes_the_manifests_of_the_plan_to_stdout(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "render", "--environment", "dev")
    expected = [dict(object.manifest) for object in planned(SOUND).objects]
    assert (0, expected, "") == (code, list(yaml.safe_load_all(out)), err)


def test_render_can_name_the_objects_or_write_them_as_json(capsys: Capture) -> None:
    objects = planned(SOUND).objects
    assert tenantry(capsys, "render", "-o", "names") == (0, "".join(f"{object.id}\n" for object in objects), "")
    code, out, err = tenantry(capsys, "render", "-o", "json")
    assert (code, json.loads(out)["objects"], err) == (0, [dict(object.manifest) for object in objects], "")


def test_render_into_a_directory_with_other_files_is_refused(capsys: Capture) -> None:
    Path("out/dev").mkdir(parents=True)
    Path("out/dev/mine").write_text("x")
    code, out, err = tenantry(capsys, "render", "-d", "out")
    assert (2, "") == (code, out)
    assert err == (
        "error: out/dev/mine was not written by tenantry; nothing was written to out/dev\n"
        "  fix: name an empty directory\n"
    )


# --- bootstrap --------------------------------------------------------------------------------------------------


POLICY = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]


def test_bootstrap_prints_what_a_cluster_needs(capsys: Capture) -> None:
    code, out, err = tenantry(capsys, "bootstrap", "edge")
    kinds = [each["kind"] for each in yaml.safe_load_all(out)]
    assert (code, kinds, err) == (0, ["Namespace", "ClusterRoleBinding", "ConfigMap", *POLICY * 3], "")


HUB_OF_ANOTHER = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub}
  prod: {management: hub-prod}
clusters:
  hub: {environments: [prod], kubeconfig: {capi: {cluster: hub, namespace: capi}}}
  hub-prod: {environments: [prod]}
"""
"""A hub that manages `dev` without running anything of it, and is a remote of `prod`."""


@pytest.mark.parametrize(
    ("options", "kinds", "user"),
    [
        (
            ["-e", "dev"],
            ["Namespace", "ServiceAccount", "ClusterRoleBinding", "ConfigMap", *POLICY * 5],
            "tenantry-system:tenantry-platform",
        ),
        (["-e", "prod"], ["Namespace", "ClusterRoleBinding", "ConfigMap", *POLICY * 3], "capi:tenantry-platform"),
        ([], ["Namespace", "ClusterRoleBinding", "ConfigMap", *POLICY * 3], "capi:tenantry-platform"),
    ],
)
def test_bootstrap_knows_the_environment_that_a_hub_manages_but_does_not_list(
    capsys: Capture, options: list[str], kinds: list[str], user: str
) -> None:
    Path("tenants.yaml").write_text(HUB_OF_ANOTHER)
    code, out, err = tenantry(capsys, "bootstrap", "hub", *options)
    manifests = list(yaml.safe_load_all(out))
    assert (0, kinds, "") == (code, [each["kind"] for each in manifests], err)
    (binding,) = (each for each in manifests if each["kind"] == "ClusterRoleBinding")
    assert [each["name"] for each in binding["subjects"]] == [f"system:serviceaccount:{user}"]


# --- usage ------------------------------------------------------------------------------------------------------


def test_the_version_is_data(capsys: Capture) -> None:
    assert tenantry(capsys, "--version") == (0, f"tenantry, version {__version__}\n", "")


def test_no_command_shows_the_help_and_is_wrong_usage(capsys: Capture) -> None:
    code, out, err = tenantry(capsys)
    assert (2, True) == (code, "Usage: tenantry" in out + err)


# --- the unexpected ---------------------------------------------------------------------------------------------


def _raise(error: BaseException) -> object:
    def function(*_: object) -> None:
        raise error

    return function


def test_a_bug_of_ours_is_named_as_such_with_exit_code_3(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate_module, "load_fleet", _raise(RuntimeError("oops")))
    expected = (
        "error: internal error (please report): RuntimeError: oops\n"
        "  fix: run it again with TENANTRY_DEBUG=1 and report what it prints\n"
    )
    assert tenantry(capsys, "validate") == (3, "", expected)


def test_a_bug_of_ours_shows_its_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validate_module, "load_fleet", _raise(RuntimeError("oops")))
    monkeypatch.setenv("TENANTRY_DEBUG", "1")
    with pytest.raises(RuntimeError, match="oops"):
        run(["validate"])


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), click.Abort()])
def test_an_interruption_is_exit_code_130(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, interruption: BaseException
) -> None:
    monkeypatch.setattr(validate_module, "load_fleet", _raise(interruption))
    code, out, err = tenantry(capsys, "validate")
    assert (130, "", "error: interrupted") == (code, out, err.strip())


# --- colours ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colours_appear_on_request_only_and_no_color_wins(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CLICOLOR_FORCE", "0")
    assert "\x1b[" not in tenantry(capsys, "-f", "broken.yaml", "validate")[2]
    monkeypatch.setenv(variable, "1")
    coloured = tenantry(capsys, "-f", "broken.yaml", "validate")[2]
    assert "\x1b[1mbroken.yaml:15:33\x1b[0m: \x1b[31m\x1b[1merror[unknown-source]\x1b[0m: app" in coloured
    assert click.unstyle(coloured) == BROKEN_SAYS.replace("tenants.yaml:", "broken.yaml:")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in tenantry(capsys, "-f", "broken.yaml", "validate")[2]


def test_a_dumb_terminal_gets_no_colours(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b[" not in tenantry(capsys, "-f", "nowhere", "validate")[2]


def test_escape_sequences_in_the_file_never_reach_the_terminal(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    Path("tenants.yaml").write_text(FRAME + '"\\e[2Jhidden": 1\n')
    assert "\x1b[2J" not in tenantry(capsys, "validate")[2]


# --- the order of environments ----------------------------------------------------------------------------------

ORDERED = """\
apiVersion: tenantry/v1
environments:
  prod: {management: hub-prod, after: test}
  dev: {management: hub-dev}
  test: {management: hub-test, after: dev}
clusters:
  hub-prod: {environments: [prod]}
  hub-dev: {environments: [dev]}
  hub-test: {environments: [test]}
tenants:
  rocky:
    clusters: {all: true}
    network: open
    sources: {s: {git: {url: https://git.example.com/x, ref: {branch: main}}}}
    apps: {web: {kustomize: {source: s}}}
"""


def test_validate_says_the_waves_of_environments(capsys: Capture) -> None:
    waves = "management: hub, waves: [{names: [hub]}, {all: true}]"
    Path("tenants.yaml").write_text(SOUND.replace("management: hub", waves, 1))
    said = "environment dev changes in 2 waves: 1 cluster (hub), then 1\n"
    assert tenantry(capsys, "validate") == (0, VALID + said, "")
    _, out, _ = tenantry(capsys, "validate", "--output", "json")
    rest = {"leftOut": [], "soak": 0, "tolerate": {"failed": 0, "unreachable": 0, "written": ""}}
    assert json.loads(out)["waves"] == {
        "dev": [
            {"number": 1, "name": "wave 1", "clusters": ["hub"], **rest},
            {"number": 2, "name": "wave 2", "clusters": ["edge"], **rest},
        ]
    }


def test_validate_says_the_gates_of_environments(capsys: Capture) -> None:
    assert ORDERED.count("after: test") == 1
    ordered = ORDERED.replace("after: test", "after: {environment: test, soak: 1h}").replace(", after: dev", "")
    Path("tenants.yaml").write_text(ordered)
    said = "environment prod: changes of apps wait until test runs them and has been ready for 1h\n"
    code, out, err = tenantry(capsys, "validate")
    alone = (
        "environment prod: test has to be ready, whatever version it runs, for rocky/web:"
        " a branch or a range names no version\n"
    )
    assert (code, out.splitlines(keepends=True)[1:], err) == (0, [said, alone], "")
    _, out, _ = tenantry(capsys, "validate", "--output", "json")
    assert json.loads(out)["gates"] == {"prod": {"environment": "test", "soak": "1h"}}
    _, out, _ = tenantry(capsys, "explain", "rocky/web", "-e", "prod")
    assert re.search("\nafter: test +# changes of apps wait until test runs them and .* 1h, ", out)
    _, out, _ = tenantry(capsys, "explain", "rocky/web", "-e", "prod", "--output", "json")
    assert json.loads(out)["gate"][0] == {"environment": "test", "soak": "1h"}


def test_render_writes_environments_in_the_same_order(capsys: Capture) -> None:
    Path("tenants.yaml").write_text(ORDERED)
    _, out, _ = tenantry(capsys, "render")
    environments = [
        each["metadata"]["labels"]["tenantry/environment"] for each in yaml.load_all(out, Loader=yaml.CSafeLoader)
    ]
    assert ["dev"] * 5 + ["test"] * 5 + ["prod"] * 5 == environments
