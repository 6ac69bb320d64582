"""Starts a sandbox, reports its status, and takes it down."""

from pathlib import Path

from tenantry.sandbox import process, programs
from tenantry.sandbox.bringup import BringUp, port_names
from tenantry.sandbox.layout import RESERVED, Layout, SandboxError
from tenantry.sandbox.spec import SandboxSpec
from tenantry.sandbox.state import State, load
from tenantry.sandbox.status import SandboxStatus, status
from tenantry.sandbox.supervisor import Report, Supervisor, end

DOWN = "tenantry sandbox down"
__all__ = ["SandboxStatus", "down", "status", "up"]


def up(spec: SandboxSpec, root: Path, report: Report) -> None:
    """Start the spec's clusters, with Flux on the management cluster, and the content server; return when all are ready.

    A second run restarts processes that have ended, applies changes, and otherwise does nothing. A run that fails or is
    interrupted ends the processes that it started. If it was the first, a failure leaves the logs, and anything else leaves no
    directory behind.

    Args:    root: the sandbox's directory; made if it is not there.
    Raises:  SandboxError: with the reason, or the part that failed.
             tenantry.tools.errors.ToolsError: a program is missing.
    """
    _check_names(spec)
    programs.require()
    layout = Layout(root.resolve())
    fresh = layout.claim()
    with layout.locked():
        try:
            _bring_up(spec, layout, report)
        except BaseException as failure:
            if fresh and (isinstance(failure, KeyboardInterrupt) or not layout.logs.exists()):
                layout.remove()
            raise


def down(root: Path, report: Report) -> None:
    """End every process of the sandbox, and remove its directory with everything in it.

    That includes the logs, and Pulumi's state of stacks that ran against the sandbox: the clusters in that state are gone.

    Raises:  SandboxError: the directory is not a sandbox.
    """
    layout = Layout(root.resolve())
    if not layout.root.exists():
        report(f"no sandbox in {root}")
        return
    layout.require()
    with layout.locked():
        _end(load(layout), report)
        layout.remove()
    report("the sandbox is removed")


def _bring_up(spec: SandboxSpec, layout: Layout, report: Report) -> None:
    state = load(layout) or State(layout, spec.environment, spec.clusters)
    _check_same(spec, state, report)
    process.require(_wanted(spec.ports, state), f"which the sources of environment {spec.environment!r} name")
    state.ports = process.allocate(port_names(spec), state.ports, spec.ports)
    state.clusters = (*state.clusters, *(name for name in spec.clusters if name not in state.clusters))
    state.save()
    supervisor = Supervisor(state, report)
    try:
        # In a thread, so that an interrupt never falls between the start of a process and writing it down.
        supervisor.concurrently(BringUp(spec, layout, state.ports, supervisor).run)
    except BaseException:
        supervisor.take_back()
        raise


def _wanted(content_ports: tuple[int, ...], state: State) -> list[int]:
    """The content ports that the sandbox does not listen on itself."""
    held = {port for running in state.running.values() if running.process.find() for port in running.ports}
    return [port for port in content_ports if port not in held]


def _check_names(spec: SandboxSpec) -> None:
    for name in spec.clusters:
        if name in RESERVED:
            message = f"a cluster in a sandbox cannot be called {name!r}: the sandbox itself uses that name"
            raise SandboxError(message, "give the cluster another name")


def _check_same(spec: SandboxSpec, state: State, report: Report) -> None:
    if (state.environment, state.clusters[0]) != (spec.environment, spec.management):
        message = (
            f"the sandbox in {state.layout.root} runs environment {state.environment!r} on {state.clusters[0]}, "
            f"not {spec.environment!r} on {spec.management}"
        )
        raise SandboxError(message, f"take it down first: {DOWN}")
    for name in state.clusters:
        if name not in spec.clusters:
            report(f"{name} is no longer part of environment {spec.environment!r}; it keeps running until `{DOWN}`")


def _end(state: State | None, report: Report) -> None:
    running = list(state.running.values()) if state else []
    end(running)
    alive = [each for each in running if each.process.find()]
    if alive:
        names = ", ".join(f"{each.part} of {each.owner} (pid {each.process.pid})" for each in alive)
        raise SandboxError(f"could not end {names}", "end these processes, then run the command again")
    report(f"ended {len(running)} processes")
