from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.cluster.kubeconfig import PROTOCOLS, select
from tenantry.messages.errors import Refused

SECRET = "c2VjcmV0"


def kubeconfig(**changes: Any) -> dict[str, Any]:
    contexts = {"hub-dev": {"cluster": "hub", "user": "admin"}, "hub-prod": {"cluster": "hub", "user": "admin"}}
    return {
        "current-context": "hub-dev",
        "clusters": [{"name": "hub", "cluster": {"server": "https://hub.example.com"}}],
        "users": [{"name": "admin", "user": {"token": SECRET}}],
        "contexts": [{"name": name, "context": context} for name, context in contexts.items()],
        **changes,
    }


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(kubeconfig()))
    return path


def refusal(file: Path | None, context: str | None = None) -> str:
    with pytest.raises(Refused) as refused:
        select(file, context)
    assert SECRET not in str(refused.value)
    assert refused.value.fix
    assert "\n" not in refused.value.message
    return refused.value.message


def test_the_current_context_is_taken_unless_another_is_named(file: Path) -> None:
    assert select(file, None).name == "hub-dev"
    assert select(file, "hub-prod").name == "hub-prod"


@pytest.mark.parametrize("place", ["~/.kube/config", "~/mine"])
def test_no_file_means_the_usual_ones(file: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if place == "~/mine":
        monkeypatch.setenv("KUBECONFIG", place)
    usual = Path(place).expanduser()
    usual.parent.mkdir(exist_ok=True)
    file.rename(usual)
    assert select(None, None).file == usual


def test_a_file_may_be_given_from_the_home_directory(file: Path) -> None:
    assert select(Path("~/kubeconfig"), None).file == file


def test_of_several_files_the_first_with_an_entry_counts(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    more = file.with_name("more")
    more.mkdir()
    other = kubeconfig(
        **{"current-context": "edge"},
        clusters=[{"name": "hub", "cluster": {"server": "https://other.example.com"}}],
        users=[{"name": "edge", "user": {"tokenFile": "token"}}],
        contexts=[{"name": "edge", "context": {"cluster": "hub", "user": "edge"}}],
    )
    (more / "config").write_text(yaml.safe_dump(other))
    (more / "token").write_text("of-a-file\n")
    monkeypatch.setenv("KUBECONFIG", f"{file}:{file.with_name('missing')}::{more / 'config'}:{file}")
    current, edge = select(None, None), select(None, "edge")
    assert (current.name, current.token, current.file) == ("hub-dev", SECRET, None)
    assert (edge.cluster.server, edge.token) == ("https://hub.example.com", "of-a-file")


@pytest.mark.parametrize(
    ("user", "problem"),
    [
        ({"auth-provider": {"name": "gcp"}}, "names an 'auth-provider', which kubectl 1.26 and later do not know"),
        ({"token": SECRET, "username": "admin"}, "has a token and a user name: only one of them is allowed"),
        ({"client-certificate-data": SECRET}, "has a client certificate without its key"),
        ({"token": SECRET, "as-groups": ["a"]}, "impersonates groups, a uid or extra values, but no user"),
        (
            {"exec": {"apiVersion": PROTOCOLS[0], "command": "a"}},
            "needs an 'interactiveMode' of its plugin",
        ),
        (
            {"client-certificate": "a", "client-certificate-data": "a", "client-key": "b"},
            "has 'client-certificate' and",
        ),
    ],
)
def test_a_user_that_kubectl_refuses_is_refused(file: Path, user: dict[str, Any], problem: str) -> None:
    file.write_text(yaml.safe_dump(kubeconfig(users=[{"name": "admin", "user": user}])))
    assert f"the user of context 'hub-dev' of kubeconfig {file} {problem}" in refusal(file)


def test_a_server_is_verified_or_not(file: Path) -> None:
    cluster = {"server": "https://a", "insecure-skip-tls-verify": True, "certificate-authority-data": SECRET}
    file.write_text(yaml.safe_dump(kubeconfig(clusters=[{"name": "hub", "cluster": cluster}])))
    assert "has a certificate authority and 'insecure-skip-tls-verify'" in refusal(file)


def test_a_file_that_is_not_there_is_named(file: Path) -> None:
    file.unlink()
    assert refusal(file) == f"kubeconfig {file} cannot be read: No such file or directory"


@pytest.mark.parametrize("content", [f"users: [{SECRET}".encode(), b"\xff\xfe"], ids=["syntax", "binary"])
def test_a_file_that_is_no_yaml_is_not_quoted(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert refusal(file) == f"kubeconfig {file} is not YAML"


@pytest.mark.parametrize(
    "content",
    [
        None,
        [SECRET],
        SECRET,
        {"apiVersion": "tenantry/v1"},
        kubeconfig(contexts={"hub": {}}),
        kubeconfig(clusters={"hub": {}}),
    ],
)
def test_yaml_that_is_no_kubeconfig_is_refused(file: Path, content: Any) -> None:
    file.write_text(yaml.safe_dump(content))
    assert refusal(file) == f"{file} is YAML, but not a kubeconfig"


def test_an_unknown_context_is_refused_with_those_there_are_closest_first(file: Path) -> None:
    assert refusal(file, "hub-prd") == f"kubeconfig {file} has no context 'hub-prd' (contexts: hub-prod, hub-dev)"


def test_without_a_current_context_one_has_to_be_named(file: Path) -> None:
    file.write_text(yaml.safe_dump(kubeconfig(**{"current-context": ""})))
    assert refusal(file) == f"kubeconfig {file} has no current context (contexts: hub-dev, hub-prod)"


@pytest.mark.parametrize("lacking", ["clusters", "users"])
def test_a_context_without_its_cluster_or_user_is_refused(file: Path, lacking: str) -> None:
    file.write_text(yaml.safe_dump(kubeconfig(**{lacking: []})))
    assert refusal(file) == f"context 'hub-dev' of kubeconfig {file} lacks its cluster or its user"


def test_a_context_that_names_no_user_is_refused(file: Path) -> None:
    file.write_text(yaml.safe_dump(kubeconfig(contexts=[{"name": "hub-dev", "context": {"cluster": "hub"}}])))
    assert refusal(file) == f"context 'hub-dev' of kubeconfig {file} lacks its cluster or its user"


def test_a_value_of_a_wrong_type_is_named_and_not_shown(file: Path) -> None:
    file.write_text(yaml.safe_dump(kubeconfig(users=[{"name": "admin", "user": {"token": [SECRET]}}])))
    assert refusal(file) == f"kubeconfig {file} has a value of a wrong type at 'token'"
