"""How `pulumi` runs for the stack of an environment: which stack, what has to be there before it starts, and how it ended."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click

from tenantry.cli.foreground import INTERRUPTED, Foreground, foreground
from tenantry.cli.output import say
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.redact import presentable
from tenantry.messages.text import closest, listed
from tenantry.rollout.flux_status import moment
from tenantry.stacks.backend import backend_of, creates_by_adopting, is_self_managed
from tenantry.stacks.command import Command, memory_here, tuned
from tenantry.stacks.file import Stack, stack_target, stacks_of, stacks_running
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

_INSTALL = "install it, https://www.pulumi.com/docs/install/"
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


class Asked(NamedTuple):
    """Which stack runs, and with what. passed: options for pulumi."""

    file: Path
    environment: str
    stack: str | None
    passed: tuple[str, ...]

    @property
    def project(self) -> Path:
        return self.file.resolve().parent

    def has(self, *options: str) -> bool:
        """Whether one of the options is among those for Pulumi."""
        return _has(self.passed, *options)


def _has(passed: Sequence[str], *options: str) -> bool:
    return any(word.partition("=")[0] in options for word in passed)


# --- the stack --------------------------------------------------------------------------------------------------------


def chosen(asked: Asked) -> Stack:
    """The stack that runs an environment; the one with its name if no stack has a file yet.

    Raises: Refused: no stack matches, several name the environment, or the environment is not declared; InvalidFleet: tenants.yaml
            is not YAML.
    """
    project, environment = asked.project, asked.environment
    if not (project / "Pulumi.yaml").is_file():
        raise Refused(
            f"there is no Pulumi.yaml in {project.resolve()}, so it is no Pulumi project",
            "name the project's tenants.yaml with --file; `tenantry init` makes a new project",
        )
    if asked.stack:
        for stack in stacks_of(project):
            if stack.name == asked.stack and stack.environment != environment:
                message = f"stack '{asked.stack}' runs environment '{stack.environment}'"
                raise Refused(message, "name that environment")
            if stack.name == asked.stack:
                return stack
        return Stack(asked.stack, environment, stack_target(project, asked.stack))
    running = stacks_running(project, environment)
    named = [stack for stack in running if stack.name == environment] or running
    if len(named) > 1:
        raise Refused(
            f"the files of several stacks name environment '{environment}': {listed(stack.name for stack in running)}",
            "name the one that runs it with --stack",
        )
    return named[0] if named else _without_file(asked)


def _without_file(asked: Asked) -> Stack:
    """The stack with the environment's name. No file tells that the name is spelt right, so tenants.yaml has to."""
    from tenantry.fleet.lineages import stacks_in
    from tenantry.source.parse import read

    environments = stacks_in(read(asked.file).data)
    if asked.environment not in environments:
        near = closest(asked.environment, environments)
        fix = f"name '{near}'" if near else f"name one of: {', '.join(environments) or 'none'}"
        raise Refused(
            f"{asked.file} declares no environment '{asked.environment}' that has a stack", fix, code=UNKNOWN_NAME
        )
    return Stack(asked.environment, asked.environment, stack_target(asked.project, asked.environment))


# --- what has to be there ---------------------------------------------------------------------------------------------


def opened(asked: Asked, verb: str) -> Session:
    """Raises: Refused: as `chosen`; pulumi is missing or not logged in, or a passphrase is missing that nobody can be asked for."""
    stack, project = chosen(asked), asked.project
    if not shutil.which("pulumi"):
        fix = _INSTALL
        if (project / ".sandbox").is_dir():
            command = f"tenantry sandbox run -- tenantry {verb} --environment {asked.environment}"
            fix = f"use the sandbox's: {command}; or {_INSTALL}"
        raise Refused("there is no command 'pulumi'", fix)
    backend = backend_of(project, os.environ) or _logged_in(project)
    can_decrypt = any(name in os.environ for name in _PASSPHRASES) or sys.stdin.isatty()
    if is_self_managed(backend) and not can_decrypt:
        file = project / f"Pulumi.{stack.name}.yaml"
        lines = file.read_text("utf-8", "replace").splitlines() if file.is_file() else ()
        if any(line.startswith("encryptionsalt:") for line in lines):
            raise Refused(
                f"the passphrase of stack '{stack.name}' is not known",
                "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE, or PULUMI_CONFIG_PASSPHRASE",
            )
    return Session(project, stack, backend, creates_by_adopting(project))


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
    """A project whose stack can be run. backend: the address of its state. variables: those that the program reads."""

    project: Path
    stack: Stack
    backend: str
    adopts: bool
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, verb: str, passed: tuple[str, ...]) -> int:
        """Run Pulumi with options of its own. Returns: the exit code."""
        refreshes = _has(passed, "--refresh", "-r")
        refresh = None if refreshes else False
        with foreground() as programs:
            ended = self._run_once(programs, verb, passed, refresh=refresh)
            if verb == "up" and (urns := to_unprotect(ended.outcome)):
                say(
                    "Flux has never applied what is removed: its protection in Pulumi's state goes, then the same again"
                )
                words = ("state", "unprotect", "--yes", "--cwd", str(self.project), "--stack", self.stack.name, *urns)
                unprotect = Command(("pulumi", *words))
                _announce(unprotect)
                if code := programs.run(unprotect.argv, os.environ):
                    return code
                ended = self._run_once(programs, verb, passed, refresh=refresh)
            if ended.outcome == REFRESH and not refreshes:
                say("the state does not know what is on the cluster: the same again, after a refresh")
                ended = self._run_once(programs, verb, passed, refresh=True)
            if verb == "up" and not _has(passed, "--target", "-t", "--exclude", "--preview-only"):
                ended = self._remove_in_waves(programs, passed, ended, refresh=refresh)
        if ended.code == 0 and (message := _INCOMPLETE.get(ended.outcome)):
            say(message)
        return ended.exit_code()

    def _remove_in_waves(
        self, programs: Foreground, passed: tuple[str, ...], ended: Ended, *, refresh: bool | None
    ) -> Ended:
        """Begin further runs, as long as one lets the next wave lose what the file does not have any more.

        Pulumi deletes at the end of a run. Nobody is asked again: the first preview has shown the whole change. If another run
        came between, that one was not shown, and this ends.
        """
        passed = (*(word for word in passed if word not in (*_CONFIRMED, "-y", "-f")), *_CONFIRMED)
        for _ in range(_MOST_RUNS):
            if ended.code != 0 or ended.outcome != AGAIN:
                return ended
            last = self._last_update()
            if last is None or not ended.is_own(last):
                say("another run of this stack came between, so this ends\n  fix: run the same command again")
                return ended._replace(outcome=HELD)
            say("the next wave loses what the file does not have any more: the same again")
            ended = self._run_once(programs, "up", passed, refresh=refresh)
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

    def _run_once(self, programs: Foreground, verb: str, passed: tuple[str, ...], *, refresh: bool | None) -> Ended:
        """Run the tuned command to its end. refresh: None: as the user's options say."""
        command = self._command(verb, passed, refresh=refresh)
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

    def _command(self, verb: str, passed: tuple[str, ...], *, refresh: bool | None) -> Command:
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
            adopts=self.adopts,
            memory=memory_here(),
        )
        return replace(command, variables={**self.variables, **command.variables})


def _announce(command: Command) -> None:
    """Print a command to copy, and what of the user's own it keeps."""
    say(click.style(presentable(command.line()), bold=True))
    if command.kept:
        say(f"with your own {', '.join(map(presentable, command.kept))}")
