"""What a sandbox runs and reports: its supervisor's state, and the status that a user sees."""

from dataclasses import dataclass
from pathlib import Path

import psutil

from tenantry.sandbox.flux import NOTIFICATION
from tenantry.sandbox.layout import Layout, SandboxError
from tenantry.sandbox.state import Running, load


@dataclass(frozen=True, slots=True)
class PartStatus:
    """One process; paths are strings, so that it can be printed as JSON."""

    owner: str
    """The cluster, or `sandbox` for what all clusters use."""
    part: str
    pid: int
    alive: bool
    ports: tuple[int, ...]
    memory: int
    """Resident bytes; 0 if it is dead."""
    log: str

    @property
    def port(self) -> int | None:
        """The port to show where there is room for only one."""
        return self.ports[0] if self.ports else None


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """One cluster: alive if all its parts are."""

    name: str
    management: bool
    alive: bool
    kubeconfig: str


@dataclass(frozen=True, slots=True)
class SandboxStatus:
    """A whole sandbox: alive if all its parts are."""

    root: str
    environment: str
    alive: bool
    webhooks: str
    """The address that takes the calls of webhooks, to which the path of a receiver is appended; "" without Flux."""
    clusters: tuple[ClusterStatus, ...]
    """The management clusters first."""
    parts: tuple[PartStatus, ...]
    """Those of a cluster side by side, in the order of the clusters; before them those that all clusters use."""


def status(root: Path) -> SandboxStatus:
    """Look at every process the sandbox started.

    Raises:  SandboxError: there is no sandbox in the directory.
    """
    layout = Layout(root.resolve())
    state = load(layout) if layout.exists() else None
    if state is None:
        raise SandboxError(f"there is no sandbox in {root}", "start one: tenantry sandbox up")
    # Parts that all clusters share come first.
    owners = {name: position for position, name in enumerate(state.clusters, start=1)}
    running = sorted(state.running.values(), key=lambda each: owners.get(each.owner, 0))
    parts = tuple(_part(layout, each) for each in running)
    hubs = {state.clusters[0], *(part.owner for part in parts if part.part == NOTIFICATION)}
    clusters = tuple(_cluster(layout, name, parts, management=name in hubs) for name in state.clusters)
    return SandboxStatus(str(layout.root), state.environment, _alive(parts), _webhooks(parts), clusters, parts)


def _webhooks(parts: tuple[PartStatus, ...]) -> str:
    ports = (part.port for part in parts if part.part == NOTIFICATION)
    return next((f"http://127.0.0.1:{port}" for port in ports), "")


def _cluster(layout: Layout, name: str, parts: tuple[PartStatus, ...], *, management: bool) -> ClusterStatus:
    own = tuple(part for part in parts if part.owner == name)
    return ClusterStatus(name, management, _alive(own), str(layout.kubeconfig(name)))


def _alive(parts: tuple[PartStatus, ...]) -> bool:
    return bool(parts) and all(part.alive for part in parts)


def _part(layout: Layout, running: Running) -> PartStatus:
    memory, log = _memory(running), str(layout.log(running.owner, running.part))
    return PartStatus(running.owner, running.part, running.process.pid, memory > 0, running.ports, memory, log)


def _memory(running: Running) -> int:
    try:
        found = running.process.find()
        return found.memory_info().rss if found else 0
    except psutil.Error:
        return 0
