"""The whole command, with a Go that only pretends."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.unit.tools.machine import Machine
from tools import build, locate, locks, progress
from tools.catalog import MODULES, module_of, names, tools_of
from tools.cold import GB
from tools.progress import Lines

KWOK = module_of("kwok")
FLUX = module_of("source-controller")

Output = Callable[[], str]


@pytest.fixture
def messages(capsys: pytest.CaptureFixture[str]) -> Output:
    return lambda: capsys.readouterr().err


def test_everything_is_built_and_found(machine: Machine) -> None:
    assert build.main([]) == 0

    for name in names():
        assert locate.path_of(name).is_relative_to(machine.store.tools)
    assert [file.name for file in locate.crds()] == ["things.yaml"]


def test_a_second_run_builds_nothing(machine: Machine, messages: Output) -> None:
    build.main([])
    calls = len(machine.calls("build"))
    messages()

    assert build.main([]) == 0
    assert messages() == f"nothing to build: all is there, in {machine.store.tools}\n"
    assert len(machine.calls("build")) == calls


def test_what_is_built_already_needs_neither_go_nor_git(machine: Machine) -> None:
    build.main(["kwok"])
    shutil.rmtree(machine.programs)

    assert build.main(["kwok"]) == 0


def test_a_go_that_is_too_old_is_no_reason_to_build_anew(machine: Machine) -> None:
    build.main(["kwok"])
    machine.install_go("go1.20")

    assert build.main(["kwok"]) == 0


def test_a_newer_go_is(machine: Machine) -> None:
    build.main(["kwok"])
    machine.install_go("go1.27.1")

    assert build.main(["kwok"]) == 0
    assert locate.path_of("kwok").parent == machine.store.directory(KWOK, "go1.27.1")


def test_a_run_says_what_it_does_how_far_it_is_and_where_things_lie(
    machine: Machine, messages: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("builder", "build"):
        monkeypatch.setattr(f"tools.{module}.duration", lambda _: "1.0 s")

    build.main(["kwok", "pulumi"])

    assert (
        messages()
        == f"""\
