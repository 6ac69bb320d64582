"""Runs helm and kustomize in a cage: all that they can reach is what they render, their own files, and their output.

There are three cages. The first that works here is used:

    bubblewrap   a root file system of its own, made by the program `bwrap`
    namespaces   the same, made with the kernel's own means, if it lets users do that
    Landlock     the kernel closes all other files; it needs no privilege, so it works in most containers

`enter.py` enters each of them. A seccomp filter (`syscalls.py`) closes the network and other processes in all of them. Time, memory
and output are bounded as for every program (`programs.py`).
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tenantry.manifests import programs
from tenantry.manifests.model import NotFetched, NotRendered
from tenantry.manifests.syscalls import seccomp_filter
from tenantry.messages.errors import Refused

NOWHERE = Path("/nonexistent")
"""No cage has it. Programs look there for files of their user."""
TRUST = "--trust-sources"
"""The option of commands that lets programs run without a cage."""
_TRUSTING = f"add {TRUST} if you trust everyone who can change a source with your files and your network"
_ENTER = Path(__file__).with_name("enter.py")


@dataclass(frozen=True, slots=True)
class Cage:
    """name: "" if there is none; way: what `enter.py` calls it."""

    name: str
    way: str

    def run(self, command: Sequence[str], reads: Path, variables: Mapping[str, str]) -> bytes:
        """What a program prints. It starts in the directory `reads`, which is all that it can read, and can write nothing.

        Raises: NotRendered: it failed, with its own message; NotFetched: it is none that can run in a cage.
        """
        variables = {**variables, "HOME": str(NOWHERE), "TMPDIR": str(NOWHERE), "PATH": str(NOWHERE)}
        if not self.name:
            return programs.run(command, reads, {**programs.OFFLINE, **variables})
        own, *libraries = files_of(os.path.realpath(command[0]))
        directory = str(reads.resolve())
        paths = dict.fromkeys((directory, own, *libraries))
        # The loader's own list of directories is not in the cage.
        places = ":".join(dict.fromkeys(str(Path(library).parent) for library in libraries))
        entering = [sys.executable, "-I", "-S", str(_ENTER), self.way, _filter().hex(), directory, str(len(paths))]
        found = {"LD_LIBRARY_PATH": places} if places else {}
        return programs.run([*entering, *paths, own, *command[1:]], reads, {**variables, **found}, name=command[0])


OPEN = Cage("", "")
"""No cage, for people who trust all authors of sources."""


@cache
def working_cage() -> Cage:
    """The first cage that works here. Each is tried out, once in a process. Raises: Refused: none works."""
    if not sys.platform.startswith("linux"):
        raise Refused(
            "what a source contains is rendered in a cage, which only Linux has",
            f"run it in a container, or {_TRUSTING}",
        )
    reasons = []
    for cage, missing in _ways():
        reason = missing or _objection(cage)
        if not reason:
            return cage
        reasons.append(f"{cage.name}: {reason}")
    raise Refused(
        f"what a source contains is rendered in a cage, and none works here ({'; '.join(reasons)})",
        f"run `apt-get install bubblewrap`, or use Linux 5.13 or newer with Landlock, or {_TRUSTING}",
    )


def _ways() -> Iterator[tuple[Cage, str]]:
    """The cages, and why one cannot be tried."""
    bwrap = shutil.which("bwrap")
    unknown = "" if seccomp_filter() else f"the processor {os.uname().machine} is not supported"
    yield Cage("bubblewrap", bwrap or ""), unknown or ("" if bwrap else "the command 'bwrap' is not installed")
    yield Cage("namespaces", "namespaces"), unknown
    yield Cage("Landlock", "landlock"), unknown


def every_cage() -> dict[str, Cage]:
    """All cages that work here, by name."""
    return {cage.name: cage for cage, missing in _ways() if not missing and not _objection(cage)}


_TRIAL = """\
read -r line < "$1" && echo "$line"
if read -r line < "$2"; then echo "$line"; fi
trap 'exit 0' EXIT
(echo process)
"""
"""Reads a file in the cage, tries one outside, and tries to start a process, which ends a shell that cannot."""


def _objection(cage: Cage) -> str:
    """Why a cage is not used: a shell in it does not start, reads other files or starts processes; "" if it works."""
    with tempfile.TemporaryDirectory(prefix="tenantry-") as temporary:
        inside, outside = Path(temporary, "cage", "file"), Path(temporary, "file")
        inside.parent.mkdir()
        inside.write_text("inside\n")
        outside.write_text("outside\n")
        try:
            said = cage.run(["/bin/sh", "-c", _TRIAL, "sh", str(inside.resolve()), str(outside)], inside.parent, {})
        except (NotRendered, NotFetched) as failed:
            return " ".join(str(failed).split())
    found = said.decode(errors="replace").split()
    return "" if found == ["inside"] else f"a program in it finds '{' '.join(found)}' instead of 'inside'"


@cache
def _filter() -> bytes:
    filter = seccomp_filter()
    assert filter, "no cage works without"
    return filter


_INTERPRETER = 3
_PATH = re.compile(r"(?:=>\s*|^\s*)(/\S+)", re.MULTILINE)


@cache
def files_of(program: str) -> tuple[str, ...]:
    """A program, its loader and its libraries; a static program has none. Raises: NotFetched: it is none."""
    try:
        loader = _loader_of(Path(program))
        if not loader:
            return (program,)
        listed = subprocess.run([loader, "--list", program], capture_output=True, text=True, timeout=programs.SECONDS)
    except (OSError, ValueError, struct.error, subprocess.TimeoutExpired) as failed:
        raise NotFetched(f"{program} cannot be put into the cage: {failed}", "install it anew") from None
    return tuple(dict.fromkeys((program, loader, *_PATH.findall(listed.stdout))))


def _loader_of(program: Path) -> str:
    """What an ELF file names as its interpreter (elf.h); "" if it is static. Raises: NotFetched."""
    with program.open("rb") as opened:
        head = opened.read(64)
        if head[:6] != b"\x7fELF\x02\x01":  # 64 bits, little-endian
            raise NotFetched(
                f"{program} is a script or of another machine, which cannot run in the cage",
                f"put the program itself before it on PATH, or {_TRUSTING}",
            )
        offset, size, count = (*struct.unpack_from("<Q", head, 32), *struct.unpack_from("<HH", head, 54))
        opened.seek(offset)
        table = opened.read(size * count)
        for start in range(0, size * count, size):
            kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", table, start)
            if kind == _INTERPRETER:
                opened.seek(at)
                return opened.read(length).rstrip(b"\0").decode()
    return ""
