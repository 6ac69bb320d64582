"""How to run `pulumi` for the stack of an environment: its backend, and what has to be there before it starts."""

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

from tenantry.cli.engine.options import Asked, has
from tenantry.cli.foreground import INTERRUPTED, Foreground, foreground
from tenantry.cli.output import say
from tenantry.messages.errors import UNKNOWN_NAME, Refused
from tenantry.messages.redact import presentable
from tenantry.messages.text import closest, listed
from tenantry.rollout.flux_status import moment
from tenantry.stacks.backend import about, backend_of, creates_by_adopting, is_self_managed
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


def exit_code(ended: Ended) -> int:
    """Ours for Pulumi's. The program knows best: 4 if its guard refused, 2 if the file is invalid."""
    if ended.code == 0:
        return {HELD: 1, AGAIN: 1, WAITING: WAITS}.get(ended.outcome, 0)
    if ended.interrupted or ended.code == _CANCELLED:
        return INTERRUPTED
    if ended.outcome.isdecimal():
        return int(ended.outcome)
    if to_unprotect(ended.outcome):
        return 4
    return 2 if ended.code in (_CONFIGURATION, _AUTHENTICATION, _NO_STACK) else 1


@dataclass(frozen=True, slots=True)
class Session:
    """A project whose stack can be run. backend: the address of its state. variables: those that the program reads."""

    project: Path
    backend: str
    adopts: bool
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The project's name, which is a part of each URN."""
        return str(about(self.project).get("name"))

    def command(self, verb: str, stack: str, passed: Sequence[str], *, refresh: bool | None = None) -> Command:
        """The tuned command for a stack. refresh: None: as the user's options say."""
        if refresh is not None:
            passed = ("--refresh" if refresh else "--refresh=false", *passed)
        if verb == "up" and not any(each.startswith("--suppress-outputs") for each in passed):
            # Twelve lines for each tenant would push errors off the screen; `pulumi stack output` prints them.
            passed = ("--suppress-outputs", *passed)
        here = self.project.resolve() == Path.cwd()
        options = (*(() if here else ("--cwd", str(self.project))), *passed)
        made = tuned(
            verb,
            stack,
            options,
            os.environ,
            self_managed=is_self_managed(self.backend),
            adopts=self.adopts,
            memory=memory_here(),
        )
        return replace(made, variables={**self.variables, **made.variables})

    def unprotect(self, stack: str, urns: Sequence[str]) -> Command:
        """The command that lets Pulumi delete resources that its state protects."""
        return Command(("pulumi", "state", "unprotect", "--yes", "--cwd", str(self.project), "--stack", stack, *urns))

    def last_update(self, stack: str) -> datetime | None:
        """When the stack's last update began; None: it cannot be read."""
        command = [
            "pulumi",
            "stack",
            "history",
            "--stack",
            stack,
            "--json",
            "--page-size",
            "1",
            "--cwd",
            str(self.project),
        ]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
        try:
            found = json.loads(done.stdout) if done.returncode == 0 else None
        except ValueError:
            return None
        return moment(found[0].get("startTime")) if isinstance(found, list) and found else None

    def run(self, programs: Foreground, verb: str, command: Command) -> Ended:
        """Run a command to its end."""
        with TemporaryDirectory(prefix="tenantry-") as folder:
            outcome = Path(folder) / "outcome"
            variables = {**os.environ, **command.variables, OUTCOME_FILE: str(outcome)}
            # The Kubernetes provider copies the kubeconfig that it is told to a temporary file, and leaves it there.
            variables["TMPDIR"] = folder
            variables[UNREFRESHED] = str("--refresh=false" in command.argv and verb != "destroy").lower()
            begun = datetime.now(UTC)
            code = programs.run(command.argv, variables)
            return Ended(code, reported(outcome), programs.interrupted, begun, datetime.now(UTC))


def opened(project: Path, stack: Stack, environment: str, verb: str) -> Session:
    """Raises: Refused: pulumi is missing or not logged in, or a passphrase is missing that nobody can be asked for."""
    if not shutil.which("pulumi"):
        fix = _INSTALL
        if (project / ".sandbox").is_dir():
            fix = (
                f"use the sandbox's: tenantry sandbox run -- tenantry {verb} --environment {environment}; or {_INSTALL}"
            )
        raise Refused("there is no command 'pulumi'", fix)
    backend = backend_of(project, os.environ) or _logged_in(project)
    can_decrypt = any(name in os.environ for name in _PASSPHRASES) or sys.stdin.isatty()
    if is_self_managed(backend) and not can_decrypt:
        _check_passphrase(project, stack.name)
    return Session(project, backend, creates_by_adopting(project))


def announce(command: Command) -> None:
    """Print a command to copy, and what of the user's own it keeps."""
    say(click.style(presentable(command.line()), bold=True))
    if command.kept:
        say(f"with your own {', '.join(map(presentable, command.kept))}")


