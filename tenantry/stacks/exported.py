"""A stack's outputs, as the `pulumi` command prints them: they are in the state, so no cluster is needed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tenantry.messages.errors import Refused
from tenantry.messages.redact import shorten

_PATIENCE = 60.0
"""Seconds; a state in a bucket takes a few."""


def outputs_of(project: Path, stack: str) -> dict[str, Any]:
    """The outputs that are not secret. Raises: Refused: `pulumi` is missing, fails, or does not answer in time."""
    command = ("pulumi", "--non-interactive", "stack", "output", "--json", "--stack", stack)
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
        raise Refused(f"`pulumi stack output --stack {stack}` did not answer in {_PATIENCE:g} s", _FIX) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        said = shorten(" ".join(done.stderr.split()).removeprefix("error: "), 200)
        raise Refused(f"`pulumi stack output --stack {stack}` failed: {said or 'it printed no outputs'}", _FIX)
    return found


_FIX = "see that the stack exists, and that you are logged in to its state backend and know its passphrase"
