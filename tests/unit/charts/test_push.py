"""The chart in a registry: what is pushed there, the logins that are used, and what is said when the registry refuses it."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.charts import OBJECTS
from tenantry.charts.package import package
from tenantry.charts.push import push
from tenantry.messages.errors import Refused
from tests.registry import Registry, digest, serving

CHART = package(OBJECTS)
LOGIN = base64.b64encode(b"robot:pulls").decode()


@pytest.fixture(autouse=True)
def _a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("DOCKER_CONFIG", "XDG_CONFIG_HOME", "HELM_CONFIG_HOME", "HELM_REGISTRY_CONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["", f"Basic {LOGIN}"], ids=["open", "guarded"])
def registry(request: pytest.FixtureRequest) -> Iterator[Registry]:
    with serving(Registry(request.param)) as started:
        yield started


def log_in(file: Path, host: str, login: str = LOGIN) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"auths": {host: {"auth": login}}}))


def test_the_chart_is_pushed_as_helm_pushes_it(registry: Registry, tmp_path: Path) -> None:
    log_in(tmp_path / ".docker" / "config.json", registry.host)
    address, known = push(CHART, f"oci://{registry.host}/team/charts/", plain_http=True)
    assert address == f"oci://{registry.host}/team/charts/tenantry-objects:0.2.0"
    media_type, text = registry.manifests["team/charts/tenantry-objects:0.2.0"]
    assert (media_type, known) == ("application/vnd.oci.image.manifest.v1+json", digest(text))
    manifest = json.loads(text)
    (layer,) = manifest["layers"]
    assert manifest["config"]["mediaType"] == "application/vnd.cncf.helm.config.v1+json"
    assert json.loads(registry.blobs[manifest["config"]["digest"]]) == CHART.metadata
    assert layer["mediaType"] == "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
    assert registry.blobs[layer["digest"]] == CHART.archive
    assert push(CHART, f"oci://{registry.host}/team/charts", plain_http=True) == (address, known)


@pytest.mark.parametrize(
    ("variable", "value", "file"),
    [
        ("DOCKER_CONFIG", "docker", "docker/config.json"),
        ("HELM_REGISTRY_CONFIG", "logins.json", "logins.json"),
        ("HELM_CONFIG_HOME", "helm", "helm/registry/config.json"),
        ("XDG_CONFIG_HOME", "config", "config/helm/registry/config.json"),
        ("IRRELEVANT", "", ".config/helm/registry/config.json"),
    ],
)
def test_logins_are_read_where_docker_and_helm_write_them(
    variable: str, value: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / value))
    with serving(Registry(f"Basic {LOGIN}")) as guarded:
        log_in(tmp_path / file, guarded.host)
        push(CHART, f"oci://{guarded.host}/charts", plain_http=True)
        assert "charts/tenantry-objects:0.2.0" in guarded.manifests


@pytest.mark.parametrize(("login", "said"), [("", "asks for a login"), ("eDp5", "does not let this login push")])
def test_without_the_right_login_the_registry_refuses(login: str, said: str, tmp_path: Path) -> None:
    with serving(Registry(f"Basic {LOGIN}")) as guarded:
        if login:
            log_in(tmp_path / ".docker" / "config.json", guarded.host, login)
        with pytest.raises(Refused) as refused:
            push(CHART, f"oci://{guarded.host}/charts", plain_http=True)
        host = guarded.host
    fix = f"log in with `docker login {host}` or `helm registry login {host}`, as a user who may push there"
    assert str(refused.value) == f"{host} {said}\n  fix: {fix}"


def test_a_registry_without_tls_needs_the_option() -> None:
    with serving(Registry()) as plain, pytest.raises(Refused, match="--plain-http if it speaks HTTP"):
        push(CHART, f"oci://{plain.host}/charts")


def test_a_host_that_does_not_answer_is_named_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Refused, match=f"127.0.0.1:{port} does not answer"):
        push(CHART, f"oci://127.0.0.1:{port}/charts", plain_http=True)


@pytest.mark.parametrize(
    "url",
    ["registry.example.com/charts", "oci://registry.example.com", "oci://h/Charts", "oci://h/c:1", "oci://u:p@h/c"],
)
def test_what_is_no_address_of_a_registry_is_refused(url: str) -> None:
    with pytest.raises(Refused, match="is not the address of a registry"):
        push(CHART, url)
