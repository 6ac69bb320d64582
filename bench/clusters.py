"""A project with a fleet and the clusters that it needs, on this machine, as the cases measure them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.fleets import write
from bench.measure import TENANTRY, Failed, Used, run
from bench.parts import processes, processor
from tenantry_sandbox.programs import prepare
from tenantry_sandbox.programs import user_environment as environment

PROJECT = Path(__file__).parents[1]
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")
SERVERS = ("etcd", "kube-apiserver")


@dataclass(frozen=True, slots=True)
class Clusters:
    """A project in a directory of its own, and the sandbox that runs its environment `prod`."""

    root: Path

    @property
    def sandbox(self) -> Path:
        return self.root / ".sandbox"

    def variables(self) -> dict[str, str]:
        """The environment of programs that work on the sandbox."""
        return environment(self.sandbox)

    def pulumi(self, *words: str, variables: Mapping[str, str] | None = None, project: Path | None = None) -> Used:
        """Run pulumi in the project, or in another one, on the same cluster and state backend."""
        return run(
            ["pulumi", "--non-interactive", *words], project or self.root, {**self.variables(), **(variables or {})}
        )

    def processor_of(self, parts: tuple[str, ...]) -> float:
        """Seconds of the processor that these parts of the sandbox have used so far."""
        return sum(processor(self.sandbox, parts).values())

    def stop(self, parts: tuple[str, ...]) -> None:
        for _, each in processes(self.sandbox, parts):
            each.send_signal(signal.SIGSTOP)

    def go_on(self, parts: tuple[str, ...]) -> None:
        for _, each in processes(self.sandbox, parts):
            each.send_signal(signal.SIGCONT)


@contextmanager
def clusters(text: bytes, content: Path | None = None) -> Iterator[Clusters]:
    """A project with this fleet, whose sandbox runs until the context ends. Raises: Failed: it does not start."""
    with TemporaryDirectory(prefix="tenantry-bench-") as name:
        made = Clusters(_project(Path(name) / "project", text))
        try:
            run([TENANTRY, "sandbox", "up", *(("--content", str(content)) if content else ())], made.root)
            prepare(made.sandbox)
            _keep_logs(made)
            yield made
        finally:
            if made.sandbox.exists():
                subprocess.run([TENANTRY, "sandbox", "down"], cwd=made.root, capture_output=True, check=False)


def _keep_logs(made: Clusters) -> None:
    """Let Pulumi write its debug log of each run, as it does for users."""
    (made.sandbox / "pulumi" / "logs").unlink()


def _project(root: Path, text: bytes) -> Path:
    root.mkdir()
    shutil.copy(PROJECT / "Pulumi.yaml", root / "Pulumi.yaml")
    link_program(root, PROJECT / "__main__.py")
    (root / "Pulumi.prod.yaml").write_text("config:\n  tenantry:kubeconfig: .sandbox/hub/kubeconfig\n")
    write(root, text)
    return root


def link_program(root: Path, program: Path) -> None:
    """Let a directory have a program of this repository, and its packages."""
    (root / "__main__.py").symlink_to(program)
    (root / ".venv").symlink_to(PROJECT / ".venv")


def bare_project(made: Clusters) -> Path:
    """The bare program beside the project, with the objects that the project's fleet has now."""
    root = made.root.with_name("bare")
    if not root.exists():
        root.mkdir()
        shutil.copy(PROJECT / "bench" / "bare" / "Pulumi.yaml", root)
        link_program(root, PROJECT / "bench" / "bare" / "__main__.py")
    command = [TENANTRY, "render", "-e", "prod", "--output", "json"]
    done = subprocess.run(command, cwd=made.root, capture_output=True, check=False)
    if done.returncode:
        raise Failed(f"render ended with {done.returncode}:\n{done.stderr.decode()}")
    (root / "objects.json").write_bytes(done.stdout)
    return root


def objects_of(bare: Path) -> int:
    return len(json.loads((bare / "objects.json").read_text())["objects"])
