"""What stands below `built` in the corpora of `import` is what kustomize builds."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
import yaml

from tenantry.importing.kustomize import SECONDS, build
from tenantry.messages.errors import Refused
from tests.unit.importing.test_corpora import CORPORA


def test_what_stands_below_built_is_what_kustomize_builds() -> None:
    kustomize = next(([path, *words] for path, words in _programs() if path), None)
    if kustomize is None:
        pytest.skip("no kustomize on this machine")
    for file in sorted(CORPORA.glob("*/built/*.yaml")):
        directory = file.parents[1] / "input" / file.stem.replace("_", "/")
        out = subprocess.run([*kustomize, str(directory)], capture_output=True, check=True).stdout
        assert list(yaml.safe_load_all(out)) == list(yaml.safe_load_all(file.read_text())), file


def test_a_path_is_built_with_all_parts_of_a_kustomization_and_tells_the_file_of_each_object(tmp_path: Path) -> None:
    kustomize = next(((path, *words) for path, words in _programs() if path), None)
    if kustomize is None:
        pytest.skip("no kustomize on this machine")
    # Files beside the directory belong to the source, and so Flux lets kustomize read them.
    files = {
        "base/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: one}\n",
        "shared/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -blue\n",
        "prod/kustomization.yaml": "resources: [../base/config.yaml]\n",
        "plain/deep/account.yaml": "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web}\n",
        ".git/config": "secret",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    patch = {"patch": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {b: two}\n"}
    spec = {"targetNamespace": "harbour", "namePrefix": "x-", "components": ["../shared"], "patches": [patch]}
    built = build(tmp_path, tmp_path / "prod", kustomize, spec)
    origin = {"config.kubernetes.io/origin": "path: ../base/config.yaml\n"}
    assert yaml.safe_load(built) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x-web-blue", "namespace": "harbour", "annotations": origin},
        "data": {"a": "one", "b": "two"},
    }
    # A directory without a kustomization is all that is below it.
    assert yaml.safe_load(build(tmp_path, tmp_path / "plain", kustomize, {}))["metadata"] == {
        "name": "web",
        "annotations": {"config.kubernetes.io/origin": "path: deep/account.yaml\n"},
    }
    assert not (tmp_path / "plain" / "kustomization.yaml").exists()
    for component in ("../../out", "../.git/../../out", "/etc"):
        with pytest.raises(Refused, match="leaves the source"):
            build(tmp_path, tmp_path / "prod", kustomize, {"components": [component]})


_EXEC = """\
apiVersion: example.com/v1
kind: Made
metadata:
  name: made
  annotations: {config.kubernetes.io/function: "exec: {path: ./run.sh}"}
"""
_FETCHES = """\
apiVersion: builtin
kind: ConfigMapGenerator
metadata: {name: made}
files: [a=FROM]
"""
RUNS: dict[str, dict[str, str]] = {
    "must specify --enable-helm": {
        "kustomization.yaml": "helmCharts: [{name: web, repo: 'https://charts.example.com', version: 1.0.0}]\n"
    },
    "external plugins disabled": {"kustomization.yaml": "generators: [made.yaml]\n", "made.yaml": _EXEC},
    "connection refused": {
        "kustomization.yaml": "generators: [made.yaml]\n",
        "made.yaml": _FETCHES.replace("FROM", "http://192.0.2.1/a"),
    },
    "no 'git' program on path": {
        "kustomization.yaml": "resources: [inner]\n",
        "inner/kustomization.yaml": "resources: ['https://github.com/acme/base?ref=main']\n",
    },
}


@pytest.mark.parametrize("refusal", RUNS)
def test_kustomize_runs_and_fetches_nothing(tmp_path: Path, refusal: str) -> None:
    kustomize = next(((path, *words) for path, words in _programs() if path), None)
    if kustomize is None:
        pytest.skip("no kustomize on this machine")
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\n/bin/touch {tmp_path}/ran\n")
    script.chmod(0o755)
    for name, text in RUNS[refusal].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    started = time.monotonic()
    with pytest.raises(Refused, match=refusal):
        build(tmp_path, tmp_path, kustomize, {})
    assert not (tmp_path / "ran").exists()
    assert time.monotonic() - started < SECONDS / 2


def _programs() -> list[tuple[str | None, list[str]]]:
    return [(shutil.which("kustomize"), ["build"]), (shutil.which("kubectl"), ["kustomize"])]
