"""The whole command, with a Go that only pretends."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from machine import Machine

from tenantry_sandbox.tools import build, store
from tenantry_sandbox.tools.catalog import NAMES, ToolsError, module_of

KWOK = module_of("kwok")
FLUX = module_of("source-controller")
CONTROLPLANE = module_of("controlplane")

Output = Callable[[], str]


@pytest.fixture
def messages(capsys: pytest.CaptureFixture[str]) -> Output:
    return lambda: capsys.readouterr().err


def test_everything_is_built_and_found(machine: Machine) -> None:
    build.build([])

    for name in NAMES:
        assert store.path_of(name).is_relative_to(machine.store.tools)
    assert [file.name for file in store.crds()] == ["things.yaml"]


def test_a_second_run_builds_nothing(machine: Machine, messages: Output) -> None:
    build.build([])
    calls = len(machine.calls("build"))
    messages()

    build.build([])
    assert messages() == f"nothing to build: everything is up to date in {machine.store.tools}\n"
    assert len(machine.calls("build")) == calls


def test_what_is_built_already_needs_no_go(machine: Machine) -> None:
    build.build(["kwok"])
    shutil.rmtree(machine.programs)

    build.build(["kwok"])


def test_a_run_says_what_it_does_how_far_it_is_and_where_things_are(machine: Machine, messages: Output) -> None:
    machine.put("helm")

    build.build(["kwok", "pulumi", "helm"])

    assert (
        messages()
        == f"""\
