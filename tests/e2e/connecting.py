"""Somebody who does the steps of "Connect a cluster" for edge-1 of the sandbox."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.blocks import Block, blocks
from tests.e2e.project import Project
from tests.resident import programs

PAGE = "docs/clusters.md"


class Connector:
    """The administrator's kubeconfig of edge-1 lies beside the fleet while they work.

    hub: the kubeconfig of the management cluster, which is their current context. secret: the namespace, name and key of the
    Secret that Flux reads, if they are not those of the page.
    """

    def __init__(self, project: Project, hub: Path, secret: tuple[str, str, str] | None = None) -> None:
        self.declare, self.account, self.store, self.see, self.read = (
            block for block in blocks(PAGE) if block.runs == "connecting"
        )
        self._project, self._secret, self.admin = project, secret, project.root / "admin.kubeconfig"
        path = f"{programs()}:{project.environment()['PATH']}"
        self._environment = {**project.environment(), "PATH": path, "KUBECONFIG": str(hub)}

    def do(self, block: Block, most: int | None = None) -> str:
        """Type the commands of a block, or the first few. Returns: what they print."""
        printed = ""
        for command, _ in list(block.commands())[:most]:
            done = subprocess.run(
                ["bash", "-euc", self._as_here(command)],
                cwd=self._project.root,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}"
            printed += done.stdout
        return printed

    def connect(self) -> None:
        """Make the account and store a kubeconfig with a token of it; the administrator's kubeconfig is gone afterwards."""
        self.admin.write_text(self._project.kubeconfig("edge-1").read_text())
        try:
            self.do(self.account)
            self.do(self.store)
        finally:
            self.admin.unlink(missing_ok=True)

    def _as_here(self, command: str) -> str:
        command = command.replace("environments=prod", "from=edges").replace(" prod", " dev")
        if self._secret:
            namespace, name, key = self._secret
            command = re.sub(r"(name(?:space)?:? )clusters\b", rf"\g<1>{namespace}", command)
            command = command.replace("generic edge-1-kubeconfig", f"generic {name}").replace("value=", f"{key}=")
        return command
