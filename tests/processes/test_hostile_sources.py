"""Content of sources is written by others: it is bounded, stays in its directory and brings nothing alive."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from tenantry.manifests import artifact, documents, git, kustomize
from tenantry.manifests.cache import Cache
from tenantry.manifests.cage import OPEN
from tenantry.manifests.changed import decisive
from tenantry.manifests.git import GitSources
from tenantry.manifests.model import ChangedApp, Inputs, NotFetched, NotRendered, Options
from tenantry.manifests.programs import run
from tenantry.manifests.registries import ChartSources
from tenantry.manifests.run import compare_manifests
from tests.unit.manifests import programs

GIT = ("git",)


def test_a_program_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    script = "(sleep 60; touch late) & echo $! > child; sleep 60"
    started = time.monotonic()
    with pytest.raises(NotRendered, match="sh took longer than 1 s"):
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
    with pytest.raises(NotRendered, match="wrote more than 1 MiB"):
        run(["/bin/sh", "-c", "exec head -c 5000000 /dev/zero"], tmp_path, {}, most=2**20)
    with pytest.raises(NotRendered):
        run(["/bin/sh", "-c", "head -c 5000000 /dev/zero > file"], tmp_path, {}, most=2**20)
    assert (tmp_path / "file").stat().st_size <= 2**20


def test_memory_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(NotRendered):
        run([sys.executable, "-c", "print(len(bytes(6 * 2**30)))"], tmp_path, {})


def test_the_environment_of_the_user_is_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    assert b"hunter2" not in run(["/bin/sh", "-c", "set"], tmp_path, {})


def archive(path: Path, *members: tuple[str, bytes | str]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, str):
                member.type, member.linkname = tarfile.SYMTYPE, content
                made.addfile(member)
            else:
                member.size = len(content)
                made.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("name", ["../evil", "/evil", "chart/../../evil"])
def test_an_archive_cannot_write_outside_of_its_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "into").mkdir()
    with pytest.raises(NotFetched, match="names files outside"):
        artifact.unpack(archive(tmp_path / "a.tgz", (name, b"x")), tmp_path / "into")
    assert not (tmp_path / "evil").exists()


def test_links_in_an_archive_are_left_out(tmp_path: Path) -> None:
    artifact.unpack(archive(tmp_path / "a.tgz", ("link", "/etc"), ("link/x", b"y"), ("a", b"b")), tmp_path / "into")
    assert not (tmp_path / "into/link").is_symlink()
    assert (tmp_path / "into/link/x").read_bytes() == b"y"


def test_an_archive_that_unpacks_to_very_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifact, "MOST_BYTES", 10_000)
    with pytest.raises(NotFetched, match="contains more than"):
        artifact.unpack(archive(tmp_path / "a.tgz", ("zeros", bytes(20_000))), tmp_path / "into")
    (tmp_path / "b.tgz").write_bytes(b"no archive")
    with pytest.raises(NotFetched, match="cannot be unpacked"):
        artifact.unpack(tmp_path / "b.tgz", tmp_path / "into")


def test_headers_of_an_archive_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An extended header is read into memory as a whole, whatever size it claims; many of them are read one by one."""

    def header(kind: bytes, content: bytes, size: int) -> bytes:
        made = tarfile.TarInfo("x")
        made.type, made.size = kind, size
        return made.tobuf(tarfile.GNU_FORMAT) + content.ljust(-(-len(content) // 512) * 512, b"\0")

    cases = {
        "a header of more than 1 MiB": [header(tarfile.XHDTYPE, b"", 8 * 2**30 - 1)],
        "a header of more than": [header(tarfile.GNUTYPE_LONGNAME, b"", 8 * 2**30 - 1)],
        "cannot be unpacked": [header(tarfile.XHDTYPE, b"6 a=b\n", 6)] * 5_000,
        "with its headers": [header(tarfile.GNUTYPE_LONGNAME, b"a" * 200, 200), header(b"0", b"", 0)] * 20,
    }
    for said, parts in cases.items():
        with tarfile.open(tmp_path / "a.tgz", "w:gz") as made:
            assert made.fileobj
            made.fileobj.write(b"".join(parts))
        monkeypatch.setattr(artifact, "MOST_BYTES", 10_000 if said == "with its headers" else 2**30)
        with pytest.raises(NotFetched, match=said):
            artifact.unpack(tmp_path / "a.tgz", tmp_path / "into")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300, "a/" * 2_000 + "b"])
