"""A repository that somebody else made runs nothing when a fleet is compared with its commits, and shows no other file."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tenantry.facts.revision import Checkout, Repository
from tenantry.messages.errors import InvalidFleet, Refused
from tests.processes.test_revision import FILE, FRAME, MOVY, _repository, base, commit, git, refused, tenants, write

__all__ = ["_repository"]
MARK = "ran"
PROGRAM = "#!/bin/sh\necho ran >> {mark}\ncat\n"


@pytest.fixture
def mark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that each of the programs would write."""
    return tmp_path_factory.mktemp("mark") / MARK


def program(name: str, mark: Path) -> Path:
    """Something that tells that it ran, in the repository, as a pull request can bring it."""
    file = Path(name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PROGRAM.format(mark=mark))
    file.chmod(0o755)
    return file.absolute()


def with_hooks(mark: Path) -> None:
    for hook in ("post-index-change", "post-checkout", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"):
        program(f".husky/{hook}", mark)
    git("config", "core.hooksPath", ".husky")


def with_hooks_of_its_own(mark: Path) -> None:
    for hook in ("post-index-change", "post-checkout"):
        program(f".git/hooks/{hook}", mark)


def with_a_monitor(mark: Path) -> None:
    git("config", "core.fsmonitor", str(program("monitor", mark)))


def with_a_filter(mark: Path) -> None:
    made = program("filter", mark)
    write("* filter=x\n", Path(".gitattributes"))
    for action in ("smudge", "clean", "process"):
        git("config", f"filter.x.{action}", str(made))


def with_a_filter_for_all_repositories(mark: Path) -> None:
    attributes = Path(".git/all")
    attributes.write_text("* filter=x diff=x\n")
    git("config", "core.attributesFile", str(attributes.absolute()))
    git("config", "filter.x.smudge", str(program("filter", mark)))


def with_a_way_to_show_files(mark: Path) -> None:
    made = program("show", mark)
    write("* diff=x\n", Path(".gitattributes"))
    for key in ("diff.x.command", "diff.x.textconv", "diff.external", "core.pager", "core.editor"):
        git("config", key, str(made))


def with_settings_of_another_file(mark: Path) -> None:
    made = program("monitor", mark)
    Path("settings").write_text(f"[core]\n fsmonitor = {made}\n hooksPath = .husky\n")
    program(".husky/post-index-change", mark)
    git("config", "includeIf.gitdir:/.path", str(Path("settings").absolute()))


WAYS = (
    with_hooks,
    with_hooks_of_its_own,
    with_a_monitor,
    with_a_filter,
    with_a_filter_for_all_repositories,
    with_a_way_to_show_files,
    with_settings_of_another_file,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_nothing_of_the_repository_runs(way: object, mark: Path) -> None:
    commit()
    assert callable(way)
    write("# next\n" + FILE.read_text())
    way(mark)
    subprocess.run(("git", "-c", "core.hooksPath=/dev/null", "add", "--all"), check=True, capture_output=True)
    git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "hostile")
    mark.unlink(missing_ok=True)  # what Git itself ran up to here
    write("# changed\n" + FILE.read_text())
    assert tenants(base("HEAD")) == tenants(base("HEAD~1", merge_base=True)) == ["rocky"]
    assert base("HEAD", Path("fleet/new.yaml")).fleet is None
    assert not mark.exists()


def test_missing_objects_are_not_fetched(mark: Path) -> None:
    commit()
    blob = git("rev-parse", f"HEAD:{FILE}")
    Path(f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    git("config", "remote.origin.url", str(Path.cwd()))
    git("config", "remote.origin.promisor", "true")
    git("config", "remote.origin.uploadpack", str(program("upload", mark)))
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.partialClone", "origin")
    assert "this clone lacks the content of 'fleet/tenants.yaml'" in refused("HEAD")
    assert not mark.exists()


def test_git_does_not_write_where_a_variable_says(mark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit()
    for name in ("GIT_TRACE", "GIT_TRACE2_EVENT", "GIT_EXTERNAL_DIFF"):
        monkeypatch.setenv(name, str(mark))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor'='{program('monitor', mark)}'")
    assert tenants(base("HEAD")) == ["rocky"]
    assert not mark.exists()


def test_a_link_at_the_commit_that_leads_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    secret = tmp_path.parent / "secret.yaml"
    secret.write_text("token: hush\n")
    FILE.unlink()
    FILE.symlink_to(secret)
    commit()
    assert refused("HEAD").splitlines() == [
        "HEAD:fleet/tenants.yaml is a symlink, or behind one, that leads out of its repository",
        "  fix: put the file itself there",
    ]


def test_a_directory_at_the_commit_that_leads_out_of_the_repository_is_refused(tmp_path: Path) -> None:
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "tenants.yaml").write_text("token: hush\n")
    Path("linked").symlink_to(outside)
    commit()
    Path("linked").unlink()
    Path("linked").mkdir()
    write(FRAME + "tenants: {}\n", Path("linked/tenants.yaml"))
    try:
        told = str(base("HEAD", Path("linked/tenants.yaml")))
    except (Refused, InvalidFleet) as error:
        told = str(error)
    assert "hush" not in told


def test_an_included_link_at_the_commit_that_leads_out_is_refused(tmp_path: Path) -> None:
    secret = tmp_path.parent / "secret.yaml"
    secret.write_text("token: hush\n")
    write(FRAME.replace("environments:", "include: [tenants.d/*.yaml]\nenvironments:", 1) + MOVY)
    Path("fleet/tenants.d").mkdir()
    Path("fleet/tenants.d/movy.yaml").symlink_to(secret)
    commit()
    with pytest.raises(InvalidFleet) as caught:
        base("HEAD")
    assert [each.code for each in caught.value.diagnostics] == ["bad-include"]
    assert "hush" not in str(caught.value.diagnostics)


def test_a_tree_made_by_hand_writes_nothing_elsewhere(tmp_path: Path) -> None:
    commit()
    evil = tmp_path.parent / "evil"
    blob = git("rev-parse", f"HEAD:{FILE}")
    link = subprocess.run(
        ("git", "hash-object", "-w", "--stdin"), input=str(evil), check=True, capture_output=True, text=True
    ).stdout.strip()
    inner = _tree(f"100644 blob {blob}\tx.yaml\n")
    entries = (
        f"100644 blob {blob}\t..\n",
        f"120000 blob {link}\ta\n",
        f"040000 tree {inner}\ta\n",
        f"040000 tree {inner}\t.GIT\n",
    )
    tree = _tree("".join(entries))
    hash = git("commit-tree", tree, "-m", "hostile")
    into = tmp_path / "into"
    into.mkdir()
    Checkout(Repository(Path()), hash, into).take(["**"])
    assert sorted(str(each.relative_to(into)) for each in into.rglob("*")) == [
        "tree",
        "tree/.git",
        "tree/a",
        "tree/a/x.yaml",
    ]
    assert not evil.exists()


def _tree(entries: str) -> str:
    """A tree that Git itself would not make, which is written as it is."""
    raw = b""
    for line in entries.splitlines():
        about, _, name = line.partition("\t")
        mode, _, object = about.split(" ")
        raw += f"{mode.lstrip('0')} {name}".encode() + b"\0" + bytes.fromhex(object)
    command = ("git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
    return subprocess.run(command, input=raw, check=True, capture_output=True).stdout.decode().strip()


def test_a_file_that_is_too_large_is_refused_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenantry.facts.revision.MAX_BYTES", 10)
    monkeypatch.setattr("tenantry.source.parse.MAX_BYTES", 10)
    commit()
    with pytest.raises(InvalidFleet) as caught:
        base("HEAD")
    assert [each.code for each in caught.value.diagnostics] == ["too-large"]
