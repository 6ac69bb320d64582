from __future__ import annotations

import tomllib

import pytest

from tenantry_sandbox.tools.catalog import MODULES, NAMES, PROVIDER_VERSION, SOURCES, Module, ToolsError, module_of

LOCKED = {
    package["name"]: package["version"]
    for package in tomllib.loads((SOURCES.parents[2] / "uv.lock").read_text())["package"]
}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.directory)
def test_every_dependency_of_the_table_is_pinned_in_the_go_mod_it_names(module: Module) -> None:
    for extra in module.extras:
        assert f"{extra.dependency} v" in (SOURCES / extra.requirer / "go.mod").read_text()


def test_the_engine_is_of_the_version_of_the_python_sdk() -> None:
    (stamp,) = {module_of(name).tools[0].stamp for name in ("pulumi", "pulumi-language-python")}
    version = stamp.rpartition("=v")[2]

    assert LOCKED["pulumi"] == version
    assert f"github.com/pulumi/pulumi/sdk/v3 v{version}\n" in (SOURCES / "pulumi" / "go.mod").read_text()


def test_the_provider_is_of_the_version_of_its_python_sdk() -> None:
    assert LOCKED["pulumi-kubernetes"] == PROVIDER_VERSION


def test_tools_that_share_a_go_mod_are_of_one_module() -> None:
    assert module_of("helm-controller") is module_of("source-controller")


def test_an_unknown_tool_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ToolsError) as refusal:
        module_of("kwokk")

    assert str(refusal.value) == f"there is no tool 'kwokk'\n  fix: use one of: {', '.join(NAMES)}"
