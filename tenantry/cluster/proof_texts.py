"""What is said of changes that the environment before does not run yet, with the ways on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenantry.messages.text import counted, listed
from tenantry.plan.after import After

_MOST = 5
_TRACED = 50
"""How many apps the trace of a run names that asked nobody."""


def not_proved(environment: str, after: After, unproven: Mapping[str, str], absent: Sequence[str]) -> str:
    """Which apps wait for the environment before, and what is missing there."""
    apps = counted(len(unproven), "app")
    ready = f" and has been ready for {after.soak}" if after.soak else " and is ready"
    lines = [f"{apps} of '{environment}' would change before '{after.environment}' runs the change{ready}"]
    lines += [f"    {name}: {reason}" for name, reason in list(unproven.items())[:_MOST]]
    lines += [f"    and {len(unproven) - _MOST} more"] if len(unproven) > _MOST else []
    lines += [f"    {without(after, absent)}"] if absent else []
    return "\n".join(lines)


def unknown(environment: str, after: After, changed: Sequence[str], reasons: Sequence[str]) -> str:
    """That nobody can tell."""
    head = (
        f"it is not known whether '{after.environment}' runs the change of {counted(len(changed), 'app')} of '{environment}'"
        f" ({listed(changed, _MOST)})"
    )
    return "\n    ".join((head, *reasons))


def without(after: After, absent: Sequence[str]) -> str:
    """The apps that nothing is asked about."""
    have = "is" if len(absent) == 1 else "are"
    return f"{counted(len(absent), 'changed app')} {have} not in '{after.environment}' and may change: {listed(absent, _MOST)}"


def ignored(environment: str, after: After, changed: Sequence[str]) -> str:
    """The trace that a run leaves which does not ask."""
    return (
        f"{counted(len(changed), 'app')} of '{environment}' may change although nobody asked whether '{after.environment}' runs the"
        f" change: {listed(changed, _TRACED)}"
    )


def ways_on(environment: str, after: After, different: Sequence[str], variable: str) -> str:
    """What to type. different: apps that the environment before has in another version."""
    first = after.environment
    how = f"give {first} the same version, run it there and wait" if different else "run it there first and wait"
    lines = [f"{how}: tenantry up --environment {first}"]
    if different:
        lines.append(f"or take what {first} has: tenantry promote {different[0]} --from {first} --to {environment}")
    if after.refuses:
        lines.append(f"in an emergency: tenantry up --environment {environment} --ignore-after")
        lines.append(f"  with pulumi: {variable}={environment} pulumi up --stack {environment}")
    return "\n       ".join(lines)
