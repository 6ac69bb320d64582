"""Options and fixtures of all tiers."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

# What the developer's shell says about colours, sizes and files must not change a result. Once for all, because a fixture for
# each of thousands of tests takes seconds. Python's readline sets COLUMNS and LINES for the processes that xdist starts.
for variable in (
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR_FORCE",
    "TENANTRY_FILE",
    "TENANTRY_DEBUG",
):
    os.environ.pop(variable, None)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="Write what the tests find as what they expect.")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """With `--dist loadgroup`, tests that share a sandbox stay together."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from tests.side_by_side import Scheduler

    config.option.loadscopereorder = False
    return Scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if getattr(config.option, "loadgroup", False):
        from tests.side_by_side import rank

        items.sort(key=lambda item: rank(item.nodeid))
    elif "EXAMPLES" in os.environ:
        # The longest come first, so that no process is left with one of them at the end.
        items.sort(key=lambda item: item.get_closest_marker("hypothesis") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """A build server has every program, so a test that is skipped there has failed."""
    report: pytest.TestReport = yield
    if report.skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"a build server skips no test: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """The sandboxes of a group end with it: idle ones would take memory and time from the groups that follow."""
    try:
        return (yield)
    finally:
        if getattr(item.config.option, "loadgroup", False):
            from tests.side_by_side import group_of

            used = sys.modules.get("tests.e2e.caretaker")
            if used and nextitem and group_of(item.nodeid) != group_of(nextitem.nodeid):
                used.take_all_down()


@pytest.fixture(scope="session", autouse=True)
def _sandboxes_end() -> Iterator[None]:
    """The test run ends when all of its sandboxes have ended."""
    yield
    if used := sys.modules.get("tests.e2e.caretaker"):
        used.close()


@pytest.fixture(scope="session", autouse=True)
def _commands_end_with_codes_that_their_help_lists() -> Iterator[None]:
    from tests.exit_codes import only_listed_codes

    with only_listed_codes():
        yield


@pytest.fixture(scope="session", autouse=True)
def _files_of_tests_need_not_survive_a_loss_of_power() -> Iterator[None]:
    """Hundreds of edits would wait for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """What tests say beside that they passed: their property `told`; and how long groups took, which decides their order."""
    if config.getoption("dist", "no") == "loadgroup":
        from tests.side_by_side import durations

        if told := durations(terminalreporter.stats):
            terminalreporter.write_line(f"seconds of each group: {told}")
    for report in terminalreporter.stats.get("passed", ()):
        for text in (text for name, text in report.user_properties if name == "told"):
            terminalreporter.write_line(text)


@pytest.fixture
def plans_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet that says the same is planned once in a process, for tests that plan the same fleets again and again."""
    from tenantry import load
    from tenantry.fleet.fleet import Fleet
    from tenantry.plan.plan import Plan

    def plan(fleet: Fleet, environment: str) -> Plan:
        key = (fleet.source.file, *fleet.source.fills, repr(fleet.source.data), fleet.known_problems, environment)
        if key not in _PLANS:
            _PLANS[key] = made(fleet, environment)
        return _PLANS[key]

    made = load.plan
    monkeypatch.setattr(load, "plan", plan)


_PLANS: dict[object, Any] = {}


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Thousands of collected tests stay until the end: the garbage collector need not look through them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        # As the command line has it, see tenantry/cli/__init__.py.
        gc.set_threshold(100_000)
