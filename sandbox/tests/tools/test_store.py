from __future__ import annotations

from pathlib import Path

import pytest
from machine import Machine

from tenantry_sandbox.tools import store
from tenantry_sandbox.tools.catalog import module_of
from tenantry_sandbox.tools.store import Store

CONTROLPLANE = module_of("controlplane")
LANGUAGE_HOST = module_of("pulumi-language-python")


@pytest.fixture
def machine(machine: Machine) -> Machine:
    return machine.with_own_sources()


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_a_changed_source_of_a_module_makes_its_build_count_no_more(machine: Machine, file: str) -> None:
    built = machine.put("controlplane")
    assert machine.store.built(CONTROLPLANE) == built

    with (machine.store.sources / "controlplane" / file).open("a") as source:
        source.write("// changed\n")

    assert machine.store.built(CONTROLPLANE) is None


def test_so_does_a_new_one(machine: Machine) -> None:
    machine.put("controlplane")

    (machine.store.sources / "controlplane" / "more.go").touch()

    assert machine.store.built(CONTROLPLANE) is None


def test_a_change_that_is_taken_back_builds_nothing(machine: Machine) -> None:
    built = machine.put("controlplane")
    source = machine.store.sources / "controlplane" / "go.sum"
    before = source.read_bytes()
    source.write_bytes(b"")

    source.write_bytes(before)

    assert machine.store.built(CONTROLPLANE) == built


def test_a_tool_depends_on_the_module_that_pins_its_extra_files(machine: Machine) -> None:
    before = machine.store.fingerprint(LANGUAGE_HOST)

    (machine.store.sources / "pulumi" / "go.mod").write_text("module other\n")

    assert machine.store.fingerprint(LANGUAGE_HOST) != before


def test_a_tool_does_not_depend_on_other_modules(machine: Machine) -> None:
    before = machine.store.fingerprint(CONTROLPLANE)

    (machine.store.sources / "kwok" / "go.mod").write_text("module other\n")

    assert machine.store.fingerprint(CONTROLPLANE) == before


def test_where_the_sources_lie_makes_no_difference(machine: Machine) -> None:
    assert machine.store.fingerprint(CONTROLPLANE) == Store(machine.store.root).fingerprint(CONTROLPLANE)


def test_a_build_that_lost_a_binary_does_not_count(machine: Machine) -> None:
    (machine.put("kwok") / "kwok").unlink()

    assert machine.store.built(module_of("kwok")) is None


@pytest.mark.parametrize(
    ("environment", "root"),
    [
        ({"TENANTRY_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, "/a"),
        ({"XDG_CACHE_HOME": "/b"}, "/b/tenantry"),
        ({}, "/home/rocky/.cache/tenantry"),
    ],
    ids=["own", "xdg", "home"],
)
def test_the_store_lies_where_the_user_wants_caches(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], root: str
) -> None:
    for variable in ("TENANTRY_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in {"HOME": "/home/rocky", **environment}.items():
        monkeypatch.setenv(variable, value)

    assert store.default().root == Path(root)
