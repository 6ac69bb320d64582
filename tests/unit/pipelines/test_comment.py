"""`.ci/comment`: one comment, edited in place, on GitHub and on GitLab."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenantry.cli.diff.comment import MARKER
from tests.forge import BOT, Forge, forge
from tests.pipeline import REPOSITORY


@pytest.fixture
def server() -> Iterator[Forge]:
    with forge() as made:
        yield made


@pytest.fixture(params=["github", "gitlab"])
def variables(server: Forge, request: pytest.FixtureRequest) -> dict[str, str]:
    """What the forge tells its jobs."""
    if request.param == "github":
        return {"GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "ops/fleet", "NUMBER": "12", "TOKEN": "the-token"}
    ids = {"CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12", "TOKEN": "the-token"}
    return {"CI_API_V4_URL": f"{server.url}/api/v4", **ids}


def comment(variables: dict[str, str], file: Path, text: str, *directory: str) -> tuple[int, str]:
    file.write_text(text)
    command = [str(REPOSITORY / ".ci" / "comment"), str(file), *directory]
    found = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(command, env=found, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_second_text_replaces_the_first(variables: dict[str, str], server: Forge, tmp_path: Path) -> None:
    for index in range(150):
        server.comment("alice", f"comment {index}")
    assert comment(variables, tmp_path / "a", f"{MARKER}\nfirst") == (0, "comment added\n")
    assert comment(variables, tmp_path / "a", f"{MARKER}\nsecond") == (0, "comment edited\n")
    assert server.bodies() == [f"{MARKER}\nsecond"]
    assert len(server.comments) == 151


def test_a_comment_of_somebody_else_is_never_edited(variables: dict[str, str], server: Forge, tmp_path: Path) -> None:
    server.comment("mallory", f"{MARKER}\nall is fine")
    server.comment(BOT, "a comment of another job")
    assert comment(variables, tmp_path / "a", f"{MARKER}\nfirst") == (0, "comment added\n")
    assert server.bodies("mallory") == [f"{MARKER}\nall is fine"]


def test_several_fleets_have_a_comment_each(variables: dict[str, str], server: Forge, tmp_path: Path) -> None:
    for text in ("first", "second"):
        for directory in (".", "edge", "a--> b"):
            comment(variables, tmp_path / "a", f"{MARKER}\n{text}", directory)
    begins = [MARKER, f"<!-- tenantry edge -->\n{MARKER}", f"<!-- tenantry a____b -->\n{MARKER}"]
    assert server.bodies() == [f"{each}\nsecond" for each in begins]


def test_a_token_that_may_not_comment_fails_nothing(variables: dict[str, str], server: Forge, tmp_path: Path) -> None:
    server.denied = True
    denied = (0, "no comment: the token may not write one (403 Forbidden)\n")
    assert comment(variables, tmp_path / "a", f"{MARKER}\nfirst") == denied
    assert comment({**variables, "TOKEN": ""}, tmp_path / "a", MARKER) == (0, "no comment: there is no token\n")


def test_a_text_without_a_marker_gets_one(variables: dict[str, str], server: Forge, tmp_path: Path) -> None:
    for text in ("# First", "# Second"):
        comment(variables, tmp_path / "a", text)
    assert server.bodies() == [f"{MARKER}\n# Second"]