def test_impossible_names_in_an_archive_are_told(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "a.tgz", "w:gz", format=tarfile.PAX_FORMAT) as made:
        made.addfile(tarfile.TarInfo(name) if "\0" not in name else with_header(name))
    with pytest.raises(NotFetched, match="cannot be unpacked"):
        artifact.unpack(tmp_path / "a.tgz", tmp_path / "into")


def with_header(name: str) -> tarfile.TarInfo:
    made = tarfile.TarInfo("x")
    made.pax_headers = {"path": name}
    return made


def test_a_tree_may_be_named_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.yaml").write_text("a")
    monkeypatch.chdir(tmp_path)
    artifact.take(Path("tree"), Path("into"), None, GIT)
    assert (tmp_path / "into" / "a.yaml").read_text() == "a"


def test_a_broken_archive_is_told(tmp_path: Path) -> None:
    whole = archive(tmp_path / "a.tgz", ("a", bytes(range(256)) * 400)).read_bytes()
    for broken in (whole[:-300], whole[:60] + b"\xff" * 8 + whole[68:]):
        (tmp_path / "b.tgz").write_bytes(broken)
        with pytest.raises(NotFetched, match="cannot be unpacked"):
            artifact.unpack(tmp_path / "b.tgz", tmp_path / "into")


