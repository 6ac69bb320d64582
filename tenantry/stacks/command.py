"""The `pulumi` command of a tuned run: which settings make a run of a fleet faster, and why each is safe.

This is the only place that decides about parallelism, checkpoints and the state backend.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SKIP_CHECKPOINTS = "PULUMI_SKIP_CHECKPOINTS"
_MEMORY = "GOMEMLIMIT"
_GIB = 2**30
_CGROUP = Path("/sys/fs/cgroup/memory.max")

TUNED = {
    # Go's garbage collector takes a quarter of the engine's time in a preview of 900 objects. Safe, because it only lets the heap
    # grow to five times what is in use instead of twice, before it is collected; a user who is short of memory sets GOGC.
    "GOGC": "400",
    # The price of GOGC in a large stack: the engine took 12 GB for 30,000 objects. Safe, because the limit is soft: near it, Go
    # collects more often, with half of the processor at most. `tuned` makes it half of the memory that there is.
    _MEMORY: "3GiB",
    # Pulumi runs four operations for each processor at a time, and most of them wait: a Namespace takes five seconds to be deleted.
    # Safe, because the order comes from dependencies alone, and the API server limits what it takes at a time.
    "PULUMI_PARALLEL": "64",
    # A self-managed backend writes the whole state twice for each changed object, so the time grows with the square of the fleet.
    # Without checkpoints it is written once, at the end; a run that fails or is cancelled writes it too. After `kill -9`, `pulumi
    # cancel` and the same command again adopt what was created, as tests/faults/test_crashes.py shows: pulumi-kubernetes before
    # 4.29 does that by itself, a newer one needs PULUMI_K8S_UPSERT_EXISTING_OBJECTS. Pulumi Cloud takes changes one at a time,
    # which is fast enough, so its users keep their checkpoints. A preview writes no state.
    SKIP_CHECKPOINTS: "true",
}
"""The environment variables of `tenantry up`, `preview` and `destroy`, and of the benchmarks. An option of Pulumi wins over its
variable.
"""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line, and the environment variables that it needs besides those of the user."""

    argv: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)

    def line(self) -> str:
        """The command for a shell, without values that may be secret."""
        assigned = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        words = [shlex.quote(word) for word in _without_values(self.argv)]
        return " ".join((*assigned, *words))


def tuned(
    verb: str,
    stack: str,
    options: Sequence[str] = (),
    given: Mapping[str, str] | None = None,
    *,
    self_managed: bool = True,
    memory: int | None = None,
) -> Command:
    """The command that runs `pulumi VERB` for a stack. What the user has set wins over `TUNED`.

    Args:   options: the user's own, for pulumi. given: the user's environment variables.
            self_managed: the state is in files, a bucket or a database, not in Pulumi Cloud.
            memory: bytes that the machine has; None: nobody can tell.
    """
    variables = {name: value for name, value in TUNED.items() if name not in (given or {})}
    if verb == "preview" or not self_managed:
        variables.pop(SKIP_CHECKPOINTS, None)
    if memory and _MEMORY in variables:
        variables[_MEMORY] = f"{max(1, memory // 2 // _GIB)}GiB"
    return Command(("pulumi", verb, "--stack", stack, *options), variables)


def memory_here() -> int | None:
    """Bytes of memory that the machine, or the container, has; None: the system does not tell."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
    try:
        return min(physical, int(_CGROUP.read_text()))
    except (OSError, ValueError):  # there is no such limit, or it says "max"
        return physical


_WITH_VALUE = re.compile(r"(-c|--config)(=?)(.*)", re.DOTALL)


def _without_values(argv: Sequence[str]) -> Iterator[str]:
    """The words of a command without the values of `--config KEY=VALUE`."""
    follows = False
    for word in argv:
        option = _WITH_VALUE.fullmatch(word) if not follows else None
        if follows:
            yield _hidden(word)
        elif option and option[3] and (option[2] or option[1] == "-c"):
            yield f"{option[1]}{option[2]}{_hidden(option[3])}"
        else:
            yield word
        follows = bool(option) and not (option and option[3])


def _hidden(pair: str) -> str:
    key, equals, _ = pair.partition("=")
    return f"{key}=..." if equals else key
