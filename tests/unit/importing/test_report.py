"""The report in its formats, of a small draft that was made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tenantry.cli.importing import as_text
from tenantry.cli.output import as_json
from tenantry.importing.drafting import Draft
from tenantry.importing.proof import Defect, Report, report_of
from tenantry.importing.resources import Inventory, Resource
from tenantry.messages.errors import Path as PathInFile

FLEET = """\
apiVersion: tenantry/v1
environments: {dev: {management: hub}}
clusters: {hub: {environments: [dev]}}
defaults: {clusters: {all: true}}
tenants:
  rocky:
    adopt: true
    sources:
      charts: {helm: {url: "https://charts.example.com"}}
      manifests: {git: {url: "https://git.example.com/rocky", ref: {branch: main}}}
    apps:
      new: {kustomize: {source: manifests}}
      web: {helm: {source: charts, chart: web, version: 1.x, releaseName: web, values: {password: new-Secret-1}}}
"""
TENANT = ("tenants", "rocky")


def resource(api_version: str, kind: str, name: str, path: PathInFile | None, **rest: Any) -> Resource:
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "rocky"}, **rest}
    made = Resource("dev", manifest, f"{kind.lower()}.yaml:1")
    made.path = path
    return made


def resources() -> list[Resource]:
    repository = {"spec": {"chart": "web", "version": "1.x", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}}
    release = {
        "interval": "1m",
        "serviceAccountName": "rocky",
        "chart": repository,
        "values": {"password": "old-Secret-0"},
    }
    source = {"url": "https://charts.example.com", "interval": "10m", "passCredentials": True}
    account = resource("v1", "ServiceAccount", "rocky", TENANT)
    charts = resource(
        "source.toolkit.fluxcd.io/v1", "HelmRepository", "charts", (*TENANT, "sources", "charts"), spec=source
    )
    web = resource("helm.toolkit.fluxcd.io/v2", "HelmRelease", "web", (*TENANT, "apps", "web"), spec=release)
    old = resource("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "old", (*TENANT, "apps", "new"), spec={})
    config = resource("v1", "ConfigMap", "it's; rm -rf \x1b[31m", None, data={})
    charts.leave("a tenant may not say it", "ask the platform team", "spec.passCredentials")
    old.leave("the app is planned as 'new'", "suspend it")
    config.leave("Tenantry does not manage ConfigMaps", "keep it in the tenant's repository")
    return [account, charts, web, old, config]


def reported(found: list[Resource], text: str = FLEET) -> Report:
    return report_of(Inventory((), {"dev": "hub"}), Draft(yaml.safe_load(FLEET), found), text, "tenants.yaml")


@pytest.fixture(scope="module")
def report() -> Report:
    return reported(resources())


EXPECTED = Path(__file__).with_name("expected")


def compare(name: str, text: str, *, update: bool) -> None:
    file = EXPECTED / name
    if update:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + "\n")
    assert text + "\n" == file.read_text()


def test_the_text(report: Report, *, update_golden: bool) -> None:
    text = click.unstyle(as_text(report))
    compare("report.txt", text, update=update_golden)
    assert "Secret-" not in text
    assert "\x1b" not in text


def test_the_json_is_the_report(report: Report, *, update_golden: bool) -> None:
    text = as_json(report, "Import")
    compare("report.json", text, update=update_golden)
    assert "Secret-" not in text


def test_every_object_is_counted_once(report: Report) -> None:
    counts = report.counts
    assert counts["read"] == sum(counts[each] for each in ("equal", "different", "left", "inexpressible")) == 5
    assert [str(each.outcome) for each in report.objects] == [
        "equal",
        "equal",
        "different",
        "different",
        "inexpressible",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tenants: {}", "the draft is invalid: tenants.yaml:1:1: key 'apiVersion' is missing"),
        (
            FLEET,
            "Kustomization rocky/old (kustomization.yaml:1) is neither planned nor reported; ConfigMap rocky/it's; rm -rf"
            r" \x1b[31m (configmap.yaml:1) is neither planned nor reported",
        ),
    ],
)
def test_a_defect_is_told(text: str, message: str) -> None:
    found = resources()
    for each in found:
        each.reasons.clear()
    with pytest.raises(Defect) as defect:
        reported(found, text)
    assert str(defect.value) == message


def test_an_app_that_is_planned_fewer_times_than_it_was_read_is_a_defect() -> None:
    found = resources()
    found[3].path = (*TENANT, "apps", "web")
    with pytest.raises(Defect) as defect:
        reported(found)
    assert str(defect.value) == "2 objects of environment 'dev' are said to be at tenants.rocky.apps.web, which plans 1"
