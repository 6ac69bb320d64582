import os
from pathlib import Path

import pytest

from sandbox import pulumi
from sandbox.errors import SandboxError
from sandbox.layout import Layout


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pulumi, "path_of", lambda name: tmp_path / "tools" / name / name)
    Layout(tmp_path / "sandbox").claim()
    return tmp_path / "sandbox"


def test_everything_pulumi_keeps_lies_in_the_sandbox(root: Path) -> None:
    variables = pulumi.environment(root)

    assert variables["PULUMI_HOME"] == str(root / "pulumi")
    assert variables["PULUMI_BACKEND_URL"] == f"file://{root}/state"
    assert variables["PULUMI_CONFIG_PASSPHRASE"] == ""


def test_the_engine_and_its_language_host_are_found_and_the_provider_is_not(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")

    path = pulumi.environment(root)["PATH"]

    tools = tmp_path / "tools"
    assert path == os.pathsep.join([f"{tools}/pulumi", f"{tools}/pulumi-language-python", "/usr/bin"])


def test_a_path_that_leads_to_the_engine_stays_as_it_is(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    own = os.pathsep.join(["/usr/bin", f"{tools}/pulumi-language-python", f"{tools}/pulumi"])
    monkeypatch.setenv("PATH", own)

    assert pulumi.environment(root)["PATH"] == own


def test_the_plugin_is_installed_once(root: Path, tmp_path: Path) -> None:
    engine = tmp_path / "tools" / "pulumi" / "pulumi"
    engine.parent.mkdir(parents=True)
    engine.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nmkdir -p "$PULUMI_HOME/plugins/resource-$4-v$5"\n')
    engine.chmod(0o755)

    pulumi.prepare_pulumi(root)
    pulumi.prepare_pulumi(root)

    plugin = tmp_path / "tools" / "pulumi-resource-kubernetes" / "pulumi-resource-kubernetes"
    assert (tmp_path / "calls").read_text() == f"plugin install resource kubernetes 4.25.0 --file {plugin}\n"
    assert (root / "state").is_dir()


def test_what_pulumi_says_against_the_plugin_is_passed_on(root: Path, tmp_path: Path) -> None:
    engine = tmp_path / "tools" / "pulumi" / "pulumi"
    engine.parent.mkdir(parents=True)
    engine.write_text("#!/bin/sh\necho not a plugin >&2\nexit 1\n")
    engine.chmod(0o755)

    with pytest.raises(SandboxError, match="Pulumi did not install its provider: not a plugin"):
        pulumi.prepare_pulumi(root)


def test_without_a_sandbox_there_is_no_environment(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="there is no sandbox"):
        pulumi.environment(tmp_path)
