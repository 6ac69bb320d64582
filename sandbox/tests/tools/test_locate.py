from __future__ import annotations

import os
import subprocess
import sys

import pytest
from machine import Machine
from tenantry_sandbox.tools.errors import ToolMissing

from tenantry_sandbox.tools import locate
from tenantry_sandbox.tools.store import SOURCES

FIX = "run `tenantry sandbox tools` once: it needs Go 1.26, about 20 minutes on two cores, and 17 GB of disk"


def test_a_built_tool_is_found_without_go(machine: Machine) -> None:
    built = machine.put("kwok")
    (machine.programs / "go").unlink()

    assert locate.path_of("kwok") == built / "kwok"


def test_a_missing_tool_is_reported_with_what_helps(machine: Machine) -> None:
    assert machine.store.root.exists() is False

    with pytest.raises(ToolMissing) as missing:
        locate.path_of("kwok")

    assert (
        str(missing.value)
        == f"the sandbox's programs are not built yet: there is no 'kwok' of this version\n  fix: {FIX}"
    )


def test_definitions_lie_with_the_controllers(machine: Machine) -> None:
    definitions = machine.put("helm-controller") / "crds"
    definitions.mkdir()
    for name in ("b.yaml", "a.yaml"):
        (definitions / name).touch()

    assert locate.crds() == (definitions / "a.yaml", definitions / "b.yaml")


@pytest.mark.usefixtures("machine")
def test_without_controllers_there_are_no_definitions() -> None:
    with pytest.raises(ToolMissing, match="there is no 'source-controller' of this version"):
        locate.crds()


def test_an_official_pulumi_stands_in_for_an_engine_that_was_not_built(machine: Machine) -> None:
    pulumi = machine.install_pulumi("v3.240.0")
    plugin = machine.install_plugin()

    found = [locate.path_of(name) for name in ("pulumi", "pulumi-language-python", "pulumi-resource-kubernetes")]

    assert found == [pulumi, machine.programs / "pulumi-language-python", plugin]


def test_it_is_asked_for_its_version_once(machine: Machine) -> None:
    machine.install_pulumi("v3.240.0")

    locate.path_of("pulumi")
    locate.path_of("pulumi")

    assert (machine.root / "asked").read_text() == "asked\n"


def test_one_that_was_replaced_is_asked_again(machine: Machine) -> None:
    machine.install_pulumi("v3.240.0")
    locate.path_of("pulumi")
    os.utime(machine.install_pulumi("v3.100.0"), (1, 1))

    with pytest.raises(ToolMissing):
        locate.path_of("pulumi")


def test_what_was_built_goes_first(machine: Machine) -> None:
    machine.install_pulumi("v3.240.0")
    built = machine.put("pulumi")
    machine.put("pulumi-language-python")

    assert locate.path_of("pulumi") == built / "pulumi"


def test_a_built_engine_is_not_mixed_with_an_installed_language_host(machine: Machine) -> None:
    pulumi = machine.install_pulumi("v3.240.0")
    machine.put("pulumi")

    assert locate.path_of("pulumi") == pulumi


def test_nor_is_it_used_without_any(machine: Machine) -> None:
    machine.put("pulumi")

    with pytest.raises(ToolMissing):
        locate.path_of("pulumi")


@pytest.mark.parametrize("version", ["v3.219.9", "2.99.0", "", "nonsense"])
def test_an_official_pulumi_that_is_too_old_is_not_used(machine: Machine, version: str) -> None:
    machine.install_pulumi(version)

    with pytest.raises(ToolMissing):
        locate.path_of("pulumi")


def test_one_without_a_language_host_is_not_used(machine: Machine) -> None:
    machine.install_pulumi("v3.240.0")
    (machine.programs / "pulumi-language-python").unlink()

    with pytest.raises(ToolMissing):
        locate.path_of("pulumi")


def test_a_link_on_path_to_a_pulumi_built_here_is_not_taken_for_an_official_one(machine: Machine) -> None:
    outdated = machine.store.tools / "pulumi" / "outdated"
    outdated.mkdir(parents=True)
    machine.install_pulumi("v3.240.0").rename(outdated / "pulumi")
    (machine.programs / "pulumi").symlink_to(outdated / "pulumi")

    with pytest.raises(ToolMissing):
        locate.path_of("pulumi")


def test_finding_tools_does_not_load_what_only_building_needs() -> None:
    program = """
import sys, tenantry_sandbox.tools.locate
print(*sorted(name for name in sys.modules if name.partition(".")[0] in ("rich", "tenantry")))
"""

    loaded = subprocess.run(
        [sys.executable, "-c", program], cwd=SOURCES.parent, capture_output=True, text=True, check=True
    )

    expected = [
        "tenantry",
        "tenantry_sandbox.tools",
        *(f"tenantry_sandbox.tools.{name}" for name in ("catalog", "errors", "installed", "locate", "store")),
    ]
    assert loaded.stdout.split() == expected
