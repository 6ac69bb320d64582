"""Processes to supervise: small shell commands in the place of servers."""

from pathlib import Path

from tenantry_sandbox.layout import Layout
from tenantry_sandbox.supervisor import Part, Report, State, Supervisor


def shell(script: str, name: str = "kwok", owner: str = "edge-1") -> Part:
    return Part(owner, name, ("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin"})


def sleeper(name: str = "kwok", owner: str = "edge-1") -> Part:
    return Part(owner, name, ("/bin/sleep", "60"), {}, (20001,))


def supervisor(root: Path, report: Report = print) -> Supervisor:
    """That of a new sandbox."""
    layout = Layout(root)
    layout.claim()
    state = State(environment="dev", clusters=("hub-dev", "edge-1"))
    state.save(layout)
    return Supervisor(layout, state, report)
