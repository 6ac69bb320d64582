"""The `pulumi` command of a tuned run: which settings make a run of a fleet faster, and why each is safe.

This is the only place that decides about parallelism, checkpoints and the state backend.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

SKIP_CHECKPOINTS, PARALLEL = "PULUMI_SKIP_CHECKPOINTS", "PULUMI_PARALLEL"
_MEMORY = "GOMEMLIMIT"
_GIB = 2**30
_CGROUP = Path("/sys/fs/cgroup/memory.max")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of Pulumi. variable: the environment variable that a user may set instead.

    options: the command line options for the same; the first one is used. Without them, the variable is.
    verbs: the commands it matters for. self_managed: only for state that Pulumi Cloud does not keep.
    """

    variable: str
    value: str
    options: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ("up", "preview", "destroy")
    self_managed: bool = False


TUNED = (
    # Pulumi runs four operations for each processor at a time, and most of them wait: a Namespace takes five seconds to be deleted.
    # Safe, because the order comes from dependencies alone, and the API server limits what it takes at a time.
    Setting(PARALLEL, "64", ("--parallel", "-p")),
    # Go's garbage collector takes a quarter of the engine's time in a preview of 900 objects. Safe, because it only lets the heap
    # grow to five times what is in use instead of twice, before it is collected; a user who is short of memory sets GOGC.
    Setting("GOGC", "400"),
    # The price of GOGC in a large stack: the engine took 12 GB for 30,000 objects. Safe, because the limit is soft: near it, Go
    # collects more often, with half of the processor at most. `_settings` makes it half of the memory that there is.
    Setting(_MEMORY, "3GiB"),
    # A self-managed backend writes the whole state twice for each changed object, so the time grows with the square of the fleet.
    # Without checkpoints it is written once, at the end; a run that fails or is cancelled writes it too. After `kill -9`, `pulumi
    # cancel` and the same command again adopt what was created, as tests/faults/test_crashes.py shows: pulumi-kubernetes before
    # 4.29 does that by itself, a newer one needs PULUMI_K8S_UPSERT_EXISTING_OBJECTS. Pulumi Cloud takes changes one at a time,
    # which is fast enough, so its users keep their checkpoints.
    Setting(SKIP_CHECKPOINTS, "true", verbs=("up", "destroy"), self_managed=True),
)
"""The settings of `tenantry up`, `preview` and `destroy`, and of the benchmarks."""


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
    given = given or {}
    flags: list[str] = []
    variables: dict[str, str] = {}
    for setting in _settings(verb, self_managed=self_managed, memory=memory):
        if _is_set(setting, options, given):
            continue
        if setting.options:
            flags += [setting.options[0], setting.value]
        else:
            variables[setting.variable] = setting.value
    return Command(("pulumi", verb, "--stack", stack, *flags, *options), variables)


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


def _settings(verb: str, *, self_managed: bool, memory: int | None) -> Iterator[Setting]:
    for setting in TUNED:
        if verb in setting.verbs and (self_managed or not setting.self_managed):
            if setting.variable == _MEMORY and memory:
                yield replace(setting, value=f"{max(1, memory // 2 // _GIB)}GiB")
            else:
                yield setting


def _is_set(setting: Setting, options: Sequence[str], given: Mapping[str, str]) -> bool:
    """Whether the user has set it, by a variable or by an option such as `--parallel=8`, `-p 8` or `-p8`."""
    short = tuple(option for option in setting.options if len(option) == 2)
    names = (word.partition("=")[0] for word in options)
    return setting.variable in given or any(
        name in setting.options or (short and name.startswith(short)) for name in names
    )


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
