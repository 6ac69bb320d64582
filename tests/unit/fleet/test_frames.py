"""An included file fills the frame that the main file gives a tenant, and nothing beyond it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from tenantry.fleet.placement import choice_of
from tenantry.grants.frames import BLOCKS, OVERRIDES, PARTS, SELECTOR
from tenantry.grants.model import GRANTABLE
from tenantry.load import load_fleet, plan_all
from tenantry.messages.errors import InvalidFleet, Problem
from tenantry.messages.text import format_invalid
from tenantry.model import Tenant
from tenantry.model.walk import fields_of
from tests.table import table

MAIN = """\
apiVersion: tenantry/v1
include: [rocky.yaml]
environments:
  dev: {{management: hub, variables: {{cloud: aws, often: 1ms}}}}
  test: {{extends: dev, namespace: "{{env}}-{{tenant}}"}}
clusters:
  hub: {{environments: [dev, test], labels: {{tier: hub}}}}
  edge: {{environments: [dev], labels: {{tier: edge}}, kubeconfig: {{kamaji: {{controlPlane: edge, namespace: kamaji}}}}}}
platform: {{chart: {{helm: {{url: "https://charts.example.com", version: 0.1.0}}}}}}
defaults: {{grants: {{sources: ["https://git.example.com/{{tenant}}/*"]}}}}
tenants:
  rocky: {frame}
