"""The report in its three formats, of a small draft that was made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from tenantry.cli.diff.values import DisplayLimits
from tenantry.cli.importing.markdown import as_markdown
from tenantry.cli.importing.text import as_text
from tenantry.cli.serializer import as_json
from tenantry.importing.model import Became, Draft, Inventory, LeftOver, Read
from tenantry.importing.proof import Defect
from tenantry.importing.report import Report, report_of

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
PARENT = {"kustomize.toolkit.fluxcd.io/name": "tenants", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}


def made(api_version: str, kind: str, name: str, labels: dict[str, str] | None = None, **rest: Any) -> Read:
    metadata = {"name": name, "namespace": "rocky", **({"labels": labels} if labels else {})}
    return Read(
        "dev", {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}, f"{kind.lower()}.yaml:1"
    )


ACCOUNT = made("v1", "ServiceAccount", "rocky", PARENT)
CHARTS = made(
    "source.toolkit.fluxcd.io/v1",
    "HelmRepository",
    "charts",
    spec={"url": "https://charts.example.com", "interval": "10m", "passCredentials": True},
)
WEB = made(
    "helm.toolkit.fluxcd.io/v2",
    "HelmRelease",
    "web",
    spec={
        "interval": "1m",
        "serviceAccountName": "rocky",
        "chart": {
            "spec": {"chart": "web", "version": "1.x", "sourceRef": {"kind": "HelmRepository", "name": "charts"}}
        },
        "values": {"password": "old-Secret-0"},
    },
)
OLD = made("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "old", spec={})
CONFIG = made("v1", "ConfigMap", "it's; rm -rf \x1b[31m", data={})
TENANT = ("tenants", "rocky")


@pytest.fixture(scope="module")
def report() -> Report:
    inventory = Inventory((ACCOUNT, CHARTS, WEB, OLD, CONFIG), {"dev": "hub"})
    left = (
        LeftOver(CHARTS, "a tenant may not say it", "ask the platform team", "spec.passCredentials"),
        LeftOver(OLD, "the app is planned as 'new'", "delete it"),
        LeftOver(CONFIG, "Tenantry does not manage ConfigMaps", "keep it in the tenant's repository"),
    )
    became = (
        Became(ACCOUNT, TENANT),
        Became(CHARTS, (*TENANT, "sources", "charts")),
        Became(WEB, (*TENANT, "apps", "web")),
        Became(OLD, (*TENANT, "apps", "new")),
    )
    draft = Draft(yaml.safe_load(FLEET), became, left)
    return report_of(inventory, draft, FLEET, "tenants.yaml")


EXPECTED = Path(__file__).with_name("expected")


def compare(name: str, text: str, *, update: bool) -> None:
    file = EXPECTED / name
    if update:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text + "\n")
    assert text + "\n" == file.read_text()


def test_the_text_for_a_terminal(report: Report, *, update_golden: bool) -> None:
    text = click.unstyle(as_text(report, DisplayLimits(), 80))
    compare("report.txt", text, update=update_golden)
    assert "Secret-" not in text
    assert "\x1b" not in text


def test_the_markdown(report: Report, *, update_golden: bool) -> None:
    compare("report.md", as_markdown(report), update=update_golden)


def test_the_json_is_the_report(report: Report, *, update_golden: bool) -> None:
    text = as_json(report, "Import")
    compare("report.json", text, update=update_golden)
    assert "Secret-" not in text


def test_every_object_is_counted_once(report: Report) -> None:
    counts = report.counts
    assert counts.read == counts.unchanged + counts.changed + counts.renamed + counts.left == 5
    assert (counts.unchanged, counts.changed, counts.renamed, counts.left) == (2, 1, 1, 1)


def test_what_keeps_its_old_name_is_shown_and_not_deleted(report: Report) -> None:
    secret = made("v1", "Secret", "token")
    namespace = Read("dev", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}}, "old.yaml:1")
    old = (CONFIG, secret, namespace, CHARTS)
    proof = replace(report.proof, missing=old)
    draft = replace(report.draft, became=tuple(Became(each, TENANT) for each in old))
    (found,) = (
        each
        for each in replace(report, draft=draft, proof=proof).steps
        if each.text.startswith("These objects keep their old names")
    )
    assert found.commands == (
        """kubectl get configmap 'it'"'"'s; rm -rf \x1b[31m' --namespace rocky --output yaml""",
        "kubectl describe secret token --namespace rocky",
        "kubectl get configmaps,secrets,persistentvolumeclaims,pods,services --namespace old",
        "kubectl get helmrepository charts --namespace rocky --output yaml",
        "kubectl get kustomizations,helmreleases,helmcharts --all-namespaces --output custom-columns=KIND:.kind,"
        "NAMESPACE:.metadata.namespace,NAME:.metadata.name,SOURCE:.spec.sourceRef.name,"
        "CHART-SOURCE:.spec.chart.spec.sourceRef.name,CHART:.spec.chartRef.name",
    )


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
def test_a_defect_is_told(report: Report, text: str, message: str) -> None:
    with pytest.raises(Defect) as found:
        report_of(report.inventory, replace(report.draft, left_over=()), text, "tenants.yaml")
    assert str(found.value) == message


def test_an_app_that_is_planned_fewer_times_than_it_was_read_is_a_defect(report: Report) -> None:
    twice = replace(report.draft, became=(*report.draft.became, Became(OLD, (*TENANT, "apps", "web"))))
    with pytest.raises(Defect) as found:
        report_of(report.inventory, twice, FLEET, "tenants.yaml")
    assert str(found.value) == "2 objects of environment 'dev' are said to be at tenants.rocky.apps.web, which plans 1"
