import hashlib
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tenantry.sandbox.buckets import publish_bucket, serve
from tenantry.sandbox.layout import SandboxError
from tenantry.sandbox.logins import Response

SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=rocky/20000101/us-east-1/s3/aws4_request"}
SPACE = "{http://s3.amazonaws.com/doc/2006-03-01/}"
WEB = b"kind: Deployment\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "buckets" / "apps" / "web"
    folder.mkdir(parents=True)
    (folder / "web.yaml").write_bytes(WEB)
    (folder / "a b.yaml").write_text("kind: Service\n")
    (tmp_path / "buckets" / "apps" / "db.yaml").write_text("kind: StatefulSet\n")
    return tmp_path / "buckets"


@pytest.fixture
def target(source: Path, tmp_path: Path) -> Path:
    publish_bucket(source, tmp_path / "served")
    os.utime(tmp_path / "served" / "apps" / "web" / "web.yaml", (946684800, 946684800))
    return tmp_path / "served"


def code(response: Response) -> tuple[int, str | None]:
    return response.status, ET.fromstring(response.body).findtext("Code")


def keys(response: Response) -> list[str | None]:
    return [each.findtext(f"{SPACE}Key") for each in ET.fromstring(response.body).iter(f"{SPACE}Contents")]


def test_a_bucket_lists_its_objects(target: Path) -> None:
    listed = ET.fromstring(serve(target, "/apps/?list-type=2&prefix=&delimiter=&fetch-owner=true", SIGNED).body)

    assert [listed.findtext(f"{SPACE}{name}") for name in ("Name", "KeyCount", "IsTruncated")] == ["apps", "3", "false"]
    *_, web = listed.iter(f"{SPACE}Contents")
    assert {each.tag.removeprefix(SPACE): each.text for each in web} == {
        "Key": "web/web.yaml",
        "LastModified": "2000-01-01T00:00:00.000Z",
        "ETag": f'"{hashlib.md5(WEB).hexdigest()}"',
        "Size": str(len(WEB)),
        "StorageClass": "STANDARD",
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("list-type=2", ["db.yaml", "web/a b.yaml", "web/web.yaml"]),
        ("list-type=2&prefix=web%2F&encoding-type=url", ["web/a%20b.yaml", "web/web.yaml"]),
        ("list-type=2&prefix=missing", []),
    ],
)
def test_a_list_can_be_narrowed_and_its_keys_encoded(target: Path, query: str, expected: list[str]) -> None:
    assert expected == keys(serve(target, f"/apps/?{query}", SIGNED))


def test_an_object_comes_with_what_tells_a_change(target: Path) -> None:
    response = serve(target, "/apps/web/web.yaml", SIGNED)

    assert (response.status, response.body) == (200, WEB)
    assert response.headers["ETag"] == f'"{hashlib.md5(WEB).hexdigest()}"'
    assert response.headers["Last-Modified"] == "Sat, 01 Jan 2000 00:00:00 GMT"


def test_an_object_s_key_may_be_encoded(target: Path) -> None:
    assert serve(target, "/apps/web/a%20b.yaml", SIGNED).body == b"kind: Service\n"


@pytest.mark.parametrize("path", ["/apps", "/apps/"])
def test_a_bucket_is_there(target: Path, path: str) -> None:
    assert serve(target, path, SIGNED).status == 200


def test_a_bucket_says_where_it_is(target: Path) -> None:
    location = ET.fromstring(serve(target, "/apps/?location=", SIGNED).body)

    assert (location.tag, location.text) == (f"{SPACE}LocationConstraint", None)


@pytest.mark.parametrize("path", ["/apps/", "/apps/?location=", "/apps/web/web.yaml"])
def test_who_does_not_sign_is_refused(target: Path, path: str) -> None:
    assert code(serve(target, path, {})) == (403, "AccessDenied")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", (404, "NoSuchBucket")),
        ("/missing/", (404, "NoSuchBucket")),
        ("/../secret", (404, "NoSuchBucket")),
        ("/apps/missing.yaml", (404, "NoSuchKey")),
        ("/apps/web", (404, "NoSuchKey")),
        ("/apps/../../secret", (404, "NoSuchKey")),
        ("/apps/%2e%2e/%2e%2e/secret", (404, "NoSuchKey")),
        ("/apps/?delimiter=%2F", (501, "NotImplemented")),
    ],
)
def test_nothing_else_is_served(target: Path, tmp_path: Path, path: str, expected: tuple[int, str]) -> None:
    (tmp_path / "secret").write_text("not to be served")

    assert expected == code(serve(target, path, SIGNED))


def test_publishing_unchanged_folders_touches_no_file(source: Path, target: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in target.rglob("*")}

    publish_bucket(source, target)

    assert {path: path.stat().st_mtime_ns for path in target.rglob("*")} == before


def test_what_is_gone_is_withdrawn(source: Path, target: Path) -> None:
    (source / "apps" / "db.yaml").unlink()
    (source / "apps" / "web").rename(source / "apps-2")

    publish_bucket(source, target)

    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*")) == [
        "apps-2",
        "apps-2/a b.yaml",
        "apps-2/web.yaml",
    ]


def test_lone_files_are_passed_over(source: Path, target: Path) -> None:
    (source / "README.md").write_text("about")

    publish_bucket(source, target)

    assert [path.name for path in target.iterdir()] == ["apps"]


@pytest.mark.parametrize("name", ["git", "charts", "ab", "Apps"])
def test_a_name_that_no_bucket_can_have_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "buckets" / name).mkdir(parents=True)
    (tmp_path / "buckets" / name / "web.yaml").write_bytes(WEB)

    with pytest.raises(SandboxError) as refusal:
        publish_bucket(tmp_path / "buckets", tmp_path / "served")

    assert (refusal.value.message, refusal.value.fix) == (
        f"{tmp_path}/buckets/{name}: no bucket can be called '{name}' here",
        "use 3 to 63 small letters, digits, dots and hyphens, and none of charts, git, healthz",
    )
