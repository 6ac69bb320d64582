from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tenantry.cluster.connect import select
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
    assert select(file, None).context_name == "hub-dev"
    assert select(file, "hub-prod").context_name == "hub-prod"


@pytest.mark.parametrize("place", ["~/.kube/config", "~/mine"])
def test_no_file_means_the_usual_ones(file: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if place == "~/mine":
        monkeypatch.setenv("KUBECONFIG", place)
    usual = Path(place).expanduser()
    usual.parent.mkdir(exist_ok=True)
    file.rename(usual)
    assert select(None, None).fname == usual


def test_a_file_may_be_given_from_the_home_directory(file: Path) -> None:
    assert select(Path("~/kubeconfig"), None).fname == file


def test_several_usual_files_are_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", f"{file}:{file}")
    assert refusal(None) == "KUBECONFIG names 2 files, but only one is supported"


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
        kubeconfig(contexts=None),
        kubeconfig(clusters={"hub": {}}),
        kubeconfig(users=[{"name": "admin", "user": {"token": [SECRET]}}]),
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


def test_credential_commands_of_the_current_protocol_are_taken(file: Path) -> None:
    command = {"apiVersion": "client.authentication.k8s.io/v1", "command": "get-token"}
    file.write_text(yaml.safe_dump(kubeconfig(users=[{"name": "admin", "user": {"exec": command}}])))
    user = select(file, None).user
    assert user is not None
    assert user.exec is not None
    assert user.exec.apiVersion == "client.authentication.k8s.io/v1beta1"
