"""Single processes of a sandbox, stopped for a while."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tenantry_sandbox.layout import Layout
from tenantry_sandbox.supervisor import Running, load
from tests.e2e.project import Project, make_fleet

API = "kube-apiserver"
CONTROLLERS = ("source-controller", "kustomize-controller", "helm-controller", "notification-controller")


def small_fleet(root: Path) -> Project:
    """The fleet `small`, whose tenants go on with what they have left where they come back."""
    project = make_fleet(root, "small")
    for tenant, first in (("rocky", "configs"), ("movy", "owners")):
        project.edit(f"  {tenant}:\n    {first}", f"  {tenant}:\n    adopt: true\n    {first}")
    return project


INTERVAL = "interval: 5s"
"""One that a test can wait for."""
_SOURCE = '{git: {url: "http://{host}/git/rocky/manifests.git", ref: {branch: main}}'


def frequent_fleet(root: Path) -> Project:
    """The fleet `small` with credentials, whose apps Flux looks at every few seconds."""
    project = make_fleet(root, "small")
    project.edit("  retryInterval: 2s\n", f"  retryInterval: 2s\n  {INTERVAL}\n")
    project.edit(f"{_SOURCE}}}\n", f"{_SOURCE}, credentials: git}}\n")
    project.edit("    configs:\n", "    credentials: {git: {keys: [username, password]}}\n    configs:\n")
    return project


def kill(project: Project, owner: str, part: str) -> None:
    """End a process with `kill -9`."""
    aim(project, owner, part)()


def aim(project: Project, owner: str, part: str) -> Callable[[], None]:
    """Look a process up now, which takes a while; a call of what this returns ends it at that very moment."""
    return partial(os.kill, _pid(project, owner, part), signal.SIGKILL)


@contextmanager
def without(project: Project, owner: str, part: str) -> Iterator[None]:
    """Nothing listens where a process did; afterwards it runs again, with what it has stored."""
    kill(project, owner, part)
    try:
        yield
    finally:
        project.start("dev")


@contextmanager
def frozen(project: Project, cluster: str, *parts: str) -> Iterator[None]:
    """Parts of a cluster stand still; without any named, its API server, which takes connections and answers none."""
    pids = [_pid(project, cluster, part) for part in parts or (API,)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def all_run(project: Project) -> bool:
    """Whether every process of the sandbox runs."""
    return all(each.process.find() for each in _running(project).values())


def _pid(project: Project, owner: str, part: str) -> int:
    return _running(project)[f"{owner}/{part}"].process.pid


def _running(project: Project) -> dict[str, Running]:
    state = load(Layout(project.sandbox))
    assert state, "there is no sandbox"
    return state.running