building pulumi, kwok
Everything takes about 20 minutes on two cores, and 20 GB, if Go has nothing cached; else seconds.
pulumi: building
pulumi: built in 0 s
kwok: building
kwok: built in 0 s
all done; the tools are in {machine.store.tools}
They run without Go's build cache: `go clean -cache` empties it, for your other Go projects too.
"""
    )


def test_go_is_called_as_the_table_says(machine: Machine) -> None:
    build.build(["controlplane"])

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

    build.build(["kwok"])

    seen = store.path_of("kwok").read_text()
    for setting in (
        "GOFLAGS='-mod=readonly -buildvcs=false'",
        "CGO_ENABLED='0'",
        "GOWORK='off'",
        "GOTOOLCHAIN='local'",
    ):
        assert setting in seen


def test_only_the_packages_that_the_provider_needs_of_its_sdk_are_compiled(machine: Machine) -> None:
    sdk = machine.root / "dependency"
    kinds = "go/kubernetes/yaml/v2/kinds.go"
    for file in ("LICENSE", "go/kubernetes/init.go", "go/kubernetes/core/v1/pod.go", kinds):
        (sdk / file).parent.mkdir(parents=True, exist_ok=True)
        (sdk / file).write_text("the dependency's")
    machine.on_build(f'/bin/cp -r . "{machine.root}/seen"')

    build.build(["pulumi-resource-kubernetes"])

    seen = machine.root / "seen"
    own = machine.store.sources / "provider-kubernetes"
    assert (seen / "go.mod").read_text() == (
        (own / "go.mod").read_text() + "\nreplace github.com/pulumi/pulumi-kubernetes/sdk/v4 => ./sdk\n"
    )
    copied = {str(file.relative_to(seen / "sdk")): file.read_text() for file in (seen / "sdk").rglob("*.*")}
    assert copied == {
        "go.mod": "the dependency's",
        "go/kubernetes/init.go": "the dependency's",
        kinds: (own / "sdk" / kinds).read_text(),
    }


@pytest.mark.usefixtures("machine")
def test_the_language_host_gets_its_script_executable_though_modules_hold_no_modes() -> None:
    build.build(["pulumi", "pulumi-language-python"])

    script = store.path_of("pulumi-language-python").with_name("pulumi-language-python-exec")
    assert script.stat().st_mode & 0o777 == 0o755


def test_those_built_together_with_a_named_one_are_built(machine: Machine) -> None:
    build.build(["helm-controller"])

    built = {name for name in NAMES if machine.store.built(module_of(name))}
    assert built == {"source-controller", "kustomize-controller", "helm-controller"}


@pytest.mark.usefixtures("machine")
def test_no_tool_is_built_of_an_unknown_name() -> None:
    with pytest.raises(ToolsError, match="there is no tool 'kwokk'\n  fix: use one of: pulumi, "):
        build.build(["kwokk"])


class TestAFailure:
    SCRIPT = "for line in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo error $line; done; exit 1"

    def fail(self, *names: str) -> str:
        with pytest.raises(ToolsError) as failure:
            build.build(names)
        return str(failure.value)

    def test_shows_the_end_of_gos_output_and_where_the_rest_is(self, machine: Machine) -> None:
        machine.on_build(self.SCRIPT)

        shown = self.fail("kwok")

        log = machine.store.log(KWOK)
        assert shown.startswith(f"Go could not build 'kwok'; the end of {log}:\n  | error 1\n")
        assert shown.endswith(
            "  | error 20\n  fix: correct what it says, then run it again: what is built so far is kept"
        )
        assert log.read_text().startswith("go: downloading example.test/dependency\nerror 1\n")

    def test_leaves_nothing_half_built(self, machine: Machine) -> None:
        machine.on_build(f"case $* in *helm-controller) {self.SCRIPT};; esac")

        self.fail("source-controller")

        assert machine.left_of(FLUX) == []

    def test_keeps_the_modules_before_it(self, machine: Machine) -> None:
        machine.on_build(f"case $* in *kwok) {self.SCRIPT};; esac")

        self.fail("source-controller", "kwok")

        assert machine.store.built(FLUX)
        assert not machine.store.built(KWOK)

    def test_keeps_the_build_before_it(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        build.build(["kwok"])
        before = machine.left_of(KWOK)
        monkeypatch.setattr("tenantry_sandbox.tools.store.FLAGS", ("-other",))
        machine.on_build("exit 1")

        self.fail("kwok")

        assert machine.left_of(KWOK) == before


class TestAnInterruption:
    SCRIPT = "echo $$ > {root}/pid; /bin/sleep 0.3; kill -{signal} $PPID; exec /bin/sleep 60"
    """The signal comes when the builder waits for Go, as from a person, and not while Python still starts Go."""

    def interrupt(self, machine: Machine, signal: str) -> None:
        machine.on_build(self.SCRIPT.format(root=machine.root, signal=signal))

    def test_leaves_neither_files_nor_go(self, machine: Machine) -> None:
        self.interrupt(machine, "INT")

        with pytest.raises(KeyboardInterrupt):
            build.build(["kwok"])
        assert machine.left_of(KWOK) == []
        with pytest.raises(ProcessLookupError):
            os.kill(int((machine.root / "pid").read_text()), 0)

    def test_by_a_request_to_terminate_leaves_nothing_either(self, machine: Machine) -> None:
        self.interrupt(machine, "TERM")

        with pytest.raises(SystemExit, match="143"):
            build.build(["kwok"])

        assert machine.left_of(KWOK) == []

    def test_does_not_keep_the_next_run_from_building(self, machine: Machine) -> None:
        self.interrupt(machine, "TERM")
        with pytest.raises(SystemExit):
            build.build(["kwok"])
        machine.on_build("")

        build.build(["kwok"])

    def test_that_left_no_time_to_tidy_up_is_tidied_up_after(self, machine: Machine) -> None:
        leftover = machine.store.tools / "kwok" / "building-killed"
        leftover.mkdir(parents=True)

        build.build(["kwok"])

        assert not leftover.exists()


class TestTwoAtOnce:
    def test_the_second_waits_and_finds_it_built(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        lock = machine.store.lock(KWOK)
        lock.parent.mkdir(parents=True)
        with lock.open("a") as first:
            fcntl.flock(first, fcntl.LOCK_EX)
            shown: list[str] = []

            def say(text: str) -> None:
                """Once the second waits, the first gets its build done and releases the lock."""
                shown.append(text)
                if "waiting" in text:
                    machine.put("kwok")
                    fcntl.flock(first, fcntl.LOCK_UN)

            monkeypatch.setattr("tenantry_sandbox.tools.build.say", say)

            build.build(["kwok"])

        assert shown[2:4] == [
            "kwok: waiting for another process that is building it",
            "kwok: another process has built it",
        ]
        assert machine.calls("build") == []

    def test_the_lock_is_free_afterwards(self, machine: Machine) -> None:
        build.build(["kwok"])

        with machine.store.lock(KWOK).open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_without_go_nothing_is_built(machine: Machine) -> None:
    shutil.rmtree(machine.programs)

    with pytest.raises(ToolsError) as refusal:
        build.build([])

    assert str(refusal.value) == (
        "Go is needed to build tools, and is not on PATH\n  fix: install Go 1.26 or newer from https://go.dev/dl/"
    )


def test_only_the_newest_builds_of_a_module_stay(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def build_with(flag: str, age: int) -> Path:
        monkeypatch.setattr("tenantry_sandbox.tools.store.FLAGS", (flag,))
        build.build(["kwok"])
        directory = machine.store.directory(KWOK)
        os.utime(directory, (age, age))
        return directory

    directories = [build_with(f"-flag{number}", number) for number in range(1, 5)]

    assert [directory.exists() for directory in directories] == [False, True, True, True]
