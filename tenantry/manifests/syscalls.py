"""What a program in a cage may ask of the kernel, as a seccomp filter: read files, hold memory, run threads, and nothing else.

The list is short because helm and kustomize need little. Whatever is not in it does not exist for them: sockets of every kind,
other processes and signals to them, io_uring, tracing, mounts, changes of files by name. So is a call that a later kernel brings.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import NamedTuple

_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    # files that are open, and opening them; the cage decides which files there are
    "read": (0, 63), "pread64": (17, 67), "readv": (19, 65), "write": (1, 64), "writev": (20, 66), "lseek": (8, 62),
    "close": (3, 57), "fcntl": (72, 25), "dup2": (33, None), "dup3": (292, 24), "getdents64": (217, 61),
    "open": (2, None), "openat": (257, 56), "stat": (4, None), "lstat": (6, None), "fstat": (5, 80),
    "newfstatat": (262, 79), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17),
    # waiting
    "futex": (202, 98), "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "sched_yield": (24, 124),
    "epoll_create1": (291, 20), "epoll_ctl": (233, 21), "epoll_wait": (232, None), "epoll_pwait": (281, 22),
    "poll": (7, None), "ppoll": (271, 73), "eventfd2": (290, 19), "pipe2": (293, 59),
    # memory
    "mmap": (9, 222), "munmap": (11, 215), "mprotect": (10, 226), "mremap": (25, 216), "madvise": (28, 233),
    "mincore": (27, 232), "brk": (12, 214), "membarrier": (324, 283),
    # the program itself
    "execve": (59, 221), "exit": (60, 93), "exit_group": (231, 94), "arch_prctl": (158, None),
    "set_tid_address": (218, 96), "set_robust_list": (273, 99), "rseq": (334, 293), "getrandom": (318, 278),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "getrlimit": (97, 163),
    "getpid": (39, 172), "gettid": (186, 178), "getppid": (110, 173), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177),
    # the machine
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "gettimeofday": (96, 169), "uname": (63, 160),
    "sched_getaffinity": (204, 123),
}  # fmt: skip
"""The number of each call on x86-64 and on 64-bit ARM; None: it does not exist there."""


class _If(NamedTuple):
    """A call that is allowed if the lower half of one argument passes a test."""

    numbers: tuple[int, int]
    argument: int
    test: int
    value: int


_EQUAL, _HAS_BIT = 0x15, 0x45  # BPF_JMP | BPF_K with BPF_JEQ or BPF_JSET
_CLONE_THREAD = 0x10000
_SIGURG = 23
_CONDITIONAL = (
    _If((56, 220), 0, _HAS_BIT, _CLONE_THREAD),  # clone: threads, but no processes, so there is no fork bomb
    _If((234, 131), 2, _EQUAL, _SIGURG),  # tgkill: the signal by which Go interrupts its threads; others ignore it
    _If((302, 261), 0, _EQUAL, 0),  # prlimit64: of no other process
)

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column of the table, and how the kernel calls the architecture (linux/audit.h)."""

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_MISSING = 0x00050000 | 38
"""The call fails with ENOSYS, so that a program takes an older one if it knows one."""
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data


def seccomp_filter(machine: str | None = None) -> bytes | None:
    """The instructions for the kernel (struct sock_filter); None: the table does not know this architecture.

    Args: machine: as `uname -m` calls it; default: this one.
    """
    known = _ARCHITECTURES.get(machine or os.uname().machine)
    return b"".join(_instructions(*known)) if known else None


def _instructions(column: int, architecture: int) -> Iterator[bytes]:
    yield _load(_ARCHITECTURE)
    yield _jump(_EQUAL, architecture, skipped=1)
    yield _return(_KILL)
    yield _load(_NUMBER)
    for numbers in _ALLOWED.values():
        if (number := numbers[column]) is not None:
            yield _jump(_EQUAL, number, otherwise=1)
            yield _return(_ALLOW)
    for call in _CONDITIONAL:
        yield _jump(_EQUAL, call.numbers[column], otherwise=4)
        yield _load(_ARGUMENTS + 8 * call.argument)
        yield _jump(call.test, call.value, otherwise=1)
        yield _return(_ALLOW)
        yield _return(_MISSING)
    yield _return(_MISSING)


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", 0x20, 0, 0, offset)  # BPF_LD | BPF_W | BPF_ABS


def _jump(test: int, value: int, *, skipped: int = 0, otherwise: int = 0) -> bytes:
    """Skip as many instructions if the test is true, or if it is not."""
    return struct.pack("=HBBI", test, skipped, otherwise, value)


def _return(action: int) -> bytes:
    return struct.pack("=HBBI", 0x06, 0, 0, action)  # BPF_RET | BPF_K
