import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.logins import Response
from tenantry.sandbox.registry import publish, serve

from tests.project.sandbox.test_charts import make_chart

Get = Callable[[str], Response]


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    return make_chart(tmp_path / "web", "web", "1.2.3+build.1")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "oci" / "rocky" / "bundle" / "web"
    folder.mkdir(parents=True)
    (folder / "web.yaml").write_text("kind: Deployment\n")
    return tmp_path / "oci"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "served"


@pytest.fixture
def get(chart: Path, source: Path, target: Path) -> Get:
    """A request to a registry that holds a chart and a folder."""
    publish([chart], source, target)
    return lambda path: serve(target, path, {})


def document(response: Response) -> Any:
    return json.loads(response.body)


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def test_a_folder_is_an_artifact_as_flux_pushes_it(get: Get) -> None:
    manifest = document(get("/v2/oci/rocky/bundle/manifests/latest"))

    assert manifest["config"]["mediaType"] == "application/vnd.cncf.flux.config.v1+json"
    assert [layer["mediaType"] for layer in manifest["layers"]] == ["application/vnd.cncf.flux.content.v1.tar+gzip"]
    layer = get(f"/v2/oci/rocky/bundle/blobs/{manifest['layers'][0]['digest']}").body
    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        assert archive.getnames() == ["web/web.yaml"]


def test_a_chart_is_an_artifact_as_helm_pushes_it(get: Get) -> None:
    manifest = document(get("/v2/charts/web/manifests/1.2.3_build.1"))

    assert manifest["config"]["mediaType"] == "application/vnd.cncf.helm.config.v1+json"
    assert [layer["mediaType"] for layer in manifest["layers"]] == [
        "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
    ]
    config = document(get(f"/v2/charts/web/blobs/{manifest['config']['digest']}"))
    layer = get(f"/v2/charts/web/blobs/{manifest['layers'][0]['digest']}").body
    assert config == {"apiVersion": "v2", "name": "web", "version": "1.2.3+build.1", "description": "a test"}
    with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
        assert archive.getnames() == ["web/Chart.yaml", "web/templates/all.yaml"]


def test_what_is_pulled_is_what_its_digest_says(get: Get) -> None:
    by_tag = get("/v2/oci/rocky/bundle/manifests/latest")
    described = document(by_tag)["layers"][0]
    layer = get(f"/v2/oci/rocky/bundle/blobs/{described['digest']}")

    assert by_tag.headers["Content-Type"] == "application/vnd.oci.image.manifest.v1+json"
    assert by_tag.headers["Docker-Content-Digest"] == sha256(by_tag.body)
    assert get(f"/v2/oci/rocky/bundle/manifests/{sha256(by_tag.body)}") == by_tag
    assert (described["digest"], described["size"]) == (sha256(layer.body), len(layer.body))


def test_the_versions_of_a_chart_are_its_tags(chart: Path, source: Path, target: Path, tmp_path: Path) -> None:
    publish([chart, make_chart(tmp_path / "newer", "web", "1.3.0")], source, target)

    expected = {"name": "charts/web", "tags": ["1.2.3_build.1", "1.3.0"]}
    assert expected == document(serve(target, "/v2/charts/web/tags/list?n=1000", {}))


@pytest.mark.parametrize("path", ["/v2", "/v2/"])
def test_it_says_that_it_is_a_registry(get: Get, path: str) -> None:
    assert get(path).status == 200
    assert get(path).headers["Docker-Distribution-API-Version"] == "registry/2.0"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v2/oci/rocky/missing/tags/list", "NAME_UNKNOWN"),
        ("/v2/oci/../tags/list", "NAME_UNKNOWN"),
        ("/v2/oci/rocky/bundle", "NAME_UNKNOWN"),
        ("/v2/oci/rocky/bundle/manifests/1.0.0", "MANIFEST_UNKNOWN"),
        (f"/v2/oci/rocky/bundle/manifests/sha256:{'0' * 64}", "MANIFEST_UNKNOWN"),
        (f"/v2/oci/rocky/bundle/blobs/sha256:{'0' * 64}", "BLOB_UNKNOWN"),
    ],
)
def test_nothing_else_is_found(get: Get, path: str, code: str) -> None:
    response = get(path)

    assert (response.status, document(response)) == (404, {"errors": [{"code": code}]})


def test_publishing_what_is_unchanged_touches_no_file(chart: Path, source: Path, target: Path) -> None:
    publish([chart], source, target)
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}

    publish([chart], source, target)

    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == before


def test_what_is_gone_is_withdrawn(get: Get, source: Path, target: Path) -> None:
    publish([], source, target)

    assert get("/v2/charts/web/tags/list").status == 404
    assert [path.name for path in target.iterdir()] == ["oci"]


def test_nothing_to_publish_is_no_registry(tmp_path: Path, target: Path) -> None:
    publish([], tmp_path / "missing", target)

    assert serve(target, "/v2/charts/web/tags/list", {}).status == 404


def test_a_name_that_registries_do_not_take_is_refused(source: Path, target: Path) -> None:
    (source / "rocky" / "Bundle").mkdir()

    with pytest.raises(SandboxError) as refusal:
        publish([], source, target)

    assert (refusal.value.message, refusal.value.fix) == (
        "'oci/rocky/Bundle' can be no repository of an OCI registry",
        "use small letters, digits, and single dots, hyphens or underscores between them",
    )
