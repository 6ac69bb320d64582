"""Processes to supervise: small shell commands in the place of servers."""

from pathlib import Path

from tenantry.sandbox.layout import Layout
from tenantry.sandbox.state import State
from tenantry.sandbox.supervisor import Part


def shell(script: str, name: str = "kwok", owner: str = "edge-1") -> Part:
    return Part(owner, name, ("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin"})


def sleeper(name: str = "kwok", owner: str = "edge-1") -> Part:
    return Part(owner, name, ("/bin/sleep", "60"), {}, (20001,))


def new_state(root: Path) -> State:
    layout = Layout(root)
    layout.claim()
    state = State(layout, "dev", ("hub-dev", "edge-1"))
    state.save()
    return state