def test_files_are_taken_as_flux_takes_them(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("web.yaml", "logo.png", ".github/ci.yaml", "docs/a.yaml", ".gitignore"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text("x")
    (tree / "passwd").symlink_to("/etc/passwd")
    (tree / "etc").symlink_to("/etc")

    def taken(ignore: str | None) -> list[str]:
        into = tmp_path / f"into-{time.monotonic_ns()}"
        artifact.take(tree, into, ignore, GIT)
        return sorted(str(each.relative_to(into)) for each in into.rglob("*") if each.is_file())

    assert taken(None) == ["docs/a.yaml", "web.yaml"]
    assert taken("/docs\n") == [".github/ci.yaml", "logo.png", "web.yaml"]
    (tree / ".sourceignore").write_text("/*\n!/web.yaml\n")
    assert taken(None) == ["web.yaml"]
    assert taken("!/docs\n") == ["docs/a.yaml", "web.yaml"]


BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
)


@pytest.mark.parametrize("text", [BOMB, "a: &a [*a]\n", "[" * 500 + "]" * 500, "a: b: c", "!!python/object:os.x {}"])
def test_yaml_that_is_too_large_or_broken_is_refused(text: str) -> None:
    with pytest.raises(NotRendered, match="its YAML"):
        documents.read_all(text)


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
    code = "import sys; from tenantry.manifests import documents; documents.read_all(sys.stdin.read())"
    limited = f"import resource as r; r.setrlimit(r.RLIMIT_DATA, (2**30, 2**30)); {code}"
    done = subprocess.run([sys.executable, "-c", limited], input=TOO_MUCH[case], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1:] == [
        "tenantry.manifests.model.NotRendered: its YAML has more than 1000000 keys and values, or is nested too deeply"
    ]


def test_the_number_of_keys_and_values_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_MOST_VALUES", 100)
    assert documents.read("- x\n" * 90) == ["x"] * 90
    for text in ("- x\n" * 100, "{a: 1}\n---\n" * 40, "".join(f"a{number}: 1\n" for number in range(60))):
        with pytest.raises(NotRendered, match="its YAML has more than"):
            documents.read_all(text)


def test_a_large_file_of_a_source_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_BYTES", 100)
    (tmp_path / "values.yaml").write_text(f"a: {'b' * 100}\n")
    with pytest.raises(NotRendered, match=r"^values.yaml is larger than 0 MiB$"):
        documents.read_file(tmp_path / "values.yaml")


GOOD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
CHART = {"c/Chart.yaml": "name: c\n", "c/templates/all.txt": GOOD}
FORM = "its content has a form that is not known here (%s)"
FILES = "its files cannot be used: %s"
# Files of a source, what its app says, and what is told of it.
COSTLY: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "a directory named like a kustomization": ({"app/kustomization.yaml/a": ""}, {}, FILES % "Is a directory"),
    "an image without a name": (
        {"app/kustomization.yaml": "resources: [a.txt]\nimages: [{name: [a]}]\n"},
        {},
        FORM % "TypeError",
    ),
    "a name that is not UTF-8": ({os.fsdecode(b"app/\xff.yaml"): GOOD}, {}, FORM % "UnicodeEncodeError"),
    "a long path": ({}, {"path": "x" * 300}, f"the source has no directory '{'x' * 300}'"),
    "a long component": (
        {"app/a.txt": GOOD},
        {"components": ["x" * 300], "ignoreMissingComponents": True},
        FILES % "File name too long",
    ),
    "a directory named like values": (
        {**CHART, "c/values.yaml/a": "", "v.yaml": "a: b\n"},
        {"chart": {"valuesFiles": ["v.yaml"]}},
        FILES % "Is a directory",
    ),
    "a long name of values": (CHART, {"chart": {"valuesFiles": ["x" * 300]}}, FILES % "File name too long"),
    "labels that are a list": (
        {**CHART, "c/templates/all.txt": f"{GOOD.replace('a}', 'a, labels: [b]}')}"},
        {"chart": {}, "commonMetadata": {"labels": {"a": "b"}}},
        FORM % "TypeError",
    ),
    "metadata that are a list": (
        {**CHART, "c/templates/all.txt": "kind: X\nmetadata: [a]\n"},
        {"chart": {}, "commonMetadata": {"labels": {"a": "b"}}},
        FORM % "ValueError",
    ),
}


@pytest.mark.parametrize("case", COSTLY)
def test_whatever_a_source_contains_costs_the_app_that_takes_it(tmp_path: Path, case: str) -> None:
    files, spec, told = COSTLY[case]
    programs.install(tmp_path / "bin")
    bad, good = (tmp_path / each for each in ("bad", "good"))
    for root, content in ((bad, files), (good, {"app/a.txt": GOOD})):
        root.mkdir()
        for name, text in content.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
    found = {each: str(tmp_path / "bin" / each) for each in ("kustomize", "helm")}
    options = Options(
        cache=tmp_path / "cache",
        programs={"git": GIT, "kustomize": (found["kustomize"],), "helm": (found["helm"],)},
        cage=OPEN,
        local={"rocky/bad": bad, "rocky/good": good},
    )
    outcome = compare_manifests([changed("bad", spec), changed("good", {})], options)
    assert {app.name: [each.message for each in app.problems] for app in outcome.apps} == {"bad": [told], "good": []}


def changed(name: str, spec: dict[str, Any]) -> ChangedApp:
    """A new app from the source of its name: a chart `c` if the spec says how that is made."""
    spec = {"path": "app", **spec}
    chart = spec.pop("chart", None)
    inputs = Inputs(
        app={"kind": "Kustomization" if chart is None else "HelmRelease", "metadata": {"name": name}, "spec": spec},
        chart=None if chart is None else {"kind": "HelmChart", "metadata": {}, "spec": {"chart": "c", **chart}},
        source={"kind": "GitRepository", "metadata": {}, "spec": {}},
        name=f"rocky/{name}",
    )
    return ChangedApp(environment="dev", tenant="rocky", cluster="hub", name=name, before=None, after=inputs)