def _logged_in(project: Path) -> str:
    """The address of the backend that `pulumi login` chose."""
    command = ["pulumi", "whoami", "--json", "--non-interactive", "--cwd", str(project)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        reason = done.stderr.strip().removeprefix("error: ") or "pulumi whoami failed"
        raise Refused(
            f"pulumi is not logged in to its state backend: {reason}", "`pulumi login`, or set PULUMI_BACKEND_URL"
        )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return ""
    return str(found.get("url", "")) if isinstance(found, dict) else ""


def _check_passphrase(project: Path, stack: str) -> None:
    file = project / f"Pulumi.{stack}.yaml"
    if file.is_file() and any(
        line.startswith("encryptionsalt:") for line in file.read_text("utf-8", "replace").splitlines()
    ):
        raise Refused(
            f"the passphrase of stack '{stack}' is not known",
            "export PULUMI_CONFIG_PASSPHRASE_FILE=FILE, or PULUMI_CONFIG_PASSPHRASE",
        )


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
        return _of_name(project, environment, asked.stack)
    return _only(stacks_running(project, environment), environment) or _without_file(asked)


def _without_file(asked: Asked) -> Stack:
    """The stack with the environment's name. No file tells that the name is spelt right, so tenants.yaml has to."""
    from tenantry.fleet.inherit import stacks_in
    from tenantry.source.parse import read

    environments = stacks_in(read(asked.file).data)
    if asked.environment not in environments:
        near = closest(asked.environment, environments)
        fix = f"name '{near}'" if near else f"name one of: {', '.join(environments) or 'none'}"
        raise Refused(
            f"{asked.file} declares no environment '{asked.environment}' that has a stack", fix, code=UNKNOWN_NAME
        )
    return Stack(asked.environment, asked.environment, stack_target(asked.project, asked.environment))


def _of_name(project: Path, environment: str, name: str) -> Stack:
    for stack in stacks_of(project):
        if stack.name == name and stack.environment != environment:
            raise Refused(f"stack '{name}' runs environment '{stack.environment}'", "name that environment")
        if stack.name == name:
            return stack
    return Stack(name, environment, stack_target(project, name))


def _only(found: list[Stack], environment: str) -> Stack | None:
    """The stack that runs the environment, of several the one with its name; None: none has a file."""
    named = [each for each in found if each.name == environment] or found
    if len(named) > 1:
        raise Refused(
            f"the files of several stacks name environment '{environment}': {listed(each.name for each in found)}",
            "name the one that runs it with --stack",
        )
    return named[0] if named else None


def run(session: Session, stack: Stack, verb: str, passed: tuple[str, ...]) -> int:
    """Run Pulumi with options of its own. Returns: the exit code."""
    asked = has(passed, "--refresh", "-r")
    with foreground() as programs:
        ended = _run_once(session, programs, stack, verb, passed, refresh=None if asked else False)
        if verb == "up" and (urns := to_unprotect(ended.outcome)):
            say("Flux has never applied what is removed: its protection in Pulumi's state goes, then the same again")
            unprotect = session.unprotect(stack.name, urns)
            announce(unprotect)
            if code := programs.run(unprotect.argv, os.environ):
                return code
            ended = _run_once(session, programs, stack, verb, passed, refresh=None if asked else False)
        if ended.outcome == REFRESH and not asked:
            say("the state does not know what is on the cluster: the same again, after a refresh")
            ended = _run_once(session, programs, stack, verb, passed, refresh=True)
        if verb == "up" and not has(passed, "--target", "-t", "--exclude", "--preview-only"):
            ended = _remove_in_waves(session, programs, stack, passed, ended)
    if ended.code == 0 and (left := _INCOMPLETE.get(ended.outcome)):
        say(left)
    return exit_code(ended)


_MOST_RUNS = 50
"""More waves than any environment has."""
_CONFIRMED = ("--yes", "--skip-preview")


def _remove_in_waves(
    session: Session, programs: Foreground, stack: Stack, passed: tuple[str, ...], ended: Ended
) -> Ended:
    """Begin further runs, as long as one lets the next wave lose what the file does not have any more.

    Pulumi deletes at the end of a run. Nobody is asked again: the first preview has shown the whole change. If another run came
    between, that one was not shown, and this ends.
    """
    passed = (*(each for each in passed if each not in (*_CONFIRMED, "-y", "-f")), *_CONFIRMED)
    refresh = None if has(passed, "--refresh", "-r") else False
    for _ in range(_MOST_RUNS):
        if ended.code != 0 or ended.outcome != AGAIN:
            return ended
        last = session.last_update(stack.name)
        if last is None or not ended.is_own(last):
            say("another run of this stack came between, so this ends\n  fix: run the same command again")
            return ended._replace(outcome=HELD)
        say("the next wave loses what the file does not have any more: the same again")
        ended = _run_once(session, programs, stack, "up", passed, refresh=refresh)
    return ended


def _run_once(
    session: Session, programs: Foreground, stack: Stack, verb: str, passed: tuple[str, ...], *, refresh: bool | None
) -> Ended:
    command = session.command(verb, stack.name, passed, refresh=refresh)
    announce(command)
    return session.run(programs, verb, command)
