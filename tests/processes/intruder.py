"""Runs in a cage, and prints what it can do there: `python -I -S -c THIS VICTIM PORT NAME`.

VICTIM: a file outside of the cage; PORT: of a server on loopback; NAME: of an abstract socket.
"""

import os
import socket
import sys
import threading

victim, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def read(path):
    with open(path, "rb") as opened:
        return opened.read(1)


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as opened:
        opened.settimeout(2)
        opened.connect(address)


def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.sendto(b"question", ("127.0.0.1", port))


def fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def thread():
    started = threading.Thread(target=int)
    started.start()
    started.join()


def write(path):
    with open(path, "ab"):
        pass


folder = os.path.dirname(victim)
attempts = {
    "read a file": lambda: read(victim),
    "read it by its descriptor's link": lambda: read(f"/proc/self/root{victim}"),
    "read it through another process": lambda: read(f"/proc/{os.getppid()}/root{victim}"),
    "list a directory": lambda: os.listdir(folder),
    "list the root of this machine": lambda: os.listdir("/").index("etc"),
    "read the password file": lambda: read("/etc/passwd"),
    "read its environment": lambda: read("/proc/self/environ"),
    "read the first process": lambda: read("/proc/1/cmdline"),
    "list processes": lambda: os.listdir("/proc"),
    "read a device": lambda: read("/dev/zero"),
    "read the kernel's settings": lambda: read("/sys/kernel/mm/transparent_hugepage/enabled"),
    "change a file": lambda: write(victim),
    "write beside it": lambda: write(f"{folder}/new"),
    "write into the source": lambda: write("new"),
    "write a temporary file": lambda: write("/tmp/tenantry-intruder"),
    "write shared memory": lambda: write("/dev/shm/tenantry-intruder"),
    "create a directory": lambda: os.mkdir(f"{folder}/directory"),
    "create a link": lambda: os.symlink("/", f"{folder}/link"),
    "create a hard link": lambda: os.link(victim, f"{folder}/hard"),
    "create a device": lambda: os.mknod(f"{folder}/device", 0o20600, os.makedev(1, 5)),
    "create a pipe": lambda: os.mkfifo(f"{folder}/pipe"),
    "rename a file": lambda: os.rename(victim, victim),
    "truncate a file": lambda: os.truncate(victim, 1),
    "change its mode": lambda: os.chmod(victim, 0o600),
    "change its owner": lambda: os.chown(victim, os.getuid(), os.getgid()),
    "change its time": lambda: os.utime(victim),
    "change an attribute": lambda: os.setxattr(victim, "user.x", b"y"),
    "change the root": lambda: os.chroot("/"),
    "connect to loopback": lambda: connect(socket.AF_INET, ("127.0.0.1", port)),
    "connect to loopback by IPv6": lambda: connect(socket.AF_INET6, ("::ffff:127.0.0.1", port)),
    "connect to an abstract socket": lambda: connect(socket.AF_UNIX, f"\0{name}"),
    "send a datagram": send,
    "ask for a name": lambda: socket.getaddrinfo("localhost", 80),
    "make a pair of sockets": socket.socketpair,
    "talk to the kernel": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
    "make a process": fork,
    "make a process by another call": lambda: os.posix_spawn(sys.executable, [sys.executable, "-V"], {}),
    "signal its parent": lambda: os.kill(os.getppid(), 0),
    "leave its group": os.setsid,
    "raise its priority": lambda: os.nice(1),
    "make memory with a name": lambda: os.memfd_create("x"),
    "run threads": thread,
    "read the source": lambda: read("os.py"),
}
for what, attempt in attempts.items():
    try:
        attempt()
    except (OSError, ValueError):
        continue
    print(what)
