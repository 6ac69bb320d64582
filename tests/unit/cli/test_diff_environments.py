"""`tenantry diff --output environments`: what a pipeline previews and deploys, in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.test_cli import Capture, tenantry

FLEET = """\
apiVersion: tenantry/v1
environments:
  prod: {management: hub-prod, after: test}
  lab: {management: hub-lab}
  test: {management: hub-test, after: dev}
  dev: {management: hub-dev}
clusters:
  hub-prod: {environments: [prod]}
  hub-lab: {environments: [lab]}
  hub-test: {environments: [test]}
  hub-dev: {environments: [dev]}
tenants:
  rocky:
    clusters: {all: true}
    sources: {m: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}}
    apps: {web: {kustomize: {source: m, path: ./web}}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    Path("before.yaml").write_text(FLEET)


def touched(capsys: Capture, text: str, *options: str) -> tuple[int, str]:
    Path("tenants.yaml").write_text(text)
    code, out, _ = tenantry(capsys, "diff", "before.yaml", "--output", "environments", *options)
    return code, out


def test_each_environment_comes_after_the_one_it_names(capsys: Capture) -> None:
    assert touched(capsys, FLEET.replace("./web", "./other")) == (1, "dev\ntest\nprod\nlab\n")


def test_only_environments_with_a_difference_are_named(capsys: Capture) -> None:
    other = "    overrides: [{when: {environments: [prod]}, quota: {pods: 5}}, {when: {environments: [test]}, quota: {pods: 4}}]\n"
    assert touched(capsys, FLEET + other) == (1, "test\nprod\n")
    assert touched(capsys, FLEET + other, "--environment", "prod") == (1, "prod\n")


def test_nothing_is_printed_without_a_difference(capsys: Capture) -> None:
    assert touched(capsys, FLEET) == (0, "")


def test_an_environment_that_is_no_longer_declared_is_not_named(capsys: Capture) -> None:
    lines = FLEET.splitlines(keepends=True)
    assert touched(capsys, "".join(line for line in lines if "hub-lab" not in line)) == (1, "")


def test_a_refused_change_names_its_environments_too(capsys: Capture) -> None:
    code, out = touched(capsys, FLEET.partition("tenants:")[0] + "tenants: {}\n")
    assert (code, out) == (4, "dev\ntest\nprod\nlab\n")