def repository(at: Path, *trees: tuple[str, int]) -> None:
    """A repository of a file of zeros, within trees that hold the one before under several names."""

    def run_git(*arguments: str, given: bytes = b"") -> str:
        variables = {"PATH": os.environ["PATH"], "HOME": str(at), "GIT_CONFIG_NOSYSTEM": "1"}
        variables |= {
            f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        done = subprocess.run(
            ["git", "-C", str(at), *arguments], input=given, capture_output=True, env=variables, check=True
        )
        return done.stdout.decode().strip()

    at.mkdir()
    run_git("init", "--quiet", "--bare", "--initial-branch=main")
    entry = f"100644 blob {run_git('hash-object', '-w', '--stdin', given=bytes(1000))}"
    for name, count in trees:
        listed = "".join(f"{entry}\t{name}{number:04}\n" for number in range(count))
        entry = f"040000 tree {run_git('mktree', given=listed.encode())}"
    commit = run_git("commit-tree", "-m", "x", entry.split()[2])
    run_git("update-ref", "refs/heads/main", commit)


def test_a_repository_that_unpacks_to_very_much_is_not_checked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few trees that name each other several times stand for any number of files."""
    monkeypatch.setattr(git, "OUTPUT", 2**20)
    monkeypatch.setattr(artifact, "MOST_FILES", 1_000)
    sizes = {"bomb": (("d", 30),) * 4, "many": (("d", 40),) * 2, "small": (("d", 3),)}
    for name, trees in sizes.items():
        repository(tmp_path / name, *trees)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "2")
    settings = {"protocol.file.allow": "always", f"url.{tmp_path}/.insteadOf": "https://x.example/"}
    for number, (key, value) in enumerate(settings.items()):
        monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", key)
        monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)

    def fetched(name: str) -> str:
        """What is told of a repository; "" if it was checked out."""
        options = Options(cache=tmp_path / "cache", programs={"git": GIT}, cage=OPEN)
        try:
            GitSources(options, Cache(tmp_path / "cache")).fetch(
                {"url": f"https://x.example/{name}", "ref": {"branch": "main"}}
            )
        except NotFetched as refused:
            return refused.message
        return ""

    assert [fetched(each) for each in sizes] == ["git: git wrote more than 1 MiB", artifact.TOO_LARGE, ""]
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.setattr(artifact, "MOST_BYTES", 2_999)
    assert fetched("small") == artifact.TOO_LARGE


def test_numbers_and_times_are_read_as_kubernetes_reads_them() -> None:
    assert documents.read("{a: 22:22, b: 2024-01-01, c: 010, d: 1e3, e: yes, f: ~, g: 1.5, h: 0x1F, i: '1'}") == {
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
    with pytest.raises(NotRendered, match="the source has no directory"):
        kustomize.build(tmp_path / "source", {"path": path}, ("false",), OPEN)


@pytest.mark.parametrize(
    "url", ["--upload-pack=touch x", "file:///etc", "ext::sh -c x", "https://-x", "ssh://-oProxyCommand=x/y"]
)
def test_a_url_is_never_an_option_or_a_command(tmp_path: Path, url: str) -> None:
    options = Options(cache=tmp_path, programs={"git": GIT, "helm": ("false",)}, cage=OPEN)
    with pytest.raises(NotFetched, match="is not a URL that can be fetched"):
        GitSources(options, Cache(tmp_path)).fetch({"url": url})
    charts = ChartSources(options, Cache(tmp_path), Cache(tmp_path))
    with pytest.raises(NotFetched, match="is not a URL that can be fetched"):
        charts.from_repository({"url": url}, "app", "1.0.0")
    with pytest.raises(NotFetched, match="is not the name of a chart"):
        charts.from_repository({"url": "https://example.com"}, "--post-renderer=x", "1.0.0")


def test_nothing_decides_without_inputs() -> None:
    assert decisive(None) == ""
