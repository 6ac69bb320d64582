import os
from pathlib import Path

import pytest

from sandbox import pulumi
from sandbox.errors import SandboxError
from sandbox.layout import Layout


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pulumi, "path_of", lambda name: tmp_path / "tools" / name / name)
    for name in ("pulumi", "pulumi-language-python"):
        program(tmp_path / "tools" / name / name, "exit 0")
    Layout(tmp_path / "sandbox").claim()
    return tmp_path / "sandbox"


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_everything_pulumi_keeps_lies_in_the_sandbox(root: Path) -> None:
    variables = pulumi.environment(root)

    assert variables["PULUMI_HOME"] == str(root / "pulumi")
    assert variables["PULUMI_BACKEND_URL"] == f"file://{root}/state?metadata=skip"
    assert variables["PULUMI_CONFIG_PASSPHRASE"] == ""


def test_an_engine_apart_from_its_language_host_is_put_beside_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    (root / "pulumi" / "plugins" / "resource-kubernetes-v4.25.0").mkdir(parents=True)

    pulumi.prepare_pulumi(root)

    assert {each.name for each in (root / "bin").iterdir()} == {"pulumi", "pulumi-language-python"}
    assert pulumi.environment(root)["PATH"] == f"{root}/bin:/usr/bin"


def test_a_rebuilt_engine_replaces_the_former_one(root: Path, tmp_path: Path) -> None:
    (root / "pulumi" / "plugins" / "resource-kubernetes-v4.25.0").mkdir(parents=True)
    pulumi.prepare_pulumi(root)
    built = tmp_path / "tools" / "pulumi" / "pulumi"
    built.unlink()
    program(built, "echo new")

    pulumi.prepare_pulumi(root)

    assert (root / "bin" / "pulumi").read_text() == "#!/bin/sh\necho new\n"


def test_an_installed_pulumi_on_path_stays_as_it_is(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    monkeypatch.setattr(pulumi, "path_of", lambda name: installed / name)
    own = os.pathsep.join(["/usr/bin", str(installed)])
    monkeypatch.setenv("PATH", own)

    assert pulumi.environment(root)["PATH"] == own


def test_the_plugin_is_installed_once(root: Path, tmp_path: Path) -> None:
    engine = tmp_path / "tools" / "pulumi" / "pulumi"
    program(engine, f'echo "$@" >> {tmp_path}/calls\nmkdir -p "$PULUMI_HOME/plugins/resource-$4-v$5"')

    pulumi.prepare_pulumi(root)
    pulumi.prepare_pulumi(root)

    plugin = tmp_path / "tools" / "pulumi-resource-kubernetes" / "pulumi-resource-kubernetes"
    assert (tmp_path / "calls").read_text() == f"plugin install resource kubernetes 4.25.0 --file {plugin}\n"
    assert (root / "state").is_dir()


def test_what_pulumi_says_against_the_plugin_is_passed_on(root: Path, tmp_path: Path) -> None:
    program(tmp_path / "tools" / "pulumi" / "pulumi", "echo not a plugin >&2\nexit 1")

    with pytest.raises(SandboxError, match="Pulumi did not install its provider: not a plugin"):
        pulumi.prepare_pulumi(root)


def test_without_a_sandbox_there_is_no_environment(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="there is no sandbox"):
        pulumi.environment(tmp_path)
