"""No output of `diff --manifests` shows a secret, wherever it stands in a manifest or a message."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.processes.test_manifests import APPS, Bench, bench
from tests.unit.texts import rocky

__all__ = ["bench"]

OLD, NEW = "hunter-Old-7x", "hunter-New-9y"
"""Secrets that no form tells."""
FORMS = {"text": (), "all": ("--all",), "markdown": ("--output", "markdown"), "json": ("--output", "json")}
LAST = "kubectl.kubernetes.io/last-applied-configuration"


def container(**content: Any) -> dict[str, Any]:
    return {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"name": "web", **content}]}}}}


PLACES: dict[str, dict[str, Any]] = {
    "data": {"kind": "Secret", "data": {"a": "@@"}},
    "string-data": {"kind": "Secret", "stringData": {"a": "@@"}},
    "annotation": {"kind": "Secret", "metadata": {"annotations": {LAST: '{"stringData": {"a": "@@"}}'}}},
    "config-map": {"kind": "ConfigMap", "data": {"DB_PASSWORD": "@@"}},
    "file": {"kind": "ConfigMap", "data": {"app.ini": "[db]\npassword=@@\nhost=db\n"}},
    "environment": container(env=[{"name": "API_TOKEN", "value": "@@"}]),
    "argument": container(args=["--password", "@@", "--api-token=@@"]),
    "script": container(command=["sh", "-c", "login --password @@ && run"]),
    "address": container(env=[{"name": "URL", "value": "postgres://app:@@@db.example.com/app"}]),
    "parameter": container(args=["https://x.example.com/hook?token=@@"]),
    "custom": {"kind": "Thing", "spec": {"auth": {"clientSecret": "@@"}}},
}


def manifest(place: str, secret: str) -> dict[str, Any]:
    text = json.dumps(PLACES[place]).replace("@@", json.dumps(secret)[1:-1])
    content: dict[str, Any] = json.loads(text)
    metadata = {"name": f"web-{place}", **content.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": content.pop("kind"), "metadata": metadata, **content}


@pytest.mark.parametrize("form", FORMS)
def test_no_form_shows_a_secret_of_a_manifest(bench: Bench, form: str) -> None:
    bench.fleets(rocky(APPS), "./one", "./two")
    nothing = [{**manifest(place, ""), "spec": {}, "data": {}, "stringData": {}} for place in PLACES]
    old, new = ([manifest(place, secret) for place in PLACES] for secret in (OLD, NEW))
    for before, after in ((old, new), (nothing, new), (old, nothing)):
        bench.write("manifests/one/all.txt", yaml.safe_dump_all(before))
        bench.write("manifests/two/all.txt", yaml.safe_dump_all(after))
        _, out, err = bench.diff(*FORMS[form])
        assert not re.search("hunter|Old-7x|New-9y", out + err), out
        assert all(f"web-{place}" in out for place in PLACES) or form in ("text", "markdown")


MESSAGES = {
    "address": f"Error: Get https://ci:{NEW}@charts.example.com/index.yaml: no such host",
    "token": f"Error: https://example.com/?access_token={NEW}: 401",
    "secret": f'Error: no name in {{"kind":"Secret","stringData":{{"a":"{NEW}"}}}}',
    "patch": f'Error: unable to parse patch from "kind: Secret\nstringData:\n  a: {NEW}\n"',
    "value": f"Error: {NEW} is not a number",
}


@pytest.mark.parametrize("case", MESSAGES)
def test_no_form_shows_a_secret_of_a_message(bench: Bench, case: str) -> None:
    patch = f'patches: [{{patch: "kind: ConfigMap\\ndata:\\n  password: {NEW}\\n"}}]'
    fleet = rocky(f"web: {{kustomize: {{source: manifests, path: ./one, {patch}}}}}")
    bench.fleets(fleet, "./one", "./two")
    bench.write("manifests/two/broken", MESSAGES[case])
    for form in (FORMS["text"], FORMS["json"]):
        code, out, err = bench.diff(*form)
        assert code == 1
        assert "kustomize: " in out
        assert not re.search("hunter|New-9y", out + err), out
