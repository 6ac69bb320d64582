"""Environments without a management cluster: others extend them, and nothing else can be done with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tenantry.fleet.placement import placements_of
from tenantry.load import load_fleet, plan_all
from tests.table import table
from tests.unit.cli.test_cli import tenantry
from tests.unit.texts import fleet

TEXT = """\
apiVersion: tenantry/v1
environments:
  dev: {management: hub-dev}
  prod: {protected: true, namespace: "{env}-{tenant}", variables: {stage: prod, region: none}, waves: [rest], timeout: 7m}
  prod-eu: {extends: prod, after: dev, management: hub-eu, variables: {region: eu}}
  prod-us: {extends: prod, after: prod-eu, management: hub-us, variables: {region: us}}
clusters:
  hub-dev: {environments: [dev], variables: {stage: dev}}
  hub-eu: {environments: [prod-eu]}
  hub-us: {environments: [prod-us]}
platform: {chart: {helm: {url: "https://charts.example.com", version: 0.1.0}}}
tenants:
  rocky:
    clusters: {all: true}
    overrides: [{when: {environments: [prod]}, quota: {pods: 9}}]
    sources: {manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}
    apps:
      web: {kustomize: {source: manifests, path: "./{stage}"}}
"""
WRITTEN_OUT = TEXT.replace(
    '  prod: {protected: true, namespace: "{env}-{tenant}", variables: {stage: prod, region: none}, waves: [rest], timeout: 7m}\n',
    "",
)
for _region in ("eu", "us"):
    WRITTEN_OUT = WRITTEN_OUT.replace("{extends: prod, ", '{protected: true, namespace: "{env}-{tenant}", ', 1).replace(
        f"variables: {{region: {_region}}}",
        f"variables: {{stage: prod, region: {_region}}}, waves: [rest], timeout: 7m",
    )
WRITTEN_OUT = WRITTEN_OUT.replace("when: {environments: [prod]}", "when: {environments: [prod-eu, prod-us]}")
ADDON = """\
platform:
  addons:
    dns:
      environments: [prod]
      clusters: {all: true}
      source: {helm: {url: https://charts.example.com}}
      helm: {chart: dns, version: 1.0.0}
"""


def test_a_frame_gives_what_is_written_into_each_environment_and_is_none_itself() -> None:
    framed, written = fleet(TEXT), fleet(WRITTEN_OUT)
    assert [*framed.environments] == framed.in_order() == ["dev", "prod-eu", "prod-us"]
    assert framed.environments["prod-eu"].before == "dev"
    plans, expected = plan_all(framed), plan_all(written)
    assert {name: (each.objects, each.rollout) for name, each in plans.items()} == {
        name: (each.objects, each.rollout) for name, each in expected.items()
    }


@table(
    ("before", "after"),
    [
        ("  rocky:\n", "  rocky:\n    environments: [prod]\n"),
        ("      web: {", "      web: {environments: [prod], "),
    ],
    ids=["tenant", "app"],
)
def test_a_list_with_a_frame_means_the_environments_that_extend_it(before: str, after: str) -> None:
    plans = plan_all(fleet(TEXT.replace(before, after, 1)))
    assert {name: [app.full_name for app in each.apps] for name, each in plans.items()} == {
        "dev": [],
        "prod-eu": ["rocky/web"],
        "prod-us": ["rocky/web"],
    }


def test_an_add_on_of_a_frame_is_in_the_environments_that_extend_it() -> None:
    plans = plan_all(fleet(TEXT.replace("platform: {", ADDON + "  ", 1).replace("0.1.0}}}", "0.1.0}}")))
    found = {name: [app.full_name for app in each.apps if not app.tenant] for name, each in plans.items()}
    assert found == {"dev": [], "prod-eu": ["platform/dns"], "prod-us": ["platform/dns"]}


def write(directory: Path, frame: str, own: str) -> Path:
    """The fleet with a file of the tenant's own, which has its source and its app."""
    main = TEXT.replace("apiVersion: tenantry/v1\n", "apiVersion: tenantry/v1\ninclude: [rocky.yaml]\n")
    for cluster in ("hub-dev", "hub-eu", "hub-us"):
        main = main.replace(f"{cluster}: {{", f"{cluster}: {{labels: {{tier: hub}}, ")
    main = main.replace("    clusters: {all: true}\n", f"    clusters: {{labels: {{tier: hub}}}}\n    {frame}\n")
    head, source, _ = main.partition("    sources:")
    (directory / "tenants.yaml").write_text(head)
    (directory / "rocky.yaml").write_text(f"tenants:\n  rocky:\n{source} {SOURCE}\n    apps:\n      {own}\n")
    return directory / "tenants.yaml"


SOURCE = "{manifests: {git: {url: https://git.example.com/rocky, ref: {branch: main}}}}"
GRANTS = "clusters: {labels: {tier: hub}}, sources: ['https://git.example.com/*']"
WEB = "web: {kustomize: {source: manifests}}"


@table("frame", [f"grants: {{environments: [prod], {GRANTS}}}", f"environments: [prod]\n    grants: {{{GRANTS}}}"])
def test_a_team_s_file_has_what_a_frame_is_granted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frame: str) -> None:
    monkeypatch.chdir(tmp_path)
    plans = plan_all(load_fleet(write(tmp_path, frame, WEB)))
    assert [name for name, each in plans.items() if each.apps] == ["prod-eu", "prod-us"]


def test_a_team_s_file_does_not_reach_beyond_its_environment_by_the_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = f"environments: [prod-eu]\n    grants: {{{GRANTS}}}"
    loaded = load_fleet(write(tmp_path, frame, WEB.replace("{kust", "{environments: [prod], kust")))
    assert {*placements_of(loaded, ("tenants", "rocky", "apps", "web"))} == {("prod-eu", "hub-eu")}


@table(
    "command",
    [
        ("render", "--environment", "prod"),
        ("diff", "tenants.yaml", "--environment", "prod"),
        ("diff", "--between", "dev", "prod"),
        ("list", "apps", "--environment", "prod"),
        ("explain", "rocky/web", "--environment", "prod"),
        ("promote", "dev", "prod"),
        ("preflight", "prod"),
        ("status", "prod"),
    ],
    ids=lambda command: command[0],
)
def test_a_frame_is_no_argument_of_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    code, out, err = tenantry(capsys, *command)
    assert (code, out) == (2, "")
    said = "environment 'prod' of tenants.yaml is a frame, and has no stack\n  fix: name one of: prod-eu, prod-us\n"
    assert err.endswith(said), err


def test_a_frame_is_among_no_environments_of_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenants.yaml").write_text(TEXT)
    _, out, _ = tenantry(capsys, "validate", "--output", "json")
    assert [*json.loads(out)["objects"]] == ["dev", "prod-eu", "prod-us"]
    _, out, _ = tenantry(capsys, "diff", "tenants.yaml", "--output", "json")
    assert "prod" not in [each["environment"] for each in json.loads(out)["environments"]]
