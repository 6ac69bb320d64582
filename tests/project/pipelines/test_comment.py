"""`.ci/comment`: one comment, edited in place, on GitHub and on GitLab."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tenantry.cli.lines import MARKER
from tests.forge import BOT, Forge
from tests.pipeline import REPOSITORY


@pytest.fixture(params=["github", "gitlab"])
def variables(server: Forge, request: pytest.FixtureRequest) -> dict[str, str]:
    """What the forge tells its jobs."""
    if request.param == "github":
        return {"GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "ops/fleet", "NUMBER": "12", "TOKEN": "the-token"}
    ids = {"CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12", "TOKEN": "the-token"}
    return {"CI_API_V4_URL": f"{server.url}/api/v4", **ids}


Comment = Callable[..., tuple[int, str]]


@pytest.fixture
def comment(variables: dict[str, str], tmp_path: Path, binaries: Path) -> Comment:
    """Runs the script with a text and, if given, the directory of the fleet."""

    def run(text: str, *directory: str, **other: str) -> tuple[int, str]:
        (tmp_path / "text").write_text(text)
        command = [str(binaries / "resident"), str(REPOSITORY / ".ci" / "comment"), str(tmp_path / "text"), *directory]
        done = subprocess.run(command, env={**variables, **other}, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return run


def test_the_second_text_replaces_the_first(comment: Comment, server: Forge) -> None:
    for index in range(150):
        server.comment("alice", f"comment {index}")
    assert comment(f"{MARKER}\nfirst") == (0, "comment added\n")
    assert comment(f"{MARKER}\nsecond") == (0, "comment edited\n")
    assert server.bodies() == [f"{MARKER}\nsecond"]
    assert len(server.comments) == 151


def test_a_comment_of_somebody_else_is_never_edited(comment: Comment, server: Forge) -> None:
    server.comment("mallory", f"{MARKER}\nall is fine")
    server.comment(BOT, "a comment of another job")
    assert comment(f"{MARKER}\nfirst") == (0, "comment added\n")
    assert server.bodies("mallory") == [f"{MARKER}\nall is fine"]


def test_several_fleets_have_a_comment_each(comment: Comment, server: Forge) -> None:
    for text in ("first", "second"):
        for directory in (".", "edge", "a--> b"):
            comment(f"{MARKER}\n{text}", directory)
    begins = [MARKER, f"<!-- tenantry edge -->\n{MARKER}", f"<!-- tenantry a____b -->\n{MARKER}"]
    assert server.bodies() == [f"{each}\nsecond" for each in begins]


def test_a_token_that_may_not_comment_fails_nothing(comment: Comment, server: Forge) -> None:
    server.denied = True
    denied = (0, "no comment: the token may not write one (403 Forbidden)\n")
    assert comment(f"{MARKER}\nfirst") == denied
    assert comment(MARKER, TOKEN="") == (0, "no comment: there is no token\n")


def test_a_text_without_a_marker_gets_one(comment: Comment, server: Forge) -> None:
    for text in ("# First", "# Second"):
        comment(text)
    assert server.bodies() == [f"{MARKER}\n# Second"]
