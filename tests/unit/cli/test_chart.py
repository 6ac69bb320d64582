"""`tenantry chart`: what is written and what is said, with what to put into tenants.yaml."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tenantry.charts import OBJECTS
from tenantry.charts.package import files_of, package
from tenantry.cli.app import run
from tests.registry import Registry, serving
from tests.unit.texts import CHART, problems, rocky

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_a_copy_says_what_to_write(capsys: Capture) -> None:
    assert run(["chart", "copy"]) == 0
    told = capsys.readouterr()
    assert told.out == "charts/objects: tenantry-objects 0.2.0, 4 files written\n"
    assert told.err == (
        "commit and push it, then write in tenants.yaml:\n"
        "  platform: {chart: {git: {url: ..., ref: {branch: main}, path: charts/objects}}}\n"
    )
    assert files_of(Path("charts/objects")) == files_of(OBJECTS)
    assert run(["chart", "copy", "charts/objects"]) == 0
    assert capsys.readouterr().out == "charts/objects: tenantry-objects 0.2.0, nothing to write\n"


def test_the_archive_is_written_and_its_path_printed(capsys: Capture) -> None:
    assert run(["chart", "package", "--destination", "public/charts", "--version", "1.2.3"]) == 0
    assert capsys.readouterr().out == "public/charts/tenantry-objects-1.2.3.tgz\n"
    assert Path("public/charts/tenantry-objects-1.2.3.tgz").read_bytes() == package(OBJECTS, "1.2.3").archive


def test_what_cannot_be_written_is_refused(capsys: Capture) -> None:
    Path("file").touch()
    assert run(["chart", "package", "--destination", "file/charts"]) == 2
    assert run(["chart", "copy", "file/charts"]) == 2
    assert capsys.readouterr().err == (
        "error: file/charts/tenantry-objects-0.2.0.tgz cannot be written: Not a directory\n"
        "  fix: name another directory with --destination\n"
        "error: file/charts cannot be written: Not a directory\n  fix: name another directory\n"
    )


def test_a_push_prints_the_address_and_what_makes_flux_use_it(capsys: Capture) -> None:
    with serving(Registry()) as registry:
        assert run(["chart", "push", f"oci://{registry.host}/charts/", "--plain-http"]) == 0
    told, (_, manifest) = capsys.readouterr(), registry.manifests["charts/tenantry-objects:0.2.0"]
    digest = hashlib.sha256(manifest).hexdigest()
    assert told.out == f"oci://{registry.host}/charts/tenantry-objects:0.2.0@sha256:{digest}\n"
    lead, written = told.err.splitlines()
    assert lead == "write in tenants.yaml:"
    chart = written.strip().removeprefix("platform: {chart: {").removesuffix("}}")
    assert chart == f'oci: {{url: "oci://{registry.host}/charts/tenantry-objects", ref: {{digest: "sha256:{digest}"}}}}'
    with pytest.raises(AssertionError, match="the fleet is sound"):
        problems(rocky("web: {kustomize: {source: manifests}}", "clusters: {all: true}").replace(CHART, chart))
