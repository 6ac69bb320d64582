"""`tenantry upgrade`: unedited files follow the version, edits survive."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tenantry.messages.errors import Refused
from tenantry.scaffold import files
from tenantry.scaffold import project as scaffold_project
from tenantry.scaffold.answers import Answers
from tenantry.scaffold.files import File
from tenantry.scaffold.project import blob, read, record_of
from tests.documents import check
from tests.table import table
from tests.unit.cli.test_cli import Capture, tenantry

ANSWERS = Answers(
    "fleet", (("dev", "hub"),), (), "https://x.example.com/a/fleet", "https://x.example.com/a", None, "none"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert tenantry(capsys, "init")[0] == 0
    return tmp_path


@pytest.fixture
def newer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 # `init` runs before
    """A version that writes .gitignore with one more line, has a new file, and has no action.yml any more."""

    def made(answers: Answers) -> dict[str, File]:
        found = files.files(answers)
        del found["action.yml"]
        ignored = File(found[".gitignore"].text + "*.log\n")
        return {**found, ".gitignore": ignored, "new.txt": File("new\n")}

    monkeypatch.setattr(scaffold_project, "files", made)


def texts(root: Path) -> dict[str, str]:
    return {str(each): each.read_text() for each in root.rglob("*") if each.is_file() and ".git/" not in f"{each}"}


def test_nothing_changes_after_init(capsys: Capture, project: Path) -> None:
    before = texts(project)
    assert tenantry(capsys, "upgrade") == (0, "", "the project is up to date\n")
    assert tenantry(capsys, "upgrade", "--check")[0] == 0
    assert texts(project) == before


def test_an_edit_alone_is_nobodys_business(capsys: Capture, project: Path) -> None:
    (project / "tenants.yaml").write_text("# all mine\n")
    (project / "README.md").unlink()
    assert tenantry(capsys, "upgrade", "--check") == (0, "", "the project is up to date\n")


UPDATED = """\
updated: .gitignore
--- .gitignore
+++ .gitignore
@@ -2,3 +2,4 @@
 .sandbox/
 rendered/
 __pycache__/
+*.log
not written any more; delete it if you do not need it: action.yml
new: new.txt
--- /dev/null
+++ new.txt
@@ -0,0 +1 @@
+new
"""


@pytest.mark.usefixtures("newer")
def test_unedited_files_follow_the_version(capsys: Capture, project: Path) -> None:
    before = texts(project)
    assert tenantry(capsys, "upgrade", "--dry-run") == (0, UPDATED, "2 files would be written\n")
    assert tenantry(capsys, "upgrade", "--check")[0] == 1
    assert texts(project) == before
    assert tenantry(capsys, "upgrade") == (0, UPDATED, "2 files written\n")
    assert (project / ".gitignore").read_text().endswith("*.log\n")
    assert (project / "action.yml").exists()
    after = texts(project)
    assert tenantry(capsys, "upgrade") == (0, "", "the project is up to date\n")
    assert texts(project) == after


EDITED = """\
edited by you, and stays as it is: .gitignore
--- .gitignore
+++ .gitignore
@@ -1,5 +1,5 @@
-/mine
 /.venv
 .sandbox/
 rendered/
 __pycache__/
+*.log
"""
FIX = "fix: take over the changes of edited files by hand or with --merge, or keep a file with --keep FILE\n"


@pytest.mark.usefixtures("newer")
def test_an_edit_survives_and_the_change_is_shown(capsys: Capture, project: Path) -> None:
    ignored = project / ".gitignore"
    mine = "/mine\n" + ignored.read_text()
    ignored.write_text(mine)
    code, out, err = tenantry(capsys, "upgrade")
    assert (code, out.startswith(EDITED), err) == (0, True, FIX + "1 file written\n"), out
    assert ignored.read_text() == mine
    assert tenantry(capsys, "upgrade", "--check") == (1, EDITED, FIX + "0 files would be written\n")
    assert tenantry(capsys, "upgrade", "--keep", ".gitignore")[0] == 0
    assert tenantry(capsys, "upgrade", "--check")[0] == 0
    assert ignored.read_text() == mine


@pytest.mark.usefixtures("newer")
def test_a_committed_file_is_merged(capsys: Capture, project: Path) -> None:
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], check=True)
    ignored = project / ".gitignore"
    ignored.write_text("/mine\n" + ignored.read_text())
    shown = tenantry(capsys, "upgrade", "--dry-run")[1]
    assert (
        UPDATED.partition("\n")[2].partition("not written")[0] in shown
    )  # what the versions differ in, without the edit
    code, out, _ = tenantry(capsys, "upgrade", "--merge")
    assert (code, out.startswith("merged with your edits: .gitignore\n")) == (0, True)
    assert ignored.read_text() == "/mine\n/.venv\n.sandbox/\nrendered/\n__pycache__/\n*.log\n"
    assert tenantry(capsys, "upgrade", "--check")[0] == 0


@pytest.mark.usefixtures("newer")
def test_a_deleted_file_stays_deleted_and_is_named_once(capsys: Capture, project: Path) -> None:
    (project / ".gitignore").unlink()
    code, out, _ = tenantry(capsys, "upgrade", "-o", "json")
    check(out)
    kinds = {each["path"]: each["kind"] for each in json.loads(out)["changes"]}
    assert (code, kinds) == (0, {".gitignore": "deleted", "action.yml": "obsolete", "new.txt": "add"})
    assert not (project / ".gitignore").exists()
    assert tenantry(capsys, "upgrade") == (0, "", "the project is up to date\n")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, "there is no project in .\n  fix: run `tenantry init` to make one"),
        ("[", ".tenantry.yaml is damaged\n  fix: restore it from Git"),
        ("{version: 1, answers: {}, files: {}}", ".tenantry.yaml is damaged\n  fix: restore it from Git"),
    ],
)
def test_without_a_record_it_is_refused(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, error: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if content:
        (tmp_path / ".tenantry.yaml").write_text(content)
    assert tenantry(capsys, "upgrade") == (2, "", f"error: {error}\n")


@pytest.mark.usefixtures("newer")
def test_nothing_is_written_through_a_symlink(capsys: Capture, project: Path) -> None:
    (project / ".gitignore").rename(project / "elsewhere")
    (project / ".gitignore").symlink_to("elsewhere")
    before = texts(project)
    code, _, err = tenantry(capsys, "upgrade")
    assert (code, err) == (
        2,
        "error: .gitignore is, or is behind, a symlink\n  fix: replace the link by a file\n",
    )
    assert texts(project) == before


def test_the_record_can_be_read_back() -> None:
    record = record_of(ANSWERS, {"a": File("x"), "b": File("y")}, frozenset("b"))
    assert read(record.text()) == record
    assert record.files == {"a": blob(b"x"), "b": None}


@table("path", ["../a", "/etc/passwd", "charts/../../a"])
def test_a_record_that_leads_out_of_the_project_is_refused(path: str) -> None:
    with pytest.raises(Refused, match="is damaged"):
        read(record_of(ANSWERS, {path: File("x")}).text())
