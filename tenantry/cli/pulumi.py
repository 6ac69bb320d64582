"""How `pulumi` runs for the stack of an environment: which stack, what has to be there before it starts, and how it ended."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple

import click

from tenantry.cli.output import say
from tenantry.messages.errors import Refused
from tenantry.messages.redact import presentable
from tenantry.rollout.flux_status import moment
from tenantry.stacks.command import Command, memory_here, tuned
from tenantry.stacks.file import Stack, backend_of, is_self_managed, target_of
from tenantry.stacks.outcome import (
    AGAIN,
    HELD,
    OUTCOME_FILE,
    REFRESH,
    UNREFRESHED,
    WAITING,
    WAITS,
    reported,
    to_unprotect,
)

_CONFIGURATION, _AUTHENTICATION, _NO_STACK, _CANCELLED = 2, 3, 6, 8
"""Exit codes of Pulumi since 3.250 or so. Older ones end with 1 or 255 in these cases."""
_INCOMPLETE = {
    HELD: "everything went through except for what is held; the messages above name it\n  fix: do as they say, then the same"
    " command again",
    WAITING: "the rest waits and is held; the messages above name it, and until when",
}
"""What a run that Pulumi calls a success has left out."""
_PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")
_MOST_RUNS = 50
"""More waves than any environment has."""
_CONFIRMED = ("--yes", "--skip-preview")


# --- what has to be there ---------------------------------------------------------------------------------------------


def opened(file: Path, environment: str, passed: tuple[str, ...]) -> Session:
    """The session of a command. Args: passed: options for pulumi.

    Raises: Refused: there is no project, several stacks name the environment, pulumi is missing or not logged in, or a
            passphrase is missing that nobody can be asked for.
    """
    project = file.resolve().parent
    if not (project / "Pulumi.yaml").is_file():
        raise Refused(
            f"there is no Pulumi.yaml in {project}, so it is no Pulumi project",
            "name the project's tenants.yaml with --file; `tenantry init` makes a new project",
        )
    stack = target_of(project, environment)
    if not shutil.which("pulumi"):
        raise Refused(
            "there is no command 'pulumi'",
            "install it, https://www.pulumi.com/docs/install/, or use the sandbox's: `tenantry sandbox run -- tenantry ...`",
        )
    backend = backend_of(project, os.environ) or _logged_in(project)
    can_decrypt = any(name in os.environ for name in _PASSPHRASES) or sys.stdin.isatty()
    if is_self_managed(backend) and not can_decrypt:
        own = project / f"Pulumi.{stack.name}.yaml"
        lines = own.read_text("utf-8", "replace").splitlines() if own.is_file() else ()
        if any(line.startswith("encryptionsalt:") for line in lines):
            raise Refused(
                f"the passphrase of stack '{stack.name}' is not known",
                "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE, or PULUMI_CONFIG_PASSPHRASE",
            )
    return Session(file, stack, backend, passed)


def _logged_in(project: Path) -> str:
    """The address of the backend that `pulumi login` chose."""
    done = _asked("whoami", "--json", "--non-interactive", "--cwd", str(project))
    if done.returncode != 0:
        reason = done.stderr.strip().removeprefix("error: ") or "pulumi whoami failed"
        raise Refused(
            f"pulumi is not logged in to its state backend: {reason}", "`pulumi login`, or set PULUMI_BACKEND_URL"
        )
    try:
        user = json.loads(done.stdout)
    except ValueError:
        return ""
    return str(user.get("url", "")) if isinstance(user, dict) else ""


def _asked(*words: str) -> subprocess.CompletedProcess[str]:
    """What `pulumi` answers to a question."""
    return subprocess.run(("pulumi", *words), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)


# --- the runs ---------------------------------------------------------------------------------------------------------


class Ended(NamedTuple):
    """How `pulumi` ended. outcome: what the program reported. interrupted: a signal asked it to end. begun, at: when it ran."""

    code: int
    outcome: str = ""
    interrupted: bool = False
    begun: datetime = datetime.min.replace(tzinfo=UTC)
    at: datetime = datetime.max.replace(tzinfo=UTC)

    def is_own(self, update: datetime) -> bool:
        """Whether an update that began at a time is this one: Pulumi lets one of a stack run at a time."""
        return self.begun.replace(microsecond=0) <= update <= self.at

    def exit_code(self) -> int:
        """Ours for Pulumi's. The program knows best: 4 if its guard refused, 2 if the file is invalid."""
        if self.code == 0:
            return {HELD: 1, AGAIN: 1, WAITING: WAITS}.get(self.outcome, 0)
        if self.interrupted or self.code == _CANCELLED:
            return INTERRUPTED
        if self.outcome.isdecimal():
            return int(self.outcome)
        if to_unprotect(self.outcome):
            return 4
        return 2 if self.code in (_CONFIGURATION, _AUTHENTICATION, _NO_STACK) else 1


