"""`tenantry up`, `preview` and `destroy` with a `pulumi` that writes down how it was called."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tenantry.cli import engine, pulumi
from tenantry.messages.errors import Refused, error
from tenantry.preflight.check import Report
from tests.terminal import INTERRUPT, tenantry_in_terminal
from tests.unit.cli.test_cli import Capture, tenantry
from tests.unit.memory import Memory
from tests.unit.texts import rocky

TEXT = rocky("web: {kustomize: {source: manifests}}")
PULUMI = """#!/bin/sh
[ "$1" != whoami ] || { echo '{"url": "https://api.pulumi.com"}'; exit "${FAKE_LOGIN:-0}"; }
echo "$PULUMI_SKIP_CHECKPOINTS $*" >> "$FAKE_LOG"
[ -z "$FAKE_OUTCOME" ] || printf %s "$FAKE_OUTCOME" > "$TENANTRY_OUTCOME"
case "$*" in *"$FAKE_FAILS"*) exit "${FAKE_CODE:-0}";; esac
"""
TUNED = "GOGC=400 GOMEMLIMIT=3GiB PULUMI_PARALLEL=64"
UP = f"{TUNED} PULUMI_SKIP_CHECKPOINTS=true pulumi up --stack dev --suppress-outputs --refresh=false"


ALONE = ("--no-preflight", "--no-wait")
"""Pulumi alone, without a cluster."""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one environment, in which nothing is wrong. What `pulumi` was called with is in the file."""
    folder, calls = tmp_path / "fleet", tmp_path / "calls"
    (folder / "bin").mkdir(parents=True)
    monkeypatch.chdir(folder)
    Path("tenants.yaml").write_text(TEXT)
    Path("Pulumi.yaml").write_text("name: fleet\nruntime: {name: python, options: {virtualenv: .venv}}\n")
    Path("Pulumi.dev.yaml").write_text("config: {}\n")
    Path(".venv/lib/python3.11/site-packages/pulumi_kubernetes-4.25.0.dist-info").mkdir(parents=True)
    program(PULUMI)
    for name in [each for each in os.environ if each.startswith(("PULUMI_", "GOGC", "GOMEMLIMIT"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{folder}/bin:/usr/bin:/bin")
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"{tmp_path.as_uri()}/state")
    monkeypatch.setenv("FAKE_LOG", str(calls))
    monkeypatch.setattr(pulumi, "memory_here", lambda: 6 * 2**30)
    calls.write_text("")
    return calls


def program(text: str) -> None:
    pulumi = Path("bin/pulumi")
    pulumi.write_text(text)
    pulumi.chmod(0o755)


def test_up_runs_pulumi_with_what_it_was_given(capsys: Capture, log: Path) -> None:
    given = ("--yes", "--", "--target", "urn:x", "--message", "a b", "-p", "8")
    code, out, err = tenantry(capsys, "up", "-e", "dev", *ALONE, *given)
    assert (code, out) == (0, "")
    assert err == (
        f"{TUNED} PULUMI_SKIP_CHECKPOINTS=true pulumi up --stack dev --suppress-outputs --refresh=false --yes"
        " --target urn:x --message 'a b' -p 8\n"
    )
    assert (
        log.read_text()
        == "true up --stack dev --suppress-outputs --refresh=false --yes --target urn:x --message a b -p 8\n"
    )


def test_no_temporary_file_of_a_run_is_left_behind(capsys: Capture, log: Path) -> None:
    program('#!/bin/sh\necho "$TMPDIR" > "$FAKE_LOG"\necho credentials > "$TMPDIR/kubeconfig1"\n')
    assert tenantry(capsys, "up", "-e", "dev", *ALONE)[0] == 0
    folder = Path(log.read_text().strip())
    assert folder.name.startswith("tenantry-")
    assert not folder.exists()


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("code", "outcome", "expected", "words"),
    [
        (0, "started", 0, ""),
        (
            0,
            "held",
            1,
            "everything went through except for what is held; the messages above name it\n  fix: do as they say, then the same"
            " command again\n",
        ),
        (1, "held", 1, ""),
        (255, "4", 4, ""),
        (1, "2", 2, ""),
        (1, "started", 1, ""),
        (5, "started", 1, ""),
        (2, "", 2, ""),
        (0, "waits", 5, "the rest waits and is held; the messages above name it, and until when\n"),
        (3, "", 2, ""),
        (6, "", 2, ""),
        (8, "started", 130, ""),
        (137, "started", 1, ""),
    ],
)
def test_the_exit_code_says_why_pulumi_ended(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, code: int, outcome: str, expected: int, words: str
) -> None:
    monkeypatch.setenv("FAKE_CODE", str(code))
    monkeypatch.setenv("FAKE_OUTCOME", outcome)
    assert tenantry(capsys, "up", "-e", "dev", *ALONE) == (expected, "", f"{UP}\n{words}")


@pytest.mark.usefixtures("log")
def test_a_run_whose_program_asks_for_a_refresh_is_begun_again(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_OUTCOME", "refresh")
    monkeypatch.setenv("FAKE_FAILS", "--refresh=false")
    monkeypatch.setenv("FAKE_CODE", "32")
    code, _, err = tenantry(capsys, "preview", "-e", "dev")
    first, told, second = err.splitlines()
    assert (code, told) == (0, "the state does not know what is on the cluster: the same again, after a refresh")
    assert (first.endswith("dev --refresh=false"), second.endswith("dev --refresh")) == (True, True)


PROTECTING = """#!/bin/sh
echo "$*" >> "$FAKE_LOG"
if [ "$1" = state ]; then touch unprotected; elif [ ! -f unprotected ]; then
printf 'unprotect\\nurn:a$b::x\\nurn:c' > "$TENANTRY_OUTCOME"; exit 1; fi
"""


@pytest.mark.parametrize(("verb", "code"), [("up", 0), ("preview", 4)])
def test_up_takes_the_protection_off_what_its_program_names_and_a_preview_changes_nothing(
    capsys: Capture, log: Path, verb: str, code: int
) -> None:
    program(PROTECTING)
    assert tenantry(capsys, verb, "-e", "dev", *(ALONE if verb == "up" else ()))[0] == code
    calls = [line.partition(" --suppress")[0].partition(" --refresh")[0] for line in log.read_text().splitlines()]
    unprotect = f"state unprotect --yes --cwd {Path.cwd()} --stack dev urn:a$b::x urn:c"
    assert calls == (["up --stack dev", unprotect, "up --stack dev"] if verb == "up" else ["preview --stack dev"])


@pytest.mark.parametrize("own", ["--refresh", "--refresh=false"])
def test_a_refresh_of_the_users_own_is_left_as_it_is(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path, own: str
) -> None:
    monkeypatch.setenv("FAKE_OUTCOME", "refresh")
    monkeypatch.setenv("FAKE_CODE", "255")
    assert tenantry(capsys, "preview", "-e", "dev", "--", own)[0] == 1
    assert [line.count("--refresh") for line in log.read_text().splitlines()] == [1]


def test_what_is_missing_is_said_before_pulumi_starts(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    Path("Pulumi.dev.yaml").write_text("config: {}\nencryptionsalt: v1:x\n")
    missing = "the passphrase of stack 'dev' is not known\n  fix: export PULUMI_CONFIG_PASSPHRASE_FILE=FILE, or"
    assert tenantry(capsys, "up", "-e", "dev", *ALONE)[::2] == (2, f"error: {missing} PULUMI_CONFIG_PASSPHRASE\n")
    monkeypatch.delenv("PULUMI_BACKEND_URL")
    monkeypatch.setenv("FAKE_LOGIN", "3")
    login = "pulumi is not logged in to its state backend: pulumi whoami failed\n  fix: `pulumi login`, or set"
    assert tenantry(capsys, "up", "-e", "dev", *ALONE)[::2] == (2, f"error: {login} PULUMI_BACKEND_URL\n")
    Path("bin/pulumi").unlink()
    install = (
        "install it, https://www.pulumi.com/docs/install/, or use the sandbox's: `tenantry sandbox run -- tenantry ...`"
    )
    assert tenantry(capsys, "up", "-e", "dev", *ALONE)[::2] == (
        2,
        f"error: there is no command 'pulumi'\n  fix: {install}\n",
    )
    assert log.read_text() == ""


def test_a_directory_without_a_project_is_refused(capsys: Capture, log: Path) -> None:
    Path("Pulumi.yaml").unlink()
    code, _, err = tenantry(capsys, "up", "-e", "dev", *ALONE)
    assert (code, "so it is no Pulumi project" in err, log.read_text()) == (2, True, "")


@pytest.mark.usefixtures("log")
def test_pulumi_cloud_keeps_its_checkpoints(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PULUMI_BACKEND_URL")
    assert tenantry(capsys, "up", "-e", "dev", *ALONE) == (
        0,
        "",
        f"{TUNED} pulumi up --stack dev --suppress-outputs --refresh=false\n",
    )


def test_another_directory_is_named_in_the_command(capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    project = Path.cwd()
    monkeypatch.chdir(log.parent)
    code, _, err = tenantry(capsys, "preview", "-e", "dev", "-f", "fleet/tenants.yaml")
    assert (code, err) == (
        0,
        f"{TUNED} pulumi preview --stack dev --cwd {project} --refresh=false\n",
    )


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("up", "dev", "qa"), "Got unexpected extra argument"),
        (("preview", "-e", "dev", "x"), "Two environments are named, dev and x: name one."),
        (("destroy",), "Name an environment"),
        (("preview", "-e", "dev", "--yes"), "No such option '--yes'."),
    ],
)
def test_options_for_pulumi_follow_two_dashes(capsys: Capture, arguments: tuple[str, ...], message: str) -> None:
    code, _, err = tenantry(capsys, *arguments)
    assert (code, message in err) == (2, True), err


def test_a_stack_that_runs_something_else_is_not_destroyed(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path
) -> None:
    Path("Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: hub}\n")
    memory = Memory()
    memory.objects["/api/v1/namespaces/tenantry-system/configmaps"] = {
        "metadata": {},
        "items": [{"data": {"environment": "qa", "stack": "fleet/dev"}}],
    }
    monkeypatch.setattr(engine, "connect_management", lambda *_, **__: memory.client())
    code, _, err = tenantry(capsys, "destroy", "-e", "dev", "--yes")
    assert (code, log.read_text()) == (4, "")
    assert err.startswith("error: stack 'fleet/dev' runs environment 'qa', and would delete all of it for 'dev'\n")


@pytest.mark.usefixtures("log")
def test_a_protected_environment_is_not_destroyed(capsys: Capture, log: Path) -> None:
    Path("tenants.yaml").write_text(TEXT.replace("environments:\n  dev: {", "environments:\n  dev: {protected: true, "))
    code, _, err = tenantry(capsys, "destroy", "-e", "dev")
    assert (code, err, log.read_text()) == (
        4,
        "error: environment 'dev' is protected: Pulumi would delete a part of it and refuse the rest\n"
        "  fix: remove `protected` from it in tenants.yaml, run `tenantry up --environment dev`, then this again\n",
        "",
    )


def test_preflight_comes_first_and_the_status_last(capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    Path("Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: hub}\n")
    waited: list[int] = []
    monkeypatch.setattr(engine.Planned, "wait", lambda _, timeout: waited.append(timeout) or 1)
    monkeypatch.setattr(engine, "report_on", lambda *_, **__: Report((), ()))
    code, _, err = tenantry(capsys, "up", "-e", "dev", "--timeout", "7")
    assert (code, err.splitlines()[-2:], waited) == (1, ["dev: 6 objects for hub: nothing is in the way", UP], [7])
    assert tenantry(capsys, "up", "-e", "dev", "--no-wait")[0] == 0
    assert tenantry(capsys, "up", "-e", "dev", "--", "--target", "x")[0] == 0
    assert len(log.read_text().splitlines()) == 3

    refusal = error("removals", "too much", "less")
    report = Report((refusal,), ())
    monkeypatch.setattr(engine, "report_on", lambda *_, **__: report)
    code, out, err = tenantry(capsys, "up", "-e", "dev")
    assert (code, out, waited) == (1, "", [7])
    assert err.endswith(
        "error: preflight found errors, so Pulumi was not started\n  fix: correct them, or use --no-preflight\n"
    )
    monkeypatch.setattr(engine, "report_on", lambda *_, **__: replace(report, refused=True))
    code, out, err = tenantry(capsys, "up", "-e", "dev")
    assert (code, out, waited) == (4, "", [7])
    assert err.endswith("error: the change is refused, so Pulumi was not started\n  fix: fix the errors above\n")
    assert tenantry(capsys, "up", "-e", "dev", "--no-preflight", "--no-wait")[0] == 0
    assert len(log.read_text().splitlines()) == 4

    def unreachable(*_: object, **__: object) -> Report:
        raise Refused("no answer", "try again")

    monkeypatch.setattr(engine, "report_on", unreachable)
    assert tenantry(capsys, "up", "-e", "dev")[0] == 2


CANCELLED = """#!/bin/sh
trap 'n=$((n + 1)); echo "signal $n"; [ $n -lt 2 ] || exit 8' INT
echo running
while :; do sleep 0.05; done
"""


@pytest.mark.usefixtures("log")
def test_each_ctrl_c_reaches_pulumi_once() -> None:
    program(CANCELLED)
    keys = [("running", INTERRUPT), ("signal 1", INTERRUPT)]
    code, screen = tenantry_in_terminal("up", "-e", "dev", *ALONE, columns=80, keys=keys)
    assert (code, screen.count("signal 1"), screen.count("signal 2")) == (130, 1, 1), screen


def test_an_emergency_is_passed_on_and_printed(capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    Path("Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: hub}\n")
    monkeypatch.setattr(engine, "report_on", lambda *_, **__: Report((), ()))
    program(PULUMI.replace("$PULUMI_SKIP_CHECKPOINTS", "$TENANTRY_IGNORE"))
    ignoring = ("--ignore", "after,waves", "rocky/web", "rocky")
    code, _, err = tenantry(capsys, "up", "-e", "dev", *ignoring, "--no-wait")
    assert (code, err.splitlines()[-1]) == (0, f"TENANTRY_IGNORE='dev waves,after rocky/web rocky' {UP}")
    assert tenantry(capsys, "up", "-e", "dev", "--no-wait")[0] == 0
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["dev", "up"]


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (("--ignore", "waves, after", "rocky/web"), 0, f"TENANTRY_IGNORE='dev waves,after rocky/web' {UP}"),
        (("--ignore=after", "rocky/web", "--yes"), 0, "TENANTRY_IGNORE='dev after rocky/web' "),
        (("--ignore", "soak", "rocky/web"), 2, "'soak' is none of: waves, after."),
        (("--ignore", "waves"), 2, "name the lines that go through, such as: --ignore waves rocky/web"),
        (("--through", "canary"), 0, f"TENANTRY_THROUGH='dev canary' {UP}"),
    ],
)
def test_up_tells_the_program_what_it_does_not_wait_for(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path, given: tuple[str, ...], code: int, told: str
) -> None:
    Path("Pulumi.dev.yaml").write_text("config: {tenantry:kubeconfig: hub}\n")
    monkeypatch.setattr(engine, "report_on", lambda *_, **__: Report((), ()))
    ended, _, err = tenantry(capsys, "up", "-e", "dev", "--no-wait", *given)
    assert (ended, told in err) == (code, True), err
    assert bool(log.read_text()) == (code == 0)


REMOVING = """#!/bin/sh
if [ "$1" = stack ]; then echo "[{\\"startTime\\": \\"$(date -u -d "$FAKE_LATER" +%Y-%m-%dT%H:%M:%S.%NZ)\\"}]"; exit 0; fi
echo "$*" >> "$FAKE_LOG"
sleep 1.2
if [ "$(wc -l < "$FAKE_LOG")" -lt 3 ]; then printf again > "$TENANTRY_OUTCOME"; fi
"""


@pytest.mark.parametrize(("later", "code", "runs"), [("now - 1 second", 0, 3), ("now + 1 hour", 1, 1)])
def test_what_the_file_does_not_have_any_more_leaves_wave_by_wave_in_further_runs(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, log: Path, later: str, code: int, runs: int
) -> None:
    """Nobody is asked again, and a run of somebody else ends it."""
    monkeypatch.setenv("FAKE_LATER", later)
    program(REMOVING)
    ended, _, err = tenantry(capsys, "up", "-e", "dev", *ALONE)
    lines = log.read_text().splitlines()
    assert (ended, len(lines)) == (code, runs), err
    assert [" --yes --skip-preview" in each for each in lines] == [False, *[True] * (runs - 1)]
    assert ("another run of this stack came between" in err) is (code == 1)