"""
SOURCE = "sources: {m: {git: {url: https://git.example.com/rocky/m, ref: {branch: main}}}}"
WEB = "apps: {web: {kustomize: {source: m}}}"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(frame: str, *own: str) -> Path:
    """A fleet whose tenant has a frame and a file of its own, a key on each line from line 3 on."""
    lines = "".join(f"    {each}\n" for each in own)
    Path("rocky.yaml").write_text(f"tenants:\n  rocky:\n{lines}")
    Path("tenants.yaml").write_text(MAIN.format(frame=frame))
    return Path("tenants.yaml")


def problems(frame: str, *own: str) -> list[Problem]:
    with pytest.raises(InvalidFleet) as caught:
        plan_all(load_fleet(write(frame, *own)))
    return list(caught.value.diagnostics)


def placed(frame: str, *own: str, environment: str = "dev") -> dict[str, str]:
    """Why the app is placed on each cluster, or is not."""
    choice = choice_of(load_fleet(write(frame, *own)), environment, ("tenants", "rocky", "apps", "web"))
    return {each.cluster: f"{each.placed}: {each.reason}, {each.origin.location}" for each in choice.decisions}


@pytest.mark.parametrize("key", sorted(fields_of(Tenant).keys() - {*PARTS, SELECTOR, OVERRIDES, *BLOCKS}))
def test_every_other_key_belongs_to_the_platform(key: str) -> None:
    (problem, *_) = problems("{}", f"{key}: null")
    assert (problem.code, str(problem.location)) == ("platforms-setting", "rocky.yaml:3:5")
    assert problem.message == f"'{key}' of tenant 'rocky' belongs to the platform's file"


FRAME = "{clusters: {names: [hub]}, quota: {pods: 5}, grants: {settings: [interval, quota]}}"


@table(
    ("frame", "own", "place", "path"),
    [
        (FRAME, "quota: null", "rocky.yaml:5:5", "quota"),
        (FRAME, "interval:", "rocky.yaml:5:5", "interval"),
        (FRAME, "quota: {pods: null}", "rocky.yaml:5:13", "quota.pods"),
        (FRAME, "overrides: null", "rocky.yaml:5:5", "overrides"),
        (FRAME, "overrides: [{when: {environments: [dev]}, quota: null}]", "rocky.yaml:5:47", "overrides[0].quota"),
        ("{clusters: {names: [hub]}}", "clusters: null", "rocky.yaml:5:5", "clusters"),
        ("{clusters: {names: [hub]}}", "receivers: null", "rocky.yaml:5:5", "receivers"),
        ("{clusters: {names: [hub]}}", "alerts: {a: null}", "rocky.yaml:5:14", "alerts.a"),
        ("{clusters: {names: [hub]}}", "kustomize: {wait: null}", "rocky.yaml:5:17", "kustomize.wait"),
        ("{clusters: {names: [hub]}}", "credentials: {values: ~}", "rocky.yaml:5:19", "credentials.values"),
    ],
)
def test_a_teams_file_takes_no_word_of_the_platform_away(frame: str, own: str, place: str, path: str) -> None:
    with pytest.raises(InvalidFleet) as caught:
        load_fleet(write(frame, SOURCE, WEB, own))
    assert format_invalid(caught.value) == (
        f"{place}: error[no-value]: '{path.split('.')[-1]}' has no value, and a team's file removes nothing outside of the"
        f" 'values' of a chart\n  at tenants.rocky.{path}\n  fix: write a value, or remove the line\nFound 1 error"
    )


@table("level", ["defaults", "template"])
def test_a_quota_stays_that_of_the_platform(level: str) -> None:
    """Of `defaults` and of templates as of the tenant itself: without one, a tenant has no quota."""
    write("{clusters: {names: [hub]}, grants: {settings: [quota]}}", SOURCE, WEB, "quota: null")
    main = Path("tenants.yaml").read_text()
    Path("tenants.yaml").write_text(
        main.replace("defaults: {", "defaults: {quota: {pods: 5}, ")
        if level == "defaults"
        else main.replace("rocky: {", "rocky: {from: small, ") + "templates: {tenants: {small: {quota: {pods: 5}}}}\n"
    )
    with pytest.raises(InvalidFleet) as caught:
        load_fleet(Path("tenants.yaml"))
    assert [(each.code, str(each.location)) for each in caught.value.diagnostics] == [("no-value", "rocky.yaml:5:5")]


@table("key", ["role: view", "labels: {a.com/x: own}", "annotations: {a.com/x: own}", "variables: {a: b}"])
def test_what_no_grant_gives(key: str) -> None:
    every = ", ".join(get_args(GRANTABLE))
    frame = f"{{clusters: {{names: [hub]}}, grants: {{settings: [{every}]}}}}"
    (problem,) = problems(frame, SOURCE, WEB, key)
    assert problem.code == "platforms-setting"
    assert "allow it" not in problem.fix


def test_the_values_of_a_chart_may_be_null_because_they_are_the_authors() -> None:
    own = "apps: {web: {helm: {source: m, chart: ./web, values: {image: null, more: {tag: null}}}}}"
    plan_all(load_fleet(write("{clusters: {names: [hub]}}", SOURCE, own)))


def test_a_granted_setting_replaces_that_of_the_main_file_and_is_traced_to_the_included_one() -> None:
    frame = "{clusters: {names: [hub]}, quota: {pods: 1}, grants: {settings: [quota]}}"
    fleet = load_fleet(write(frame, SOURCE, WEB, "quota: {pods: 7}"))
    assert fleet.document.tenants["rocky"].quota == {"pods": "7"}
    assert str(fleet.source.locate(("tenants", "rocky", "quota", "pods"))) == "rocky.yaml:5:19"


def test_a_chart_interval_is_not_below_the_shortest() -> None:
    frame = "{clusters: {names: [hub]}, grants: {sources: ['*']}}"
    charts = "sources: {c: {helm: {url: https://charts.example.com}}}"
    for interval in ("10s", "'{often}'"):
        app = f"apps: {{web: {{helm: {{source: c, chart: c, version: 1.x, chartInterval: {interval}}}}}}}"
        (problem,) = problems(frame, charts, app)
        assert (problem.code, problem.path[-1]) == ("short-interval", "chartInterval")


def test_clusters_are_chosen_among_those_that_the_main_file_selects() -> None:
    every = "clusters: {all: true}"
    assert placed("{clusters: {labels: {tier: edge}}}", SOURCE, WEB, every) == {
        "hub": "False: it is not granted, tenants.yaml:12:21",
        "edge": "True: all clusters are taken, rocky.yaml:5:21",
    }


def test_all_clusters_are_not_the_management_clusters() -> None:
    assert placed("{clusters: {all: true}}", SOURCE, WEB) == {
        "hub": "False: it is not granted, tenants.yaml:12:21",
        "edge": "True: all clusters are taken, tenants.yaml:12:27",
    }
    granted = placed("{clusters: {all: true}, grants: {clusters: {names: [hub, edge]}}}", SOURCE, WEB)
    assert [each.partition(":")[0] for each in granted.values()] == ["True", "True"]


def test_an_app_of_the_main_file_is_placed_as_the_main_file_says() -> None:
    app = "apps: {web: {clusters: {names: [hub]}, kustomize: {source: m}}}"
    where = placed(f"{{{app}, grants: {{clusters: {{names: [edge]}}}}}}", SOURCE)
    assert where["hub"] == "True: named, tenants.yaml:12:43"


def test_environments_are_granted_by_name_and_by_what_they_extend() -> None:
    frame = "{{clusters: {{names: [hub]}}, grants: {{environments: [{0}]}}}}"
    assert placed(frame.format("dev"), SOURCE, WEB, environment="test")["hub"].startswith("True")
    assert placed(frame.format("test"), SOURCE, WEB)["hub"] == (
        "False: environment dev is not granted, tenants.yaml:12:60"
    )


@pytest.mark.parametrize("own", ["sources: []", "alerts: 5"])
def test_parts_of_the_main_file_are_not_removed_by_values_that_do_not_fit(own: str) -> None:
    frame = f"{{clusters: {{names: [hub]}}, {SOURCE}, {WEB}}}"
    assert "wrong-type" in [each.code for each in problems(frame, own)]


def test_no_other_address_of_an_object_is_free() -> None:
    blobs = "https://sts.example.com/"
    bucket = f"bucket: {{bucketName: b, endpoint: s3.example.com, sts: {{provider: ldap, endpoint: '{blobs}'}}}}"
    alert = (
        "alerts: {a: {provider: {type: generic, address: 'https://h.example.com/a', proxy: 'https://p.example.com'}}}"
    )
    own = (f"sources: {{m: {{{bucket}}}}}", WEB, alert)
    granted = "sources: ['s3://s3.example.com/*'{0}], alerts: ['https://h.example.com/*'{1}], settings: [advanced]"
    frame = f"{{{{clusters: {{{{names: [hub]}}}}, grants: {{{{{granted}}}}}}}}}"
    found = problems(frame.format("", ""), *own)
    assert {(each.code, each.path[-1]) for each in found} == {("not-granted", "endpoint"), ("not-granted", "proxy")}
    assert plan_all(load_fleet(write(frame.format(f", '{blobs}'", ", 'https://p.example.com'"), *own)))


def test_granted_namespaces_leave_those_of_the_main_file_as_they_are() -> None:
    frame = (
        "{clusters: {names: [hub]}, grants: {settings: [namespaces]}, namespaces: {jobs: {podSecurity: restricted}}}"
    )
    (problem,) = problems(frame, SOURCE, WEB, "namespaces: {jobs: {}}")
    assert (problem.code, str(problem.location)) == ("duplicate-entry", "rocky.yaml:5:18")
    both = load_fleet(write(frame, SOURCE, WEB, "namespaces: {more: {}}"))
    assert sorted(both.document.tenants["rocky"].namespaces) == ["jobs", "more"]
