"""What a fleet is compared with: commits of a real repository, files and directories, and what is wrong with them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tenantry.facts.revision import Base, Checkout, Repository, load_base
from tenantry.load import plan_one
from tenantry.messages.errors import InvalidFleet, Refused
from tests.unit.texts import FRAME, rocky

FILE = Path("fleet/tenants.yaml")
INCLUDED = """\
tenants:
  {0}:
    clusters: {{names: [hub]}}
    sources: {{m: {{git: {{url: "https://git.example.com/x", ref: {{branch: main}}}}}}}}
    apps: {{web: {{kustomize: {{source: m}}}}}}
"""
MOVY = "tenants: {movy: {grants: {clusters: {names: [hub]}, sources: ['*']}}}\n"
"""The frame that an included file fills."""
SOUND = rocky("web: {kustomize: {source: manifests}}")


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository without commits; the developer's own settings of Git do not count."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "a")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "a@example.com")
    git("init", "--quiet", "--template=", "--initial-branch", "main")
    write(SOUND)


def git(*arguments: str) -> str:
    return subprocess.run(("git", *arguments), check=True, capture_output=True, text=True).stdout.strip()


def write(text: str, file: Path = FILE) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def commit(message: str = "next") -> str:
    git("add", "--all")
    git("commit", "--quiet", "--message", message)
    return git("rev-parse", "HEAD")


def base(name: str, file: Path = FILE, *, merge_base: bool = False) -> Base:
    return load_base(file, name, merge_base=merge_base)


def tenants(base: Base) -> list[str]:
    assert base.fleet
    return [placement.tenant for placement in plan_one(base.fleet, "dev").placements]


def refused(name: str, file: Path = FILE, *, merge_base: bool = False) -> str:
    with pytest.raises(Refused) as caught:
        base(name, file, merge_base=merge_base)
    return str(caught.value)


def test_the_file_is_read_as_it_is_at_the_commit_and_nothing_of_the_repository_changes() -> None:
    hash = commit()
    write(FRAME + "tenants: {}\n")
    before = git("status", "--porcelain=v2", "--branch"), Path(".git/index").read_bytes()
    found = base("HEAD")
    assert (found.name, found.commit, tenants(found)) == (f"HEAD ({hash[:7]})", hash, ["rocky"])
    assert before == (git("status", "--porcelain=v2", "--branch"), Path(".git/index").read_bytes())


def test_places_in_the_file_name_the_revision() -> None:
    commit()
    found = base("HEAD").fleet
    assert found
    assert str(found.source.locate(("tenants", "rocky"), key=True)) == f"HEAD:{FILE}:9:3"


def test_branches_tags_and_hashes_are_revisions() -> None:
    hash = commit()
    git("tag", "v1")
    write(FRAME + "tenants: {}\n")
    commit()
    assert [tenants(base(each)) for each in ("main", "v1", hash[:9], "HEAD~", "HEAD@{0}")] == [
        [],
        ["rocky"],
        ["rocky"],
        ["rocky"],
        [],
    ]


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("tenants.d/*.yaml", "tenants.d/a.yaml"),
        ("tenants.d/**/*.yaml", "tenants.d/deep/er/a.yaml"),
        ("tenants.d/[a-c]?.yaml", "tenants.d/ab.yaml"),
        ("tenants.d/[^x].yaml", "tenants.d/^.yaml"),
        ("tenants.d/[!x].yaml", "tenants.d/a.yaml"),
        ("team [a", "team [a"),
    ],
)
def test_included_files_come_from_the_commit_too(pattern: str, name: str) -> None:
    write(FRAME.replace("environments:", f"include: [{{files: '{pattern}'}}]\nenvironments:", 1))
    write(INCLUDED.format("movy"), FILE.parent / name)
    commit()
    (FILE.parent / name).unlink()
    assert tenants(base("HEAD")) == ["movy"]


def test_included_clusters_come_from_the_commit_too() -> None:
    file, far = FILE.parent / "c/a.yaml", "{environments: [dev], kubeconfig: {capi: {cluster: far, namespace: capi}}}"
    write(FRAME.replace("environments:", "include: [{files: 'c/*.yaml'}]\nenvironments:", 1))
    write(f"clusters: {{far: {far}}}\n", file)
    commit()
    file.unlink()
    assert tenants(base("HEAD")) == []


def test_links_in_the_repository_lead_where_they_lead() -> None:
    write(FRAME.replace("environments:", "include: [tenants.d/*.yaml]\nenvironments:", 1) + MOVY)
    write(INCLUDED.format("movy"), Path("fleet/teams/movy.txt"))
    Path("fleet/tenants.d").mkdir()
    Path("fleet/tenants.d/movy.yaml").symlink_to("../teams/movy.txt")
    commit()
    assert tenants(base("HEAD")) == ["movy"]


def test_what_is_marked_as_not_for_archives_is_read_all_the_same() -> None:
    write("* export-ignore\n", Path(".gitattributes"))
    commit()
    assert tenants(base("HEAD")) == ["rocky"]


def test_a_hook_of_git_may_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    commit()
    monkeypatch.setenv("GIT_INDEX_FILE", str(Path("elsewhere").absolute()))
    monkeypatch.setenv("GIT_DIR", "nowhere")
    assert tenants(base("HEAD")) == ["rocky"]


def test_a_file_that_is_not_at_the_commit_is_no_error() -> None:
    Path("fleet/other.yaml").write_text("x")
    FILE.unlink()
    hash = commit()
    write(SOUND)
    assert base("HEAD") == Base(f"HEAD ({hash[:7]})", hash)


def test_the_merge_base_is_where_a_branch_began() -> None:
    first = commit()
    git("switch", "--quiet", "--create", "topic")
    write(SOUND.replace("rocky:", "movy:"))
    commit()
    git("switch", "--quiet", "main")
    write(FRAME + "tenants: {}\n")
    last = commit()
    git("switch", "--quiet", "topic")
    found = base("main", merge_base=True)
    assert (found.commit, found.name, tenants(found)) == (
        first,
        f"{first[:7]}, where HEAD branched off from main ({last[:7]})",
        ["rocky"],
    )
    assert tenants(base("main")) == []


def test_a_file_or_a_directory_with_such_a_file_will_do_without_any_repository() -> None:
    write(SOUND.replace("rocky:", "movy:"), Path("other/tenants.yaml"))
    git("branch", "-m", "x") if commit() else None
    assert [tenants(base(each)) for each in ("other", "other/tenants.yaml", "./other")] == [["movy"]] * 3
    subprocess.run(("rm", "-rf", ".git"), check=True)
    assert tenants(base("other")) == ["movy"]
    assert base("other").name == "other/tenants.yaml"


def test_an_unsound_base_is_named_in_its_places() -> None:
    write(rocky("web: {kustomize: {source: manifest}}\ndb: {kustomize: {source: m}}"))
    commit()
    with pytest.raises(InvalidFleet) as caught:
        base("HEAD")
    assert [str(each.location) for each in caught.value.diagnostics] == [
        "HEAD:fleet/tenants.yaml:15:33",
        "HEAD:fleet/tenants.yaml:16:32",
    ]


def test_notes_of_an_unsound_base_name_it_too() -> None:
    entries = "[a/movy.yaml, b/movy.yaml]"
    write(FRAME.replace("environments:", f"include: {entries}\nenvironments:", 1) + MOVY)
    write(INCLUDED.format("movy"), Path("fleet/a/movy.yaml"))
    write(INCLUDED.format("movy"), Path("fleet/b/movy.yaml"))
    commit()
    with pytest.raises(InvalidFleet) as caught:
        base("main")
    (found,) = caught.value.diagnostics
    assert (str(found.location), found.notes) == ("main:fleet/b/movy.yaml:2:3", ("first: main:fleet/a/movy.yaml:2:3",))


@pytest.mark.parametrize("name", ["origin/nope", "--upload-pack=x"])
def test_an_unknown_revision_is_refused(name: str) -> None:
    commit()
    branch = name.removeprefix("origin/")
    assert refused(name) == (
        f"'{name}' is neither a commit that this clone knows nor a file or directory\n"
        f"  fix: fetch it (git fetch origin {branch}), or correct the name"
    )


def test_an_empty_name_such_as_that_of_a_missing_variable_is_refused() -> None:
    expected = "BASE is empty\n  fix: name a Git revision, a file or a directory; without BASE it is HEAD"
    assert refused("") == expected


def test_what_is_both_a_branch_and_a_directory_is_refused() -> None:
    commit()
    git("branch", "fleet")
    assert refused("fleet") == (
        "'fleet' is both a commit and a file or directory\n"
        "  fix: write './fleet' for the path, or a longer name such as 'refs/heads/fleet'"
    )
    assert tenants(base("./fleet")) == tenants(base("refs/heads/fleet")) == ["rocky"]


def test_a_path_that_is_not_there_is_refused() -> None:
    assert refused("./nope").startswith("'./nope' is neither a commit that this clone knows nor a file or directory\n")


def test_a_path_has_no_merge_base() -> None:
    commit()
    expected = "fleet is not a commit, so it has no merge base\n  fix: name a Git revision, or leave --merge-base out"
    assert refused("fleet", merge_base=True) == expected


def test_histories_that_have_nothing_in_common_are_refused() -> None:
    commit()
    git("switch", "--quiet", "--orphan", "other")
    write(SOUND)
    hash = commit("another beginning")
    git("switch", "--quiet", "main")
    assert refused("other", merge_base=True) == (
        f"HEAD and other ({hash[:7]}) have no commit in common, in this clone\n"
        "  fix: fetch the whole history: git fetch --unshallow"
    )


def test_outside_of_a_repository_there_are_no_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(("rm", "-rf", ".git"), check=True)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    assert refused("main").splitlines() == [
        f"{Path('fleet').absolute()} is not in a Git repository",
        "  fix: name a file or a directory to compare with",
    ]


def test_without_git_there_are_no_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert refused("main") == "the command 'git' is not installed\n  fix: install Git, or name a file or a directory"


def test_no_patterns_take_no_files(tmp_path: Path) -> None:
    hash = commit()
    (tmp_path / "into").mkdir()
    checkout = Checkout(Repository(Path("fleet")), hash, tmp_path / "into")
    checkout.take([])
    assert not checkout.directory.exists()
