"""Enters a cage and becomes a program: `python -I -S enter.py WAY FILTER DIRECTORY COUNT READ... PROGRAM ARGUMENT...`.

    WAY        the path of bwrap: it makes a root file system without network, processes and users of this machine;
               namespaces:        the same is made here;
               landlock:          the files of this machine are closed, except those below READ
    FILTER     the seccomp filter, in hexadecimal digits; it closes sockets and other processes in all of them
    DIRECTORY  where the program starts
    READ       COUNT files and directories: all that the program can read. It can write nothing but its output.

Imports nothing of Tenantry. Every step that fails ends it with exit code 125, before the program starts.
"""

import ctypes
import os
import signal
import stat
import struct
import sys

_FAILED = 125

_libc = ctypes.CDLL(None, use_errno=True)
_text, _long, _size = ctypes.c_char_p, ctypes.c_long, ctypes.c_ulong
_libc.mount.argtypes = (_text, _text, _text, _size, _text)
_libc.prctl.argtypes = (ctypes.c_int, _size, _size, _size, _size)

# sched.h
_NEW = {"mounts": 0x00020000, "hostname": 0x04000000, "ipc": 0x08000000, "users": 0x10000000, "processes": 0x20000000,
        "network": 0x40000000}  # fmt: skip
# sys/mount.h
_RDONLY, _NOSUID, _NODEV, _NOEXEC, _REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
# linux/landlock.h
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_EXECUTE, _READ_FILE, _READ_DIR = 1, 4, 8
_FILES = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights on files each version knows; from the fifth on 16."""
# sys/prctl.h
_SET_PDEATHSIG, _SET_SECCOMP, _SET_NO_NEW_PRIVS = 1, 22, 38
_MODE_FILTER = 2
_NOBODY = 65534


def main(way: str, filter: str, directory: str, count: str, *rest: str) -> None:
    reads, command = rest[: int(count)], rest[int(count) :]
    if way.startswith("/"):
        _become_bubblewrap(way, filter, directory, reads, command)
    _done(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    {"namespaces": _enter_namespaces, "landlock": _restrict_files}[way](reads)
    os.chdir(directory)
    _restrict_calls(bytes.fromhex(filter))
    os.execve(command[0], command, os.environ)


def _become_bubblewrap(
    program: str, filter: str, directory: str, reads: "tuple[str, ...]", command: "tuple[str, ...]"
) -> None:
    calls = os.memfd_create("filter", 0)
    os.write(calls, bytes.fromhex(filter))
    os.lseek(calls, 0, os.SEEK_SET)
    binds = [word for path in reads for word in ("--ro-bind", path, path)]
    closed = ["--unshare-all", "--as-pid-1", "--die-with-parent", "--cap-drop", "ALL", "--seccomp", str(calls)]
    os.execv(program, [program, *closed, *binds, "--remount-ro", "/", "--chdir", directory, "--", *command])


def _enter_namespaces(reads: "tuple[str, ...]") -> None:
    """Returns in a child, the first process of its namespace. The parent waits for it, and ends as it does."""
    user, group = os.getuid(), os.getgid()
    _done(_libc.unshare(sum(_NEW.values())), "unshare")
    # Not root, so that the program has no capabilities in its namespaces.
    for file, text in (("setgroups", "deny"), ("uid_map", f"{_NOBODY} {user} 1"), ("gid_map", f"{_NOBODY} {group} 1")):
        with open(f"/proc/self/{file}", "w") as opened:
            opened.write(text)
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(code if code >= 0 else 128 - code)
    _done(_libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "pdeathsig")
    _change_root({path: os.path.realpath(path) for path in reads})


def _change_root(files: "dict[str, str]") -> None:
    """An empty root, with these files at their places. Args: files: what stands at each path."""
    base = os.path.realpath(next(path for path in files if os.path.isdir(path)))
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    _mount("tmpfs", base, "tmpfs", _NOSUID | _NODEV, "mode=755,size=1m")
    os.mkdir(f"{base}/.old")
    _ask(_PIVOT_ROOT[os.uname().machine], base.encode(), f"{base}/.old".encode(), what="pivot_root")
    os.chdir("/")
    for path, file in files.items():
        source = f"/.old{file}"
        if os.path.isdir(source):
            os.makedirs(path, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()
        _mount(source, path, None, _BIND)
        # What is forbidden on the mount there has to stay forbidden.
        kept = os.statvfs(path).f_flag & _NOEXEC
        _mount(None, path, None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV | kept)
    _done(_libc.umount2(b"/.old", _DETACH), "umount")
    os.rmdir("/.old")
    _mount(None, "/", None, _REMOUNT | _BIND | _RDONLY | _NOSUID | _NODEV)


def _mount(source: "str | None", target: str, kind: "str | None", flags: int, options: str = "") -> None:
    words = (each.encode() if each is not None else None for each in (source, target, kind))
    _done(_libc.mount(*words, flags, options.encode()), f"mount {target}")


def _restrict_files(reads: "tuple[str, ...]") -> None:
    """Landlock: every right on files that this kernel knows is taken, and reading is given back below these paths."""
    version = _ask(_CREATE_RULESET, None, 0, 1, what="landlock")
    files = (1 << _FILES.get(version, 16)) - 1
    # TCP ports, from the fourth version on; abstract sockets and signals, from the sixth.
    rights = struct.pack("=QQQ", files, 3, 3)[: 24 if version >= 6 else 16 if version >= 4 else 8]
    rules = _ask(_CREATE_RULESET, rights, len(rights), 0, what="landlock")
    for path in reads:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        right = _READ_FILE | (_READ_DIR if stat.S_ISDIR(os.fstat(opened).st_mode) else _EXECUTE)
        _ask(_ADD_RULE, rules, 1, struct.pack("=Qi", right, opened), 0, what=f"landlock {path}")
        os.close(opened)
    _ask(_RESTRICT_SELF, rules, 0, what="landlock")
    os.close(rules)


def _restrict_calls(filter: bytes) -> None:
    kept = ctypes.create_string_buffer(filter)
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(filter) // 8, ctypes.addressof(kept)))
    _done(_libc.prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(program), 0, 0), "seccomp")


def _ask(number: int, *arguments: "bytes | int | None", what: str) -> int:
    """A system call for which the C library has no function."""
    return _done(
        _libc.syscall(
            _long(number), *(_long(argument) if isinstance(argument, int) else argument for argument in arguments)
        ),
        what,
    )


def _done(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BaseException as failed:  # nothing may go on outside of the cage
        print(f"the cage cannot be entered: {getattr(failed, 'strerror', None) or failed}", file=sys.stderr, flush=True)
        os._exit(_FAILED)