Go has nothing cached of this yet: expect about 4 minutes on two cores,
about 1.3 GB of modules in {machine.root}/mod
and 2.3 GB of build cache in {machine.root}/gocache
[1/2] pulumi: building ...
[1/2] pulumi: built in 1.0 s
[2/2] kwok: building ...
[2/2] kwok: built in 1.0 s
all done in 1.0 s
tools             0.0 GB  {machine.store.tools}
Go build cache    0.0 GB  {machine.root}/gocache
The tools run without Go's build cache; `make tools-clean-cache` empties it, for your other Go projects too.
"""
    )


def test_go_is_called_as_the_table_says(machine: Machine) -> None:
    build.main(["controlplane"])

    (call,) = machine.calls("build")
    directory, _, rest = call.partition(": ")
    assert directory == str(machine.store.sources / "controlplane")
    assert rest.startswith("build -trimpath -ldflags -s -w -X k8s.io/component-base/version.gitVersion=v1.36.3 -o ")
    assert rest.endswith("/controlplane .")


@pytest.mark.usefixtures("machine")
def test_the_users_own_settings_of_go_do_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    monkeypatch.setenv("CGO_ENABLED", "1")
    monkeypatch.setenv("GOWORK", "/somewhere/go.work")

    build.main(["kwok"])

    seen = locate.path_of("kwok").read_text()
    for setting in (
        "GOFLAGS='-mod=readonly -buildvcs=false'",
        "CGO_ENABLED='0'",
        "GOWORK='off'",
        "GOTOOLCHAIN='local'",
    ):
        assert setting in seen


@pytest.mark.usefixtures("machine")
def test_the_language_host_gets_its_script_executable_though_modules_hold_no_modes() -> None:
    build.main(["pulumi", "pulumi-language-python"])

    script = locate.path_of("pulumi-language-python").with_name("pulumi-language-python-exec")
    assert script.stat().st_mode & 0o777 == 0o755


class TestWhichToolsAreBuilt:
    def built(self, machine: Machine) -> set[str]:
        return {tool.name for tool in tools_of(MODULES) if machine.store.built(module_of(tool.name))}

    def test_the_sandboxes_only(self, machine: Machine) -> None:
        build.main(["--sandbox"])

        assert self.built(machine) == {
            *("controlplane", "kwok"),
            *("source-controller", "kustomize-controller", "helm-controller", "notification-controller"),
        }

    def test_those_built_together_with_a_named_one(self, machine: Machine) -> None:
        build.main(["helm-controller"])

        assert self.built(machine) == {"source-controller", "kustomize-controller", "helm-controller"}

    def test_all_but_what_an_official_pulumi_brings(self, machine: Machine, messages: Output) -> None:
        pulumi = machine.install_pulumi("v3.200.0")

        build.main([])

        assert set(names()) - self.built(machine) == {"pulumi", "pulumi-language-python"}
        assert messages().splitlines()[:2] == [
            f"pulumi v3.200.0 at {pulumi} is used: no need for pulumi, pulumi-language-python"
            " (--all builds them none the less)",
            "`pulumi plugin install resource kubernetes 4.25.0` would spare you pulumi-resource-kubernetes, too",
        ]

    def test_nor_the_provider_if_it_brings_that(self, machine: Machine) -> None:
        machine.install_pulumi("v3.200.0")
        machine.install_plugin()

        build.main([])

        engine = {"pulumi", "pulumi-language-python", "pulumi-resource-kubernetes"}
        assert set(names()) - self.built(machine) == engine

    def test_the_engine_too_where_the_official_one_is_too_old(self, machine: Machine, messages: Output) -> None:
        pulumi = machine.install_pulumi("v3.100.0")

        build.main([])

        assert self.built(machine) == set(names())
        assert messages().startswith(
            f"pulumi v3.100.0 at {pulumi} is passed over: it is older than 3.187, or has no language host beside it\n"
        )

    def test_the_engine_too_if_all_are_asked_for(self, machine: Machine) -> None:
        machine.install_pulumi("v3.200.0")

        build.main(["--all"])

        assert self.built(machine) == set(names())
        assert locate.path_of("pulumi").is_relative_to(machine.store.tools)

    @pytest.mark.usefixtures("machine")
    def test_none_of_an_unknown_name(self, messages: Output) -> None:
        assert build.main(["kwokk"]) == 2
        assert messages().startswith("error: there is no tool 'kwokk'\n  fix: use one of: pulumi, ")

    def test_none_where_names_and_a_group_contradict_each_other(self) -> None:
        with pytest.raises(SystemExit, match="2"):
            build.main(["--sandbox", "pulumi"])


class TestAFailure:
    SCRIPT = "for line in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo error $line; done; exit 1"

    def test_shows_the_end_of_gos_output_and_where_the_rest_is(self, machine: Machine, messages: Output) -> None:
        machine.on_build(self.SCRIPT)

        assert build.main(["kwok"]) == 1

        shown = messages()
        log = machine.store.log(KWOK)
        assert f"error: Go could not build 'kwok'; the end of {log}:\n  | error 1\n" in shown
        assert shown.endswith(
            "  | error 20\n  fix: correct what it says and run `make tools` again: what is built so far is kept\n"
        )
        assert log.read_text().startswith("go: downloading example.test/dependency\nerror 1\n")

    def test_leaves_nothing_half_built(self, machine: Machine) -> None:
        machine.on_build(f"case $* in *helm-controller) {self.SCRIPT};; esac")

        build.main(["source-controller"])

        assert machine.left_of(FLUX) == []

    def test_keeps_the_modules_before_it(self, machine: Machine) -> None:
        machine.on_build(f"case $* in *kwok) {self.SCRIPT};; esac")

        build.main(["source-controller", "kwok"])

        assert machine.store.built(FLUX)
        assert not machine.store.built(KWOK)

    def test_keeps_the_build_before_it(self, machine: Machine) -> None:
        build.main(["kwok"])
        machine.install_go("go1.27.0")
        machine.on_build("exit 1")

        build.main(["kwok"])

        assert locate.path_of("kwok").parent == machine.store.directory(KWOK, "go1.26.8")


class TestAnInterruption:
    SCRIPT = "echo $$ > {root}/pid; kill -{signal} $PPID; exec /bin/sleep 60"

    def interrupt(self, machine: Machine, signal: str) -> None:
        machine.on_build(self.SCRIPT.format(root=machine.root, signal=signal))

    def test_ends_with_130_and_leaves_neither_files_nor_go(self, machine: Machine, messages: Output) -> None:
        self.interrupt(machine, "INT")

        assert build.main(["kwok"]) == 130
        assert messages().endswith("interrupted: the tools finished so far are kept, nothing half-built is left\n")
        assert machine.left_of(KWOK) == []
        with pytest.raises(ProcessLookupError):
            os.kill(int((machine.root / "pid").read_text()), 0)

    def test_by_a_request_to_terminate_leaves_nothing_either(self, machine: Machine) -> None:
        self.interrupt(machine, "TERM")

        with pytest.raises(SystemExit, match="143"):
            build.main(["kwok"])

        assert machine.left_of(KWOK) == []

    def test_does_not_keep_the_next_run_from_building(self, machine: Machine) -> None:
        self.interrupt(machine, "TERM")
        with pytest.raises(SystemExit):
            build.main(["kwok"])
        machine.on_build("")

        assert build.main(["kwok"]) == 0

    def test_that_left_no_time_to_tidy_up_is_tidied_up_after(self, machine: Machine) -> None:
        leftover = machine.store.home(KWOK) / "building-killed"
        leftover.mkdir(parents=True)

        build.main(["kwok"])

        assert not leftover.exists()


class TestTwoAtOnce:
    def test_the_second_waits_and_finds_it_built(
        self, machine: Machine, messages: Output, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ExitStack() as first:
            first.enter_context(locks.held(machine.store.lock(KWOK), lambda _: nullcontext()))
            monkeypatch.setattr(progress, "display", lambda: LetsTheFirstFinish(machine, first))

            assert build.main(["kwok"]) == 0

        shown = messages()
        assert f"[1/1] kwok: waiting, it is being built by process {os.getpid()}, since " in shown
        assert "[1/1] kwok: built meanwhile by another process\n" in shown
        assert machine.calls("build") == []


class LetsTheFirstFinish(Lines):
    """Once the second waits, the first gets its build done and lets go of the lock."""

    def __init__(self, machine: Machine, first: ExitStack) -> None:
        super().__init__(sys.stderr)
        self._machine = machine
        self._first = first

    def say(self, text: str) -> None:
        super().say(text)
        if "waiting" in text:
            self._machine.put("kwok")
            self._first.close()


class TestAMachineThatIsNotReady:
    def test_lacks_everything_at_once(self, machine: Machine, messages: Output) -> None:
        shutil.rmtree(machine.programs)

        assert build.main([]) == 2
        assert (
            messages()
            == """\
