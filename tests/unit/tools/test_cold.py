from __future__ import annotations

import pytest

from tests.unit.tools.machine import Machine
from tools import cold, golang
from tools.catalog import MODULES, Module, module_of
from tools.golang import Go
from tools.store import SOURCES

KWOK = (module_of("kwok"),)


@pytest.fixture
def go(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Go:
    """A Go that has built kwok; a few bytes are much in its cache."""
    monkeypatch.setattr(cold, "WARM", 10)
    (machine.root / "gocache" / "00").mkdir(parents=True)
    (machine.root / "gocache" / "00" / "object").write_text("more than ten bytes")
    (machine.root / "mod" / "sigs.k8s.io" / "kwok@v0.7.0").mkdir(parents=True)
    found = golang.find()
    assert found is not None
    return found


def test_a_go_that_has_all_cached_is_warm(go: Go, machine: Machine) -> None:
    assert cold.expected(go, KWOK, machine.store.sources) is False


def test_one_without_a_module_is_cold(go: Go, machine: Machine) -> None:
    assert cold.expected(go, MODULES, machine.store.sources) is True


def test_one_with_an_empty_build_cache_is_cold(go: Go, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cold, "WARM", 100)

    assert cold.expected(go, KWOK, machine.store.sources) is True


def test_a_cold_build_of_everything_is_announced_with_what_it_costs(go: Go) -> None:
    assert cold.announcement(go, MODULES) == (
        "Go has nothing cached of this yet: expect about 20 minutes on two cores,\n"
        f"about 7.0 GB of modules in {go.module_cache}\n"
        f"and 13.0 GB of build cache in {go.build_cache}"
    )


def test_what_a_module_requires_is_read_from_its_go_mod() -> None:
    assert cold.requirements(module_of("source-controller"), SOURCES) == (
        "github.com/fluxcd/helm-controller@v1.6.4",
        "github.com/fluxcd/kustomize-controller@v1.9.5",
        "github.com/fluxcd/source-controller@v1.9.3",
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.directory)
def test_every_module_requires_something(module: Module) -> None:
    assert cold.requirements(module, SOURCES)
