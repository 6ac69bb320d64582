"""Reads and writes the states of stacks with the `pulumi` command. Secret values pass through pipes alone, never through files.

No command needs it yet: with `transfer`, it is what a transfer of tenants between stacks is made of.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tenantry.messages.errors import Refused
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