error: Go 1.26.0 or newer is needed, found none on PATH
       git is needed (Go fetches some modules with it), found none on PATH
  fix: install Go 1.26.0 or newer from https://go.dev/dl/ and put its `bin` directory first on PATH
       install git with the system's package manager, or from https://git-scm.com/downloads
"""
        )

    def test_has_too_old_a_go(self, machine: Machine, messages: Output) -> None:
        machine.install_go("go1.25.9")

        assert build.main([]) == 2
        assert messages().startswith(
            f"error: Go 1.26.0 or newer is needed, found go1.25.9 at {machine.programs}/go\n  fix: install Go 1.26.0"
        )

    def test_has_too_little_room(self, machine: Machine, messages: Output, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * GB))

        assert build.main([]) == 2
        assert messages().endswith(
            f"error: a cold build needs 20.0 GB of disk, found 3.0 GB free at {machine.root}/mod\n"
            "  fix: free some, or point GOCACHE and GOMODCACHE at a larger disk\n"
        )

    def test_has_no_go_whose_cache_could_be_dropped(self, machine: Machine, messages: Output) -> None:
        build.main(["kwok"])
        (machine.programs / "go").unlink()
        messages()

        assert build.main(["kwok", "--drop-go-cache"]) == 2
        assert messages().endswith("error: without Go on PATH its build cache cannot be found\n  fix: put Go on PATH\n")


def test_the_build_cache_is_dropped_on_request(machine: Machine, messages: Output) -> None:
    (machine.root / "gocache").mkdir()

    build.main(["kwok", "--drop-go-cache"])

    assert [call.partition(": ")[2] for call in machine.calls("clean")] == ["clean -cache"]
    assert messages().endswith(f"freed 0.0 GB in {machine.root}/gocache\n")


def test_the_list_says_what_is_there_and_where(machine: Machine, capsys: pytest.CaptureFixture[str]) -> None:
    built = machine.put("kwok")

    assert build.main(["--list"]) == 0

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["kwok", "sandbox", str(built / "kwok")] in lines
    assert ["pulumi", "engine", "missing"] in lines
    assert [line[0] for line in lines] == list(names())


def test_only_the_newest_builds_of_a_module_stay(machine: Machine) -> None:
    def build_with(version: str, age: int) -> Path:
        machine.install_go(version)
        build.main(["kwok"])
        directory = machine.store.directory(KWOK, version)
        os.utime(directory, (age, age))
        return directory

    directories = [build_with(f"go1.26.{number}", number) for number in range(1, 5)]

    assert [directory.exists() for directory in directories] == [False, True, True, True]
