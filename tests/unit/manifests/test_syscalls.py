"""The filter allows the calls of its table and no others, on both architectures: it is run as the kernel runs it."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from tenantry.manifests import syscalls
from tenantry.manifests.syscalls import seccomp_filter
from tests.table import table

MACHINES = {
    "x86_64": (0, 0xC000003E, "x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": (1, 0xC00000B7, "asm-generic/unistd.h"),
}
HEADERS = Path("/usr/include")
ALLOWED, MISSING, KILLED = 0x7FFF0000, 0x50026, 0x80000000


def answer(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """What the kernel does with a call: an interpreter of the instructions that the filter uses."""
    code = seccomp_filter(machine)
    assert code
    known = MACHINES[machine][1] if architecture is None else architecture
    data = struct.pack("=iIQ6Q", number, known, 0, *(*arguments, *[0] * (6 - len(arguments))))
    at, loaded = 0, 0
    while True:
        operation, skipped, otherwise, value = struct.unpack_from("=HBBI", code, 8 * at)
        at += 1
        if operation == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return int(value)
        else:
            true = loaded == value if operation == 0x15 else bool(loaded & value)
            assert operation in (0x15, 0x45)
            at += skipped if true else otherwise


@table("machine", MACHINES)
def test_calls_are_allowed_if_the_table_has_them(machine: str) -> None:
    column = MACHINES[machine][0]
    known = {numbers[column] for numbers in syscalls._ALLOWED.values()} - {None}
    assert {number for number in range(1024) if answer(machine, number) == ALLOWED} == known | {(302, 261)[column]}
    assert answer(machine, 0x40000000) == MISSING  # x32
    assert answer(machine, 0, architecture=0x40000003) == KILLED  # 32 bits


@table("machine", MACHINES)
def test_threads_are_allowed_but_no_processes_and_no_signals_but_one(machine: str) -> None:
    clone, tgkill, limits = ((56, 234, 302), (220, 131, 261))[MACHINES[machine][0]]
    assert answer(machine, clone, 0x50F00) == ALLOWED  # as Go starts a thread
    assert answer(machine, clone, 0x11) == answer(machine, clone, 0x10000011) == MISSING
    assert [answer(machine, tgkill, 1, 1, signal) for signal in (23, 9, 0)] == [ALLOWED, MISSING, MISSING]
    assert [answer(machine, limits, process) for process in (0, 1)] == [ALLOWED, MISSING]


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    column, _, path = MACHINES[machine]
    header = HEADERS / path
    if not header.is_file():
        pytest.skip("the kernel's headers are not installed")
    text = header.read_text()
    names = {int(number): name for name, number in re.findall(r"define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    names |= {79: "newfstatat", 80: "fstat", 62: "lseek", 222: "mmap", 25: "fcntl"} if column else {}
    for name, numbers in syscalls._ALLOWED.items():
        if (number := numbers[column]) is not None:
            assert names[number] == name
    assert [names[each.numbers[column]] for each in syscalls._CONDITIONAL] == ["clone", "tgkill", "prlimit64"]
    for name in (
        "socket",
        "socketpair",
        "io_uring_setup",
        "ptrace",
        "mount",
        "unshare",
        "setns",
        "clone3",
        "kill",
        "bpf",
    ):
        (number,) = (each for each, known in names.items() if known == name)
        assert answer(machine, number) == MISSING


def test_another_architecture_has_no_filter() -> None:
    assert seccomp_filter("riscv64") is None
