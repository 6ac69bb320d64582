"""A link in a repository does not make the reader show a file of the machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.load import load_fleet
from tenantry.messages.errors import InvalidFleet, Refused
from tests.unit.texts import FRAME, rocky

SECRET = "hush: [of the machine\n"
SOUND = rocky("web: {kustomize: {source: manifests}}")
MOVY = "tenants: {movy: {grants: {clusters: {names: [hub]}, sources: ['*']}}}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository, beside a file with a secret; Git keeps another one in it."""
    (tmp_path / "environ").write_text(SECRET)
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "config").write_text(SECRET)
    (root / "fleet").mkdir()
    return root


def told(file: Path) -> str:
    """All that is said of a file."""
    try:
        load_fleet(file)
    except (Refused, InvalidFleet) as error:
        return f"{error}\n" + "\n".join(map(repr, getattr(error, "diagnostics", ())))
    return ""


def link(file: Path, to: Path | str) -> None:
    file.symlink_to(to)


def link_to_a_file(root: Path) -> Path:
    link(root / "fleet/tenants.yaml", root.parent / "environ")
    return root / "fleet/tenants.yaml"


def relative_link(root: Path) -> Path:
    link(root / "fleet/tenants.yaml", "../../environ")
    return root / "fleet/tenants.yaml"


def link_over_a_link(root: Path) -> Path:
    link(root / "a", root.parent)
    link(root / "fleet/tenants.yaml", "../a/environ")
    return root / "fleet/tenants.yaml"


def linked_directory(root: Path) -> Path:
    link(root / "linked", root.parent)
    return root / "linked/environ"


def link_to_git(root: Path) -> Path:
    link(root / "fleet/tenants.yaml", "../.git/config")
    return root / "fleet/tenants.yaml"


def linked_directory_of_git(root: Path) -> Path:
    link(root / "linked", ".git")
    return root / "linked/config"


def link_to_the_process(root: Path) -> Path:
    link(root / "fleet/tenants.yaml", "/proc/self/environ")
    return root / "fleet/tenants.yaml"


def link_to_a_device(root: Path) -> Path:
    link(root / "fleet/tenants.yaml", "/dev/zero")
    return root / "fleet/tenants.yaml"


def link_to_a_pipe(root: Path) -> Path:
    os.mkfifo(root / "pipe")
    link(root / "fleet/tenants.yaml", "../pipe")
    return root / "fleet/tenants.yaml"


WAYS = (
    link_to_a_file,
    relative_link,
    link_over_a_link,
    linked_directory,
    link_to_git,
    linked_directory_of_git,
    link_to_the_process,
    link_to_a_device,
    link_to_a_pipe,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_link_to_what_is_not_the_repositorys_is_refused(way: Callable[[Path], Path], root: Path) -> None:
    said = told(way(root))
    assert "symlink" in said
    assert "fix: put the file itself there" in said
    assert "hush" not in said


@pytest.mark.parametrize("way", [link_to_a_file, link_to_git], ids=lambda way: way.__name__)
def test_no_command_shows_a_line_of_it(
    way: Callable[[Path], Path], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = way(root)
    for command in (["validate"], ["list", "tenants"], ["render", "-e", "dev"], ["fmt", "--check"], ["diff"]):
        assert run([*command, "--file", str(file)]) == 2
    shown = capsys.readouterr()
    assert "hush" not in shown.out + shown.err


def included(root: Path, pattern: str) -> Path:
    file = root / "fleet/tenants.yaml"
    file.write_text(FRAME.replace("environments:", f"include: ['{pattern}']\nenvironments:", 1) + MOVY)
    return file


@pytest.mark.parametrize("target", ["../../../environ", "../../.git/config", "/proc/self/environ", "/dev/zero"])
def test_an_included_link_is_refused(target: str, root: Path) -> None:
    (root / "fleet/tenants.d").mkdir()
    link(root / "fleet/tenants.d/movy.yaml", target)
    said = told(included(root, "tenants.d/*.yaml"))
    assert "bad-include" in said
    assert "hush" not in said


def test_an_included_directory_that_leads_out_is_refused(root: Path) -> None:
    (root.parent / "more").mkdir()
    (root.parent / "more/movy.yaml").write_text(SECRET)
    link(root / "fleet/tenants.d", "../../more")
    said = told(included(root, "tenants.d/*.yaml"))
    assert "bad-include" in said
    assert "hush" not in said


def test_what_git_keeps_is_not_included(root: Path) -> None:
    (root / "tenants.yaml").write_text(included(root, ".git/config").read_text())
    said = told(root / "tenants.yaml")
    assert "is one of Git's own files" in said
    assert "hush" not in said


def test_a_link_within_the_repository_is_followed(root: Path) -> None:
    (root / "shared.yaml").write_text(SOUND)
    link(root / "fleet/tenants.yaml", "../shared.yaml")
    assert told(root / "fleet/tenants.yaml") == ""


def test_the_repository_itself_may_be_behind_a_link(root: Path) -> None:
    (root / "fleet/tenants.yaml").write_text(SOUND)
    link(root.parent / "work", root)
    assert told(root.parent / "work/fleet/tenants.yaml") == ""


def test_outside_of_a_repository_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "..data").mkdir()
    (tmp_path / "..data/tenants.yaml").write_text(SOUND)
    link(tmp_path / "tenants.yaml", "..data/tenants.yaml")
    assert told(tmp_path / "tenants.yaml") == ""


def test_a_link_to_nothing_is_a_missing_file(root: Path) -> None:
    link(root / "fleet/tenants.yaml", "nowhere.yaml")
    assert "no such file" in told(root / "fleet/tenants.yaml")
