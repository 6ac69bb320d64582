"""Whatever stands in a tree that `import` builds: it is bounded, stays in its directory and brings nothing alive."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tenantry.importing import documents, kustomize
from tenantry.importing.kustomize import run
from tenantry.messages.errors import Refused
from tenantry.source import compose


def test_a_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    script = "(sleep 60; touch late) & echo $! > child; sleep 60"
    started = time.monotonic()
    with pytest.raises(Refused, match="sh took longer than 1 s"):
        run(["/bin/sh", "-c", script], tmp_path, {}, seconds=1)
    assert time.monotonic() - started < 20
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        if not _runs(child):
            break
        time.sleep(0.1)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        return (
            "(sleep) Z" not in Path(f"/proc/{pid}/stat").read_text()
            and "(sh) Z" not in Path(f"/proc/{pid}/stat").read_text()
        )
    except FileNotFoundError:
        return False


def test_output_and_files_are_bounded(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="wrote more than 1 MiB"):
        run(["/bin/sh", "-c", "exec head -c 5000000 /dev/zero"], tmp_path, {}, most=2**20)
    with pytest.raises(Refused):
        run(["/bin/sh", "-c", "head -c 5000000 /dev/zero > file"], tmp_path, {}, most=2**20)
    assert (tmp_path / "file").stat().st_size <= 2**20


def test_memory_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(Refused):
        run([sys.executable, "-c", "print(len(bytes(6 * 2**30)))"], tmp_path, {})


def test_the_environment_of_the_user_is_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    assert b"hunter2" not in run(["/bin/sh", "-c", "set"], tmp_path, {})


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
)


def read(text: bytes) -> list[Any]:
    return [data for data, _ in documents.documents_in(text, "a")]


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]\n", "[" * 500 + "]" * 500, "a: b: c", "!!python/object:os.x {}"])
def test_yaml_that_is_too_large_or_broken_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"^a:1:|^a:\d+:"):
        read(text.encode())


MERGES = "a: &a {k0: 1, k1: 1, k2: 1, k3: 1, k4: 1, k5: 1, k6: 1, k7: 1, k8: 1, k9: 1}\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} {{<<: [{', '.join([f'*{chr(97 + n)}'] * 10)}]}}\n" for n in range(9)
)
TOO_MUCH = {
    "merge keys": MERGES,
    "merge keys of a later document": f"a: 1\n---\n{MERGES}",
    "lists in lists": "[" * 300_000,
    "lists in lists, in lines": "- " * 300_000,
    "mappings in mappings": "{a: " * 300_000,
    "keys that are lists": "? " * 300_000,
}


@pytest.mark.parametrize("case", TOO_MUCH)
def test_yaml_is_refused_before_it_takes_memory(case: str) -> None:
    """In a process of its own: libyaml would end it where values are nested very deeply."""
    code = "import sys; from tenantry.importing import documents as d; [*d.documents_in(sys.stdin.buffer.read(), 'a')]"
    limited = f"import resource as r; r.setrlimit(r.RLIMIT_DATA, (2**30, 2**30)); {code}"
    done = subprocess.run([sys.executable, "-c", limited], input=TOO_MUCH[case], capture_output=True, text=True)
    told, fix = done.stderr.splitlines()[-2:]
    assert told.startswith("tenantry.messages.errors.Refused: a:")
    assert told.endswith(("values are nested deeper than 64 levels", "aliases unfold to more than 250000 values"))
    assert fix.startswith("  fix: ")


def test_the_number_of_keys_and_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "MAX_NODES", 100)
    assert read(b"- x\n" * 90) == [["x"] * 90]
    for text in ("- x\n" * 100, "{a: 1}\n---\n" * 40, "".join(f"a{number}: 1\n" for number in range(60))):
        with pytest.raises(Refused, match="there are more than 100 keys and values"):
            read(text.encode())


def test_a_large_file_of_a_source_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_BYTES", 100)
    (tmp_path / "values.yaml").write_text(f"a: {'b' * 100}\n")
    with pytest.raises(Refused, match=r"^values.yaml: there are more than 0 MiB"):
        documents.first_document(tmp_path / "values.yaml")


def test_numbers_and_times_are_read_as_kubernetes_reads_them() -> None:
    (found,) = read(b"{a: 22:22, b: 2024-01-01, c: 010, d: 1e3, e: yes, f: ~, g: 1.5, h: 0x1F, i: '1'}")
    assert found == {
        "a": "22:22",
        "b": "2024-01-01",
        "c": 8,
        "d": 1000.0,
        "e": True,
        "f": None,
        "g": 1.5,
        "h": 31,
        "i": "1",
    }


@pytest.mark.parametrize("path", ["../other", "/../other", "a/../../other"])
def test_a_path_cannot_leave_the_source(tmp_path: Path, path: str) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "other").mkdir()
    with pytest.raises(Refused, match="the source has no directory"):
        kustomize.directory_in(tmp_path / "source", path)
