"""Somebody who follows a page of the documentation on running clusters."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.blocks import Block
from tests.reader import Reader
from tests.resident import programs


class Operator(Reader):
    """Somebody with the sandbox's kubeconfigs and programs; what Pulumi asks for, they type."""

    runs = "sandbox"

    def __init__(self, root: Path, environment: Mapping[str, str], home: Path | None = None) -> None:
        """home: the directory of the installed `tenantry`; None: of one that has been started already."""
        super().__init__(root, lambda: ("", ""))
        self.environment = {
            **environment,
            "PATH": f"{home or programs()}:{environment['PATH']}",
            "PULUMI_SKIP_CONFIRMATIONS": "true",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{f"GIT_{who}_{what}": "test" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }

    def follow(self, block: Block) -> None:
        """A block that starts a project says what is written there, not in the running fleet."""
        if "starts" not in block.notes:
            super().follow(block)

    def printed(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command.replace(".venv/bin/", "")],
            cwd=self.here,
            env=self.environment,
            input="typed",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=600,
        )
        return done.returncode, done.stdout