@dataclass(frozen=True, slots=True)
class Session:
    """A project whose stack can be run. backend: the address of its state. passed: the options for pulumi.

    variables: those that the program reads.
    """

    file: Path
    stack: Stack
    backend: str
    passed: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.file.resolve().parent

    def has(self, *options: str) -> bool:
        """Whether one of the options is among those for Pulumi."""
        return any(word.partition("=")[0] in options for word in self.passed)

    def run(self, verb: str) -> int:
        """Run Pulumi. Returns: the exit code."""
        refreshes = self.has("--refresh", "-r")
        refresh = None if refreshes else False
        with foreground() as programs:
            ended = self._run_once(programs, verb, refresh=refresh)
            if verb == "up" and (urns := to_unprotect(ended.outcome)):
                say(
                    "Flux has never applied what is removed: its protection in Pulumi's state goes, then the same again"
                )
                words = ("state", "unprotect", "--yes", "--cwd", str(self.project), "--stack", self.stack.name, *urns)
                unprotect = Command(("pulumi", *words))
                _announce(unprotect)
                if code := programs.run(unprotect.argv, os.environ):
                    return code
                ended = self._run_once(programs, verb, refresh=refresh)
            if ended.outcome == REFRESH and not refreshes:
                say("the state does not know what is on the cluster: the same again, after a refresh")
                ended = self._run_once(programs, verb, refresh=True)
            if verb == "up" and not self.has("--target", "-t", "--exclude", "--preview-only"):
                ended = self._remove_in_waves(programs, ended, refresh=refresh)
        if ended.code == 0 and (message := _INCOMPLETE.get(ended.outcome)):
            say(message)
        return ended.exit_code()

    def _remove_in_waves(self, programs: Foreground, ended: Ended, *, refresh: bool | None) -> Ended:
        """Begin further runs, as long as one lets the next wave lose what the file does not have any more.

        Pulumi deletes at the end of a run. Nobody is asked again: the first preview has shown the whole change. If another run
        came between, that one was not shown, and this ends.
        """
        others = (word for word in self.passed if word not in (*_CONFIRMED, "-y", "-f"))
        again = replace(self, passed=(*others, *_CONFIRMED))
        for _ in range(_MOST_RUNS):
            if ended.code != 0 or ended.outcome != AGAIN:
                return ended
            last = self._last_update()
            if last is None or not ended.is_own(last):
                say("another run of this stack came between, so this ends\n  fix: run the same command again")
                return ended._replace(outcome=HELD)
            say("the next wave loses what the file does not have any more: the same again")
            ended = again._run_once(programs, "up", refresh=refresh)
        return ended

    def _last_update(self) -> datetime | None:
        """When the stack's last update began; None: it cannot be read."""
        words = ("history", "--stack", self.stack.name, "--json", "--page-size", "1", "--cwd", str(self.project))
        done = _asked("stack", *words)
        try:
            updates = json.loads(done.stdout) if done.returncode == 0 else None
        except ValueError:
            return None
        return moment(updates[0].get("startTime")) if isinstance(updates, list) and updates else None

    def _run_once(self, programs: Foreground, verb: str, *, refresh: bool | None) -> Ended:
        """Run the tuned command to its end. refresh: None: as the user's options say."""
        command = self._command(verb, refresh=refresh)
        _announce(command)
        with TemporaryDirectory(prefix="tenantry-") as folder:
            outcome = Path(folder) / "outcome"
            variables = {**os.environ, **command.variables, OUTCOME_FILE: str(outcome)}
            # The Kubernetes provider copies the kubeconfig that it is told to a temporary file, and leaves it there.
            variables["TMPDIR"] = folder
            variables[UNREFRESHED] = str("--refresh=false" in command.argv and verb != "destroy").lower()
            begun = datetime.now(UTC)
            code = programs.run(command.argv, variables)
            return Ended(code, reported(outcome), programs.interrupted, begun, datetime.now(UTC))

    def _command(self, verb: str, *, refresh: bool | None) -> Command:
        passed = self.passed
        if refresh is not None:
            passed = ("--refresh" if refresh else "--refresh=false", *passed)
        if verb == "up" and not any(word.startswith("--suppress-outputs") for word in passed):
            # Twelve lines for each tenant would push errors off the screen; `pulumi stack output` prints them.
            passed = ("--suppress-outputs", *passed)
        here = self.project.resolve() == Path.cwd()
        command = tuned(
            verb,
            self.stack.name,
            (*(() if here else ("--cwd", str(self.project))), *passed),
            os.environ,
            self_managed=is_self_managed(self.backend),
            memory=memory_here(),
        )
        return replace(command, variables={**self.variables, **command.variables})


def _announce(command: Command) -> None:
    """Print a command to copy."""
    say(click.style(presentable(command.line()), bold=True))


INTERRUPTED = 130
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Foreground:
    """Programs that run while this one waits. interrupted: whether a signal asked them to end."""

    def __init__(self) -> None:
        self.interrupted = False
        self._child: subprocess.Popen[bytes] | None = None
        self._received: list[int] = []
        # A terminal sends ^C to all programs of its foreground group. They must not get it a second time from here: for Pulumi
        # the second one means "terminate at once". Elsewhere they get a group of their own, and every signal from here.
        self._shares_group = _in_foreground()

    def run(self, argv: Sequence[str], variables: Mapping[str, str] | None = None) -> int:
        """Run a program to its end. Returns: its exit code, 128 + N if signal N ended it.

        Args:   variables: its whole environment; None: that of this process.
        Raises: OSError: it cannot be started.
        """
        if self.interrupted:
            return INTERRUPTED
        group = None if self._shares_group else 0
        child = self._child = subprocess.Popen(argv, env=variables, process_group=group)
        for number in self._received:  # while it was started
            self._send(child, number)
        code = child.wait()
        self._child = None
        return code if code >= 0 else 128 - code

    def pass_on(self, number: int, _: FrameType | None) -> None:
        """Handle a signal of this process."""
        self.interrupted = True
        self._received.append(number)
        if child := self._child:
            self._send(child, number)

    def _send(self, child: subprocess.Popen[bytes], number: int) -> None:
        if number == signal.SIGTERM or not self._shares_group:
            with suppress(ProcessLookupError):
                child.send_signal(number)


@contextmanager
def foreground() -> Iterator[Foreground]:
    """Pass signals on to the programs that run within the context, instead of ending this process."""
    programs = Foreground()
    before = {number: signal.signal(number, programs.pass_on) for number in _PASSED_ON}
    try:
        yield programs
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether this process belongs to the foreground group of its terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
