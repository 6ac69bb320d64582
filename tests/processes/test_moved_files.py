"""A base where the file had another path: BASE:PATH, and what is said if nobody wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry.cli.app import run
from tenantry.messages.errors import InvalidFleet
from tests.processes.test_revision import (
    FILE,
    FRAME,
    INCLUDED,
    MOVY,
    SOUND,
    _repository,
    base,
    commit,
    git,
    refused,
    tenants,
    write,
)

__all__ = ["_repository"]
OLD = Path("old/place/fleet.yaml")


def moved() -> str:
    """Commit the file elsewhere, with an included file, then move both."""
    included = FRAME.replace("environments:", "include: ['tenants/*.yaml']\nenvironments:", 1) + MOVY
    FILE.unlink()
    write(included, OLD)
    write(INCLUDED.format("movy"), Path("old/place/tenants/movy.yaml"))
    first = commit()
    git("mv", "old/place", "new")
    git("mv", "new/fleet.yaml", "new/tenants.yaml")
    git("mv", "new/tenants", "new/teams")
    write(included.replace("tenants/*", "teams/*"), Path("new/tenants.yaml"))
    commit()
    return first


@pytest.mark.parametrize("path", ["old/place/fleet.yaml", "../old/place/fleet.yaml", "./../old/place/fleet.yaml"])
def test_the_file_and_its_included_files_are_read_at_the_former_path(path: str) -> None:
    first = moved()
    found = base(f"HEAD~1:{path}", Path("new/tenants.yaml"))
    assert (found.commit, found.name, tenants(found)) == (first, f"HEAD~1 ({first[:7]})", ["movy"])


def test_the_merge_base_can_have_another_path_too() -> None:
    first = moved()
    git("branch", "before", first)
    found = base("before:old/place/fleet.yaml", Path("new/tenants.yaml"), merge_base=True)
    assert (found.commit, tenants(found)) == (first, ["movy"])
    assert tenants(base("before...:old/place/fleet.yaml", Path("new/tenants.yaml"))) == ["movy"]


def test_problems_there_are_named_by_their_former_path() -> None:
    FILE.unlink()
    write(SOUND.replace("source: manifests", "source: other"), Path("old/t.yaml"))
    commit()
    write(SOUND)
    with pytest.raises(InvalidFleet) as caught:
        base("HEAD:old/t.yaml")
    assert [str(each.location) for each in caught.value.diagnostics] == ["HEAD:old/t.yaml:15:33"]


def test_the_command_says_that_the_file_was_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = moved()
    monkeypatch.chdir("new")
    assert run(["diff", "HEAD~1", "--output", "environments"]) == 1
    assert capsys.readouterr().err == f"HEAD~1 ({first[:7]}) has no tenants.yaml: everything is new\n"
    assert run(["diff", "HEAD~1:old/place/fleet.yaml"]) == 0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x:fleet/tenants.yaml", "'x' in 'x:fleet/tenants.yaml' is not a commit that this clone knows\n  fix: fetch it, or"),
        ("HEAD:", "'' in 'HEAD:' is not a file of the repository\n  fix: write the path as Git shows it: main:fleet/tenants.yaml"),
        ("HEAD:../../x", "'../../x' in 'HEAD:../../x' is not a file of the repository\n  fix: "),
        ("HEAD:/etc/passwd", "'/etc/passwd' in 'HEAD:/etc/passwd' is not a file of the repository\n  fix: "),
        ("HEAD:.", "'.' in 'HEAD:.' is not a file of the repository\n  fix: "),
    ],
)  # fmt: skip
def test_a_wrong_revision_or_path_is_refused(name: str, expected: str) -> None:
    commit()
    assert refused(name).startswith(expected)


@pytest.mark.parametrize("path", ["tenants.yaml", "fleet"])
def test_a_path_that_is_not_there_is_refused(path: str) -> None:
    commit()
    assert refused(f"HEAD:{path}").startswith(f"'{path}' in 'HEAD:{path}' is not a file of the repository\n")
