from __future__ import annotations

import subprocess
import sys

import pytest
from machine import Machine

from tenantry_sandbox.tools import store
from tenantry_sandbox.tools.catalog import KUBERNETES, ToolMissing

FIX = "run `tenantry sandbox tools` once: it needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk"


def test_a_built_tool_is_found_without_go(machine: Machine) -> None:
    built = machine.put("kwok")
    (machine.programs / "go").unlink()

    assert store.path_of("kwok") == built / "kwok"


def test_a_missing_tool_is_reported_with_what_helps(machine: Machine) -> None:
    assert machine.store.root.exists() is False

    with pytest.raises(ToolMissing) as missing:
        store.path_of("kwok")

    assert (
        str(missing.value)
        == f"the sandbox's programs are not built yet: there is no 'kwok' of this version\n  fix: {FIX}"
    )


def test_definitions_lie_with_the_controllers(machine: Machine) -> None:
    definitions = machine.put("helm-controller") / "crds"
    definitions.mkdir()
    for name in ("b.yaml", "a.yaml"):
        (definitions / name).touch()

    assert store.crds() == (definitions / "a.yaml", definitions / "b.yaml")


@pytest.mark.usefixtures("machine")
def test_without_controllers_there_are_no_definitions() -> None:
    with pytest.raises(ToolMissing, match="there is no 'source-controller' of this version"):
        store.crds()


@pytest.mark.parametrize("name", KUBERNETES)
def test_a_program_of_kubernetes_comes_from_the_control_plane(machine: Machine, name: str) -> None:
    controlplane = machine.put("controlplane") / "controlplane"

    assert store.command_of(name) == (str(controlplane), name)


def test_any_other_tool_is_started_by_its_path(machine: Machine) -> None:
    kwok = machine.put("kwok") / "kwok"

    assert store.command_of("kwok") == (str(kwok),)


def test_nothing_is_taken_from_path(machine: Machine) -> None:
    for name in ("kwok", "kubectl", "pulumi"):
        machine.install(name)
        with pytest.raises(ToolMissing):
            store.command_of(name)


def test_import_gets_the_kustomize_that_was_built(machine: Machine) -> None:
    assert store.kustomize() == ""
    built = machine.put("kustomize") / "kustomize"
    assert store.kustomize() == str(built)


def test_finding_tools_does_not_load_what_only_building_needs() -> None:
    program = """
import sys, tenantry_sandbox.tools.store
print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("rich", "tenantry_sandbox")))
"""
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    expected = [
        "tenantry_sandbox",
        "tenantry_sandbox.tools",
        "tenantry_sandbox.tools.catalog",
        "tenantry_sandbox.tools.store",
    ]
    assert loaded.stdout.split() == expected
