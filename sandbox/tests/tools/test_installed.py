"""Installed programs of Kubernetes that are used instead of the built control plane."""

from __future__ import annotations

from pathlib import Path

import pytest
from tenantry.tools import installed, locate
from tenantry.tools.catalog import module_of
from tenantry.tools.errors import ToolMissing
from tenantry.tools.installed import KUBERNETES

from tests.project.tools.machine import Machine


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """What $KUBEBUILDER_ASSETS names: a directory that `install_kubernetes` fills."""
    machine = Machine(tmp_path / "envtest")
    machine.programs.mkdir(parents=True)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine.programs))
    return machine


@pytest.mark.parametrize("name", KUBERNETES)
def test_a_program_comes_from_the_built_control_plane(machine: Machine, name: str) -> None:
    controlplane = machine.put("controlplane") / "controlplane"

    assert locate.command_of(name) == (str(controlplane), name)


def test_any_other_tool_is_started_by_its_path(machine: Machine) -> None:
    kwok = machine.put("kwok") / "kwok"

    assert locate.command_of("kwok") == (str(kwok),)


def test_without_either_it_is_missing(machine: Machine) -> None:
    machine.install_kubernetes("etcd", version="3.6.4")

    with pytest.raises(ToolMissing, match="there is no 'controlplane' of this version"):
        locate.command_of("kubectl")
    assert locate.command_of("etcd") == (f"{machine.programs}/etcd",)


def test_an_installed_one_goes_first(machine: Machine) -> None:
    machine.put("controlplane")
    machine.install_kubernetes("kube-apiserver")

    assert locate.command_of("kube-apiserver") == (f"{machine.programs}/kube-apiserver",)


def test_the_assets_go_before_path(machine: Machine, assets: Machine) -> None:
    for each in (machine, assets):
        each.install_kubernetes("kubectl")

    assert locate.command_of("kubectl") == (f"{assets.programs}/kubectl",)


def test_a_version_on_path_that_fits_goes_before_one_in_the_assets_that_does_not(
    machine: Machine, assets: Machine
) -> None:
    assets.install_kubernetes("kubectl", version="1.31.0")
    machine.install_kubernetes("kubectl")

    assert locate.command_of("kubectl") == (f"{machine.programs}/kubectl",)


@pytest.mark.parametrize(
    ("name", "fitting", "unfit"),
    [
        ("etcd", ["3.6.0", "3.7.1", "3.10.0"], ["3.5.21", ""]),
        ("kube-apiserver", ["1.36.0", "1.36.9"], ["1.35.4", "1.37.0", "1.3.6", "nonsense"]),
        ("kubectl", ["1.35.0", "1.37.2"], ["1.34.9", "1.38.0"]),
    ],
)
def test_which_versions_fit(machine: Machine, name: str, fitting: list[str], unfit: list[str]) -> None:
    def used(version: str) -> bool:
        installed._version.cache_clear()
        machine.install_kubernetes(name, version=version)
        return installed.path_of(name) is not None

    assert [each for each in (*fitting, *unfit) if used(each)] == fitting


def test_what_does_not_run_is_not_used(machine: Machine) -> None:
    program = machine.install("etcd", "#!/nowhere/sh\n")

    found = installed.find("etcd")

    assert str(found) == f"etcd of unknown version at {program}"
    assert found is not None
    assert found.objection == "3.6 or newer is needed"


@pytest.mark.parametrize("lacking", KUBERNETES)
def test_only_all_programs_together_replace_the_control_plane(machine: Machine, lacking: str) -> None:
    machine.install_kubernetes("etcd", version="3.6.4")
    machine.install_kubernetes(*(name for name in KUBERNETES if name != "etcd"))
    assert installed.replaces(module_of("controlplane"))

    (machine.programs / lacking).unlink()

    assert not installed.replaces(module_of("controlplane"))


def test_a_link_on_path_to_the_built_control_plane_does_not_count_as_installed(machine: Machine) -> None:
    controlplane = machine.put("controlplane") / "controlplane"
    machine.install_kubernetes("kubectl")
    (machine.programs / "kubectl").rename(controlplane)
    (machine.programs / "kubectl").symlink_to(controlplane)

    assert installed.find("kubectl") is None


def test_the_controllers_of_flux_are_never_taken_from_path(machine: Machine) -> None:
    machine.install("kwok")

    assert not installed.replaces(module_of("kwok"))
