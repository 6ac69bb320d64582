"""Values that may be secrets: `tenantry import` copies none into tenants.yaml, and no output shows one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.cli.app import run
from tenantry.importing.leaving import first_secret
from tests.table import table

SECRET = "drowned-Herring-7"
COMMIT = "1f3a9c2b7d4e8f60a5b1c3d2e4f6a7b8c9d0e1f2"

SOURCE = """\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web, namespace: shop}
spec: {interval: 1m, url: "https://git.example.com/web%s", ref: {branch: main}}
"""
KUSTOMIZATION = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %s, namespace: shop, annotations: {%s}}
spec:
  interval: 1m
  path: ./web
  prune: true
  targetNamespace: shop
  serviceAccountName: shop
  sourceRef: {kind: GitRepository, name: web}
  %s
"""


BESIDE_APPS = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {toolkit.fluxcd.io/tenant: shop}, annotations: {example.com/password: SECRET}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: shop, namespace: shop, annotations: {example.com/api-key: SECRET}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: web, namespace: shop}
spec: {interval: 1m, url: "https://git.example.com/web", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: other, namespace: shop}
spec:
  interval: 1m
  path: ./web
  prune: true
  targetNamespace: shop
  serviceAccountName: shop
  sourceRef: {kind: GitRepository, name: web}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Provider
metadata: {name: chat2, namespace: shop}
spec: {type: generic, address: "https://chat.example.com/"}
---
apiVersion: notification.toolkit.fluxcd.io/v1beta3
kind: Alert
metadata: {name: chat2, namespace: shop}
spec: {providerRef: {name: chat2}, eventMetadata: {password: SECRET}, eventSources: [{kind: Kustomization, name: other}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota, namespace: shop, annotations: {password: SECRET}}
spec: {hard: {pods: "4"}}
""".replace("SECRET", SECRET)


@pytest.mark.parametrize(
    ("annotations", "spec", "query", "at"),
    [
        ("", f"postBuild: {{substitute: {{DB_PASSWORD: {SECRET}}}}}", "", "spec.postBuild.substitute.DB_PASSWORD"),
        ("", f'patches: [{{patch: "data: {{password: {SECRET}}}"}}]', "", "spec.patches[0].patch"),
        (f"example.com/token: {SECRET}", "wait: true", "", 'metadata.annotations["example.com/token"]'),
        ("", "wait: true", f"?token={SECRET}", "spec.url"),
    ],
)
def test_an_app_with_a_secret_is_left_over(
    annotations: str, spec: str, query: str, at: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.yaml").write_text("---\n".join((SOURCE % query, KUSTOMIZATION % ("web", annotations, spec))))
    code, report = imported(tmp_path, capfd)
    assert code == 2
    (left,) = (each for each in report["objects"] if each["id"]["kind"] == "Kustomization")
    assert left["reasons"][0]["text"].startswith(f"'{at}' ")
    assert left["reasons"][0]["fix"].startswith("put it into a Secret, and name that in ")
    assert not (tmp_path / "tenants.yaml").exists()


def test_an_app_that_waits_for_one_with_a_secret_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    spec = f"postBuild: {{substitute: {{DB_PASSWORD: {SECRET}}}}}"
    apps = (KUSTOMIZATION % ("web", "", spec), KUSTOMIZATION % ("other", "", "dependsOn: [{name: web}]"))
    (tmp_path / "in.yaml").write_text("---\n".join((SOURCE % "", *apps)))
    code, report = imported(tmp_path, capfd)
    assert code == 0
    assert list(yaml.safe_load((tmp_path / "tenants.yaml").read_text())["tenants"]["shop"]["apps"]) == ["other"]
    reasons = [each["text"] for own in report["objects"] if own["id"]["name"] == "other" for each in own["reasons"]]
    assert [text.partition(",")[0] for text in reasons] == ["it waits for shop/web"]


def test_secrets_beside_apps_are_left_over_one_by_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.yaml").write_text(BESIDE_APPS)
    code, report = imported(tmp_path, capfd)
    assert code == 0
    reasons = [(own["id"]["kind"], each) for own in report["objects"] for each in own["reasons"]]
    assert {(kind, each["field"]) for kind, each in reasons if "may be a secret" in each["text"]} == {
        ("Namespace", 'metadata.annotations["example.com/password"]'),
        ("ServiceAccount", 'metadata.annotations["example.com/api-key"]'),
        ("ResourceQuota", "metadata.annotations.password"),
    }
    tenant = yaml.safe_load((tmp_path / "tenants.yaml").read_text())["tenants"]["shop"]
    assert not {"annotations", "serviceAccount", "alerts"} & tenant.keys()


def imported(directory: Path, capfd: pytest.CaptureFixture[str]) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """Import a file in every format of the report; none may show the secret."""
    target, source = directory / "tenants.yaml", f"prod={directory / 'in.yaml'}"
    text = run(["import", "-e", source, "--to", str(directory / "shown.yaml")])
    shown = capfd.readouterr()
    code = run(["import", "-e", source, "--to", str(target), "--output", "json"])
    out, err = capfd.readouterr()
    assert text == code
    for each in (*shown, out, err, target.read_text() if target.exists() else ""):
        assert SECRET not in each
    return code, json.loads(out)


@table(
    ("data", "at"),
    [
        ({"values": {"auth": {"password": "x"}}}, "values.auth.password"),
        ({"values": {"env": [{"name": "API_TOKEN", "value": "x"}]}}, "values.env[0].value"),
        ({"values": {"config": "user: a\npassword: hunter2\n"}}, "values.config"),
        ({"values": {"url": "postgres://user:hunter2@db/x"}}, "values.url"),
        ({"values": {"auth": {"existingSecret": "web", "passwordKey": "pw", "enabled": True, "password": ""}}}, ""),
        ({"values": {"image": {"tag": "1.2.3", "digest": f"sha256:{COMMIT}"}, "commit": COMMIT}}, ""),
        ({"valuesFrom": [{"kind": "Secret", "name": "web", "valuesKey": "values.yaml"}]}, ""),
        ({"decryption": {"provider": "sops", "secretRef": {"name": "sops-age"}}}, ""),
    ],
)
def test_what_may_be_a_secret(data: dict[str, object], at: str) -> None:
    assert first_secret(data) == at
