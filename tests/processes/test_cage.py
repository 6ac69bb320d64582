"""A program in a cage reaches what it renders, and nothing else: tried through every cage that works on this machine."""

from __future__ import annotations

import functools
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.manifests import cage, programs
from tenantry.manifests.cage import OPEN, Cage, every_cage, files_of, working_cage
from tenantry.manifests.model import NotFetched, NotRendered
from tenantry.messages.errors import Refused

NAMES = ("bubblewrap", "namespaces", "Landlock")
INTRUDER = Path(__file__).with_name("intruder.py").read_text()
LIBRARY = Path(sysconfig.get_path("stdlib")).resolve()
PYTHON = (sys.executable, "-I", "-S", "-c")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has cages")


@functools.cache
def known() -> dict[str, Cage]:
    return every_cage()


@pytest.fixture(params=NAMES)
def each_cage(request: pytest.FixtureRequest) -> Cage:
    if request.param not in known():
        pytest.skip(f"{request.param} does not work on this machine")
    return known()[request.param]


class Outside:
    """What an intruder would like to reach."""

    def __init__(self, root: Path) -> None:
        self.victim = root / "victim" / "file"
        self.victim.parent.mkdir()
        self.victim.write_text("outside\n")
        self.name = f"tenantry-{os.getpid()}-{root.name}"
        self.sockets = [socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)]
        self.sockets.append(socket.socket(socket.AF_UNIX))
        self.sockets[1].bind(f"\0{self.name}")
        self.sockets[1].listen()

    def reached(self, by: Cage) -> list[str]:
        arguments = (str(self.victim), str(self.sockets[0].getsockname()[1]), self.name)
        return python(by, INTRUDER, *arguments).splitlines()


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    made = Outside(tmp_path)
    yield made
    for each in made.sockets:
        each.close()


def python(by: Cage, code: str, *arguments: str) -> str:
    """What a program prints, whose source is Python's own library, because it can read nothing else."""
    variables = {"PYTHONHOME": sys.base_prefix, "PYTHONDONTWRITEBYTECODE": "1"}
    return by.run([*PYTHON, code, *arguments], LIBRARY, variables).decode()


def test_a_program_reaches_nothing_but_its_source(each_cage: Cage, outside: Outside) -> None:
    assert outside.reached(each_cage) == ["run threads", "read the source"]
    assert outside.victim.read_text() == "outside\n"
    assert [each.name for each in outside.victim.parent.iterdir()] == ["file"]


def test_without_a_cage_the_same_program_reaches_all_of_it(outside: Outside) -> None:
    reached = outside.reached(OPEN)
    for what in ("read a file", "read its environment", "connect to loopback", "connect to an abstract socket"):
        assert what in reached
    Path("/tmp/tenantry-intruder").unlink()


