"""What is published, and how it is served: charts, artifacts, buckets, logins."""

import hashlib
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from werkzeug.test import Client, TestResponse

from tenantry_sandbox.content import publish
from tenantry_sandbox.layout import Layout, SandboxError
from tenantry_sandbox.server import Content
from tenantry_sandbox.spec import SandboxSpec

SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=rocky/20000101/us-east-1/s3/aws4_request"}
SPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
WEB = b"kind: Deployment\n"
RIGHT, WRONG = ("rocky", "geheim"), ("rocky", "wrong")


class Site:
    """The content directory of a fleet, and a client of what is served of it."""

    def __init__(self, root: Path) -> None:
        self.content, self.root = root / "content", root / "sandbox"
        self.charts: list[Path] = []
        self.layout = Layout(self.root)

    def write(self, path: str, data: bytes = WEB) -> None:
        (self.content / path).parent.mkdir(parents=True, exist_ok=True)
        (self.content / path).write_bytes(data)

    def chart(self, directory: str, version: str) -> None:
        text = f"apiVersion: v2\nname: web\nversion: {version}\ndescription: a test\n"
        self.write(f"charts/{directory}/Chart.yaml", text.encode())
        self.write(f"charts/{directory}/templates/all.yaml", b"kind: ConfigMap\n")
        self.charts.append(self.content / "charts" / directory)

    def publish(self) -> None:
        publish(self.root, SandboxSpec("dev", "hub", (), (), self.content, tuple(self.charts)))

    def get(self, path: str, **options: Any) -> TestResponse:
        return Client(Content(self.layout)).get(path, base_url="http://sandbox.test", **options)

    def files(self) -> dict[Path, int]:
        """Everything that was published, with the time."""
        served = (self.layout.charts, self.layout.registry, self.layout.buckets, self.layout.logins)
        return {path: path.stat().st_mtime_ns for each in served for path in each.rglob("*")}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def names(archive: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        return members.getnames()


class TestCharts:
    def test_the_index_describes_each_archive(self, site: Site) -> None:
        site.chart("web", "1.2.3")
        site.chart("newer", "1.3.0")
        site.publish()

        index = yaml.safe_load(site.get("/charts/index.yaml").data)

        first, second = index["entries"]["web"]
        archive = site.get("/charts/web-1.2.3.tgz").data
        assert first == {
            "apiVersion": "v2",
            "name": "web",
            "version": "1.2.3",
            "description": "a test",
            "created": "2000-01-01T00:00:00Z",
            "digest": hashlib.sha256(archive).hexdigest(),
            "urls": ["web-1.2.3.tgz"],
        }
        assert second["version"] == "1.3.0"
        assert names(archive) == ["web/Chart.yaml", "web/templates/all.yaml"]

    def test_one_that_is_no_longer_there_is_withdrawn(self, site: Site) -> None:
        site.chart("web", "1.2.3")
        site.publish()
        site.charts.clear()
        site.publish()

        assert site.get("/charts/web-1.2.3.tgz").status_code == 404
        assert site.get("/v2/charts/web/tags/list").status_code == 404
        assert yaml.safe_load(site.get("/charts/index.yaml").data)["entries"] == {}


class TestTheRegistry:
    @pytest.fixture
    def site(self, site: Site) -> Site:
        site.chart("web", "1.2.3+build.1")
        site.write("oci/rocky/bundle/web/web.yaml")
        site.publish()
        return site

    def test_a_folder_is_an_artifact_as_flux_pushes_it(self, site: Site) -> None:
        manifest = json.loads(site.get("/v2/oci/rocky/bundle/manifests/latest").data)

        assert manifest["config"]["mediaType"] == "application/vnd.cncf.flux.config.v1+json"
        (layer,) = manifest["layers"]
        assert layer["mediaType"] == "application/vnd.cncf.flux.content.v1.tar+gzip"
        assert names(site.get(f"/v2/oci/rocky/bundle/blobs/{layer['digest']}").data) == ["web/web.yaml"]

    def test_a_chart_is_an_artifact_as_helm_pushes_it(self, site: Site) -> None:
        manifest = json.loads(site.get("/v2/charts/web/manifests/1.2.3_build.1").data)

        assert manifest["config"]["mediaType"] == "application/vnd.cncf.helm.config.v1+json"
        (layer,) = manifest["layers"]
        assert layer["mediaType"] == "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
        config = json.loads(site.get(f"/v2/charts/web/blobs/{manifest['config']['digest']}").data)
        assert config == {"apiVersion": "v2", "name": "web", "version": "1.2.3+build.1", "description": "a test"}
        archive = site.get(f"/v2/charts/web/blobs/{layer['digest']}").data
        assert names(archive) == ["web/Chart.yaml", "web/templates/all.yaml"]

    def test_what_is_pulled_is_what_its_digest_says(self, site: Site) -> None:
        by_tag = site.get("/v2/oci/rocky/bundle/manifests/latest")
        (described,) = json.loads(by_tag.data)["layers"]
        layer = site.get(f"/v2/oci/rocky/bundle/blobs/{described['digest']}").data

        assert by_tag.headers["Content-Type"] == "application/vnd.oci.image.manifest.v1+json"
        assert by_tag.headers["Docker-Content-Digest"] == sha256(by_tag.data)
        assert site.get(f"/v2/oci/rocky/bundle/manifests/{sha256(by_tag.data)}").data == by_tag.data
        assert (described["digest"], described["size"]) == (sha256(layer), len(layer))

    def test_the_versions_of_a_chart_are_its_tags(self, site: Site) -> None:
        site.chart("newer", "1.3.0")
        site.publish()

        tags = json.loads(site.get("/v2/charts/web/tags/list?n=1000").data)
        assert tags == {"name": "charts/web", "tags": ["1.2.3_build.1", "1.3.0"]}

    @pytest.mark.parametrize("path", ["/v2", "/v2/"])
    def test_it_says_that_it_is_a_registry(self, site: Site, path: str) -> None:
        assert site.get(path).status_code == 200

    @pytest.mark.parametrize(
        ("path", "code"),
        [
            ("/v2/oci/../tags/list", "NAME_UNKNOWN"),
            ("/v2/oci/rocky/bundle", "NAME_UNKNOWN"),
            ("/v2/oci/rocky/missing/tags/list", "TAG_UNKNOWN"),
            ("/v2/oci/rocky/bundle/manifests/1.0.0", "MANIFEST_UNKNOWN"),
            (f"/v2/oci/rocky/bundle/manifests/sha256:{'0' * 64}", "MANIFEST_UNKNOWN"),
            (f"/v2/oci/rocky/bundle/blobs/sha256:{'0' * 64}", "BLOB_UNKNOWN"),
        ],
    )
    def test_nothing_else_is_found(self, site: Site, path: str, code: str) -> None:
        answer = site.get(path)
        assert (answer.status_code, json.loads(answer.data)) == (404, {"errors": [{"code": code}]})

    def test_a_name_that_registries_do_not_take_is_refused(self, site: Site) -> None:
        site.write("oci/rocky/Bundle/web.yaml")

        with pytest.raises(SandboxError) as refusal:
            site.publish()

        assert (refusal.value.message, refusal.value.fix) == (
            "'oci/rocky/Bundle' can be no repository of an OCI registry",
            "use small letters, digits, and single dots, hyphens or underscores between them",
        )


class TestBuckets:
    @pytest.fixture
    def site(self, site: Site) -> Site:
        for path in ("web/web.yaml", "web/a b.yaml", "db.yaml"):
            site.write(f"buckets/apps/{path}")
        site.publish()
        return site

    def keys(self, site: Site, query: str = "list-type=2") -> list[str | None]:
        listed = ET.fromstring(site.get(f"/apps/?{query}", headers=SIGNED).data)
        return [each.findtext(f"{SPACE}Key") for each in listed.iter(f"{SPACE}Contents")]

    def test_a_bucket_lists_its_objects(self, site: Site) -> None:
        assert self.keys(site) == ["db.yaml", "web/a b.yaml", "web/web.yaml"]
        assert self.keys(site, "list-type=2&prefix=web%2F&encoding-type=url") == ["web/a%20b.yaml", "web/web.yaml"]

    def test_an_object_comes_with_what_tells_a_change(self, site: Site) -> None:
        answer = site.get("/apps/web/web.yaml", headers=SIGNED)
        digest = hashlib.md5(WEB, usedforsecurity=False).hexdigest()
        assert (answer.status_code, answer.data, answer.headers["ETag"]) == (200, WEB, f'"{digest}"')
        assert site.get("/apps/web/a%20b.yaml", headers=SIGNED).data == WEB

    def test_a_bucket_says_where_it_is(self, site: Site) -> None:
        location = ET.fromstring(site.get("/apps/?location=", headers=SIGNED).data)
        assert location.tag == f"{SPACE}LocationConstraint"

    def test_a_change_is_served_without_another_start(self, site: Site) -> None:
        client = Client(Content(site.layout))

        def keys() -> list[str | None]:
            answer = client.get("/apps/?list-type=2", headers=SIGNED, base_url="http://sandbox.test")
            return [each.findtext(f"{SPACE}Key") for each in ET.fromstring(answer.data).iter(f"{SPACE}Contents")]

        assert "db.yaml" in keys()
        (site.content / "buckets/apps/db.yaml").unlink()
        site.write("buckets/apps/new.yaml")
        site.publish()
        assert keys() == ["new.yaml", "web/a b.yaml", "web/web.yaml"]

    @pytest.mark.parametrize("path", ["/apps/", "/apps/?location=", "/apps/web/web.yaml"])
    def test_who_does_not_sign_is_refused(self, site: Site, path: str) -> None:
        assert site.get(path).status_code == 403

    @pytest.mark.parametrize("method", ["put", "post", "delete"])
    def test_who_writes_is_refused(self, site: Site, method: str) -> None:
        client = Client(Content(site.layout))
        answer = getattr(client, method)("/apps/web/web.yaml", headers=SIGNED, base_url="http://sandbox.test")
        assert answer.status_code == 403

    @pytest.mark.parametrize(
        "path",
        [
            "/",
            "/missing/",
            "/../secret",
            "/apps/missing.yaml",
            "/apps/web",
            "/apps/../../secret",
            "/apps/%2e%2e/secret",
        ],
    )
    def test_nothing_else_is_found(self, site: Site, path: str) -> None:
        (site.root / "secret").write_text("not to be served")
        assert site.get(path, headers=SIGNED).status_code == 404

    def test_lone_files_are_passed_over(self, site: Site) -> None:
        site.write("buckets/README.md")
        site.publish()
        assert [path.name for path in site.layout.buckets.iterdir()] == ["apps"]

    @pytest.mark.parametrize("name", ["git", "charts", "moto-api", "ab", "Apps"])
    def test_a_name_that_no_bucket_can_have_is_refused(self, site: Site, name: str) -> None:
        site.write(f"buckets/{name}/web.yaml")

        with pytest.raises(SandboxError) as refusal:
            site.publish()

        assert (refusal.value.message, refusal.value.fix) == (
            f"{site.content}/buckets/{name}: no bucket can be called '{name}' here",
            "use 3 to 63 small letters, digits, dots and hyphens, and none of charts, git, healthz, moto-api",
        )


REFS = "/git/{owner}/manifests.git/info/refs?service=git-upload-pack"
TAGS = "/v2/oci/{owner}/bundle/tags/list"
each_host = pytest.mark.parametrize("path", [REFS, TAGS], ids=["git", "oci"])


class TestLogins:
    """The folders of two owners, one of whom asks for a login."""

    @pytest.fixture
    def site(self, site: Site) -> Site:
        for owner in ("private", "public"):
            for folder in (f"git/{owner}/manifests", f"oci/{owner}/bundle"):
                site.write(f"{folder}/web.yaml")
        self.log_in(site, b"rocky:geheim\n")
        return site

    def log_in(self, site: Site, login: bytes) -> None:
        for host in ("git", "oci"):
            site.write(f"{host}/private/.login", login)
        site.publish()

    @each_host
    def test_who_logs_in_as_the_owner_says_may_fetch(self, site: Site, path: str) -> None:
        assert site.get(path.format(owner="private"), auth=RIGHT).status_code == 200

    @each_host
    @pytest.mark.parametrize("options", [{}, {"auth": WRONG}, {"headers": {"Authorization": "Bearer geheim"}}])
    def test_who_does_not_is_asked_to(self, site: Site, path: str, options: dict[str, Any]) -> None:
        answer = site.get(path.format(owner="private"), **options)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, 'Basic realm="sandbox"')

    @each_host
    @pytest.mark.parametrize("options", [{}, {"auth": WRONG}])
    def test_other_owners_ask_nobody(self, site: Site, path: str, options: dict[str, Any]) -> None:
        assert site.get(path.format(owner="public"), **options).status_code == 200

    def test_a_registry_asks_at_its_root_where_clients_look_first(self, site: Site) -> None:
        assert site.get("/v2/").headers["WWW-Authenticate"] == 'Basic realm="sandbox"'
        assert site.get("/v2/", auth=RIGHT).status_code == 200

        (site.content / "oci" / "private" / ".login").unlink()
        site.publish()

        assert site.get("/v2/").status_code == 200

    @each_host
    def test_another_login_counts_when_it_is_published(self, site: Site, path: str) -> None:
        self.log_in(site, b"rocky:neu\n")

        assert site.get(path.format(owner="private"), auth=RIGHT).status_code == 401
        assert site.get(path.format(owner="private"), auth=("rocky", "neu")).status_code == 200

    @pytest.mark.parametrize(
        "path", ["/git/private/.login", "/v2/oci/private/.login", "/v2/oci/private/.login/tags/list"]
    )
    def test_nobody_is_served_a_login(self, site: Site, path: str) -> None:
        assert site.get(path, auth=RIGHT).status_code == 404


def test_publishing_what_is_unchanged_touches_no_file(site: Site) -> None:
    site.chart("web", "1.2.3")
    for path in ("oci/rocky/bundle/web.yaml", "buckets/apps/web.yaml", "git/rocky/.login"):
        site.write(path)
    site.publish()
    before = site.files()
    site.publish()
    assert site.files() == before


def test_what_is_gone_is_withdrawn(site: Site) -> None:
    for path in ("oci/rocky/bundle/web.yaml", "buckets/apps/web.yaml", "git/rocky/.login"):
        site.write(path)
    site.publish()
    shutil.rmtree(site.content)
    site.content.mkdir()
    site.publish()
    assert [path.name for path in site.files()] == ["index.yaml"]
