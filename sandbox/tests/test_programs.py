"""The commands that the sandbox's user runs: their environment, and the programs that they find on PATH."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from tenantry_sandbox import programs
from tenantry_sandbox.layout import Layout, SandboxError
from tenantry_sandbox.supervisor import State


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the tools are, each in a directory of its own."""
    tools = tmp_path / "tools"
    monkeypatch.setattr(programs, "path_of", lambda name: tools / name / name)
    monkeypatch.setattr(programs, "command_of", lambda name: (str(tools / "controlplane"), name))
    for name in ("pulumi", "pulumi-language-python"):
        program(tools / name / name, "exit 0")
    program(tools / "controlplane", 'echo "${0##*/} $@"')
    return tools


@pytest.fixture
def root(tools: Path) -> Path:
    layout = Layout(tools.parent / "sandbox")
    layout.claim()
    (layout.pulumi_home / "plugins" / "resource-kubernetes-v4.25.0").mkdir(parents=True)
    State(environment="dev", clusters=("hub-dev", "edge-1")).save(layout)
    return layout.root


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_everything_pulumi_keeps_is_in_the_sandbox(root: Path) -> None:
    variables = programs.user_environment(root)

    assert variables["PULUMI_HOME"] == str(root / "pulumi")
    assert variables["PULUMI_BACKEND_URL"] == f"file://{root}/state?metadata=skip"
    assert variables["PULUMI_CONFIG_PASSPHRASE"] == ""


def test_kubectl_talks_to_the_management_cluster_or_to_the_one_that_is_named(root: Path) -> None:
    assert programs.user_environment(root)["KUBECONFIG"] == f"{root}/hub-dev/kubeconfig"
    assert programs.user_environment(root, "edge-1")["KUBECONFIG"] == f"{root}/edge-1/kubeconfig"


def test_an_unknown_cluster_is_refused_with_the_names_there_are(root: Path) -> None:
    with pytest.raises(SandboxError) as refusal:
        programs.user_environment(root, "edge-9")

    assert refusal.value.message == "the sandbox has no cluster 'edge-9'"
    assert refusal.value.fix == "use one of: hub-dev, edge-1"


def test_the_built_kubectl_is_on_path_under_its_name(root: Path) -> None:
    programs.prepare(root)
    programs.prepare(root)

    variables = programs.user_environment(root)
    done = subprocess.run(["kubectl", "get", "pods"], env=variables, capture_output=True, text=True, check=True)
    assert done.stdout == "kubectl get pods\n"


def test_a_sandbox_in_the_sandbox_finds_its_own_kubectl(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs.prepare(root)
    monkeypatch.setattr(programs, "command_of", lambda name: (str(root / "bin" / name),))

    programs.prepare(root)

    assert (root / "bin" / "kubectl").exists()


def test_this_tenantry_is_on_path_also_if_its_environment_is_not_activated(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")

    programs.prepare(root)

    assert (root / "bin" / "tenantry").readlink() == Path(sys.executable).with_name("tenantry")


def test_an_engine_apart_from_its_language_host_is_put_beside_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")

    programs.prepare(root)

    assert {each.name for each in (root / "bin").iterdir()} == {
        "kubectl",
        "pulumi",
        "pulumi-language-python",
        "tenantry",
    }
    assert programs.user_environment(root)["PATH"] == f"{root}/bin:/usr/bin"


def test_pulumi_keeps_no_debug_logs_unless_the_user_wants_them(root: Path) -> None:
    programs.prepare(root)
    logs = root / "pulumi" / "logs"
    assert logs.is_file()

    logs.unlink()
    logs.mkdir()
    programs.prepare(root)
    assert logs.is_dir()


def test_a_rebuilt_engine_replaces_the_former_one(root: Path, tools: Path) -> None:
    programs.prepare(root)
    built = tools / "pulumi" / "pulumi"
    built.unlink()
    program(built, "echo new")

    programs.prepare(root)

    assert (root / "bin" / "pulumi").read_text() == "#!/bin/sh\necho new\n"


class TestThePlugin:
    @pytest.fixture(autouse=True)
    def _not_installed(self, root: Path) -> None:
        (root / "pulumi" / "plugins" / "resource-kubernetes-v4.25.0").rmdir()

    def test_is_installed_once(self, root: Path, tools: Path, tmp_path: Path) -> None:
        engine = tools / "pulumi" / "pulumi"
        program(engine, f'echo "$@" >> {tmp_path}/calls\nmkdir -p "$PULUMI_HOME/plugins/resource-$4-v$5"')

        programs.prepare(root)
        programs.prepare(root)

        plugin = tools / "pulumi-resource-kubernetes" / "pulumi-resource-kubernetes"
        assert (tmp_path / "calls").read_text() == f"plugin install resource kubernetes 4.25.0 --file {plugin}\n"
        assert (root / "state").is_dir()

    def test_that_pulumi_refuses_is_an_error_with_its_words(self, root: Path, tools: Path) -> None:
        program(tools / "pulumi" / "pulumi", "echo not a plugin >&2\nexit 1")

        with pytest.raises(SandboxError, match="Pulumi did not install its provider: not a plugin"):
            programs.prepare(root)


def test_the_provider_is_installed_in_the_version_that_is_built_where_the_program_has_an_environment_of_its_own(
    root: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(programs, "version", missing)
    (root / "pulumi" / "plugins" / "resource-kubernetes-v4.25.0").rmdir()
    program(tools / "pulumi" / "pulumi", f'echo "$@" > {tools}/asked')
    programs.prepare(root)
    plugin = tools / "pulumi-resource-kubernetes" / "pulumi-resource-kubernetes"
    assert (tools / "asked").read_text() == f"plugin install resource kubernetes 4.25.0 --file {plugin}\n"
