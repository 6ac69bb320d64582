"""Reads and writes the states of stacks with the `pulumi` command. Secret values pass through pipes alone, never through files."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from tenantry.kube.objects import ObjectId
from tenantry.messages.data import mapping_at, mappings_in
from tenantry.messages.errors import Refused
from tenantry.messages.redact import shorten
from tenantry.stacks.targets import key_in_state, key_of
from tenantry.stacks.transfer import Document


class States:
    """Those of a project's stacks. Raises: Refused: `pulumi` is missing, or fails; the message has its own words."""

    def __init__(self, project: Path) -> None:
        self._project = project

    def read(self, stack: str) -> Document:
        """A stack's state, with the values of its secrets."""
        document: Document = json.loads(self._run("stack", "export", "--show-secrets", "--stack", stack))
        return document

    def check_unlocked(self, stack: str) -> None:
        """Write a stack's state as it is, which waits for nobody: it fails while another run holds the lock."""
        self._run("stack", "import", "--stack", stack, given=self._run("stack", "export", "--stack", stack))

    def write(self, stack: str, state: Document) -> None:
        """Replace a stack's state; secrets are encrypted with the stack's own key."""
        state["deployment"].setdefault("secrets_providers", self._secrets(stack))
        self._run("stack", "import", "--stack", stack, given=json.dumps(state))

    def _secrets(self, stack: str) -> dict[str, Any]:
        """How a stack's state names its key, from the stack's file."""
        file = self._file(stack)
        if "encryptedkey" in file:
            return {
                "type": "cloud",
                "state": {"url": file.get("secretsprovider"), "encryptedkey": file["encryptedkey"]},
            }
        return {"type": "passphrase", "state": {"salt": file.get("encryptionsalt")}}

    def _file(self, stack: str) -> dict[str, Any]:
        file = self._project / f"Pulumi.{stack}.yaml"
        content = yaml.safe_load(file.read_text(encoding="utf-8")) if file.exists() else {}
        return content if isinstance(content, dict) else {}

    def _run(self, *arguments: str, given: str = "") -> str:
        command: Sequence[str] = ("pulumi", "--non-interactive", *arguments)
        try:
            done = subprocess.run(
                command, cwd=self._project, input=given, capture_output=True, text=True, encoding="utf-8", check=False
            )
        except FileNotFoundError:
            raise Refused(
                "there is no program 'pulumi'", "install Pulumi: https://www.pulumi.com/docs/install"
            ) from None
        if done.returncode:
            shown = " ".join(each for each in command if each != "--non-interactive")
            raise Refused(f"`{shown}` failed: {done.stderr.strip()}", _fix(done.stderr, arguments))
        return done.stdout


def _fix(said: str, arguments: Sequence[str]) -> str:
    if "locked" in said:
        stack = arguments[arguments.index("--stack") + 1]
        return f"wait until the other run ends; if none is at work: pulumi cancel --stack {stack}"
    return "see what Pulumi says, then run the same command again"


_PATIENCE = 60.0
"""Seconds; a state in a bucket takes a few."""


class InStates:
    """Whether the states of stacks have an object. They are read when somebody asks first."""

    def __init__(self, project: Path, stacks: Iterable[str]) -> None:
        self._project, self._stacks = project, tuple(stacks)
        self._keys: frozenset[str] | None = None

    def __call__(self, id: ObjectId) -> bool:
        """Raises: Refused: there is no stack, or a state cannot be read."""
        if not self._stacks:
            raise Refused("no stack of this project runs it", "run the command in the project of the stack")
        if self._keys is None:
            found = (_printed(self._project, stack, "export") for stack in self._stacks)
            self._keys = frozenset(
                key_of(str(mapping.get("urn")))
                for state in found
                for mapping in mappings_in(mapping_at(state, "deployment").get("resources"))
            )
        return key_in_state(id) in self._keys


def outputs_of(project: Path, stack: str) -> dict[str, Any]:
    """The outputs that are not secret. Raises: Refused: `pulumi` is missing, fails, or does not answer in time."""
    return _printed(project, stack, "output", "--json")


def _printed(project: Path, stack: str, *what: str) -> dict[str, Any]:
    """What `pulumi stack` prints as JSON."""
    command = ("pulumi", "--non-interactive", "stack", *what, "--stack", stack)
    told = f"`pulumi stack {what[0]} --stack {stack}`"
    try:
        done = subprocess.run(
            command,
            cwd=project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_PATIENCE,
            check=False,
        )
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except FileNotFoundError:
        raise Refused("there is no program 'pulumi'", "install Pulumi: https://www.pulumi.com/docs/install") from None
    except subprocess.TimeoutExpired:
        raise Refused(f"{told} did not answer in {_PATIENCE:g} s", _FIX) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        said = shorten(" ".join(done.stderr.split()).removeprefix("error: "), 200)
        raise Refused(f"{told} failed: {said or 'it printed nothing'}", _FIX)
    return found


_FIX = "see that the stack exists, and that you are logged in to its state backend and know its passphrase"
