import base64
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from tenantry.sandbox import registry, repositories
from tenantry.sandbox.logins import Response

REFS = "/git/{owner}/manifests.git/info/refs?service=git-upload-pack"
TAGS = "/v2/oci/{owner}/bundle/tags/list"


def login(text: str) -> dict[str, str]:
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


RIGHT = login("rocky:geheim")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of two owners, one of whom asks for a login, and what is served of them. Making them takes many runs of git."""
    directory = tmp_path_factory.mktemp("logins")
    for owner in ("private", "public"):
        for folder in (f"git/{owner}/manifests", f"oci/{owner}/bundle"):
            (directory / "source" / folder).mkdir(parents=True)
            (directory / "source" / folder / "web.yaml").write_text("kind: Deployment\n")
    for host in ("git", "oci"):
        (directory / "source" / host / "private" / ".login").write_text("rocky:geheim\n")
    publish(directory / "source", directory / "served")
    return directory


@pytest.fixture
def source(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original / "source", tmp_path / "source"))


@pytest.fixture
def served(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original / "served", tmp_path / "served"))


def publish(source: Path, target: Path) -> None:
    repositories.publish(source / "git", target / "git")
    registry.publish([], source / "oci", target / "registry")


def get(served: Path, path: str, headers: Mapping[str, str]) -> Response:
    if path.startswith("/git/"):
        return repositories.serve(served / "git", "GET", path, headers, b"")
    return registry.serve(served / "registry", path, headers)


each_host = pytest.mark.parametrize("path", [REFS, TAGS], ids=["git", "oci"])


@each_host
def test_who_logs_in_as_the_owner_says_may_fetch(served: Path, path: str) -> None:
    assert get(served, path.format(owner="private"), RIGHT).status == 200


@each_host
@pytest.mark.parametrize("headers", [{}, login("rocky:wrong"), {"Authorization": "Bearer geheim"}])
def test_who_does_not_is_asked_to(served: Path, path: str, headers: dict[str, str]) -> None:
    response = get(served, path.format(owner="private"), headers)

    assert (response.status, response.headers["WWW-Authenticate"]) == (401, 'Basic realm="sandbox"')


@each_host
@pytest.mark.parametrize("headers", [{}, login("rocky:wrong")])
def test_other_owners_ask_nobody(served: Path, path: str, headers: dict[str, str]) -> None:
    assert get(served, path.format(owner="public"), headers).status == 200


def test_a_registry_asks_at_its_root_where_clients_look_first(source: Path, served: Path) -> None:
    assert get(served, "/v2/", {}).headers["WWW-Authenticate"] == 'Basic realm="sandbox"'
    assert get(served, "/v2/", RIGHT).status == 200

    (source / "oci" / "private" / ".login").unlink()
    publish(source, served)

    assert get(served, "/v2/", {}).status == 200


@each_host
def test_another_login_counts_when_it_is_published(source: Path, served: Path, path: str) -> None:
    for host in ("git", "oci"):
        (source / host / "private" / ".login").write_text("rocky:neu\n")
    publish(source, served)

    assert get(served, path.format(owner="private"), RIGHT).status == 401
    assert get(served, path.format(owner="private"), login("rocky:neu")).status == 200


@each_host
def test_a_login_that_is_gone_is_no_longer_asked_for(source: Path, served: Path, path: str) -> None:
    for host in ("git", "oci"):
        (source / host / "private" / ".login").unlink()
    publish(source, served)

    assert get(served, path.format(owner="private"), {}).status == 200


@pytest.mark.parametrize("path", ["/git/private/.login", "/v2/oci/private/.login/tags/list"])
def test_nobody_is_served_a_login(served: Path, path: str) -> None:
    assert get(served, path, RIGHT).status == 404