def test_links_out_of_the_source_lead_nowhere(each_cage: Cage, outside: Outside, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inside").mkdir(parents=True)
    (source / "inside" / "file").write_text("inside\n")
    (source / "good").symlink_to("inside/file")
    (source / "file").symlink_to(outside.victim)
    (source / "directory").symlink_to(outside.victim.parent)
    (source / "climbing").symlink_to("../victim/file")
    (source / "root").symlink_to("/")
    script = 'for each; do if read -r line < "$each"; then echo "$line"; fi; done'
    names = (
        "good",
        "file",
        "directory/file",
        "climbing",
        "root/etc/passwd",
        "../victim/file",
        "inside/../../victim/file",
    )
    assert each_cage.run(["/bin/sh", "-c", script, "sh", *names], source, {}) == b"inside\n"


def test_the_environment_holds_no_more_than_is_given(each_cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG_PASSPHRASE", "hunter2")
    said = json.loads(python(each_cage, "import json, os; print(json.dumps(dict(os.environ)))"))
    assert said.keys() <= {
        *("HOME", "TMPDIR", "PATH", "PWD", "LC_ALL", "LC_CTYPE", "GOMEMLIMIT", "LD_LIBRARY_PATH"),
        *("PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "OLDPWD"),
    }
    assert {said[name] for name in ("HOME", "TMPDIR", "PATH")} == {"/nonexistent"}


EXCESSES = {
    "memory": ("bytearray(5 << 30)", "MemoryError"),
    "shared memory": ("import mmap; mmap.mmap(-1, 17 << 30)", "Cannot allocate memory"),
    "output": ("import os\nwhile True: os.write(1, bytes(1 << 20))", "wrote more than 32 MiB|File too large"),
    "messages": ("import os\nwhile True: os.write(2, b'x' * (1 << 20))", "wrote more than 32 MiB|xxx"),
}


@pytest.mark.parametrize("excess", EXCESSES)
def test_what_a_program_takes_is_bounded(each_cage: Cage, excess: str) -> None:
    code, said = EXCESSES[excess]
    with pytest.raises(NotRendered, match=said):
        python(each_cage, code)


def test_a_program_that_takes_too_long_is_gone(each_cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "run", functools.partial(programs.run, seconds=0.3))
    mark = f"endless-{os.getpid()}-{each_cage.name}"
    with pytest.raises(NotRendered, match="took longer"):
        python(each_cage, "while True: pass", mark)
    waited = threading.Event()
    for _ in range(200):
        if not running(mark):
            break
        waited.wait(0.05)
    assert not running(mark)


def running(mark: str) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in each.read_bytes():
                found.append(each.parent.name)
        except OSError:
            continue
    return found


def test_the_first_that_works_is_used_and_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    monkeypatch.setattr(
        cage, "_objection", lambda each: tried.append(each.name) or ("no" if each.name != "Landlock" else "")
    )
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/bwrap")
    working_cage.cache_clear()
    assert [working_cage().name for _ in range(2)] == ["Landlock"] * 2
    assert tried == list(NAMES)
    working_cage.cache_clear()


def test_without_a_cage_nothing_is_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cage, "_objection", lambda _: "Function not implemented")
    monkeypatch.setattr(shutil, "which", lambda _: None)
    working_cage.cache_clear()
    with pytest.raises(Refused) as refused:
        working_cage()
    assert str(refused.value) == (
        "what a source contains is rendered in a cage, and none works here (bubblewrap: the command 'bwrap' is not"
        " installed; namespaces: Function not implemented; Landlock: Function not implemented)\n"
        "  fix: run `apt-get install bubblewrap`, or use Linux 5.13 or newer with Landlock, or add --trust-sources if you"
        " trust everyone who can change a source with your files and your network"
    )
    monkeypatch.setattr(sys, "platform", "darwin")
    working_cage.cache_clear()
    with pytest.raises(Refused, match="which only Linux has\n  fix: run it in a container, or add --trust-sources if"):
        working_cage()
    working_cage.cache_clear()


def test_a_cage_that_closes_nothing_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `bwrap` of somebody who wrapped it."""
    fake = tmp_path / "bwrap"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "bubblewrap" not in every_cage()


def test_a_filter_that_allows_all_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that takes a filter and does not apply it."""
    monkeypatch.setattr(cage, "_filter", lambda: struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000))
    assert every_cage() == {}
    if "Landlock" in known():
        assert cage._objection(known()["Landlock"]) == "a program in it finds 'inside process' instead of 'inside'"


@pytest.mark.parametrize("way", ["", "none", "Namespaces", "/nonexistent/bwrap"])
def test_what_cannot_be_entered_runs_nothing(tmp_path: Path, way: str) -> None:
    with pytest.raises(NotRendered, match="the cage cannot be entered"):
        Cage("broken", way).run(["/bin/sh", "-c", f"echo > {tmp_path}/ran"], tmp_path, {})
    assert not (tmp_path / "ran").exists()


def test_a_script_is_refused_by_name(each_cage: Cage, tmp_path: Path) -> None:
    script = tmp_path / "helm"
    script.write_text('#!/bin/sh\nexec /opt/helm/helm "$@"\n')
    with pytest.raises(NotFetched, match=f"{script} is a script or of another machine") as refused:
        each_cage.run([str(script)], tmp_path, {})
    assert refused.value.fix.startswith("put the program itself before it on PATH, or add --trust-sources")


@pytest.mark.parametrize(
    "content", [b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + b"\xff" * 70, None], ids=["short", "wrong", "none"]
)
def test_a_broken_program_is_told(tmp_path: Path, content: bytes | None) -> None:
    program = tmp_path / "helm"
    if content is not None:
        program.write_bytes(content)
    with pytest.raises(NotFetched, match=f"{program} cannot be put into the cage"):
        files_of(str(program))


def test_a_dynamic_program_brings_its_loader_and_its_libraries_alone() -> None:
    files = files_of(os.path.realpath("/bin/sh"))
    assert all(Path(each).is_file() for each in files)
    assert 2 <= len(files) <= 5


DENIED = (
    "echo 0 > /proc/sys/user/max_user_namespaces"
    ' && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"'
)
"""A user without capabilities, in a namespace in which nobody can make another."""
REPORT = """\
import sys
from pathlib import Path
from tenantry.manifests.cage import every_cage, working_cage
from tests.processes import test_cage
print(list(every_cage()), working_cage().name)
print(test_cage.Outside(Path(sys.argv[1])).reached(working_cage()))
"""


def test_where_namespaces_are_denied_landlock_closes_the_same(tmp_path: Path) -> None:
    denied = ["unshare", "--user", "--map-root-user", "sh", "-c", DENIED, "sh"]
    if subprocess.run([*denied, "true"], capture_output=True).returncode or "Landlock" not in known():
        pytest.skip("this machine cannot deny namespaces, or has no Landlock")
    command = [*denied, sys.executable, "-c", REPORT, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert said.stdout == "['Landlock'] Landlock\n['run threads', 'read the source']\n", said.stderr
